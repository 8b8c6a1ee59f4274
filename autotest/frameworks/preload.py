"""Imports OneFlow where a plain `import oneflow` would fail, or says in one sentence why it cannot."""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import pathlib
import signal
import sys
import threading
import warnings
from types import ModuleType
from typing import Final

from autotest.base.errors import FrameworkMissing
from autotest.base.versions import installed

#: What OneFlow 0.9.0 is linked with, by the package that brings it; each library after those that it needs.
LIBRARIES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("nvidia-cublas-cu11", ("libcublasLt.so.11", "libcublas.so.11")),
    (
        "nvidia-cudnn-cu11",
        (
            "libcudnn_ops_infer.so.8",
            "libcudnn_ops_train.so.8",
            "libcudnn_cnn_infer.so.8",
            "libcudnn_cnn_train.so.8",
        ),
    ),
)
#: The variable by which OneFlow's logging is told how much to say, and the level that leaves only fatal errors.
LOG_LEVEL: Final = ("GLOG_minloglevel", "3")
#: The variable that leaves names out of the stack that a failed check prints: looking them up takes most of a death.
STACK_NAMES: Final = ("GLOG_symbolize_stacktrace", "0")

_CORE: Final = "_oneflow_internal"
_INSTALL: Final = "use CPython 3.10 on x86-64 Linux and `pip install 'dual-autotest[oneflow]'`"
_CHOOSE: Final = "choose another candidate with AUTOTEST_CANDIDATE=NAME"


def import_oneflow() -> ModuleType:
    """The module `oneflow`, imported with all that its import needs.

    Raises `FrameworkMissing`, in one sentence that says what to install or choose, when OneFlow is not
    installed, is only the placeholder that Python 3.11 and later get, or does not find its libraries.
    """
    imported = sys.modules.get("oneflow")
    if imported is not None:
        restore_interrupts()  # whoever imported it did not
        return imported
    require_core()
    os.environ.setdefault(*LOG_LEVEL)
    os.environ.setdefault(*STACK_NAMES)
    missing = load_libraries()
    try:
        with warnings.catch_warnings():
            # Its docstrings hold invalid escapes. Whoever makes warnings errors would not get past its import.
            warnings.simplefilter("ignore", DeprecationWarning)
            module = importlib.import_module("oneflow")
        restore_interrupts()
        return module
    except (ImportError, OSError) as error:
        # Not ours to refuse beforehand: a build may need no CUDA, or find it where the system keeps it.
        needed = f"; not found: {', '.join(missing)}" if missing else ""
        raise FrameworkMissing(
            f"OneFlow is installed but cannot be imported ({error}{needed}); {_INSTALL}, which brings the CUDA 11 "
            f"libraries that it is linked with, or {_CHOOSE}"
        ) from error


def restore_interrupts() -> None:
    """Install Python's handler of SIGINT again. OneFlow's import puts one in its place that ends the process, so that
    Ctrl-C would lose every report."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def require_core() -> None:
    """Refuse a missing OneFlow, and the placeholder that the registry gives to Python 3.11 and later.

    Looks at files only, because importing the placeholder raises an error that speaks of something else.
    """
    python = f"CPython {sys.version_info.major}.{sys.version_info.minor}"
    spec = importlib.util.find_spec("oneflow")
    if spec is None:
        raise FrameworkMissing(f"OneFlow is not installed for this {python}; {_INSTALL}, or {_CHOOSE}")
    folders = [pathlib.Path(folder) for folder in spec.submodule_search_locations or ()]
    if not any(
        (folder / (_CORE + end)).exists() for folder in folders for end in importlib.machinery.EXTENSION_SUFFIXES
    ):
        raise FrameworkMissing(
            f"the installed oneflow {installed('oneflow') or 'of unknown version'} has no compiled core for {python} "
            f"(OneFlow 0.9.0, the newest that has one, exists for CPython 3.7 to 3.10); {_INSTALL}, or {_CHOOSE}"
        )


def load_libraries() -> list[str]:
    """Load every library of `LIBRARIES` that is not loaded yet; returns the names that were not found.

    They are loaded without making their symbols global: that OneFlow finds them by name is enough, and a
    newer torch beside it brings its own cuBLAS and cuDNN with symbols of the same names.
    """
    missing = []
    for package, names in LIBRARIES:
        paths = _files(package)
        missing += [name for name in names if not (_loaded(name) or _load(paths.get(name, name)))]
    return missing


def _files(package: str) -> dict[str, str]:
    """The shared libraries that an installed distribution brought, by file name; none when it is not installed."""
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {file.name: str(distribution.locate_file(file)) for file in distribution.files or () if ".so" in file.name}


def _loaded(name: str) -> bool:
    # Asked first, because a path would load a second copy beside one that torch 2.0.1 took from elsewhere.
    return hasattr(os, "RTLD_NOLOAD") and _load(name, os.RTLD_NOLOAD)


def _load(path: str, mode: int = 0) -> bool:
    try:
        ctypes.CDLL(path, mode=ctypes.DEFAULT_MODE | mode)
    except OSError:
        return False
    return True
