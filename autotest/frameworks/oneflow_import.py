"""Imports OneFlow, also if a plain `import oneflow` would fail, or explains in one sentence why it cannot."""

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

#: The libraries that OneFlow 0.9.0 is linked with, by the package that contains them, each after its dependencies.
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
#: The environment variable of OneFlow's log level, and the level that logs fatal errors only.
LOG_LEVEL: Final = ("GLOG_minloglevel", "3")
#: The variable, and its value, that omit symbol names from the stack that a failed check prints: looking them up takes
#: most of the time of a crash.
STACK_NAMES: Final = ("GLOG_symbolize_stacktrace", "0")

_CORE: Final = "_oneflow_internal"
#: The module of Triton whose library registers the same command-line options of LLVM as OneFlow's, which then aborts.
_TRITON: Final = "triton._C.libtriton"
_INSTALL: Final = "use CPython 3.10 on x86-64 Linux and `pip install 'dual-autotest[oneflow]'`"
_CHOOSE: Final = "choose another candidate with AUTOTEST_CANDIDATE=NAME"


def import_oneflow() -> ModuleType:
    """Import OneFlow with the libraries that it needs, and return the module.

    Raises:
        FrameworkMissing: if OneFlow is not installed, is only the placeholder that Python 3.11 and later get, does not
            find its libraries, or would end the process. The message is one sentence that says what to install,
            choose or import first.
    """
    imported = sys.modules.get("oneflow")
    if imported is not None:
        restore_interrupts()  # it was imported by other code, which did not do so
        return imported
    require_core()
    if _TRITON in sys.modules:
        raise FrameworkMissing(
            "OneFlow ends the process if it is imported after Triton, which torch.compile has imported here: write "
            "`import oneflow` in a conftest.py, or run the tests of these candidates in different processes"
        )
    os.environ.setdefault(*LOG_LEVEL)
    os.environ.setdefault(*STACK_NAMES)
    missing = load_libraries()
    try:
        with warnings.catch_warnings():
            # OneFlow's docstrings contain invalid escapes: the import would fail where warnings are errors.
            warnings.simplefilter("ignore", DeprecationWarning)
            module = importlib.import_module("oneflow")
        restore_interrupts()
        return module
    except (ImportError, OSError) as error:
        # Missing libraries are not refused before the import: a build may need no CUDA, or find it on the system.
        needed = f"; not found: {', '.join(missing)}" if missing else ""
        raise FrameworkMissing(
            f"OneFlow is installed but cannot be imported ({error}{needed}); {_INSTALL}, which installs the CUDA 11 "
            f"libraries that it needs, or {_CHOOSE}"
        ) from error


def restore_interrupts() -> None:
    """Reinstall Python's handler of SIGINT.

    OneFlow's import replaces it by a handler that ends the process, so that Ctrl-C would lose every report.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def require_core() -> None:
    """Raise `FrameworkMissing` if OneFlow is missing, or is the registry's placeholder for Python 3.11 and later.

    Only files are checked, because the import of the placeholder raises an unrelated error.
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
    """Load every library of `LIBRARIES` that is not loaded yet; return the names that were not found.

    Their symbols are not made global: OneFlow finds loaded libraries by name, and a newer torch in the same process has
    its own cuBLAS and cuDNN with symbols of the same names.
    """
    missing = []
    for package, names in LIBRARIES:
        paths = _files(package)
        missing += [name for name in names if not (_loaded(name) or _load(paths.get(name, name)))]
    return missing


def _files(package: str) -> dict[str, str]:
    """Return the paths of the shared libraries of a distribution by file name; empty if it is not installed."""
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {file.name: str(distribution.locate_file(file)) for file in distribution.files or () if ".so" in file.name}


def _loaded(name: str) -> bool:
    # Checked first, because loading by path would add a second copy if torch 2.0.1 has loaded one from elsewhere.
    return hasattr(os, "RTLD_NOLOAD") and _load(name, os.RTLD_NOLOAD)


def _load(path: str, mode: int = 0) -> bool:
    try:
        ctypes.CDLL(path, mode=ctypes.DEFAULT_MODE | mode)
    except OSError:
        return False
    return True
