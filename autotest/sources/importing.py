"""Imports each test file once per process, as part of its package if it is in one."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from autotest.base import options
from autotest.base.errors import UsageError
from autotest.sources.pytest_paths import python_path


def load(file: Path) -> ModuleType:
    """Import a test file, or find it among the imported modules, and return its module.

    Its folder is importable, as for a script, and its package is determined as by pytest. The modules named in
    ``AUTOTEST_IMPORT`` are imported first.

    Raises:
        UsageError: A module named in ``AUTOTEST_IMPORT`` cannot be imported, or `file` is not a Python file.
    """
    file = file.resolve()
    digest = hashlib.sha256(str(file.parent).encode()).hexdigest()[:8]
    name = f"autotest_collected_{digest}_{file.stem}"
    root = _outside_of_packages(file.parent)
    package = ".".join(file.parent.relative_to(root).parts)
    for known in (f"{package}.{name}", name):
        if known in sys.modules:
            return sys.modules[known]
    for place in reversed(python_path(file.parent)):
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
    for wanted in options.configured_imports():
        _import(wanted)
    # A package's modules are found by its name. Its folder goes last, so that its files do not shadow other modules.
    places = [(0, root), (len(sys.path), file.parent)] if package else [(0, file.parent)]
    for at, place in places:
        if str(place) not in sys.path:
            sys.path.insert(at, str(place))
    if package and _is_imported(package, file.parent):
        name = f"{package}.{name}"  # relative imports need the package in the name
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file}: expected a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _outside_of_packages(folder: Path) -> Path:
    """Return the innermost folder that is not a package, starting with `folder` and going up."""
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        folder = folder.parent
    return folder


def _is_imported(package: str, folder: Path) -> bool:
    """Import `package`; return whether it is the one in `folder`, not a package of the same name imported before."""
    try:
        found = importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{package}.".startswith(f"{error.name}."):
            return False
        raise
    return any(Path(place).resolve() == folder for place in getattr(found, "__path__", ()))


def _import(wanted: str) -> None:
    try:
        importlib.import_module(wanted)
    except ImportError as error:
        raise UsageError(f"AUTOTEST_IMPORT={wanted}: expected a module that can be imported ({error})") from error
