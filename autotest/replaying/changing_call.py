"""Finds the call after which objects of the two sides first hold something else, although no result shows that yet.

Examples are a weight that is tied on one side alone, a mode that does not reach the layers of a container, a learning
rate that is not loaded, and a gradient that is left where none should be. What is computed later shows it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.emission import names
from autotest.frameworks import Pair
from autotest.program import Call, Program, Ref, operator_of, refs
from autotest.program.influence import contributing, is_member
from autotest.program.semantics import (
    OPERATIONS,
    first_operand,
    is_backward,
    is_class,
    is_module_call,
    is_step,
    pushes_gradients,
    returns_gradients,
)
from autotest.replaying.object_state import HeldItem, ObjectState, read_state, unlike
from autotest.replaying.replay import Contexts, call_both

#: The largest number of elements that are read in all, of all tensors before and after each call.
_MOST = 1 << 24
#: Symptoms that objects may cause. What raises may do so for any other reason.
_SYMPTOMS = frozenset(("value", "gradient", "shape", "dtype", "structure", "requires_grad"))


class ObjectChange(NamedTuple):
    """A call after which an object differs, the name of its operator, and what the object then holds, in words."""

    slot: int
    operator: str
    told: str


class _Differing(NamedTuple):
    """What differs before the calls in `slots`; and what differs only after them, with words for it."""

    slots: Sequence[int]
    before: frozenset[HeldItem]
    since: Mapping[HeldItem, str]


@dataclasses.dataclass(slots=True)
class ObjectChanges:
    """The search for such calls in `program`, which runs at most once."""

    program: Program
    pair: Pair
    settings: Settings
    _found: list[_Differing] | None = None
    #: What a call changed and still differs when an optimizer makes a step, such as a gradient that only one side has.
    _stepped: set[HeldItem] = dataclasses.field(default_factory=set)

    def behind(self, mismatch: Mismatch) -> ObjectChange | None:
        """Return the call that changed an object on which `mismatch` depends; None if there is none.

        Everything else on which it depends must agree before that call. Whether a gradient of zero is a tensor or
        missing counts only if `mismatch` is about a missing gradient, or if an optimizer's step is given it:
        frameworks do either by default.
        """
        if mismatch.symptom not in _SYMPTOMS or mismatch.slot >= len(self.program.calls):
            return None
        if self._found is None:
            self._found = self._search()
        if not any(one.since for one in self._found):
            return None
        pushes = [call.slot for call in self.program.calls if pushes_gradients(call)]
        slots = contributing(self.program, [mismatch.slot, *(pushes if mismatch.stage == "backward" else ())])
        is_missing = mismatch.symptom == "gradient" and mismatch.statistics is None
        for one in self._found:
            slot = one.slots[-1]
            if any(item.aspect not in _HARMLESS and item.slot in slots for item in one.before):
                return None
            for item, told in one.since.items():
                if item.slot in slots and (is_missing or item.aspect != "presence" or item in self._stepped):
                    return ObjectChange(slot, self._operator(slot), told)
        return None

    def _search(self) -> list[_Differing]:
        """Return what differs around each call that may change objects, or around several where nothing changes.

        A network is built by many calls, and all objects are read before and after each call that is looked at alone.
        """
        found = [*self._differing(frozenset())]
        changing = frozenset(slot for one in found if one.since and len(one.slots) > 1 for slot in one.slots)
        return [*self._differing(changing)] if changing else found

    def _operator(self, slot: int) -> str:
        """Return the name of the call in `slot`; that it differentiates an operator is not why it changes an object."""
        call = self.program.calls[slot]
        return call.target if returns_gradients(call) else operator_of(self.program.calls, slot)

    def _differing(self, apart: Collection[int]) -> Iterator[_Differing]:
        """Yield what differs before and after each run of calls, see `_runs`, that may change objects."""
        calls, pair = self.program.calls, self.pair
        last = max((call.slot for call in calls if _may_change_objects(call)), default=-1)
        values: tuple[list[Any], list[Any]] = ([], [])
        read = 0
        changed: set[HeldItem] = set()
        with Contexts(calls, *pair.frameworks) as contexts:
            for run in _runs(calls, apart):
                first, *others = (group[0] for group in run)
                if first.slot > last:
                    return
                looked_at = any(self._is_looked_at(call, values[0]) for call in (first, *others))
                try:
                    before = self._unlike(values) if looked_at else frozenset[HeldItem]()
                    if is_step(first):
                        self._stepped |= before & changed
                    for call in itertools.chain(*run):
                        call_both(call, pair, values, self.program, contexts)
                    if not looked_at:
                        continue
                    after = self._states(values)
                except Exception:  # noqa: BLE001 - a framework may raise any exception
                    return
                read += 2 * sum(item.data.size for item in after[0].values() if hasattr(item, "data"))
                if read > _MOST:
                    return
                since = sorted(unlike(*after, self.settings) - before, key=_from_causes)
                if not others:
                    since = [item for item in since if _is_of_interest(item, first)]
                changed.update(since)
                slots = [call.slot for call in (first, *others)]
                yield _Differing(slots, before, {item: self._told(item, *after) for item in since})

    def _is_looked_at(self, call: Call, values: list[Any]) -> bool:
        return _may_change_objects(call) and (_only_builds(call) or self._is_of_object(call, values))

    def _is_of_object(self, call: Call, values: list[Any]) -> bool:
        """Whether `call` is of a module or an optimizer, of the attribute of a tensor, or leaves gradients."""
        owner = first_operand(call)
        if call.kind != "method" or call.target in _OF_TENSORS or owner is None:
            return True
        reference, value = self.pair.reference, values[owner.slot]
        is_made = is_class(self.program.calls[owner.slot]) and not isinstance(value, reference.tensor_types)
        return is_made or isinstance(value, reference.module_types)

    def _unlike(self, values: tuple[list[Any], list[Any]]) -> frozenset[HeldItem]:
        return unlike(*self._states(values), self.settings)

    def _states(self, values: tuple[list[Any], list[Any]]) -> tuple[ObjectState, ObjectState]:
        made, undefined = {call.slot for call in self.program.calls if is_class(call)}, self.program.undefined
        own, other = (
            read_state(side, held, made, undefined) for side, held in zip(self.pair.frameworks, values, strict=True)
        )
        return own, other

    def _told(self, item: HeldItem, own: ObjectState, other: ObjectState) -> str:
        """Return words for what an item is on both sides."""
        held = names(self.program)
        sides, owner = self.pair.sides, held[item.slot]
        name = f"{owner}{item.path}"
        expected, actual = own.get(item), other.get(item)
        if item.aspect == "tie":
            is_tied = expected not in (None, item[:2])
            slot, path = (expected if is_tied else actual) or item[:2]
            one, two = sides if is_tied else reversed(sides)
            return f"{name} and {held[slot]}{path} are one tensor of {one}, and two of {two}"
        if item.aspect == "mode":
            training = sides[0] if expected else sides[1]
            return f"{name} is in training mode in {training} only"
        if item.aspect == "attribute":
            return f"{name} is {expected!r} in {sides[0]}, {actual!r} in {sides[1]}"
        if item.aspect == "setting":
            return f"{item.path} of {owner} is {expected!r} in {sides[0]}, {actual!r} in {sides[1]}"
        if item.aspect == "memory":
            if item.path:
                return f"{item.path} of {owner} differs"
            return f"{owner} remembers earlier steps in {sides[bool(actual)]} only"
        if item.aspect == "keeping":
            return f"backward passes leave a gradient in {name} in {sides[bool(actual)]} only"
        if item.aspect in ("gradient", "presence"):
            has = [side for side, gradient in zip(sides, (expected, actual), strict=True) if gradient]
            if len(has) != 1:
                return f"the gradient of {name} differs"
            presence = item._replace(aspect="presence")
            if own.get(presence) and other.get(presence):
                return f"the gradient of {name} is zero in {sides[bool(expected)]} only"
            return f"{name} has a gradient in {has[0]} only"
        if (item in own) != (item in other):
            return f"only {sides[item in other]} has {name}"
        return f"{name} differs"


#: What may differ without an effect of its own, until something is written or pushed back.
_HARMLESS = frozenset(("tie", "presence", "keeping", "attribute"))
#: Methods of tensors that change which gradient is kept.
_OF_TENSORS = frozenset(("retain_grad", "requires_grad_"))
#: Methods that change what a module holds, and nothing else.
_BUILDING = frozenset(
    {"add_module", "append", "eval", "extend", "insert", "register_buffer", "register_module", "register_parameter"}
    | {"requires_grad_", "train"}
)


def _may_change_objects(call: Call) -> bool:
    """Whether `call` may change what an object holds, other than by a computation whose result is compared."""
    if call.kind in ("setattr", "builtin"):
        return call.kind == "setattr" or call.target == "deepcopy"
    if is_class(call):  # what it holds itself may be drawn, or be its own by default; its members are given
        return next(refs(call), None) is not None
    if call.kind not in OPERATIONS or (is_member(call) and call.target != "state_dict"):
        return False
    if call.kind == "method":
        computes = is_module_call(call) or is_backward(call)
        return not computes and type(call.args[0]) is Ref
    return returns_gradients(call) or call.target.startswith("nn.utils.")


def _is_of_interest(item: HeldItem, call: Call) -> bool:
    """Whether `call` is to blame if `item` differs after it.

    The parameters of a step and the memory of its optimizer are compared as results; the gradients are its inputs.
    """
    if is_class(call):
        return item.aspect == "tie"
    return item.aspect == "gradient" or not is_step(call)


def _only_builds(call: Call) -> bool:
    """Whether `call` makes or changes an object and computes nothing."""
    return call.kind in ("tensor", "setattr") or is_class(call) or (call.kind == "method" and call.target in _BUILDING)


def _runs(calls: Sequence[Call], apart: Collection[int]) -> Iterator[list[list[Call]]]:
    """Yield runs of groups of calls, see `_with_given_state`: those in a row that only build, and each other one alone.

    What building changes has no effect before the next call that computes. Calls among `apart` are alone, too.
    """
    groups = _with_given_state(calls)
    for together, run in itertools.groupby(groups, lambda group: group[0].slot not in apart and _only_builds(group[0])):
        if together:
            yield [*run]
        else:
            yield from ([group] for group in run)


def _with_given_state(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield each call with those that follow it and give both sides the same numbers, where it draws some."""
    group: list[Call] = []
    for call in calls:
        if group and call.kind not in ("load_state", "overwrite"):
            yield group
            group = []
        group.append(call)
    if group:
        yield group


def _from_causes(item: HeldItem) -> tuple[bool, HeldItem]:
    """Return a key that sorts ties first: of a weight that is not tied, the names and gradients differ, too."""
    return item.aspect != "tie", item
