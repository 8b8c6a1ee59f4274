"""Native code that ends the process with status 0 in the middle of a test does not end it green."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

START = """
import ctypes, os, sys, threading
from autotest.processes.exit_guard import aborting_exit
leave = ctypes.CDLL(None).exit
"""


def status_of(code: str) -> int:
    return subprocess.run([sys.executable, "-c", START + code], stderr=subprocess.DEVNULL, check=False).returncode


INSIDE = {
    "the main thread": "with aborting_exit(): leave(0)",
    "another thread": """
with aborting_exit():
    thread = threading.Thread(target=leave, args=(0,))
    thread.start()
    thread.join()
""",
    "nested": """
with aborting_exit():
    with aborting_exit():
        pass
    leave(0)
""",
    "a later block": """
with aborting_exit():
    pass
with aborting_exit():
    leave(0)
""",
}


@pytest.mark.parametrize("code", INSIDE.values(), ids=INSIDE)
def test_an_exit_inside_of_the_block_is_an_abort(code: str) -> None:
    assert status_of(code) == -signal.SIGABRT


OTHERWISE = {
    "exit after the block": ("with aborting_exit(): pass\nleave(0)", 0),
    "no exit at all": ("with aborting_exit(): pass", 0),
    "sys.exit": ("with aborting_exit(): sys.exit(3)", 3),
    "os._exit": ("with aborting_exit(): os._exit(4)", 4),
    "an exception": ("with aborting_exit(): raise KeyError", 1),
    "a fork that ends": (
        """
with aborting_exit():
    pid = os.fork()
    if pid:
        ended, status = os.waitpid(pid, 0)
        print(status)
        os._exit(status >> 8 if os.WIFEXITED(status) else 9)
    sys.exit(5)
""",
        5,
    ),
    "a fork that calls exit": (
        """
with aborting_exit():
    pid = os.fork()
    if not pid:
        leave(6)
    ended, status = os.waitpid(pid, 0)
os._exit(status >> 8 if os.WIFEXITED(status) else 9)
""",
        6,
    ),
}


@pytest.mark.parametrize(("code", "status"), OTHERWISE.values(), ids=OTHERWISE)
def test_every_other_end_is_as_it_was(code: str, status: int) -> None:
    assert status_of(code) == status


def test_a_decorated_test_is_such_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path))
    decorated = "from autotest import autotest\nautotest(n=1, candidate='torch')(lambda: leave(0))()"
    assert status_of(decorated) == -signal.SIGABRT
