"""Compares a candidate's graph mode with its eager mode on recorded programs."""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from autotest.base.errors import FrameworkMissing
from autotest.base.settings import Settings
from autotest.comparison import Comparison, Mismatch, Stage, TensorValue, compare_values
from autotest.comparison.equal_choices import besides, selects_alike
from autotest.emission import names
from autotest.frameworks import Framework
from autotest.frameworks.requests import Given, NotGraphed, error_line
from autotest.program import operator_of
from autotest.program.paths import gradient_of, is_gradient, item_path
from autotest.program.semantics import first_operand
from autotest.recording.record import Record
from autotest.replaying.divided_program import DividedProgram, GraphResult
from autotest.replaying.graph_capture import divide
from autotest.replaying.graph_setup import CannotDivide

#: Maximum number of programs in one graph. More would save little, and the last trial waits for all of them.
AT_ONCE = 32
#: Note on a mismatch that the program alone does not show.
IN_COMPANY = "this program differs only in one graph with the programs of other trials; alone it agrees"

#: Programs that one part of a graph can run.
ProgramGroup: TypeAlias = "list[DividedProgram]"


@dataclasses.dataclass(slots=True)
class GraphReport:
    """Result of the comparison. `mismatches[i]` belongs to record `i`."""

    mismatches: list[list[Mismatch]]
    left_out: collections.Counter[str]
    #: Number of tensors and gradients that were compared.
    compared: int = 0


