"""Runs a recorded program again on one framework."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from autotest.frameworks import Framework, Pair, files
from autotest.frameworks.recorded_calls import run_call
from autotest.program import Call, Program, Ref
from autotest.program.semantics import left_for_good

#: The slot of a result and the rest of its path: ``(3, "[1]")``, ``(0, ".grad")``, ``(2, ".weight.grad")``.
Place: TypeAlias = tuple[int, str]


@dataclasses.dataclass(slots=True)
class Replayed:
    """Result of a replay: `values[slot]` for each call that ran."""

    framework: Framework
    values: list[Any]
    #: The exception of call `failed_at`, or None.
    error: Exception | None = None
    failed_at: int | None = None


def replay(
    program: Program,
    framework: Framework,
    *,
    between_calls: Callable[[int, list[Any]], None] | None = None,
    upto: int | None = None,
) -> Replayed:
    """Run `program` on `framework`.

    Args:
        program: the program to run.
        framework: the framework to run it on.
        between_calls: called before each call and at the end, with the number of calls that have run and their live
            results.
        upto: run only the calls below this slot.

    Returns:
        The results. An exception of the framework ends the replay and is returned, never raised.
    """
    result = Replayed(framework, [])
    with Contexts(program.calls, framework) as contexts:
        for call in program.calls[:upto]:
            if between_calls is not None:
                between_calls(len(result.values), result.values)
            try:
                result.values.append(run_call(call, framework, result.values, program.arrays))
                contexts.note(framework, call, result.values)
            except Exception as error:  # noqa: BLE001 - the framework's, whatever it is
                result.error, result.failed_at = error, call.slot
                break
    try:
        failed = framework.first_failure(result.values)
    except Exception as error:  # noqa: BLE001 - it died, of whichever call
        failed = max(len(result.values) - 1, 0), error
    if failed is not None:
        result.failed_at, result.error = failed
        del result.values[failed[0] :]
    if between_calls is not None and result.error is None:
        between_calls(len(result.values), result.values)
    return result


def seeded_replay(
    program: Program, framework: Framework, between_calls: Callable[[int, list[Any]], None] | None = None
) -> Replayed:
    """Run `program` as `replay` does; if results of it are undefined, from the same random numbers each time."""
    if program.undefined:
        framework.seed(0)
    return replay(program, framework, between_calls=between_calls)


def call_both(
    call: Call, pair: Pair, values: tuple[list[Any], list[Any]], program: Program, contexts: Contexts
) -> None:
    """Make `call` of `program` on both sides, and append its results to their `values`.

    Contexts are left in the opposite order: the sides may be one framework. Raises what a framework raises.
    """
    sides = list(zip(pair.frameworks, values, strict=True))
    for side, held in reversed(sides) if call.kind == "exit" else sides:
        held.append(run_call(call, side, held, program.arrays))
        contexts.note(side, call, held)


class Contexts:
    """Context manager that undoes the global effects of programs on `frameworks` at its end.

    It exits the contexts that are still entered, last first, restores the modes of the process, and removes saved
    files. A program may end inside a context: it was cut short, it was shrunk, or the framework refused a call.

    Args:
        calls: the calls of the programs.
        frameworks: the frameworks that they run on.
    """

    def __init__(self, calls: Sequence[Call], *frameworks: Framework) -> None:
        self._calls = calls
        self._modes = [(framework, framework.modes()) for framework in frameworks]
        self._entered: list[tuple[Framework, list[Any], int]] = []
        self._saved: list[Framework] = []

    def note(self, framework: Framework, call: Call, values: list[Any]) -> None:
        """Note that `call` was made on `framework`, with results in `values`, and drop a context that it left."""
        if call.kind == "function" and call.target == files.SAVES:
            self._saved.append(framework)
        if call.kind in ("enter", "exit") and type(call.args[0]) is Ref:
            slot = call.args[0].slot
            if call.kind == "enter":
                self._entered.append((framework, values, slot))
            else:
                self._entered = [entry for entry in self._entered if entry[1] is not values or entry[2] != slot]
        left = left_for_good(self._calls, call)
        if left is not None:
            # A `with` statement drops its context manager, and OneFlow's no_grad ends only when it is destroyed.
            values[left] = None

    def __enter__(self) -> Contexts:
        return self

    def __exit__(self, *details: object) -> None:
        for framework, values, slot in reversed(self._entered):
            with contextlib.suppress(Exception):
                framework.invoke("exit", "", (values[slot],), {})
            values[slot] = None
        for framework, modes in self._modes:
            framework.restore(modes)
        for framework in self._saved:
            files.remove(framework)
