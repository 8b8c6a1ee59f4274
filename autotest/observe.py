"""What a trial produced on either side, read once and compared.

Enters a `Record` whose program has run; leaves mismatches in program order and how much was compared.
Every tensor, every leaf's and parameter's gradient, every buffer and every plain value is looked at; all
tensors of a side are read together, so that the candidate is waited for once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import Mismatch, Nothing, Stage, TensorValue, compare_values
from autotest.emission import names
from autotest.frameworks import ABSENT, Framework
from autotest.program import Root, refs
from autotest.record import Record
from autotest.rewriting import in_place
from autotest.settings import Settings

_PLAIN = (type(None), bool, int, float, complex, str)
#: Calls whose result says nothing about agreement: inputs, assignments, the machinery of the record.
_SILENT = frozenset(("load_state", "overwrite", "setattr", "enter", "exit"))


class Pairing(NamedTuple):
    """Two objects that should be alike: `name` follows the slot's own name."""

    slot: int
    suffix: str
    stage: Stage
    expected: Any
    actual: Any
    defined: bool


@dataclasses.dataclass(slots=True)
class Comparison:
    """What comparing one trial gave."""

    mismatches: list[Mismatch]
    #: How many results (inputs do not count) were compared, and how many gradients that the reference has.
    compared: int
    gradients: int


def compare_trial(recorder: Record, settings: Settings) -> Comparison:
    """Compare everything that `recorder` holds."""
    pairings, compared = pair_up(recorder)
    gradients = sum(1 for pairing in pairings if pairing.stage == "backward" and pairing.expected is not None)
    gradients += _read_gradients(recorder)
    reference, candidate = recorder.pair.reference, recorder.pair.candidate
    expected = freeze(reference, [pairing.expected for pairing in pairings])
    try:
        actual = freeze(candidate, [pairing.actual for pairing in pairings])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the candidate's
        # An asynchronous framework reports here what went wrong in a call made long before.
        slot = max((pairing.slot for pairing in pairings), default=0)
        message = f"{candidate.name} failed when its results were read: {type(error).__name__}: {error}"
        failure = Mismatch("results", slot, "exception", "forward", "candidate", message)
        return Comparison([*recorder.mismatches, failure], compared, gradients)
    tolerance = settings.tolerance
    suspicious = [
        index
        for index, pairing in enumerate(pairings)
        if compare_values(
            pairing.suffix,
            pairing.slot,
            pairing.stage,
            expected[index],
            actual[index],
            tolerance,
            check_dtype=settings.check_dtype,
            check_values=settings.check_allclose,
            defined=pairing.defined,
        )
    ]
    if not suspicious and not recorder.mismatches:
        return Comparison([], compared, gradients)
    # Names and messages are worked out only now that somebody will read them.
    named = names(recorder.snapshot())
    found = [
        mismatch
        for index in suspicious
        for mismatch in compare_values(
            named[pairings[index].slot] + pairings[index].suffix,
            pairings[index].slot,
            pairings[index].stage,
            expected[index],
            actual[index],
            tolerance,
            check_dtype=settings.check_dtype,
            check_values=settings.check_allclose,
            defined=pairings[index].defined,
            sides=recorder.pair.sides,
        )
    ]
    ordered = sorted([*recorder.mismatches, *found], key=lambda mismatch: (mismatch.stage == "backward", mismatch.slot))
    return Comparison(ordered, compared, gradients)


def pair_up(recorder: Record) -> tuple[list[Pairing], int]:
    """Everything to compare, in program order, and how many of them are results."""
    reference, candidate = recorder.pair.reference, recorder.pair.candidate
    tensor_types, module_types = reference.tensor_types, reference.module_types
    pairings: list[Pairing] = []
    seen: set[tuple[int, int]] = set()
    compared = 0
    failed = {mismatch.slot for mismatch in recorder.mismatches}
    written = _written_by(recorder, failed)
    # Where the candidate's backward failed, its missing gradients are no findings of their own.
    pushed_back = not any(mismatch.stage == "backward" for mismatch in recorder.mismatches)
    for call in recorder.calls:
        slot = call.slot
        if call.kind in _SILENT or slot in failed:
            continue
        expected, actual = recorder.expected[slot], recorder.actual[slot]
        if call.kind != "tensor" and call.target.rpartition(".")[2] != "backward":
            compared += 1
        if isinstance(expected, _PLAIN):
            if call.target != "backward":
                pairings.append(Pairing(slot, "", "forward", expected, actual, not recorder.is_undefined(slot)))
            continue
        identity = (id(expected), id(actual))
        if identity in seen or id(expected) in written:
            continue
        seen.add(identity)
        if isinstance(expected, tensor_types):
            pairings.append(Pairing(slot, "", "forward", expected, actual, not recorder.is_undefined(slot)))
            if pushed_back and (reference.holds_gradient(expected) or _holds_gradient(candidate, actual)):
                pairings.append(_gradient(recorder, slot, "", expected, actual))
        elif isinstance(expected, module_types):
            compared -= 1  # a module is compared by its state, which is no result by itself
            for part in (Framework.parameters, Framework.buffers):
                own = getattr(reference, part.__name__)(expected)
                other = getattr(candidate, part.__name__)(actual)
                for name in own:
                    identity = (id(own[name]), id(other.get(name)))
                    if identity in seen:
                        continue
                    seen.add(identity)
                    suffix = f".{name}"
                    defined = id(own[name]) not in recorder.undefined
                    pairings.append(Pairing(slot, suffix, "forward", own[name], other.get(name, Nothing()), defined))
                    if pushed_back and reference.holds_gradient(own[name]):
                        pairings.append(_gradient(recorder, slot, suffix, own[name], other.get(name)))
                extra = sorted(other.keys() - own.keys())
                pairings.extend(Pairing(slot, f".{name}", "forward", Nothing(), other[name], True) for name in extra)
        elif _is_data(reference, expected):
            pairings.append(Pairing(slot, "", "forward", expected, actual, not recorder.is_undefined(slot)))
        else:
            compared -= 1
    return pairings, compared


