"""Whether a candidate's graph mode agrees with its eager mode on recorded programs.

Enter the records of trials that found nothing; leave, for each, mismatches and what was left out and why. All programs
go into one graph, since building one costs more than what is in it; only when that one fails or disagrees is each
program built on its own, to tell which it was.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from autotest.comparison import Mismatch, TensorValue, compare_values
from autotest.emission import names
from autotest.program import operator_of
from autotest.record import Record
from autotest.settings import Settings
from autotest.staging import CannotStage, Result, Stage, stage

#: How many programs are worth one graph: so many cost about what seven cost alone.
AT_ONCE = 32
#: In how many programs of one graph gradients are looked at too: building each costs as much as several without.
GRADIENTS = 2
#: Parameters are read as they are after a step, so that their gradients carry the rounding of their values.
_STEP_ROUNDING = 1e-6


@dataclasses.dataclass(slots=True)
class GraphReport:
    """What came of it. `mismatches[i]` belongs to record i."""

    mismatches: list[list[Mismatch]]
    left_out: collections.Counter[str]
    #: How many tensors and gradients were compared.
    compared: int = 0


class _GraphRefused(Exception):
    """The framework could not build or run a graph. A mistake of this library's is never taken for that."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Disagreement(NamedTuple):
    stage: Stage
    mismatch: Mismatch


def check(records: Sequence[Record], settings: Settings) -> GraphReport:
    """Compare graph mode with eager mode; raises nothing of its own."""
    report = GraphReport([[] for _ in records], collections.Counter())
    stages: list[tuple[int, Stage]] = []
    for index, record in enumerate(records):
        try:
            stages.append((index, stage(record, backward=_with_gradients(stages) < GRADIENTS)))
        except CannotStage as reason:  # noqa: PERF203 - each program has its own reason
            report.left_out[str(reason)] += 1
    if not stages:
        return report
    together = _run([staged for _, staged in stages], settings, report)
    if together is not None and not together:
        return report
    report.compared = 0
    for index, _ in stages:
        report.mismatches[index] = _alone(records[index], settings, report)
    return report


def _with_gradients(stages: Sequence[tuple[int, Stage]]) -> int:
    return sum(bool(staged.leaves or staged.trained) for _, staged in stages)


def _alone(record: Record, settings: Settings, report: GraphReport) -> list[Mismatch]:
    """One program in a graph of its own: with gradients, and if that cannot be, without."""
    staged = stage(record)
    try:
        return [found.mismatch for found in _run_raising([staged], settings, report)]
    except _GraphRefused as refused:
        if not (staged.leaves or staged.trained):
            return [_failed(staged, refused.error)]
    staged = stage(record, backward=False)
    try:
        found = _run_raising([staged], settings, report)
    except _GraphRefused as refused:
        return [_failed(staged, refused.error)]
    report.left_out["backward, which its graph mode refuses"] += 1
    return [item.mismatch for item in found]


def _run(stages: list[Stage], settings: Settings, report: GraphReport) -> list[_Disagreement] | None:
    try:
        return _run_raising(stages, settings, report)
    except _GraphRefused:  # each is tried alone, and told then
        return None


def _run_raising(stages: list[Stage], settings: Settings, report: GraphReport) -> list[_Disagreement]:
    framework = stages[0].framework
    modules = [_distinct(staged) for staged in stages]

    def build(inputs: list[Any], leaves: list[Any], held: list[Any]) -> tuple[list[Any], Any]:
        outputs: list[Any] = []
        total: Any = None
        for staged, own in zip(stages, modules, strict=True):
            part, loss = staged.build(
                _take(inputs, len(staged.inputs)),
                _take(leaves, len(staged.leaves)),
                _spread(staged, own, _take(held, len(own))),
            )
            outputs += part
            if loss is not None:
                total = loss if total is None else total + loss
        return outputs, total

    try:
        graphed = framework.run_in_graph(
            build,
            [tensor for staged in stages for tensor in staged.inputs.values()],
            [tensor for staged in stages for tensor in staged.leaves.values()],
            [module for own in modules for module in own],
            [parameter for staged in stages for _, _, parameter, _ in staged.trained],
        )
        # Read within: what an asynchronous framework failed with shows only now.
        rest = (framework.values(graphed.outputs), framework.values(graphed.leaves), framework.values(graphed.trained))
    except Exception as error:  # whatever the graph raises is what we are here for
        raise _GraphRefused(error) from error
    found: list[_Disagreement] = []
    for staged in stages:
        outputs = _take(rest[0], len(staged.results))
        leaves = _take(rest[1], len(staged.leaves))
        trained = _take(rest[2], len(staged.trained))
        found += [_Disagreement(staged, item) for item in _compare(staged, outputs, leaves, trained, settings, report)]
        report.left_out.update(staged.left_out)
    return found


