"""torch whose operators kill or block the process: faults that no `except` catches.

A factory each for ``AUTOTEST_CANDIDATE=tests.support.deadly:six``. Must only run in processes that may be lost.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.faulty import FaultyTorch, plus


def _segfault() -> None:
    ctypes.string_at(0)


def _trap() -> None:
    os.kill(os.getpid(), signal.SIGFPE)


def _wait() -> None:
    while True:
        time.sleep(1.0)


def _allocate() -> None:
    import torch

    torch.empty(1 << 40, dtype=torch.uint8).fill_(1)


def _exit() -> None:
    os._exit(3)


def six() -> FaultyTorch:
    """Six operators die, each in a way of its own."""
    ways: dict[str, Callable[[], None]] = {
        "sinh": _segfault,
        "cosh": os.abort,
        "tan": _trap,
        "atan": _wait,
        "asinh": _allocate,
        "erf": _exit,
    }
    return FaultyTorch({name: _first(way) for name, way in ways.items()}, origin=f"{__name__}:six")


def waiting() -> FaultyTorch:
    """One operator never answers."""
    return FaultyTorch({"sinh": _first(_wait)}, origin=f"{__name__}:waiting")


def _mixed() -> dict[str, Callable[[Any], Any]]:
    return {"relu": plus(1.0), "sinh": _first(_segfault), "erf": _first(_exit)}


def mixed() -> FaultyTorch:
    """One operator is wrong, and two die."""
    return FaultyTorch(_mixed(), origin=f"{__name__}:mixed")


class _Unhurried(FaultyTorch):
    """Waits before it makes a tensor."""

    def tensor(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(0.005)
        return super().tensor(*args, **kwargs)


def unhurried() -> FaultyTorch:
    """As `mixed`, for campaigns that go on until they are killed: they burn no core meanwhile."""
    return _Unhurried(_mixed(), origin=f"{__name__}:unhurried")


class _Released(FaultyTorch):
    """The version that TESTS_RELEASE names."""

    @property
    def version(self) -> str:
        return os.environ.get("TESTS_RELEASE", "1")


def released() -> FaultyTorch:
    """One operator is wrong in every version, and another one before version 2."""
    wrong = ("tanh",) if os.environ.get("TESTS_RELEASE") == "2" else ("tanh", "relu")
    return _Released({name: plus(1.0) for name in wrong}, origin=f"{__name__}:released")


def _first(deed: Callable[[], None]) -> Callable[[Any], Any]:
    def replacement(original: Any) -> Any:
        def deadly(*args: Any, **kwargs: Any) -> Any:
            deed()
            return original(*args, **kwargs)

        return deadly

    return replacement


def _every_25th() -> None:
    """Abort in every 25th call that the processes make together, as a race does now and then."""
    with Path(os.environ["TESTS_CALLS"]).open("ab", buffering=0) as file:
        file.write(b".")
        if file.tell() % 25 == 0:
            os.abort()


def _of_a_line(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def deadly(x: Any) -> Any:
        if x.dim() == 1:
            os.abort()
        return original(x)

    return deadly


def flat() -> FaultyTorch:
    """One operator dies of tensors of one dimension."""
    return FaultyTorch({"relu": _of_a_line}, origin=f"{__name__}:flat")


def seldom() -> FaultyTorch:
    """One operator dies now and then, whatever it is given."""
    return FaultyTorch({"sinh": _first(_every_25th)}, origin=f"{__name__}:seldom")


class _Mined(FaultyTorch):
    """Dies of `sinh` in a process that has called `cosh`."""

    def __init__(self) -> None:
        self._mined = False
        super().__init__({"cosh": self._mining, "sinh": _first(self._step)}, origin=f"{__name__}:mined")

    def _mining(self, cosh: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(x: Any) -> Any:
            self._mined = True
            return cosh(x)

        return replacement

    def _step(self) -> None:
        if self._mined:
            os.abort()


def mined() -> FaultyTorch:
    """One operator dies of what another one has left in the process."""
    return _Mined()


class _Lacking(FaultyTorch):
    """Dies of `sinh`; in a fork of a process that has called `cosh` it waits for a thread of that process instead."""

    def __init__(self) -> None:
        self._started = 0
        super().__init__({"cosh": self._starting, "sinh": _first(self._step)}, origin=f"{__name__}:lacking")

    def _starting(self, cosh: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(x: Any) -> Any:
            self._started = os.getpid()
            return cosh(x)

        return replacement

    def _step(self) -> None:
        while self._started not in (0, os.getpid()):
            time.sleep(1.0)
        os.abort()


def lacking() -> FaultyTorch:
    """One operator dies, for which a fork lacks something."""
    return _Lacking()


class _AtHome(FaultyTorch):
    """`relu` is wrong in any process but the one that made it, as what needs that one's threads may be."""

    def __init__(self) -> None:
        home = os.getpid()
        super().__init__({"nn.functional.relu": lambda relu: lambda x, **given: relu(x) + (os.getpid() != home)})


def at_home() -> FaultyTorch:
    """One operator does not work in forks."""
    return _AtHome()


class _Late(FaultyTorch):
    """Works later than it is asked to, as OneFlow does: the process dies of `sinh` when somebody waits for it."""

    asynchronous = True

    def __init__(self) -> None:
        self._doomed = False
        super().__init__({"sinh": self._dooming}, origin=f"{__name__}:late")

    def _dooming(self, sinh: Callable[..., Any]) -> Callable[..., Any]:
        def replacement(x: Any) -> Any:
            self._doomed = True
            return sinh(x)

        return replacement

    def synchronize(self) -> None:
        if self._doomed:
            os.abort()


def late() -> FaultyTorch:
    """One operator dies, some calls after it was called."""
    return _Late()