def _read_gradients(recorder: Record) -> int:
    """How many gradients the body itself took hold of, so that they are compared as results."""
    taken = [
        recorder.expected[call.slot]
        for call in recorder.calls
        if call.target == "autograd.grad" or (call.kind == "getattr" and call.target == "grad")
    ]
    flat = [item for value in taken for item in (value if isinstance(value, (tuple, list)) else (value,))]
    return sum(1 for item in flat if isinstance(item, recorder.pair.reference.tensor_types))


def _written_by(recorder: Record, failed: set[int]) -> set[int]:
    """ids of the reference's tensors that a call has written into which failed on the candidate.

    That the candidate's are as they were is no finding beside the failure.
    """
    written: set[int] = set()
    for slot in failed:
        if slot >= len(recorder.calls):
            continue
        call = recorder.calls[slot]
        operands = [recorder.expected[ref.slot] for ref in refs(call)]
        asked = call.kwargs.get("inplace") or "out" in call.kwargs or any(item is True for item in call.args)
        if asked or in_place(call) or any(getattr(operand, "inplace", False) for operand in operands):
            written |= {id(operand) for operand in operands}
    return written


def _gradient(recorder: Record, slot: int, suffix: str, expected: Any, actual: Any) -> Pairing:
    pair = recorder.pair
    own = pair.reference.gradient(expected) if pair.reference.holds_gradient(expected) else None
    other = pair.candidate.gradient(actual) if isinstance(actual, pair.candidate.tensor_types) else None
    return Pairing(slot, f"{suffix}.grad", "backward", own, other, not recorder.backward_undefined)


def _holds_gradient(framework: Framework, value: Any) -> bool:
    return isinstance(value, framework.tensor_types) and framework.holds_gradient(value)


def _is_data(framework: Framework, value: Any) -> bool:
    """Whether `value` holds something to compare: containers of tensors and plain values, dtypes, sizes."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return not value or any(_is_data(framework, item) for item in value)
    if isinstance(value, (*_PLAIN, np.ndarray, *framework.tensor_types)):
        return True
    return framework.literal(value) is not ABSENT


def freeze(framework: Framework, values: Sequence[Any]) -> list[Any]:
    """`values` as data: tensors become `TensorValue`s, read together; containers keep their shape."""
    types = framework.tensor_types
    if all(type(value) in types for value in values):  # the commonest: there is nothing to take apart
        return [*framework.values(values)]
    tensors: list[Any] = []
    shapes = [_collect(framework, value, tensors) for value in values]
    frozen = iter(framework.values(tensors))
    return [_fill(shape, frozen) for shape in shapes]


#: Stands for a tensor whose contents are still to be read.
_TENSOR = object()


def _collect(framework: Framework, value: Any, tensors: list[Any]) -> Any:
    if isinstance(value, framework.tensor_types):
        tensors.append(value)
        return _TENSOR
    if isinstance(value, (*_PLAIN, Nothing)):
        return value
    if isinstance(value, np.ndarray):
        return TensorValue(value, str(value.dtype), "cpu", False)
    if type(value) is list:
        return [_collect(framework, item, tensors) for item in value]
    if isinstance(value, tuple):
        return tuple([_collect(framework, item, tensors) for item in value])
    if isinstance(value, dict):
        return {key: _collect(framework, item, tensors) for key, item in value.items()}
    neutral = framework.literal(value)
    if isinstance(neutral, Root):
        return neutral.path
    if neutral is not ABSENT:
        return _collect(framework, neutral, tensors)
    return "<an object without a value>"  # beside data in a container: that it is there, on both sides, is compared


def _fill(shape: Any, frozen: Any) -> Any:
    if shape is _TENSOR:
        value: TensorValue = next(frozen)
        return value
    if type(shape) is list:
        return [_fill(item, frozen) for item in shape]
    if type(shape) is tuple:
        return tuple([_fill(item, frozen) for item in shape])
    if type(shape) is dict:
        return {key: _fill(item, frozen) for key, item in shape.items()}
    return shape
