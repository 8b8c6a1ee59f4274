"""The garbage collector does not run while a framework is imported, nor over its objects at the end of the process."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.frameworks.gc_paused import without_gc
from autotest.frameworks.namespace import Namespace

NOTING = """
import gc

SEARCHED = gc.isenabled()
__version__ = "1"
"""
AT_THE_END = """
from autotest.frameworks.gc_paused import without_gc

class Told:
    def __del__(self):
        print("looked for")

told = Told()
told.itself = told
if {imports}:
    with without_gc():
        pass
del told
"""


@pytest.fixture
def noting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Write a module that records whether the collector is on while it is imported."""
    (tmp_path / "noting_framework.py").write_text(NOTING)
    monkeypatch.syspath_prepend(tmp_path)
    yield "noting_framework"
    sys.modules.pop("noting_framework", None)


def test_a_framework_is_imported_without_a_search(noting: str) -> None:
    assert gc.isenabled()
    framework = Namespace("noting", noting)
    framework.load()
    assert not framework.root.SEARCHED
    assert gc.isenabled()


def test_the_search_is_as_it_was_afterwards() -> None:
    with pytest.raises(ImportError), without_gc():
        raise ImportError
    assert gc.isenabled()
    gc.disable()
    try:
        with without_gc():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(("imports", "said"), [(True, ""), (False, "looked for\n")])
def test_nothing_is_looked_for_at_the_end(importable_elsewhere: None, imports: bool, said: str) -> None:
    script = AT_THE_END.format(imports=imports)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == said
