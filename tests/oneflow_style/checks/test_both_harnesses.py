"""The files in OneFlow's style also pass with OneFlow's harness, so that they show how this harness behaves.

All of them: ``AUTOTEST_STYLE=oneflow pytest tests/oneflow_style -W default``, without `test_profile.py`. Here some,
because that harness is slow; the others are to be run by hand when they change.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

STYLE = Path(__file__).parents[1]
ROOT = STYLE.parents[1]
#: OneFlow 0.9.0's profiler aborts the process where there is no CUDA.
NEEDS_CUDA = "test_profile.py"
#: One of so many files is run.
EVERY = 3


def test_files_pass_under_oneflows_own_harness() -> None:
    files = [path for path in sorted(STYLE.glob("test_*.py")) if path.name != NEEDS_CUDA]
    assert len(files) >= 25
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        # Warnings of the harness are not tested.
        [sys.executable, "-m", "pytest", "-q", "-W", "default", "-p", "no:cacheprovider", *map(str, files[::EVERY])],
        cwd=ROOT,
        env={**environment, "AUTOTEST_STYLE": "oneflow"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
