"""Interrupts OneFlow's import for a fork at the point where its core is loaded and its threads are not started yet.

A child that is forked there and continues the import needs 0.05 s, while the whole import takes seconds. It is like any
other process with OneFlow, including global tensors, with two exceptions. It computes in the caller's thread, as
OneFlow does in every fork of a process that has loaded it: there an error in a kernel is raised; in other processes it
ends the process. And graphs do not work in it, see `OneFlowFramework.graph_works_in_forks`. A child that is forked
after the import has none of OneFlow's threads.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import pathlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from types import ModuleType
from typing import Any

#: The module, and its function, by which OneFlow's `__init__` starts its threads, as of OneFlow 0.9.0.
_STARTER = "oneflow.framework.env_util"
_START = "GetEnv"
#: Modules of other packages that OneFlow imports after that, for its documentation, profiler and hub. They take a fifth
#: of a child's start, and are therefore imported before the fork.
_OF_OTHERS = ("cgitb", "doctest", "rich.console", "rich.table", "tqdm.auto")


class _Stop(MetaPathFinder, Loader):
    """A finder and loader for `_STARTER` only: imports it as usual, and makes its `_START` call `then` first."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._loader: Loader | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _STARTER:
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if found is not None:
            self._loader, found.loader = found.loader, self
        return found

    def exec_module(self, module: ModuleType) -> None:
        assert self._loader is not None
        self._loader.exec_module(module)
        sys.meta_path.remove(self)
        start: Callable[[], Any] | None = getattr(module, _START, None)
        if start is None:  # another version of OneFlow, whose threads may already run after the next import
            self._then()
            return

        def stop_and_start() -> Any:
            setattr(module, _START, start)
            for name in _OF_OTHERS:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
            self._then()
            return start()

        setattr(module, _START, stop_and_start)


def import_around(fork: Callable[[], None], import_all: Callable[[], object]) -> None:
    """Call `import_all`, which imports OneFlow, and `fork` once during the import.

    `fork` is called before the import if OneFlow is already imported, or does not contain `_STARTER`.
    """
    spec = importlib.util.find_spec("oneflow")
    folders = [] if spec is None else [pathlib.Path(folder) for folder in spec.submodule_search_locations or ()]
    file = "/".join(_STARTER.split(".")[1:]) + ".py"
    if "oneflow" in sys.modules or not any((folder / file).exists() for folder in folders):
        fork()
    else:
        sys.meta_path.insert(0, _Stop(fork))
    import_all()
