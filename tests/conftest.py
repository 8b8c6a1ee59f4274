"""Fixtures that several folders of tests use.

`against` chooses the pair that ``@autotest`` runs on, without an environment variable and without OneFlow. `quick`
stores findings in the test's own folder, and omits the steps that take seconds.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from _pytest import pytester

if TYPE_CHECKING:
    from tests.support.warm import WarmProcess

#: For the tests of the pytest plugin. Only a top-level conftest may name plugins.
pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]


def pytest_configure() -> None:
    """Prepare for the hundreds of processes that tests start.

    Ctrl-C must work in them: a process in the background of a shell ignores it by default. NumPy's OpenBLAS must not
    start threads in them, which takes as long as the rest of NumPy's import; nothing here multiplies large matrices.
    OneFlow's hwloc must not read the configuration of all PCI devices whenever it starts, each by a trap into the host
    of a virtual machine: nothing here asks how far away a GPU is.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("HWLOC_COMPONENTS", "-pci,-linuxio")
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Use the scheduler that gives each worker consecutive tests, and an idle worker half of what another has left.

    Consecutive tests share fixtures of modules. By default workers get small chunks, and all tests of a cluster, which
    take minutes, would be one chunk of one worker.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def _marks_slow(file: Path) -> bool:
    return "mark.slow" in file.read_text(encoding="utf-8")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """If only slow tests run, do not import the many files without one, which takes seconds in each worker."""
    only_slow = config.getoption("markexpr") == "slow" and collection_path.match("test_*.py")
    return True if only_slow and not _marks_slow(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Raise if a slow test would never run, because its file does not show that it has one."""
    for file in {item.path for item in items if item.get_closest_marker("slow") is not None}:
        if not _marks_slow(file):
            raise pytest.UsageError(f"{file}: a file of slow tests must contain the text `mark.slow`")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Turn the garbage collector off during the imports, and ignore imported objects later: a million objects stay.

    Later, it runs after so many new objects as a trial makes: after the usual 700, it takes a twentieth of a diagnosis.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Raise the warnings of a test after it. Inside of a trial they are not raised: an error would be a refusal."""
    with warnings.catch_warnings(record=True) as shown:
        result = yield
    for one in shown:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return result


@pytest.fixture(scope="session", autouse=True)
def _loaded_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let pytester unload only the modules of the inner run: objects of a module that is loaded twice do not pickle."""
    made = str(tmp_path_factory.getbasetemp())

    def stays(name: str) -> bool:
        return not (getattr(sys.modules[name], "__file__", None) or "").startswith(made)

    snapshot = pytester.SysModulesSnapshot
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pytester, "SysModulesSnapshot", lambda preserve=None: snapshot(stays))
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Let torch compute with one thread. Processes that tests start use as many threads as those of users.

    On small tensors, torch's threads only slow each other down: they wait for each other in a busy loop while another
    pytest worker needs the core. torch is not imported before: a command that only collects these tests needs a second
    less without it.
    """
    import torch

    gc.freeze()  # as after the collection
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Seed all random number generators before each test, so that a failure does not depend on the tests before."""
    import torch

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 -- the global state is what a test may meet
    torch.default_generator.manual_seed(0)  # `torch.manual_seed` takes milliseconds


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Disable verification, shrinking and the settings of the outer run; return the folder of stored findings."""
    for name in ("SEED", "TRIAL", "N", "PROFILE", "REFERENCE", "CANDIDATE"):
        monkeypatch.delenv(f"AUTOTEST_{name}", raising=False)
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")
    return tmp_path / "kept"


@pytest.fixture
def against(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """Return ``against(candidate, reference)``, which sets the pair until the test ends; both are torch by default."""
    from autotest.frameworks import Framework, Pair, registry
    from autotest.frameworks.torch import TorchFramework

    def choose(candidate: Framework | None = None, reference: Framework | None = None) -> Pair:
        pair = Pair(reference or TorchFramework(), candidate or TorchFramework())
        monkeypatch.setattr(registry, "pair", lambda reference, candidate: pair)
        return pair

    return choose


@pytest.fixture(scope="session")
def warm_process() -> Iterator[WarmProcess]:
    """Return the process with torch whose forks run what tests would start interpreters for."""
    from tests.support.warm import WarmProcess

    with contextlib.closing(WarmProcess()) as made:
        yield made


@pytest.fixture
def warm(warm_process: WarmProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start the test's process servers, and run the scripts that it verifies, in forks of a process with torch."""
    with warm_process.replacing(monkeypatch):
        yield


@pytest.fixture
def warm_peers(warm_process: WarmProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve the test's candidates in other interpreters by forks of a process with torch."""
    with warm_process.replacing_interpreters(monkeypatch):
        yield


@pytest.fixture
def run_module(warm_process: WarmProcess, importable_elsewhere: None) -> Callable[..., pytest.RunResult]:
    """Return ``run_module(name, *arguments)``, which does ``python -m`` in a fork of a process with torch, and waits.

    It runs in the working directory. Keyword arguments are environment variables.
    """

    def run(*arguments: object, **environment: str) -> pytest.RunResult:
        return warm_process.result([*map(str, arguments)], Path.cwd(), environment)

    return run


@pytest.fixture
def importable_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that this test starts import the library and `tests.support` from this checkout."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
