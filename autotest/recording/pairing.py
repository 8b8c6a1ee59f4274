"""Finds the pairs of objects in the record of a trial that must be equal on both sides."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import Missing, Stage
from autotest.frameworks import ABSENT, Framework
from autotest.frameworks.freezing import PLAIN
from autotest.program import LAYOUT, Call, refs
from autotest.program.semantics import is_backward, is_class, is_holder, is_module_call, make_holders, reparametrizes
from autotest.program.semantics import written as written_by
from autotest.recording.record import Record
from autotest.recording.undefined import spoilt_with

#: Kinds of calls whose result cannot differ: inputs, assignments, and bookkeeping of the record.
_SILENT = frozenset(("load_state", "overwrite", "setattr", "enter", "exit"))
#: Methods and operators that put a module into another one.
_PUTTING = frozenset("add_module register_module append insert extend update setitem".split())


class Pairing(NamedTuple):
    """Two objects that must be equal. `suffix` is appended to the name of the slot."""

    slot: int
    suffix: str
    stage: Stage
    expected: Any
    actual: Any
    defined: bool


class Paired(NamedTuple):
    """All pairs of a record in program order, the number of results of calls, and the number of gradients."""

    pairings: list[Pairing]
    results: int
    #: Number of gradients that the reference has.
    gradients: int


def pair_up(record: Record) -> Paired:
    """Return everything in `record` that has to be compared."""
    pairs = _Pairs(record)
    pairs.add_all(_holders_last(record))
    found = pairs.found
    if not (record.pair.reference.holds_values and record.pair.candidate.holds_values):
        found = [item if isinstance(item.expected, PLAIN) else item._replace(defined=False) for item in found]
        found += [_strides(record, item) for item in found if _have_strides(record, item)]
    return Paired(found, pairs.results, pairs.gradients)


#: Builds a NamedTuple at half the cost of its own constructor. Every tensor of a trial needs one.
_made = tuple.__new__


def _have_strides(record: Record, item: Pairing) -> bool:
    """Return whether a pair is two tensors of one shape whose strides are specified.

    Autograd chooses the strides of gradients, so these do not count.
    """
    reference, candidate = record.pair.reference, record.pair.candidate
    if item.stage != "forward" or not isinstance(item.expected, reference.tensor_types):
        return False
    if not isinstance(item.actual, candidate.tensor_types):
        return False
    return reference.shape(item.expected) == candidate.shape(item.actual)


def _strides(record: Record, item: Pairing) -> Pairing:
    """Return the pair of strides along dimensions with more than one element. Other strides have no effect."""

    def steps(framework: Framework, tensor: Any) -> tuple[int, ...]:
        shape = framework.shape(tensor)
        listed = zip(shape, framework.strides(tensor), strict=True)
        return tuple(step for size, step in listed if size > 1) if all(shape) else ()

    expected = steps(record.pair.reference, item.expected)
    actual = steps(record.pair.candidate, item.actual)
    return Pairing(item.slot, f"{item.suffix}.stride()", item.stage, expected, actual, True)


class _Pairs:
    """The pairs found until now, and the objects that must not be paired again.

    Several calls may return the same object, and a module may contain tensors that a call returned. Each object is
    compared once, at its first occurrence.
    """

    __slots__ = (
        "candidate",
        "failed",
        "found",
        "graded",
        "gradients",
        "gradients_undefined",
        "pushed_back",
        "record",
        "reference",
        "results",
        "seen",
        "specified",
        "written",
    )

    def __init__(self, record: Record) -> None:
        self.record = record
        self.reference, self.candidate = record.pair.reference, record.pair.candidate
        self.found: list[Pairing] = []
        #: Number of results of calls, and of the reference's gradients, among the pairs.
        self.results = 0
        self.gradients = 0
        #: ids of the objects of both sides that are paired.
        self.seen: set[tuple[int, int]] = set()
        #: ids of the candidate's tensors whose gradient is paired. A call may return the candidate's leaf itself while
        #: the reference returns a copy.
        self.graded: set[int] = set()
        self.gradients_undefined = record.gradients_undefined()
        # Usually everything is specified, and then no slot has to be checked.
        self.specified = not (record.undefined or record.undefined_slots)
        self.failed: Collection[int] = ()
        self.written: Collection[int] = ()
        #: False if the candidate's backward failed: its missing gradients are then no separate findings.
        self.pushed_back = True
        if record.mismatches:
            self.failed = {mismatch.slot for mismatch in record.mismatches}
            self.written = _written_by(record, self.failed)
            self.pushed_back = not any(mismatch.stage == "backward" for mismatch in record.mismatches)

    def add_all(self, returned: Iterable[tuple[Call, Any, Any]]) -> None:
        """Pair the results of calls, given as the call, the reference's result and the candidate's."""
        types, failed, written, seen = self.reference.tensor_types, self.failed, self.written, self.seen
        for call, expected, actual in returned:
            kind = call.kind
            if kind in _SILENT or (failed and call.slot in failed):
                continue
            if type(expected) not in types:
                if not (expected is None and is_backward(call)):
                    self._add(call, expected, actual)
                continue
            # A tensor, the most common result: only the necessary checks.
            self.results += kind != "tensor" and call.note != LAYOUT
            identity = id(expected), id(actual)
            if identity in seen or (written and id(expected) in written):
                continue
            seen.add(identity)
            slot = call.slot
            defined = self.specified or not self.record.is_undefined(slot)
            self.found.append(_made(Pairing, (slot, "", "forward", expected, actual, defined)))
            if self.pushed_back:
                self._gradient_of(slot, expected, actual)

    def _add(self, call: Call, expected: Any, actual: Any) -> None:
        """Pair the results of `call` if they are not tensors of the usual class."""
        is_result = call.kind != "tensor" and call.note != LAYOUT and not is_backward(call)
        if isinstance(expected, PLAIN):
            self.results += is_result
            self._plain(call, expected, actual)
        elif not self._is_new(expected, actual):
            self.results += is_result
        elif isinstance(expected, self.reference.tensor_types):
            self.results += is_result
            self._pair(call.slot, "", expected, actual, self.specified or not self.record.is_undefined(call.slot))
            if self.pushed_back:
                self._gradient_of(call.slot, expected, actual)
        elif isinstance(expected, self.reference.module_types):
            self._module(call.slot, expected, actual)  # the state of a module does not count as a result
        elif is_data(self.reference, expected):
            self.results += is_result
            self._pair(call.slot, "", expected, actual, not self.record.is_undefined(call.slot))

    def _is_new(self, expected: Any, actual: Any) -> bool:
        identity = (id(expected), id(actual))
        if identity in self.seen or id(expected) in self.written:
            return False
        self.seen.add(identity)
        return True

    def _pair(self, slot: int, suffix: str, expected: Any, actual: Any, defined: bool) -> None:
        self.found.append(Pairing(slot, suffix, "forward", expected, actual, defined))

    def _plain(self, call: Call, expected: Any, actual: Any) -> None:
        if call.target == "type":
            # The type names differ in the framework's own prefix, as in "torch.FloatTensor". Only the rest is compared.
            expected, actual = (str(side).rpartition(".")[2] for side in (expected, actual))
        self._pair(call.slot, "", expected, actual, not self.record.is_undefined(call.slot))

    def _gradient_of(self, slot: int, expected: Any, actual: Any) -> None:
        """Pair the gradients of a tensor if either side has one."""
        if self.reference.holds_gradient(expected):
            gradient = self.reference.gradient(expected)
        elif (
            id(actual) in self.graded
            or not isinstance(actual, self.candidate.tensor_types)
            or not self.candidate.holds_gradient(actual)
        ):
            return
        else:
            gradient = None
        self.graded.add(id(actual))
        self._gradient(slot, "", gradient, actual)

    def _module(self, slot: int, expected: Any, actual: Any) -> None:
        reference, candidate = self.reference, self.candidate
        self._state(slot, reference.parameters(expected), candidate.parameters(actual))
        self._state(slot, reference.buffers(expected), candidate.buffers(actual))

    def _state(self, slot: int, expected: dict[str, Any], actual: dict[str, Any]) -> None:
        """Pair the parameters, or the buffers, of one module."""
        for name, own in expected.items():
            other = actual.get(name)
            if not self._is_new(own, other):
                continue
            shown = Missing() if name not in actual else other
            self._pair(slot, f".{name}", own, shown, id(own) not in self.record.undefined)
            if self.pushed_back and self.reference.holds_gradient(own):
                self._gradient(slot, f".{name}", self.reference.gradient(own), other)
        for name in sorted(actual.keys() - expected.keys()):
            self._pair(slot, f".{name}", Missing(), actual[name], True)

    def _gradient(self, slot: int, suffix: str, expected: Any, actual: Any) -> None:
        """Pair `expected`, a gradient of the reference, with the gradient of the candidate's tensor `actual`."""
        candidate = self.candidate
        gradient = candidate.gradient(actual) if isinstance(actual, candidate.tensor_types) else None
        defined = slot not in self.gradients_undefined
        if expected is not None:
            self.gradients += 1
            self.seen.add((id(expected), id(gradient)))  # `x.grad` in a body is this object, and no other result
        self.found.append(_made(Pairing, (slot, f"{suffix}.grad", "backward", expected, gradient, defined)))


