"""Finds, in the record of a trial, the pairs of objects that should agree on both sides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import Missing, Stage
from autotest.frameworks import ABSENT, Framework
from autotest.frameworks.freezing import PLAIN_TYPES
from autotest.program import COTANGENT, LAYOUT, Call, refs
from autotest.program.numpy_scalars import is_scalar
from autotest.program.semantics import (
    is_backward,
    is_class,
    is_holder,
    is_module_call,
    is_step,
    loads_state,
    make_holders,
    reparametrizes,
)
from autotest.program.semantics import written as written_by
from autotest.recording.record import Record
from autotest.recording.shared_contents import spoilt_with
from autotest.recording.unreadable import of_candidate

#: Kinds of calls without a result to compare: loaded states, overwritten contents, assignments, context managers.
_SILENT = frozenset(("load_state", "overwrite", "setattr", "enter", "exit"))
#: Methods and operators that insert modules into another module.
_PUTTING = frozenset("add_module register_module append insert extend update setitem".split())


class Pairing(NamedTuple):
    """Two objects that should agree; `suffix` is appended to the name of the slot, as in ``.weight.grad``."""

    slot: int
    suffix: str
    stage: Stage
    expected: Any
    actual: Any
    defined: bool


class Paired(NamedTuple):
    """All pairs of a record in program order, with the numbers of results of calls and of gradients."""

    pairings: list[Pairing]
    results: int
    #: Number of gradients that the reference has.
    gradients: int


def pair_up(record: Record, slots: Collection[int] | None = None) -> Paired:
    """Return all pairs of `record` that are to be compared, or those of the calls in `slots`.

    If a framework has no values, only plain values are compared by value, and tensors also by their strides.
    """
    pairs = _Pairs(record)
    returned = _holders_last(record)
    pairs.add_all(returned if slots is None else (one for one in returned if one[0].slot in slots))
    found = pairs.found
    if not (record.pair.reference.holds_values and record.pair.candidate.holds_values):
        found = [item if isinstance(item.expected, PLAIN_TYPES) else item._replace(defined=False) for item in found]
        found += [_strides(record, item) for item in found if _have_strides(record, item)]
    return Paired(found, pairs.results, pairs.gradients)


#: Creates a NamedTuple at half the cost of its constructor; this matters because every tensor of a trial is paired.
_made = tuple.__new__


def _have_strides(record: Record, item: Pairing) -> bool:
    """Whether both sides of `item` are tensors of one shape; not gradients, whose strides autograd chooses."""
    reference, candidate = record.pair.reference, record.pair.candidate
    if item.stage != "forward" or not isinstance(item.expected, reference.tensor_types):
        return False
    if not isinstance(item.actual, candidate.tensor_types):
        return False
    return reference.shape(item.expected) == candidate.shape(item.actual)


def _strides(record: Record, item: Pairing) -> Pairing:
    """Return a pairing of the strides of both sides, without dimensions of size 1, whose strides mean nothing."""

    def steps(framework: Framework, tensor: Any) -> tuple[int, ...]:
        shape = framework.shape(tensor)
        listed = zip(shape, framework.strides(tensor), strict=True)
        return tuple(step for size, step in listed if size > 1) if all(shape) else ()

    expected = steps(record.pair.reference, item.expected)
    actual = steps(record.pair.candidate, item.actual)
    return Pairing(item.slot, f"{item.suffix}.stride()", item.stage, expected, actual, True)


class _Pairs:
    """The pairs found so far, and the ids of the objects that are already paired.

    Several calls may return the same object, and a module may contain a tensor that a call returned. Each object is
    compared once, at its first occurrence.
    """

    __slots__ = (
        "candidate",
        "failed",
        "found",
        "graded",
        "gradients",
        "gradients_undefined",
        "has_backward",
        "partners",
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
        #: The numbers of results of calls and of gradients of the reference in `found`.
        self.results = 0
        self.gradients = 0
        #: (id on the reference, id on the candidate) of the objects that have been paired.
        self.seen: set[tuple[int, int]] = set()
        #: By id of an object on the reference, the object on the candidate that it was first paired with.
        self.partners: dict[int, Any] = {}
        #: ids of the candidate's tensors whose gradients are paired. A call may return the leaf itself on the
        #: candidate and a copy on the reference.
        self.graded: set[int] = set()
        self.gradients_undefined = record.gradients_undefined()
        # Usually nothing is undefined; then no slot needs a check.
        self.specified = not (record.undefined or record.undefined_slots)
        self.failed: Collection[int] = ()
        self.written: Collection[int] = ()
        #: False if the candidate's backward failed: its missing gradients are then no separate findings.
        self.has_backward = True
        if record.mismatches:
            self.failed = {mismatch.slot for mismatch in record.mismatches}
            self.written = _written_by(record, self.failed)
            self.has_backward = not any(mismatch.stage == "backward" for mismatch in record.mismatches)

    def add_all(self, returned: Iterable[tuple[Call, Any, Any]]) -> None:
        """Pair the results of calls; `returned` yields each call with its result on either side."""
        types, failed = self.reference.tensor_types, self.failed
        for call, expected, actual in returned:
            kind = call.kind
            if kind in _SILENT or (failed and call.slot in failed):
                continue
            if type(expected) not in types:
                if not (expected is None and is_backward(call)):
                    self._add(call, expected, actual)
                continue
            # A tensor, the most frequent case: with as few checks as possible.
            if call.note == LAYOUT:
                if self._views_cotangent(call):
                    continue  # its base is compared, which has the same memory, and can be read in half the time
            else:
                self.results += kind != "tensor"
            slot = call.slot
            if not self._is_new(slot, expected, actual):
                continue
            defined = self.specified or not self.record.is_undefined(slot)
            self.found.append(_made(Pairing, (slot, "", "forward", expected, actual, defined)))
            if self.has_backward:
                self._gradient_of(slot, expected, actual)

    def _views_cotangent(self, view: Call) -> bool:
        """Return whether `view`, which gives an input its memory layout, is one of a cotangent."""
        calls = self.record.calls
        while view.note == LAYOUT:
            view = calls[view.args[0].slot]
        return view.note == COTANGENT

    def _add(self, call: Call, expected: Any, actual: Any) -> None:
        """Pair the result of `call` if it is no tensor of exactly a class in `tensor_types`."""
        is_result = call.kind != "tensor" and call.note != LAYOUT and not is_backward(call)
        if isinstance(expected, PLAIN_TYPES):
            self.results += is_result
            self._plain(call, expected, actual)
        elif not self._is_new(call.slot, expected, actual):
            self.results += is_result
        elif isinstance(expected, self.reference.tensor_types):
            self.results += is_result
            self._pair(call.slot, "", expected, actual, self.specified or not self.record.is_undefined(call.slot))
            if self.has_backward:
                self._gradient_of(call.slot, expected, actual)
        elif isinstance(expected, self.reference.module_types):
            self._module(call.slot, expected, actual)  # the module's state does not count as a result
        elif is_data(self.reference, expected):
            self.results += is_result
            self._pair(call.slot, "", expected, actual, not self.record.is_undefined(call.slot))

    def _is_new(self, slot: int, expected: Any, actual: Any) -> bool:
        """Return whether these two objects are not paired yet, and take note of them."""
        identity = (id(expected), id(actual))
        if identity in self.seen or id(expected) in self.written:
            return False
        self.seen.add(identity)
        partner = self.partners.setdefault(id(expected), actual)
        return partner is actual or not self._is_same(slot, partner, actual)

    def _is_same(self, slot: int, one: Any, other: Any) -> bool:
        """Return whether two results of the candidate are one tensor, for which it may have several stand-ins here.

        A replay on the reference alone has no second pair of such a tensor, so that nothing could explain one.
        """
        candidate = self.candidate
        are_tensors = isinstance(one, candidate.tensor_types) and isinstance(other, candidate.tensor_types)
        return are_tensors and of_candidate(slot, candidate.same, one, other)

    def _pair(self, slot: int, suffix: str, expected: Any, actual: Any, defined: bool) -> None:
        self.found.append(Pairing(slot, suffix, "forward", expected, actual, defined))

    def _plain(self, call: Call, expected: Any, actual: Any) -> None:
        if call.target == "type":
            # The names contain the name of the framework: "torch.FloatTensor".
            actual = of_candidate(call.slot, self.candidate.known, actual)
            expected, actual = (str(side).rpartition(".")[2] for side in (expected, actual))
        self._pair(call.slot, "", expected, actual, not self.record.is_undefined(call.slot))

    def _gradient_of(self, slot: int, expected: Any, actual: Any) -> None:
        """Pair the gradients of a tensor if either side has one."""
        if self.partners[id(expected)] is not actual:
            return  # a leaf that a call returned on the reference, where the candidate has a copy: paired at the leaf
        if self.reference.holds_gradient(expected):
            gradient = self.reference.gradient(expected)
        elif (
            id(actual) in self.graded
            or not isinstance(actual, self.candidate.tensor_types)
            or not of_candidate(slot, self.candidate.holds_gradient, actual)
        ):
            return
        else:
            gradient = None
        self.graded.add(id(actual))
        self._gradient(slot, "", gradient, actual)

    def _module(self, slot: int, expected: Any, actual: Any) -> None:
        reference, candidate = self.reference, self.candidate
        alike = actual is expected and candidate is reference
        for own, other in (
            (reference.parameters, candidate.parameters),
            (reference.buffers, candidate.buffers),
        ):
            # Results of one framework alone are paired with themselves: half of the time of a replay's reading.
            mine = own(expected)
            self._state(slot, mine, mine if alike else of_candidate(slot, other, actual))

    def _state(self, slot: int, expected: dict[str, Any], actual: dict[str, Any]) -> None:
        """Pair the parameters or the buffers of one module, by name."""
        for name, own in expected.items():
            other = actual.get(name)
            if not self._is_new(slot, own, other):
                continue
            shown = Missing() if name not in actual else other
            self._pair(slot, f".{name}", own, shown, id(own) not in self.record.undefined)
            if self.has_backward and self.reference.holds_gradient(own):
                self._gradient(slot, f".{name}", self.reference.gradient(own), other)
        for name in sorted(actual.keys() - expected.keys()):
            self._pair(slot, f".{name}", Missing(), actual[name], True)

    def _gradient(self, slot: int, suffix: str, expected: Any, actual: Any) -> None:
        """Pair the reference's gradient `expected` with the gradient of the candidate's tensor `actual`."""
        candidate = self.candidate
        is_tensor = isinstance(actual, candidate.tensor_types)
        gradient = of_candidate(slot, candidate.gradient, actual) if is_tensor else None
        defined = slot not in self.gradients_undefined
        if expected is not None:
            self.gradients += 1
            self._is_new(slot, expected, gradient)  # so that `x.grad`, read by the body, is no second pair
        self.found.append(_made(Pairing, (slot, f"{suffix}.grad", "backward", expected, gradient, defined)))


def _holders_last(record: Record) -> Iterable[tuple[Call, Any, Any]]:
    """Return the calls with their results on either side, container modules last.

    The contents of a container module are thereby reported at the calls that made them. Containers inside of another
    container are left out.
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
    """Whether `call` may insert modules into another module."""
    return call.kind == "setattr" or is_class(call) or call.target in _PUTTING


