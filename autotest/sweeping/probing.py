"""Checks properties that values do not show: strides, shared memory, and whether a second run gives the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from autotest.base.allocator import FILLINGS, unwritten_memory
from autotest.comparison import TensorValue
from autotest.diagnosis.attribution.out_of_bounds_reads import slots_read_out_of_bounds
from autotest.diagnosis.attribution.reproducibility import runs_again
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import freeze
from autotest.program import COTANGENT, Array, Program
from autotest.program.paths import item_at, item_path, tensors_with_indices
from autotest.program.semantics import written
from autotest.recording.observation import Observed
from autotest.replaying.replay import Place, Replayed, replay
from autotest.results.sweep import Check
from autotest.sweeping.backward import results
from autotest.sweeping.judgement import SampleJudgement

#: Elements of the largest result that is written into to detect shared memory.
_LARGEST: Final = 4096


class HiddenDifference(NamedTuple):
    """A difference between two results with equal values."""

    check: Check
    key: str
    message: str
    #: The slot of the result, and its path within the slot's value, such as ``"[0]"``.
    slot: int
    suffix: str
    #: The slot of the input with which it shares memory on one side only; -1 for other checks.
    operand: int = -1


def layouts(observed: Observed) -> Iterator[HiddenDifference]:
    """Yield the results whose strides on the candidate differ from the reference's."""
    pair = observed.record.pair
    for item in observed.pairings:
        call = observed.record.calls[item.slot]
        if (
            item.stage == "backward"
            or call.kind == "tensor"
            or not pair.reference.is_tensor(item.expected)
            or not pair.candidate.is_tensor(item.actual)
        ):
            continue
        shape = pair.reference.shape(item.expected)
        if pair.candidate.shape(item.actual) != shape or 0 in shape:
            continue
        strides = [
            side.strides(value) for side, value in ((pair.reference, item.expected), (pair.candidate, item.actual))
        ]
        if strides[0] == strides[1]:
            continue
        expected, actual = (
            tuple(step for step, size in zip(steps, shape, strict=True) if size > 1) for steps in strides
        )
        if expected != actual:
            message = f"{call.target}: expected strides {expected}, actual {actual} of shape {shape}"
            yield HiddenDifference("strides", "strides", message, item.slot, item.suffix)


def probe(found: SampleJudgement, expected: Replayed, actual: Replayed, pair: Pair) -> None:
    """Check repeatability and aliasing of a program that both sides accept; this overwrites the replayed values."""
    program = found.program
    if not program.undefined:
        if first_unrepeated(actual, replay(program, pair.candidate)) is None:
            found.checks["repeat"] = True
        elif not is_nondeterministic(program, pair.reference):
            found.fail("repeat", "differs from itself", f"{pair.sides[1]} gives different results in two runs")
    together = aliases(program, expected, actual, pair)
    if together is not None:
        found.checks.setdefault("alias", True)
        for one in together[:1]:
            found.fail(one.check, one.key, one.message)


def shapes_kept(program: Program, ran: Replayed) -> frozenset[bool]:
    """Return whether results have the shape of an input; such results are an input itself more often than others."""
    shapes = {program.arrays[call.args[0].index].data.shape for call in program.inputs()}
    return frozenset(tuple(ran.framework.shape(tensor)) in shapes for _, _, tensor in results(program, ran))


def aliases(program: Program, expected: Replayed, actual: Replayed, pair: Pair) -> list[HiddenDifference] | None:
    """Return the results that share memory with an input on one side only; None if that cannot be found out.

    This overwrites the values of both replays.
    """
    if not (pair.reference.holds_values and pair.candidate.holds_values):
        return None
    shared, theirs = (_aliases(program, side) for side in (expected, actual))
    if shared is None or theirs is None:
        return None
    found: list[HiddenDifference] = []
    for how, slot, suffix, operand in sorted(shared ^ theirs):
        having, lacking = pair.sides if (how, slot, suffix, operand) in shared else pair.sides[::-1]
        target = program.calls[slot].target
        message = f"{target}: its result {how} operand {operand} on {having}, not on {lacking}"
        found.append(HiddenDifference("alias", f"{how} an operand on {having} only", message, slot, suffix, operand))
    return found