class _GraphRefused(Exception):
    """The framework could not build or run a graph. Errors of this library are not turned into this exception."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def check(records: Sequence[Record], settings: Settings) -> GraphReport:
    """Compare graph mode with eager mode on all `records`.

    Raises:
        FrameworkMissing: the candidate has no graph mode here.
    """
    report = GraphReport([[] for _ in records], collections.Counter())
    indices: dict[int, int] = {}
    programs: list[DividedProgram] = []
    for index, record in enumerate(records):
        try:
            divided = divide(record)
        except CannotDivide as reason:  # each program has its own reason
            report.left_out[str(reason)] += 1
            continue
        report.left_out += divided.left_out
        indices[id(divided)] = index
        programs.append(divided)
    groups = _groups_of_a_kind(programs)
    if not groups:
        return report
    try:
        found = _compared(groups, settings, report)
    except _GraphRefused:  # each group in its own graph shows which one fails
        for group in groups:
            # After a graph failed to build, OneFlow may crash in the next one that gets the same objects, such as a
            # weight computed by a hook. So the programs are divided again, which creates new objects. The old ones stay
            # alive meanwhile, so that no new tensor has their address.
            anew = [divide(divided.record) for divided in group]
            for divided, (_, mismatches) in zip(group, _in_own_graph(anew, settings, report), strict=True):
                report.mismatches[indices[id(divided)]] = mismatches
        return report
    for divided, mismatches in found:
        if mismatches:
            report.mismatches[indices[id(divided)]] = _confirmed(divided, mismatches, settings)
    return report


def alone(record: Record, settings: Settings) -> list[Mismatch]:
    """Return the mismatches of one program in a graph of its own. Raises `CannotDivide` if it cannot run in a graph."""
    ((_, mismatches),) = _in_own_graph([divide(record)], settings, GraphReport([[]], collections.Counter()))
    return mismatches


def results(divided: DividedProgram) -> list[tuple[str, str]]:
    """Return the name and dtype of everything that is compared of a program."""
    framework = divided.framework
    own, values = names(divided.record.snapshot()), framework.values(_eager(divided))
    return [(own[slot] + place, value.dtype) for (slot, place), value in zip(_places(divided), values, strict=True)]


def _groups_of_a_kind(programs: Sequence[DividedProgram]) -> list[ProgramGroup]:
    groups: dict[str, ProgramGroup] = {}
    for divided in programs:
        groups.setdefault(divided.kind(), []).append(divided)
    return [*groups.values()]


def _confirmed(divided: DividedProgram, mismatches: list[Mismatch], settings: Settings) -> list[Mismatch]:
    """Return the mismatches that a program shows alone; without any, those that it showed with other programs."""
    own = alone(divided.record, settings)
    return own or [dataclasses.replace(item, message=f"{item.message} ({IN_COMPANY})") for item in mismatches]


def _in_own_graph(
    group: ProgramGroup, settings: Settings, report: GraphReport
) -> list[tuple[DividedProgram, list[Mismatch]]]:
    """Compare one group in a graph of its own: with gradients, or without if that is impossible."""
    try:
        return _compared([group], settings, report)
    except _GraphRefused as refused:
        error = refused.error
    if isinstance(error, NotGraphed):
        report.left_out[str(error)] += len(group)
        return [(divided, []) for divided in group]
    if not group[0].backward:
        return [(divided, [_failed(group[0], divided, error)]) for divided in group]
    forward = [divide(divided.record, backward=False) for divided in group]
    try:
        found = _compared([forward], settings, report)
    except _GraphRefused as refused:
        if isinstance(refused.error, NotGraphed):
            report.left_out[str(refused.error)] += len(group)
            return [(divided, []) for divided in group]
        return [(divided, [_failed(forward[0], divided, refused.error)]) for divided in group]
    report.left_out["backward, which its graph mode refuses"] += len(group)
    return [(divided, mismatches) for divided, (_, mismatches) in zip(group, found, strict=True)]


def _compared(
    groups: Sequence[ProgramGroup], settings: Settings, report: GraphReport
) -> list[tuple[DividedProgram, list[Mismatch]]]:
    """Run all `groups` in one graph, and return each program with its mismatches."""
    framework = groups[0][0].framework
    rounds = [[group[min(turn, len(group) - 1)] for group in groups] for turn in range(max(map(len, groups)))]
    try:
        graphed = framework.run_in_graph(_builder(rounds[0]), [_inputs_of(turn) for turn in rounds])
        # Read inside the `try`: an asynchronous framework reports its failures only now.
        read = [[_read(framework, part) for part in (one.outputs, one.leaves, one.trained)] for one in graphed]
    except FrameworkMissing:  # it has no graphs here at all
        raise
    except Exception as error:  # a failure of the graph is a result here
        raise _GraphRefused(error) from error
    found: list[tuple[DividedProgram, list[Mismatch]]] = []
    for turn, (programs, values, given) in enumerate(zip(rounds, read, graphed, strict=True)):
        (outputs, leaves, trained), at = map(iter, values), itertools.count()
        for group, divided in zip(groups, programs, strict=True):
            own = [next(outputs) for _ in divided.results]
            lost = [result for result in divided.results if next(at) in given.overwritten]
            own += [next(leaves) for _ in divided.leaves]
            own += [next(trained) for _ in divided.trained]
            if turn < len(group):  # otherwise a repetition, because the graph needs all of its arguments
                found.append((divided, _differing(divided, own, settings) + _overwritten(divided, lost)))
                if given.vacuous and not found[-1][1]:
                    report.left_out[given.vacuous] += 1
                else:
                    report.compared += len(own)
    return found


def _builder(programs: Sequence[DividedProgram]) -> Any:
    """Return the function that builds `programs` side by side."""
    modules = [_distinct(divided) for divided in programs]

    def build(inputs: list[Any], leaves: list[Any], held: list[Any]) -> tuple[list[Any], list[tuple[Any, Any]]]:
        given = iter(inputs), iter(leaves), iter(held)
        outputs: list[Any] = []
        pushed: list[tuple[Any, Any]] = []
        for divided, own in zip(programs, modules, strict=True):
            counts = len(divided.inputs), len(divided.leaves), len(own)
            taken = [[*itertools.islice(items, count)] for items, count in zip(given, counts, strict=True)]
            made, back = divided.build(taken[0], taken[1], _spread(divided, own, taken[2]))
            outputs += made
            pushed += back
        return outputs, pushed

    return build


def _inputs_of(programs: Sequence[DividedProgram]) -> Given:
    return Given(
        [tensor for divided in programs for tensor in divided.inputs.values()],
        [tensor for divided in programs for tensor in divided.leaves.values()],
        [module for divided in programs for module in _distinct(divided)],
        [parameter for divided in programs for _, _, parameter, _ in divided.trained],
    )


def _read(framework: Framework, tensors: Sequence[Any]) -> list[TensorValue | None]:
    values = iter(framework.values([tensor for tensor in tensors if tensor is not None]))
    return [None if tensor is None else next(values) for tensor in tensors]


def _differing(divided: DividedProgram, actual: Sequence[TensorValue | None], settings: Settings) -> list[Mismatch]:
    """Return the mismatches between the graph's results for `divided` and those of eager mode."""
    framework, record = divided.framework, divided.record
    sides = (f"{framework.name} eager", f"{framework.name} {framework.graph_mode}")
    found: list[Mismatch] = []
    tied: set[int] = set()
    eager = framework.values(_eager(divided))
    dtypes = {value.dtype for value in eager}
    own = names(record.snapshot())
    for (slot, place), one, other in zip(_places(divided), eager, actual, strict=True):
        gradient = is_gradient(place)
        stage: Stage = "backward" if gradient else "forward"
        undefined = record.backward_undefined if gradient else record.is_undefined(slot)
        # Of eager and graph there is no double precision that tells rounding of small numbers from a difference.
        tolerance = dataclasses.replace(settings.tolerance_at(stage).relaxed_to(dtypes), by_scale=False)
        how = Comparison(
            stage, tolerance, slot, check_values=settings.check_values and not undefined, sides=sides, place=place
        )
        # Outside of a graph, it is unknown whether one of its results requires grad.
        adjusted = None if other is None else dataclasses.replace(other, requires_grad=one.requires_grad)
        differing = list(compare_values(own[slot], one, adjusted, how))
        if differing and adjusted is not None and _selects_alike(divided, slot, one, adjusted):
            tied.add(slot)
        for item in differing:
            operator = operator_of(record.calls, slot)
            message = f"{operator}: {framework.graph_mode} disagrees with eager: {item.message}"
            found.append(dataclasses.replace(item, symptom="graph", stage="replay", message=message))
    return besides(record.program(), tied, found) if tied else found


