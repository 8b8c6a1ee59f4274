"""OneFlow's import stops before its threads start, after everything that can be done once for all children."""

from __future__ import annotations

import subprocess
import sys

#: Like the real one: a function starts the threads, and imports of other packages come after it.
PACKAGE = {
    "__init__.py": "import oneflow.nn, oneflow.framework.env_util as env_util\n"
    "env_util.GetEnv()\n"
    "import oneflow.profiler",
    "framework/__init__.py": "",
    "framework/env_util.py": "def GetEnv(): print('threads start')",
    "nn.py": "",
    "profiler.py": "import doctest",
}
AROUND = """
import sys
from autotest.frameworks.oneflow_forking import import_around

def fork():
    print([name in sys.modules for name in ("oneflow.nn", "oneflow.profiler", "doctest")])

import_around(fork, lambda: __import__("oneflow"))
print("oneflow.profiler" in sys.modules)
"""


def test_what_is_imported_of_others_later_is_there_when_the_process_is_forked(tmp_path, importable_elsewhere):
    for name, text in PACKAGE.items():
        file = tmp_path / "oneflow" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "around.py").write_text(AROUND)
    ran = subprocess.run([sys.executable, "around.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == ["[True, False, True]", "threads start", "True"], ran.stderr
