"""Unchanged files that import OneFlow's harness run with this library, in pytest and in its workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
#: The plugin by name, whether or not it is installed as an entry point.
PLUGINS = ("-p", "autotest.pytest_plugin", "-p", "autotest.oneflow.drop_in")
UNEDITED = """
import unittest
from oneflow.test_utils.automated_test_util import *

class TestUnedited(unittest.TestCase):
    @autotest(n=2, check_graph=False)
    def test_it(test_case):
        return torch.relu(random_tensor(2, 3, 4))
"""


def test_unedited_files_run_in_pytest_and_in_its_worker_processes(tmp_path: Path) -> None:
    (tmp_path / "test_unedited.py").write_text(UNEDITED)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "AUTOTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS, "--autotest-isolate", str(tmp_path)],
        cwd=tmp_path,
        env={
            **environment,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(ROOT),
            "AUTOTEST_DIR": str(tmp_path / "kept"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "2 trials" in done.stdout