def is_nondeterministic(program: Program, framework: Framework) -> bool:
    """Whether `framework` gives other results or gradients when it runs `program` again.

    Between the runs, memory blocks of the sizes that the program uses are filled with other contents. Also, other
    numbers are put next to its inputs, so that reads beyond their ends show.
    """
    repeated = runs_again(program, framework)
    return any(_apart(once, again) for once, again in repeated) or bool(slots_read_out_of_bounds(program, framework))


def refusal_is_nondeterministic(program: Program, refused: Replayed) -> bool:
    """Whether a framework that `refused` the program accepts it in another run, or gives another reason.

    Then uninitialized memory decides, for example because a list of sizes is read beyond its end.
    """
    for byte in FILLINGS:
        with unwritten_memory(byte):
            again = replay(program, refused.framework)
        if type(again.error) is not type(refused.error) or str(again.error) != str(refused.error):
            return True
    return False


def _apart(once: Mapping[Place, Any], again: Mapping[Place, Any]) -> bool:
    return once.keys() != again.keys() or any(_unlike(one, again[place]) for place, one in once.items())


def _unlike(one: Any, other: Any) -> bool:
    if type(one) is not TensorValue or type(other) is not TensorValue:
        return type(one) is not type(other) or repr(one) != repr(other)
    return one.data.shape != other.data.shape or one.data.tobytes() != other.data.tobytes()


def first_unrepeated(once: Replayed, again: Replayed) -> tuple[int, str] | None:
    """Return slot and path of the first value that differs in a second run of a program; None if there is none."""
    framework = once.framework
    places = [
        (slot, path, value)
        for slot, made in enumerate(once.values)
        for path, value in tensors_with_indices(made, framework.tensor_types)
    ]
    if again.error is not None:
        return len(again.values), ""
    theirs = [item_at(again.values[slot], path) for slot, path, _ in places]
    # One batch, so that an asynchronous framework synchronizes only once.
    read = freeze(framework, [*(value for *_, value in places), *theirs])
    for (slot, path, _), one, other in zip(places, read[: len(places)], read[len(places) :], strict=True):
        if _unlike(one, other):
            return slot, item_path(path)
    return None


def _aliases(program: Program, ran: Replayed) -> set[tuple[str, int, str, int]] | None:
    """Return which results are an operand or share its memory, found by writing into them; None if that is refused.

    Operands are the inputs and the tensors that the program itself writes into.
    """
    framework = ran.framework
    into = {ref.slot for call in program.calls for ref in written(call)}
    inputs = {
        call.slot: value
        for call, value in zip(program.calls, ran.values, strict=True)
        if (call.kind == "tensor" and call.note != COTANGENT) or (call.slot in into and framework.is_tensor(value))
    }
    found: set[tuple[str, int, str, int]] = set()
    for slot, path, tensor in list(results(program, ran)):
        suffix = item_path(path)
        found |= {("is", slot, suffix, operand) for operand, value in inputs.items() if framework.same(value, tensor)}
        if path not in ((), (0,)) or not _writable(framework, tensor):
            continue
        try:
            before = [np.array(value.data) for value in framework.values([*inputs.values(), tensor])]
            own = Array(_other(before.pop()), framework.dtype_of(tensor))
            framework.overwrite(tensor, own)
            after = framework.values([*inputs.values()])
        except Exception:  # noqa: BLE001 - whether a read-only tensor shares memory is unknown
            return None
        found |= {
            ("shares the memory of", slot, suffix, operand)
            for operand, one, other in zip(inputs, before, after, strict=True)
            if one.tobytes() != other.data.tobytes()
        }
    return found


def _writable(framework: Framework, tensor: Any) -> bool:
    """Whether writing into `tensor` is cheap and possible: no dimension is expanded, where frameworks refuse a write.

    Elements of overlapping windows may share a memory location. `_other` writes equal numbers to them.
    """
    shape = framework.shape(tensor)
    if not 0 < int(np.prod(shape, dtype=np.int64)) <= _LARGEST:
        return False
    return all(step != 0 or size == 1 for step, size in zip(framework.strides(tensor), shape, strict=True))


def _other(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return values that differ from `data` in every element."""
    return ~data if data.dtype.kind == "b" else np.where(data == 1, 2, 1).astype(data.dtype)