def _holders_last(record: Record) -> Iterable[tuple[Call, Any, Any]]:
    """Return the calls with their results on both sides, in the order for pairing.

    A holder is a module that only contains others. Holders come last, so that a module in one is reported at the call
    that made it. A holder that is in another module is left out.
    """
    calls = record.calls
    if not make_holders(calls):
        return zip(calls, record.expected, record.actual, strict=True)
    holders = {call.slot for call in calls if is_holder(call)}
    held = {ref.slot for call in calls if _holds(call) for ref in [*refs(call)][call.kind != "function" :]}
    ordered = [
        *(call for call in calls if call.slot not in holders),
        *(call for call in calls if call.slot in holders and call.slot not in held),
    ]
    return ((call, record.expected[call.slot], record.actual[call.slot]) for call in ordered)


def _holds(call: Call) -> bool:
    """Return whether `call` puts modules into another module."""
    return call.kind == "setattr" or is_class(call) or call.target in _PUTTING


def _written_by(recorder: Record, failed: Collection[int]) -> set[int]:
    """Return the ids of the reference's tensors that the calls in `failed` wrote into, directly or by a view.

    These calls failed on the candidate. Its tensors are unchanged, which is part of the failure and no finding of its
    own.
    """
    written: set[int] = set()
    calls, values, types = recorder.calls, recorder.expected, recorder.pair.reference.tensor_types
    for slot in failed:
        if slot >= len(recorder.calls):
            continue
        call = recorder.calls[slot]
        operands = [recorder.expected[ref.slot] for ref in refs(call)]
        if is_module_call(call) and isinstance(operands[0], recorder.pair.reference.module_types):
            written |= {id(buffer) for buffer in recorder.pair.reference.buffers(operands[0]).values()}
        if call.kind == "overwrite":
            continue  # this library's own call: its failure is about the value that it was to replace
        for ref in written_by(call):
            written |= {id(values[same]) for same in spoilt_with(calls, values, types, ref.slot)}
        if reparametrizes(call) or any(map(recorder.pair.reference.works_in_place, operands)):
            written |= {id(operand) for operand in operands}
    return written


def is_data(framework: Framework, value: Any) -> bool:
    """Return whether `value` is, or contains, something to compare: a tensor, plain value, dtype or size."""
    if isinstance(value, dict):
        if "params" in value or "param_groups" in value:
            return False  # how an optimizer keeps its settings may differ; values that a body reads are compared
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return not value or any(is_data(framework, item) for item in value)
    if isinstance(value, (*PLAIN, np.ndarray, *framework.tensor_types)):
        return True
    return framework.literal(value) is not ABSENT