def _written_by(recorder: Record, failed: Collection[int]) -> set[int]:
    """Return the ids of the reference's tensors into which a call in `failed` wrote, directly or through a view.

    The calls failed on the candidate, whose tensors are therefore unchanged. This is no finding in addition to the
    failure.
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
            continue  # inserted by this library: its failure is a finding about the value that it was to replace
        for ref in written_by(call):
            written |= {id(values[same]) for same in spoilt_with(calls, values, types, ref.slot)}
        if reparametrizes(call) or any(map(recorder.pair.reference.works_in_place, operands)):
            written |= {id(operand) for operand in operands}
        if loads_state(call) or is_step(call) or call.target.startswith("nn.utils."):
            written |= {id(tensor) for operand in operands for tensor in _held_by(operand, recorder.pair.reference)}
    lists = (value for value in values if isinstance(value, (list, tuple))) if written else ()
    return written | {id(value) for value in lists if any(id(item) in written for item in value)}


def _held_by(value: Any, framework: Framework) -> Iterator[Any]:
    """Yield the tensors of a module, of an optimizer, or of a list of tensors."""
    if isinstance(value, framework.module_types):
        yield from framework.state(value).values()
    elif isinstance(value, (list, tuple)):
        yield from value
    else:
        yield from framework.optimized(value)


def is_data(framework: Framework, value: Any) -> bool:
    """Return whether `value` is data to compare: a tensor, an array, a plain value, a dtype, a size, or a container."""
    if isinstance(value, dict):
        if "params" in value or "param_groups" in value:
            return False  # an optimizer's own format; settings that the body reads from it are compared
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return not value or any(is_data(framework, item) for item in value)
    if isinstance(value, (*PLAIN_TYPES, np.ndarray, *framework.tensor_types)) or is_scalar(value):
        return True
    return framework.literal(value) is not ABSENT
