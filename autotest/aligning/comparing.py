"""Compares the runs of two aligned models, module by module in the order of execution."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

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
    both = _BothSteps(own, other, port, tolerance)
    forward = [(path, call, found) for path, call, found in both.forward() if found]
    backward, state = both.backward(), both.state()
    mismatches = (*(one for _, _, found in forward for one in found), *backward, *state)
    layers = both.layers()
    if not mismatches:
        return StepComparison((), layers, both.differing)
    if forward:
        path, call, _ = forward[0]
        return StepComparison(mismatches, layers, both.differing, path, call)
    if backward:
        suspects = tuple(both.suspects())
        path = suspects[0].path if suspects else ""
        return StepComparison(mismatches, layers, both.differing, path, None, "backward", suspects)
    # A differing parameter is the optimizer's doing, so no module is named.
    name = state[0].name
    owner = _owner(name)
    path = owner if name not in own.gradients and owner in port.paths else ""
    return StepComparison(mismatches, layers, both.differing, path, None)


class _BothSteps:
    """One step of the reference's model and the same step of the candidate's.

    Attributes:
        differing: the values that differ among those compared so far.
    """

    def __init__(self, own: TrainingStep, other: TrainingStep, port: Port, tolerance: Tolerance) -> None:
        self._own, self._other, self._tolerance = own, other, tolerance
        self._matches, self._sides = port.matches.pairs, port.pair.sides
        self._calls = [*_paired(own.calls, other.calls, port.paths)]
        self._times: Counter[str] = Counter()
        self.differing: dict[NumberedName, tuple[Any, Any]] = {}

    def forward(self) -> Iterator[tuple[str, int, Sequence[Mismatch]]]:
        """Yield the path, the index and the mismatches of each pair of calls, in order, and then of the whole model."""
        for number, (mine, theirs) in enumerate(self._calls):
            yield mine.path, number, self._outputs(mine, theirs)
        loss = self._unlike(_LOSS, "forward", _scalar(self._own.loss), _scalar(self._other.loss))
        yield "", len(self._calls) - 1, [*self._structure(), *self._plain_values(), *loss]

    def backward(self) -> list[Mismatch]:
        """Return the mismatches of the gradients of parameters and of inputs."""
        found: list[Mismatch] = []
        for name, one, two in self._gradients():
            found += self._unlike(gradient_of(name), "backward", one, two)
        for number, pair in enumerate(zip(self._own.input_gradients, self._other.input_gradients, strict=True)):
            found += self._unlike(gradient_of(f"input {number}"), "backward", *pair)
        return found

    def state(self) -> list[Mismatch]:
        """Return the mismatches of parameters and buffers after the step."""
        found: list[Mismatch] = []
        for match in self._matches:
            pair = self._own.state[match.reference], match.to_reference(self._other.state[match.candidate])
            found += self._unlike(match.reference, "forward", *pair)
        return found

    def layers(self) -> tuple[Layer, ...]:
        """Return the differences of each called module, as multiples of the tolerance: of outputs, and of gradients."""
        rows: dict[str, tuple[str, list[float], list[float]]] = {}
        for mine, theirs in self._calls:
            _, given, pushed = rows.setdefault(mine.path, (mine.kind, [], []))
            given += self._over_tolerance(mine.outputs, theirs.outputs)
            pushed += self._over_tolerance(mine.input_gradients, theirs.input_gradients)
        for name, one, two in self._gradients():
            if _owner(name) in rows:
                rows[_owner(name)][2].append(over_tolerance(one, two, self._tolerance))
        return tuple(
            Layer(path, kind, max(given, default=None), max(pushed, default=None))
            for path, (kind, given, pushed) in rows.items()
        )

    def suspects(self) -> Iterator[ModuleCall]:
        """Yield the calls whose incoming gradients agree and whose outgoing gradients differ, in backward order.

        Modules without called submodules come first; of the others, the inner modules come before the outer.
        """
        how = Comparison("backward", self._tolerance)

        def differ(one: Any, two: Any) -> bool:
            return bool(compare_values("", one, two, how))

        held: dict[str, list[tuple[Any, Any]]] = {}
        for name, one, two in self._gradients():
            held.setdefault(_owner(name), []).append((one, two))
        inner = [pair for pair in self._calls if not _contains_called(pair[0].path, self._calls)]
        outer = [pair for pair in reversed(self._calls) if _contains_called(pair[0].path, self._calls)]
        outer.sort(key=lambda pair: pair[0].path.count(".") + bool(pair[0].path), reverse=True)
        for mine, theirs in [*reversed(inner), *outer]:
            if differ(mine.output_gradients, theirs.output_gradients):
                continue
            pushed = mine.input_gradients, theirs.input_gradients
            if any(differ(*pair) for pair in (pushed, *held.get(mine.path, ()))):
                yield mine

    def _outputs(self, mine: ModuleCall, theirs: ModuleCall) -> Sequence[Mismatch]:
        if len(mine.outputs) != len(theirs.outputs):
            return self._unlike(_output_name(mine), "forward", mine.outputs, theirs.outputs)
        pairs = zip(_outputs(mine), theirs.outputs, strict=True)
        return [item for (name, one), two in pairs for item in self._unlike(name, "forward", one, two)]

    def _structure(self) -> Iterator[Mismatch]:
        expected, actual = self._own.returned, self._other.returned
        if _with_tuples(expected) != _with_tuples(actual):
            sides = "expected={} actual={}".format(*self._sides)
            message = f"the model: expected {expected}, actual {actual}. {sides}"
            yield Mismatch("the model", 0, "structure", "forward", "candidate", message)

    def _plain_values(self) -> Iterator[Mismatch]:
        for place, value in self._own.plain.items():
            if place in self._other.plain:
                yield from self._unlike(_plain_name(place), "forward", value, self._other.plain[place])

    def _gradients(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the reference's name of each parameter that has a gradient on both sides, and both gradients."""
        own, other = self._own.gradients, self._other.gradients
        for match in self._matches:
            if match.reference in own and match.candidate in other:
                yield match.reference, own[match.reference], match.to_reference(other[match.candidate])

    def _unlike(self, name: str, stage: Stage, expected: Any, actual: Any) -> Sequence[Mismatch]:
        """Return the mismatches of one value, and remember the value if there are any."""
        found = compare_values(name, expected, actual, Comparison(stage, self._tolerance, sides=self._sides))
        self._times[name] += 1
        if found:
            self.differing[name, self._times[name]] = expected, actual
        return found

    def _over_tolerance(self, own: Sequence[Any], other: Sequence[Any]) -> list[float]:
        return [over_tolerance(*pair, self._tolerance) for pair in zip(own, other, strict=False)]


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


def _owner(name: str) -> str:
    """Return the path of the module that holds the parameter or buffer called `name`."""
    return name.rpartition(".")[0]


def _outputs(call: ModuleCall) -> list[tuple[str, Any]]:
    """Return the outputs of a call with their names: ``fc[output]``, or ``fc[output][0]`` if there are several."""
    name = _output_name(call)
    if len(call.outputs) == 1:
        return [(name, call.outputs[0])]
    return [(f"{name}[{number}]", value) for number, value in enumerate(call.outputs)]


def _output_name(call: ModuleCall) -> str:
    return f"{call.path or 'the model'}[output]"


def _with_tuples(structure: str) -> str:
    """Return the description of a structure with a tuple for each list, which frameworks use alike."""
    return structure.replace("a list (", "a tuple (")


def _scalar(loss: TensorValue | None) -> TensorValue | None:
    """Return a loss without axes: whether the mean of a tensor has one is a matter of the framework."""
    return None if loss is None else dataclasses.replace(loss, data=loss.data.reshape(()))


def _plain_name(place: str) -> str:
    return f"the model[output]{place}"
