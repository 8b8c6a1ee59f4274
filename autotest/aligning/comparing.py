"""Compares the runs of two aligned models, module by module in the order of execution."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from autotest.aligning.matching import Match
from autotest.aligning.port import Port
from autotest.aligning.running import ModuleCall, TrainingStep
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, Mismatch, Stage, TensorValue, compare_values
from autotest.comparison.ratio import over_tolerance
from autotest.program.paths import gradient_of
from autotest.results.layers import Layer

#: A value that is compared: its name, and its number among the values of that name, as a module may be called twice.
NumberedName: TypeAlias = tuple[str, int]
#: The values that differ, the reference's and the candidate's.
Differing: TypeAlias = Mapping[NumberedName, tuple[Any, Any]]

_LOSS = "the loss"


@dataclasses.dataclass(frozen=True, slots=True)
class StepComparison:
    """The mismatches of one step, in order: outputs of modules, gradients, then parameters and buffers."""

    mismatches: tuple[Mismatch, ...]
    layers: tuple[Layer, ...]
    differing: Differing
    #: Path of the module where the first mismatch begins, and the index of its call; "" if it begins in no module.
    path: str = ""
    call: int | None = None
    stage: Stage = "forward"
    #: The reference's calls in which gradients may go wrong, the likeliest first.
    suspects: tuple[ModuleCall, ...] = ()


def compare_step(own: TrainingStep, other: TrainingStep, port: Port, tolerance: Tolerance) -> StepComparison:
    """Compare one step of the reference with the same step of the candidate."""
    matches, paths = port.matches.pairs, port.paths
    pairs = [*_paired(own.calls, other.calls, paths)]

    differing: dict[NumberedName, tuple[Any, Any]] = {}
    times: Counter[str] = Counter()

    def unlike(name: str, stage: Stage, expected: Any, actual: Any) -> Sequence[Mismatch]:
        found = compare_values(name, expected, actual, Comparison(stage, tolerance, sides=port.pair.sides))
        times[name] += 1
        if found:
            differing[name, times[name]] = expected, actual
        return found

    def outputs_differ(mine: ModuleCall, theirs: ModuleCall) -> list[Mismatch]:
        if len(mine.outputs) != len(theirs.outputs):
            return [*unlike(_output_name(mine), "forward", mine.outputs, theirs.outputs)]
        pairs = zip(_outputs(mine), theirs.outputs, strict=True)
        return [item for (name, one), other in pairs for item in unlike(name, "forward", one, other)]

    forward: list[Mismatch] = []
    begins: tuple[str, int | None] | None = None
    rows: dict[str, tuple[str, list[float], list[float]]] = {}
    for number, (mine, theirs) in enumerate(pairs):
        found = outputs_differ(mine, theirs)
        forward += found
        if found and begins is None:
            begins = (mine.path, number)
        _, given, pushed = rows.setdefault(mine.path, (mine.kind, [], []))
        given += [over_tolerance(*both, tolerance) for both in zip(mine.outputs, theirs.outputs, strict=False)]
        pushed += [
            over_tolerance(*both, tolerance) for both in zip(mine.input_gradients, theirs.input_gradients, strict=False)
        ]
    if own.returned.replace("list", "tuple") != other.returned.replace("list", "tuple"):
        sides = "expected={} actual={}".format(*port.pair.sides)
        message = f"the model: expected {own.returned}, actual {other.returned}. {sides}"
        forward.append(Mismatch("the model", 0, "structure", "forward", "candidate", message))
        begins = begins or ("", len(pairs) - 1)
    for place, value in own.plain.items():
        if place in other.plain:
            unequal = unlike(_plain_name(place), "forward", value, other.plain[place])
            forward += unequal
            begins = begins or (("", len(pairs) - 1) if unequal else None)
    losses = unlike(_LOSS, "forward", _scalar(own.loss), _scalar(other.loss))
    forward += losses
    begins = begins or (("", len(pairs) - 1) if losses else None)
    backward: list[Mismatch] = []
    for match in matches:
        if match.reference in own.gradients and match.candidate in other.gradients:
            pair = own.gradients[match.reference], match.to_reference(other.gradients[match.candidate])
            backward += unlike(gradient_of(match.reference), "backward", *pair)
            row = rows.get(match.reference.rpartition(".")[0])
            if row is not None:
                row[2].append(over_tolerance(*pair, tolerance))
    for number, pair in enumerate(zip(own.input_gradients, other.input_gradients, strict=True)):
        backward += unlike(gradient_of(f"input {number}"), "backward", *pair)
    state: list[Mismatch] = []
    for match in matches:
        left = own.state[match.reference], match.to_reference(other.state[match.candidate])
        state += unlike(match.reference, "forward", *left)
    layers = tuple(
        Layer(path, kind, max(one, default=None), max(two, default=None)) for path, (kind, one, two) in rows.items()
    )
    mismatches = (*forward, *backward, *state)
    if not mismatches:
        return StepComparison((), layers, differing)
    if begins is not None:
        return StepComparison(mismatches, layers, differing, *begins)
    if backward:
        suspects = tuple(_suspects(pairs, own, other, matches, Comparison("backward", tolerance)))
        path = suspects[0].path if suspects else ""
        return StepComparison(mismatches, layers, differing, path, None, "backward", suspects)
    # A differing parameter is the optimizer's doing, so no module is named.
    name = state[0].name
    owner = name.rpartition(".")[0]
    path = owner if name not in own.gradients and owner in paths else ""
    return StepComparison(mismatches, layers, differing, path, None)


def _paired(
    own: Sequence[ModuleCall], other: Sequence[ModuleCall], paths: Mapping[str, str]
) -> Iterator[tuple[ModuleCall, ModuleCall]]:
    """Yield pairs of calls of matched modules: the first call with the first call of the other module, and so on."""
    waiting: dict[str, list[ModuleCall]] = {}
    for call in other:
        waiting.setdefault(call.path, []).append(call)
    for call in own:
        theirs = waiting.get(paths.get(call.path, ""), []) if call.path in paths else []
        if theirs:
            yield call, theirs.pop(0)


def _suspects(
    pairs: Sequence[tuple[ModuleCall, ModuleCall]],
    own: TrainingStep,
    other: TrainingStep,
    matches: Sequence[Match],
    how: Comparison,
) -> Iterator[ModuleCall]:
    """Yield the calls whose incoming gradients agree and whose outgoing gradients differ, in backward order.

    Modules without called submodules come first; of the others, the inner modules come before the outer.
    """
    inner = [pair for pair in pairs if not _contains_called(pair[0].path, pairs)]
    outer = [pair for pair in reversed(pairs) if _contains_called(pair[0].path, pairs)]
    outer.sort(key=lambda pair: pair[0].path.count(".") + bool(pair[0].path), reverse=True)
    for mine, theirs in [*reversed(inner), *outer]:
        if compare_values("", mine.output_gradients, theirs.output_gradients, how):
            continue
        wrong = bool(compare_values("", mine.input_gradients, theirs.input_gradients, how))
        for match in matches:
            held = match.reference.rpartition(".")[0] == mine.path and match.reference in own.gradients
            if held and match.candidate in other.gradients:
                gradient = match.to_reference(other.gradients[match.candidate])
                wrong = wrong or bool(compare_values("", own.gradients[match.reference], gradient, how))
        if wrong:
            yield mine


def _contains_called(path: str, pairs: Sequence[tuple[ModuleCall, ModuleCall]]) -> bool:
    """Whether a module inside the one at `path` was also called."""
    beginning = f"{path}." if path else ""
    return any(call.path != path and call.path.startswith(beginning) for call, _ in pairs)


def values_by_name(step: TrainingStep) -> dict[NumberedName, Any]:
    """Return all values of a step of the reference that `compare_step` compares."""
    named = [item for call in step.calls for item in _outputs(call)]
    named += [(_plain_name(place), value) for place, value in step.plain.items()]
    named.append((_LOSS, _scalar(step.loss)))
    named += [(gradient_of(name), value) for name, value in step.gradients.items()]
    named += [(gradient_of(f"input {number}"), value) for number, value in enumerate(step.input_gradients)]
    named += step.state.items()
    found: dict[NumberedName, Any] = {}
    times: Counter[str] = Counter()
    for name, value in named:
        times[name] += 1
        found[name, times[name]] = value
    return found


def _outputs(call: ModuleCall) -> list[tuple[str, Any]]:
    """Return the outputs of a call with their names: ``fc[output]``, or ``fc[output][0]`` if there are several."""
    name = _output_name(call)
    if len(call.outputs) == 1:
        return [(name, call.outputs[0])]
    return [(f"{name}[{number}]", value) for number, value in enumerate(call.outputs)]


def _output_name(call: ModuleCall) -> str:
    return f"{call.path or 'the model'}[output]"


def _scalar(loss: TensorValue | None) -> TensorValue | None:
    """Return a loss without axes: whether the mean of a tensor has one is a matter of the framework."""
    return None if loss is None else dataclasses.replace(loss, data=loss.data.reshape(()))


def _plain_name(place: str) -> str:
    return f"the model[output]{place}"
