"""`@profile`: times both frameworks on a test's calls of one operator, forward and backward.

==============================  ======================================================================
``ONEFLOW_PROFILE_WARMUP_NUM``  calls before the first that is timed; 10
``ONEFLOW_PROFILE_RUN_NUM``     timed calls of each; 1000
==============================  ======================================================================
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import statistics
import sys
import timeit
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from autotest.base.errors import UsageError
from autotest.frameworks import Framework
from autotest.oneflow.framework_pair import style_pair
from autotest.recording.dual import DualObject, Symbol
from autotest.recording.lowering import lower
from autotest.recording.recorder import Recorder, recording

F = TypeVar("F", bound=Callable[..., Any])
#: The frameworks that are timed.
profiled_framework: tuple[str, ...] = ("oneflow", "pytorch")


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """One call of the operator. Times are medians in microseconds; None if not timed or if it has no gradient."""

    operator: str
    arguments: str
    description: str
    #: ``"cpu, 1 thread"``, ``"cuda"``
    device: str
    forward: dict[str, float | None]
    backward: dict[str, float | None]


@dataclasses.dataclass(slots=True)
class _Profile:
    """The settings of a profiled test, and its timings so far."""

    operator: Any
    warmup: int
    runs: int
    timings: list[Timing]


_hook: ContextVar[Callable[[Sequence[Timing]], Any] | None] = ContextVar("autotest_profiler_hook", default=None)


#: Device types, each with a number of threads for CPU.
_hardware: ContextVar[Sequence[tuple[str, int | None]]] = ContextVar(
    "autotest_profiler_hardware", default=(("cpu", 1), ("cuda", None))
)


def set_hardware_info_list(hardware_info_list: Sequence[tuple[str, int | None]]) -> None:
    """Set the devices to time on in this context; those that a framework cannot use here are skipped."""
    _hardware.set(tuple(hardware_info_list))


def set_profiler_hook(hook: Callable[[Sequence[Timing]], Any] | None) -> None:
    """Pass the timings of each profiled test in this context to `hook` instead of printing them; None prints again."""
    _hook.set(hook)


def profile(op: DualObject, *, warmup: int | None = None, runs: int | None = None) -> Callable[[F], F]:
    """Time every call of `op` that the decorated test makes, on both frameworks, and print a table of them.

    Args:
        op: a function of the dual torch, such as ``torch.add``. Other spellings of it, such as methods, are not timed.
        warmup, runs: calls before and during the timing; if None, from the environment, by default 10 and 1000.

    Raises:
        UsageError: if `op` is not such a function, or if the test did not call it.
    """
    if not isinstance(op, Symbol):
        raise UsageError(f"profile({op!r:.60}): expected a function of the dual torch, such as profile(torch.add)")
    warmup = _count("ONEFLOW_PROFILE_WARMUP_NUM", 10) if warmup is None else warmup
    runs = _count("ONEFLOW_PROFILE_RUN_NUM", 1000) if runs is None else runs

    def decorator(function: F) -> F:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            asked = _Profile(op, warmup, runs, [])
            with recording(_Profiler(asked)):
                function(*args, **kwargs)
            if not asked.timings:
                raise UsageError(f"{function.__qualname__} must call torch.{op._path} to profile it, but did not")
            hook = _hook.get()
            if hook is None:
                sys.stdout.write(table(asked.timings))
            else:
                hook(asked.timings)

        return run  # type: ignore[return-value]

    return decorator


class _Profiler(Recorder):
    """A recorder that times the calls of one operator."""

    __slots__ = ("asked",)

    def __init__(self, asked: _Profile) -> None:
        super().__init__(style_pair())
        self.asked = asked

    def call(self, kind: Any, target: str, args: Any, kwargs: Any, owner: Any = None) -> int:
        if target != self.asked.operator._path or kind != "function":
            return super().call(kind, target, args, kwargs, owner)
        kwargs = dict(kwargs)
        description = kwargs.pop("profile_description", "")
        slot = super().call(kind, target, args, kwargs, owner)
        functions = self.pair.operation(kind, target)
        lowered = [lower(self, item, lambda: None) for item in args]
        named = {key: lower(self, item, lambda: None) for key, item in kwargs.items()}
        shown = ", ".join(
            [*(_shown(item[0]) for item in lowered), *(f"{key}={_shown(item[0])}" for key, item in named.items())]
        )
        for device, threads in _hardware.get():
            if device not in self.pair.devices:
                continue
            where = device if threads is None else f"{device}, {threads} thread{'s' * (threads != 1)}"
            timing = Timing(f"torch.{target}", shown, str(description), where, {}, {})
            for side, framework in enumerate(self.pair.frameworks):
                if framework.alias in profiled_framework:
                    positional = [_on(framework, item[side], device) for item in lowered]
                    keyword = {key: _on(framework, item[side], device) for key, item in named.items()}
                    call = functools.partial(functions[side], *positional, **keyword)
                    with _threads(framework, threads):
                        timing.forward[framework.alias] = self._time(framework, call)
                        timing.backward[framework.alias] = self._time_backward(framework, call)
            self.asked.timings.append(timing)
        return slot

    def _time(self, framework: Framework, call: Callable[[], Any]) -> float:
        """Return the median microseconds of a call, from `runs` calls in up to ten groups."""
        groups = min(10, self.asked.runs)
        each = max(1, self.asked.runs // groups)

        def several() -> None:
            for _ in range(each):
                call()
            framework.synchronize()

        for _ in range(self.asked.warmup):
            call()
        framework.synchronize()
        return statistics.median(timeit.repeat(several, number=1, repeat=groups)) / each * 1e6

    def _time_backward(self, framework: Framework, call: Callable[[], Any]) -> float | None:
        """Return the same for pushing ones back through the result, whose graph is kept; None if it has no graph."""
        result = call()
        while isinstance(result, (tuple, list)):
            result = result[0]
        if not (isinstance(result, framework.tensor_types) and framework.can_backpropagate(result)):
            return None
        ones = framework.resolve("ones_like")(result)
        return self._time(framework, functools.partial(result.backward, ones, retain_graph=True))


def profile_dual_object(op: DualObject) -> Callable[..., Any]:
    """Return a function that calls `op` and times it, and prints one table for each call."""

    def profiled(*args: Any, **kwargs: Any) -> Any:
        results: list[Any] = []
        profile(op)(lambda: results.append(op(*args, **kwargs)))()  # type: ignore[operator]
        return results[0]

    return profiled


def table(timings: Sequence[Timing]) -> str:
    """Return `timings` as lines of text, one line for each call, in microseconds."""
    head = (
        "operator",
        "arguments",
        "device",
        "fwd torch us",
        "fwd oneflow us",
        "bwd torch us",
        "bwd oneflow us",
        "note",
    )
    rows = [head, *(tuple(_row(timing)) for timing in timings)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    numeric = range(3, 7)
    lines = [
        "  ".join(
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], ""])


def _row(timing: Timing) -> Iterator[str]:
    yield timing.operator
    yield timing.arguments
    yield timing.device
    for times in (timing.forward, timing.backward):
        for side in ("pytorch", "oneflow"):
            time = times.get(side)
            yield "-" if time is None else f"{time:.1f}"
    yield timing.description


@contextlib.contextmanager
def _threads(framework: Framework, count: int | None) -> Iterator[None]:
    """Let `framework` use `count` threads inside of the block.

    Afterwards it uses as many as before, if it can report that number (torch).
    """
    if count is None:
        yield
        return
    try:
        before = framework.resolve("get_num_threads")()
    except AttributeError:
        before = None
    framework.resolve("set_num_threads")(count)
    try:
        yield
    finally:
        if before is not None:
            framework.resolve("set_num_threads")(before)


def _on(framework: Framework, value: Any, device: str) -> Any:
    moves = device != "cpu" and isinstance(value, framework.tensor_types)
    return value.to(device) if moves else value


def _shown(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return repr(value) if shape is None else f"{str(value.dtype).rpartition('.')[2]}{[*shape]}"


def _count(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{name}={text!r}: expected a whole number, at least 1")
    return int(text)


__all__ = ["profile", "profile_dual_object", "profiled_framework", "set_hardware_info_list", "set_profiler_hook"]