def _selects_alike(divided: DividedProgram, slot: int, one: TensorValue, other: TensorValue) -> bool:
    """Return whether two results of the call in `slot` are indices that select equal values."""
    record = divided.record
    call = record.calls[slot]
    read = first_operand(call)
    source = None if read is None else record.actual[read.slot]
    if not isinstance(source, divided.framework.tensor_types):
        return False
    (held,) = divided.framework.values([source])
    return selects_alike(operator_of(record.calls, slot), call, held.data, one.data, other.data)


def _overwritten(divided: DividedProgram, lost: Sequence[GraphResult]) -> list[Mismatch]:
    """Return the mismatches of results that were right, and that a later call of the graph changed."""
    mode, own, found = divided.framework.graph_mode, names(divided.record.snapshot()), []
    for result in lost:
        name, place = own[result.slot], item_path(result.path)
        operator = operator_of(divided.record.calls, result.slot)
        said = f"a later call of {mode} overwrites {name}{place}, the result of an earlier call"
        found.append(
            Mismatch(
                name,
                result.slot,
                "graph",
                "replay",
                "candidate",
                f"{operator}: {said}",
                detail="overwritten",
                what=f"a later call of {mode} overwrites the result of an earlier one",
                place=place,
            )
        )
    return found


def _eager(divided: DividedProgram) -> list[Any]:
    """Return the results of eager mode, in the order of the graph's results."""
    given = [result.eager for result in divided.results]
    given += [divided.framework.gradient(divided.record.actual[slot]) for slot in divided.leaves]
    return [*given, *(gradient for *_, gradient in divided.trained)]


def _places(divided: DividedProgram) -> Iterator[tuple[int, str]]:
    """Yield the slot of everything that is compared, and its place in the slot's value, in the graph's order."""
    for result in divided.results:
        yield result.slot, item_path(result.path)
    for slot in divided.leaves:
        yield slot, gradient_of("")
    for slot, name, *_ in divided.trained:
        yield slot, gradient_of(f".{name}")


def _failed(built: DividedProgram, divided: DividedProgram, error: Exception) -> Mismatch:
    """Return the mismatch that no graph of `divided` could be built or run. `built` is the program that was tried."""
    framework, at = divided.framework, max(built.at, 0)
    name = operator_of(divided.record.calls, at)
    said = f"{type(error).__name__}: {error_line(error)}"
    message = f"{name}: {framework.name} accepts it in eager mode, {framework.graph_mode} raised {said}"
    return Mismatch(name, at, "graph", "replay", "candidate", message, detail="raised", what=said)


def _distinct(divided: DividedProgram) -> list[Any]:
    """Return the program's modules, without duplicates."""
    return [*{id(module): module for module in divided.modules.values()}.values()]


def _spread(divided: DividedProgram, own: list[Any], held: list[Any]) -> list[Any]:
    """Return the module of the graph for each slot that contains a module."""
    by_id = {id(module): given for module, given in zip(own, held, strict=True)}
    return [by_id[id(module)] for module in divided.modules.values()]
