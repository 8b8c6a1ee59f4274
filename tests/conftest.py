"""Fixtures that several folders of tests use.

`against` chooses the pair that ``@autotest`` runs on, without an environment variable and without OneFlow; `quick`
keeps findings in the test's own folder and leaves out what takes seconds.
"""

from __future__ import annotations

import gc
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from _pytest import pytester

#: For the tests of the pytest plugin. Only a conftest that is loaded at the start may name plugins.
pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]

# Tests run on small tensors, where torch's own threads only stand in each other's way, and wait for each other at full
# speed where another worker has the other core. What tests start as processes of their own has threads as users have.
torch.set_num_threads(1)


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start: a shell has what it runs in the background ignore it, and all below that."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker neighbours, which share fixtures of modules, and who is done the half of what another has left.

    By default workers get chunks: the tests of a cluster are one chunk, and minutes of one worker.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while modules are imported, nor in them later: they are a million objects that stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Raise what was only shown: inside of trials a warning is no error, so that it is no refusal; here it is one."""
    with warnings.catch_warnings(record=True) as shown:
        result = yield
    for one in shown:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return result


@pytest.fixture(scope="session", autouse=True)
def _loaded_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let pytester forget the inner run's own modules only: what is loaded twice is not itself, so pickle says."""
    made = str(tmp_path_factory.getbasetemp())

    def stays(name: str) -> bool:
        return not (getattr(sys.modules[name], "__file__", None) or "").startswith(made)

    snapshot = pytester.SysModulesSnapshot
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pytester, "SysModulesSnapshot", lambda preserve=None: snapshot(stays))
        yield


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """Begin each test with the same random numbers, whatever ran before it: what fails once fails again."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 -- the global state is what a test may meet
    torch.default_generator.manual_seed(0)  # torch.manual_seed notes the stack for each accelerator: ms a test


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No verification, no shrinking, no settings of the outer run; returns the folder where findings are kept."""
    for name in ("SEED", "TRIAL", "N", "PROFILE", "REFERENCE", "CANDIDATE"):
        monkeypatch.delenv(f"AUTOTEST_{name}", raising=False)
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")
    return tmp_path / "kept"


@pytest.fixture
def against(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """``against(candidate, reference)``: the pair of everything dual until the test ends; torch where left out."""
    from autotest.frameworks import Framework, Pair, registry
    from autotest.frameworks.torch import TorchFramework

    def choose(candidate: Framework | None = None, reference: Framework | None = None) -> Pair:
        pair = Pair(reference or TorchFramework(), candidate or TorchFramework())
        monkeypatch.setattr(registry, "pair", lambda reference, candidate: pair)
        return pair

    return choose


@pytest.fixture
def importable_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that this test starts import the library and `tests.support` from this checkout."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
