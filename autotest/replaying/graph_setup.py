"""Finds the calls of a program that make and set up its modules, which are made before a graph with the modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autotest.frameworks import Framework, files
from autotest.program import KEPT, Call, Operand, Ref, refs
from autotest.program.semantics import (
    assigns_items,
    base_name,
    clips_gradients,
    first_operand,
    is_module_call,
    is_step,
    may_share_memory,
    reads_gradient,
    returns_gradients,
    sets_mode,
    writes_first_operand,
    written,
)
from autotest.recording.pairing import is_data
from autotest.recording.record import Record

#: Methods of a module that do not change it.
_READING = frozenset("parameters named_parameters buffers named_buffers state_dict get_parameter get_buffer".split())


#: Reason why a program cannot run in a graph: nothing in a graph can read a gradient.
GRADIENTS_READ = "gradients as values"


class CannotDivide(Exception):
    """The program cannot run in a graph. The message is the reason."""


def setup_calls(record: Record) -> frozenset[int]:
    """Return the slots of the calls that make modules, assign to them, or write into their tensors, with all operands.

    Raises:
        CannotDivide: a module is set up with a value that a module computed.
    """
    known = _Known(record)
    found: set[int] = set()
    before = -1
    while len(found) > before:  # an operand added for a later call may have been changed by an earlier one
        before = len(found)
        for call in record.calls:
            if call.slot not in found and known.is_part(call, found):
                _take(record, call, known, found)
    return frozenset(found)


class _Known:
    """The modules of a program, and their tensors, on the candidate."""

    def __init__(self, record: Record) -> None:
        self._framework, self._actual, self._calls = record.pair.candidate, record.actual, record.calls
        types = self._framework.module_types
        self.modules = {slot for slot, value in enumerate(record.actual) if isinstance(value, types)}
        self._held = {
            id(tensor) for slot in self.modules for tensor in self._framework.state(record.actual[slot]).values()
        }

    def is_part(self, call: Call, found: set[int]) -> bool:
        """Return whether `call` sets up a module, or changes or reads something in `found` as only such calls do."""
        owner = call.args[0].slot if call.args and type(call.args[0]) is Ref else None
        if call.kind in ("enter", "exit"):
            return False
        if is_module_call(call) or call.target == "forward" or clips_gradients(call):
            return False
        if call.slot in self.modules or (call.kind == "function" and base_name(call) == "Parameter"):
            return True
        if owner is None:
            return False
        if owner in self.modules or call.kind == "load_state":
            return True
        # A call with this note copies a tensor that is about to be overwritten.
        if writes_first_operand(call) or call.kind in ("overwrite", "setattr") or call.note == KEPT:
            viewed = self._viewed(owner)
            return viewed in found or id(self._actual[viewed]) in self._held
        # Takes an item out of a list of parameters.
        return owner in found and call.kind in ("builtin", "operator") and not self._is_tensor(owner)

    def _viewed(self, slot: int) -> int:
        """Return the slot that `slot` is a view of, as of ``weight.data``, or `slot` itself."""
        call = self._calls[slot]
        while may_share_memory(call) and (owner := first_operand(call)) is not None:
            call = self._calls[owner.slot]
        return call.slot

    def _is_tensor(self, slot: int) -> bool:
        return isinstance(self._actual[slot], self._framework.tensor_types)


def _take(record: Record, call: Call, known: _Known, found: set[int]) -> None:
    """Add `call` and all calls that it needs to `found`."""
    waiting = [call]
    while waiting:
        taken = waiting.pop()
        if taken.slot in found:
            continue
        if is_module_call(taken) and taken.args[0].slot in known.modules:
            raise CannotDivide("modules that are set up with results of other modules")
        if reads_gradient(taken) or returns_gradients(taken):
            raise CannotDivide(GRADIENTS_READ)
        found.add(taken.slot)
        waiting.extend(record.calls[ref.slot] for ref in refs(taken))


class Reads:
    """The objects that calls inside a graph have read. A module or tensor that changes later cannot be in the graph."""

    def __init__(self, record: Record) -> None:
        self._framework, self._actual = record.pair.candidate, record.actual
        self._ids: set[int] = set()

    def note(self, call: Call) -> None:
        """Note that `call`, which is inside the graph, reads its operands."""
        for ref in refs(call):
            self._ids.update(map(id, self._with_parts(self._actual[ref.slot])))

    def check(self, call: Call) -> None:
        """Raise `CannotDivide` if `call`, made before the graph, changes what an earlier call inside reads."""
        if not self._ids:
            return
        changed: Iterable[Any] = [self._actual[ref.slot] for ref in written(call)]
        owner = self._actual[call.args[0].slot] if call.args and type(call.args[0]) is Ref else None
        if call.kind == "method" and call.target not in _READING and isinstance(owner, self._framework.module_types):
            changed = self._with_parts(owner)
        if any(id(item) in self._ids for item in changed):
            raise CannotDivide("modules that change between their calls")

    def _with_parts(self, value: Any) -> Iterator[Any]:
        """Yield `value` and, if it is a module, everything in it."""
        yield value
        if isinstance(value, self._framework.module_types):
            yield from self._framework.state(value).values()
            for child in self._framework.children(value).values():
                if child is not None:
                    yield from self._with_parts(child)


def members(framework: Framework, made: Mapping[int, Any], read: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Return the parameters and buffers among the slots in `read`, each with the slot of its module and its name there.

    Raises:
        CannotDivide: the module that directly contains one of them was returned by no call.
    """
    held: dict[int, tuple[int, str]] = {}
    for slot, value in made.items():
        if isinstance(value, framework.module_types):
            for name, tensor in framework.state(value).items():
                known = held.get(id(tensor))
                if known is None or ("." in known[1] and "." not in name):
                    held[id(tensor)] = slot, name
    found = {slot: held[id(made[slot])] for slot in read if id(made.get(slot)) in held}
    if any("." in name for _, name in found.values()):
        raise CannotDivide("parameters that are taken out of a copy of a network")
    return found


def contexts(calls: Iterable[Call]) -> frozenset[int]:
    """Return the slots of the objects that are entered by ``with``."""
    entered: list[Operand] = [call.args[0] for call in calls if call.kind == "enter"]
    return frozenset(item.slot for item in entered if type(item) is Ref)


def unfit(record: Record, call: Call) -> str:
    """Return the reason why no graph can contain `call`, or that it is made before one; empty if there is none."""
    reasons = (
        (call.kind == "function" and call.target in (files.SAVES, files.LOADS), "files"),
        (is_step(call), "steps of optimizers"),
        (clips_gradients(call), "gradients that are clipped"),
        (call.kind == "setattr", "assigned attributes"),
        (assigns_items(call), "assignments to items"),
        (sets_mode(call), "settings of the process"),
        (_keeps_tensors(record, call), "objects made from tensors"),
    )
    return next((reason for there, reason in reasons if there), "")


def _keeps_tensors(record: Record, call: Call) -> bool:
    """Return whether `call` gives tensors to an object that is neither a tensor nor plain, as a distribution is.

    Inside a graph, the object would keep the tensors of eager mode, which are those of one trial.
    """
    framework, actual = record.pair.candidate, record.actual
    if isinstance(actual[call.slot], framework.module_types) or is_data(framework, actual[call.slot]):
        return False
    return any(isinstance(actual[ref.slot], framework.tensor_types) for ref in refs(call))