def _compare(
    staged: Stage,
    outputs: list[TensorValue],
    leaves: list[TensorValue],
    trained: list[TensorValue],
    settings: Settings,
    report: GraphReport,
) -> list[Mismatch]:
    framework, record = staged.framework, staged.record
    eager = [result.eager for result in staged.results]
    eager += [framework.gradient(record.actual[slot]) for slot in staged.leaves]
    eager += [gradient for *_, gradient in staged.trained]
    expected = framework.values(eager)
    actual = [*outputs, *leaves, *trained]
    report.compared += len(expected)
    own = names(record.snapshot())
    places: list[tuple[str, int]] = [(own[result.slot] + _suffix(result), result.slot) for result in staged.results]
    places += [(f"{own[slot]}.grad", slot) for slot in staged.leaves]
    places += [(f"{own[slot]}.{name}.grad", slot) for slot, name, *_ in staged.trained]
    found: list[Mismatch] = []
    sides = (f"{framework.name} eager", f"{framework.name} {framework.graph_mode}")
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        name, slot = places[index]
        gradient = index >= len(staged.results)
        tolerance = settings.tolerance
        if gradient:
            rtol, atol = tolerance.of(one.dtype)
            tolerance = dataclasses.replace(tolerance, rtol=rtol, atol=atol + _STEP_ROUNDING)
        for item in compare_values(
            name,
            slot,
            "backward" if gradient else "forward",
            one,
            # Whether a result of a graph requires grad is not told outside of it.
            TensorValue(other.data, other.dtype, other.device, one.requires_grad),
            tolerance,
            check_dtype=True,
            check_values=settings.check_allclose,
            defined=not (record.backward_undefined if gradient else record.is_undefined(slot)),
            sides=sides,
        ):
            operator = operator_of(record.calls, slot)
            message = f"{operator}: {framework.graph_mode} disagrees with eager: {item.message}"
            found.append(dataclasses.replace(item, symptom="graph", stage="replay", message=message))
    return found


def _suffix(result: Result) -> str:
    return "".join(f"[{index}]" for index in result.path)


def _failed(staged: Stage, error: Exception) -> Mismatch:
    framework, at = staged.framework, max(staged.at, 0)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("File ", "at "))] or [""]
    name = operator_of(staged.record.calls, at)
    message = (
        f"{name}: {framework.name} accepts it in eager mode, {framework.graph_mode} raised {type(error).__name__}: "
        f"{telling[0][:300]}"
    )
    return Mismatch(name, at, "graph", "replay", "candidate", message)


def _distinct(staged: Stage) -> list[Any]:
    """Its modules, each once."""
    return [*{id(module): module for module in staged.modules.values()}.values()]


def _spread(staged: Stage, own: list[Any], held: list[Any]) -> list[Any]:
    """What stands for each slot that holds a module."""
    by_id = {id(module): given for module, given in zip(own, held, strict=True)}
    return [by_id[id(module)] for module in staged.modules.values()]


def _take(items: list[Any], count: int) -> list[Any]:
    """The first `count` of `items`, which loses them."""
    taken = items[:count]
    del items[:count]
    return taken


__all__ = ["GraphReport", "check"]
