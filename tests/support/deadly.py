"""torch whose operators kill or block the process: faults that no `except` catches.

Each fault has a factory, for example ``AUTOTEST_CANDIDATE=tests.support.deadly:six``. Run them only in processes that
may be lost.
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
    """Return torch with six operators that kill or block the process, each in a different way."""
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
    """Return torch with one operator that never returns."""
    return FaultyTorch({"sinh": _first(_wait)}, origin=f"{__name__}:waiting")


def _mixed() -> dict[str, Callable[[Any], Any]]:
    return {"relu": plus(1.0), "sinh": _first(_segfault), "erf": _first(_exit)}


def mixed() -> FaultyTorch:
    """Return torch with one operator that is wrong, and two that kill the process."""
    return FaultyTorch(_mixed(), origin=f"{__name__}:mixed")


class _Unhurried(FaultyTorch):
    """torch that waits before it creates a tensor."""

    def tensor(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(0.005)
        return super().tensor(*args, **kwargs)


def unhurried() -> FaultyTorch:
    """Return the same as `mixed`, but slow, so that campaigns that run until they are killed do not occupy a core."""
    return _Unhurried(_mixed(), origin=f"{__name__}:unhurried")


class _Released(FaultyTorch):
    """torch with the version number that the environment variable TESTS_RELEASE gives."""

    @property
    def version(self) -> str:
        return os.environ.get("TESTS_RELEASE", "1")


def released() -> FaultyTorch:
    """Return torch with one operator that is wrong in every version, and one that is wrong before version 2."""
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
    """Abort in every 25th call over all processes, to imitate an occasional race."""
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
    """Return torch with one operator that kills the process if its tensor has one dimension."""
    return FaultyTorch({"relu": _of_a_line}, origin=f"{__name__}:flat")


def seldom() -> FaultyTorch:
    """Return torch with one operator that occasionally kills the process, whatever its arguments are."""
    return FaultyTorch({"sinh": _first(_every_25th)}, origin=f"{__name__}:seldom")


class _Aging(FaultyTorch):
    """torch whose `sinh` kills each process some time: the first one in its fifth call there, later ones later.

    Of later processes, five trials with one call each kill none, and twenty kill three of four. So a trial that killed
    the first process dies again if it is run often, and not because of the trials before it, in whatever order
    processes run.
    """

    def __init__(self) -> None:
        self._process, self._calls, self._last = 0, 0, 0
        super().__init__({"sinh": _first(self._step)}, origin=f"{__name__}:aging")

    def _step(self) -> None:
        if os.getpid() != self._process:
            self._process, self._calls = os.getpid(), 0
            with Path(os.environ["TESTS_CALLS"]).open("ab", buffering=0) as file:
                file.write(b".")  # one for each process
                number = file.tell()
            self._last = 5 if number == 1 else (8, 12, 16, 21)[number % 4]
        self._calls += 1
        if self._calls == self._last:
            os.abort()


def aging() -> FaultyTorch:
    """Return torch with one operator that kills most processes that call it often, whatever its arguments are."""
    return _Aging()


class _Mined(FaultyTorch):
    """torch whose `sinh` kills the process if the process has called `cosh` before."""

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
    """Return torch with one operator that kills the process because of state that another operator has left."""
    return _Mined()


class _Lacking(FaultyTorch):
    """torch whose `sinh` kills the process. It hangs in a fork of a process that has called `cosh`.

    It imitates an operator that waits in the fork for a thread of the forked process.
    """

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
    """Return torch with one operator that kills the process but hangs in a fork, as if a thread were missing."""
    return _Lacking()


class _AtHome(FaultyTorch):
    """torch whose `relu` is wrong in other processes than the one that created it, as if it needed their threads."""

    def __init__(self) -> None:
        home = os.getpid()
        super().__init__({"nn.functional.relu": lambda relu: lambda x, **given: relu(x) + (os.getpid() != home)})


def at_home() -> FaultyTorch:
    """Return torch with one operator that is wrong in forks."""
    return _AtHome()


class _Late(FaultyTorch):
    """torch that works asynchronously, as OneFlow does: `sinh` kills the process at the next `synchronize`."""

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
    """Return torch with one operator that kills the process some calls after its own call."""
    return _Late()
