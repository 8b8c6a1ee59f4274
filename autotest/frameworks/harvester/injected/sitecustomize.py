"""Runs at the start of an interpreter that has this folder on its path; records torch's calls once torch is imported.

If this file hides another ``sitecustomize``, that one runs first.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any


def _run_the_hidden_one() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - early in an interpreter's startup
    path = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]  # noqa: PTH100 - as before
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


class _AfterTorch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch with the usual finders, and starts recording when its import is complete."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._loader: Any = None

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _start(self._path)


def _start(path: str) -> None:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as before
    try:
        spec: Any = importlib.util.spec_from_file_location(
            "_autotest_harvester",
            os.path.join(folder, "__init__.py"),  # noqa: PTH118 - as before
            submodule_search_locations=[folder],
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules["_autotest_harvester"] = module
        spec.loader.exec_module(module)
        importlib.import_module("_autotest_harvester.whole_process").record(path)
    except Exception as error:  # noqa: BLE001 - the script must run as usual
        sys.stderr.write(f"autotest harvest: nothing can be recorded: {type(error).__name__}: {error}\n")


_run_the_hidden_one()
if os.environ.get("AUTOTEST_HARVEST"):
    sys.meta_path.insert(0, _AfterTorch(os.environ["AUTOTEST_HARVEST"]))
