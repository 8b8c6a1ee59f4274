"""Reads and compares what the objects of a replay hold besides the results of calls: ties, modes, rates, gradients."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from autotest.base.settings import Settings
from autotest.comparison import Comparison, TensorValue, compare_values
from autotest.frameworks import Framework
from autotest.frameworks.freezing import PLAIN_TYPES, freeze

#: What an item is about:
#: ``tie``        the member of a module that a tensor is, if it is one: a tied weight is that of another module
#: ``value``      the contents and attributes of a tensor
#: ``gradient``   the gradient of a tensor; None if it is zero or missing
#: ``presence``   whether a tensor has a gradient, which may be zero
#: ``keeping``    whether a backward pass leaves a gradient in a tensor
#: ``mode``       whether a module is in training mode
#: ``attribute``  another plain attribute of a module or a scheduler, such as ``eps``
#: ``setting``    an argument of one of an optimizer's groups
#: ``memory``     what an optimizer, or its state that a test holds, remembers of earlier steps
Aspect = Literal["tie", "value", "gradient", "presence", "keeping", "mode", "attribute", "setting", "memory"]
#: Relative difference of an optimizer's numbers that single precision may cause.
_ROUNDING = 1e-5
#: A slot, and where in its value something is, such as ``.weight``; empty for the value itself.
_Place: TypeAlias = tuple[int, str]


class HeldItem(NamedTuple):
    """One thing that the value in `slot` holds; `path` says where in it, such as ``.weight``."""

    slot: int
    path: str
    aspect: Aspect


ObjectState: TypeAlias = Mapping[HeldItem, Any]


def read_state(
    framework: Framework, values: Sequence[Any], made: Collection[int], ignored: Collection[int]
) -> ObjectState:
    """Return what the tensors and objects in `values` hold.

    Args:
        framework: the framework that they belong to.
        values: the results of calls, by slot.
        made: the slots of optimizers and other objects that classes make.
        ignored: the slots of tensors that are left out.
    """
    return dict(_Reading(framework, values, made, ignored).items())


def unlike(one: ObjectState, other: ObjectState, settings: Settings) -> frozenset[HeldItem]:
    """Return the items that differ; one that only one side has counts if it is a tensor."""
    how = Comparison("forward", settings.tolerance)
    found = {item for item in one.keys() ^ other.keys() if item.aspect == "value"}
    compared: dict[tuple[int, int], bool] = {}  # a network and each of its parts hold the same tensors
    for item in one.keys() & other.keys():
        held = one[item], other[item]
        if item.aspect not in ("value", "gradient", "memory"):
            differs = not _means_the_same(*held)
        elif (known := compared.get((id(held[0]), id(held[1])))) is not None:
            differs = known
        else:
            differs = compared[id(held[0]), id(held[1])] = bool(compare_values("", *held, how))
        if differs:
            found.add(item)
    return frozenset(found)


def _means_the_same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal; a framework may say 0.0 for 0, False for None, or round a rate."""
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_means_the_same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=_ROUNDING)
    return bool(one == other or (not one and not other))


@dataclasses.dataclass(frozen=True, slots=True)
class _Reading:
    framework: Framework
    values: Sequence[Any]
    made: Collection[int]
    ignored: Collection[int]

    def items(self) -> Iterator[tuple[HeldItem, Any]]:
        tensors = self._tensors()
        held = self._held({id(one): one for one in tensors.values()})
        for place, one in tensors.items():
            yield from ((HeldItem(*place, aspect), what) for aspect, what in held[id(one)].items())
        yield from self._ties(tensors)
        for slot, value in enumerate(self.values):
            if isinstance(value, self.framework.module_types):
                modes = self.framework.training_modes(value)
                yield from ((HeldItem(slot, f".{path}".rstrip("."), "mode"), mode) for path, mode in modes.items())
                yield from self._attributes(slot, value)
            elif isinstance(value, dict) and "param_groups" in value:
                yield HeldItem(slot, "", "memory"), bool(value.get("state"))
            elif slot in self.made:
                yield from self._attributes(slot, value)
                yield from self._of_optimizer(slot, value)

    def _tensors(self) -> dict[_Place, Any]:
        found: dict[_Place, Any] = {}
        for slot, value in enumerate(self.values):
            if isinstance(value, self.framework.module_types):
                found |= {(slot, f".{name}"): one for name, one in self.framework.state(value).items()}
            elif isinstance(value, self.framework.tensor_types) and slot not in self.ignored:
                found[slot, ""] = value
        return found

    def _held(self, tensors: Mapping[int, Any]) -> dict[int, dict[Aspect, Any]]:
        """Return what each of `tensors` holds, with the same keys."""
        side = self.framework
        contents = zip(tensors.items(), freeze(side, [*tensors.values()]), strict=True)
        found: dict[int, dict[Aspect, Any]] = {
            key: {"value": content, "keeping": side.holds_gradient(one)} for (key, one), content in contents
        }
        # One that requires no grad may have been given a gradient. A computed one has none unless it keeps it.
        having = [key for key, one in tensors.items() if found[key]["keeping"] or not side.can_backpropagate(one)]
        gradients = freeze(side, [side.gradient(tensors[key]) for key in having])
        for key, gradient in zip(having, gradients, strict=True):
            is_zero = type(gradient) is TensorValue and not gradient.data.any()
            found[key] |= {"gradient": None if is_zero else gradient, "presence": gradient is not None}
        return found

    def _ties(self, tensors: Mapping[_Place, Any]) -> Iterator[tuple[HeldItem, _Place | None]]:
        """Yield for each tensor the first member of a module that is the same object; None if no member is."""
        known = {place: self.framework.identity(one) for place, one in tensors.items()}
        members: dict[int, _Place] = {}
        for (slot, path), identity in known.items():
            if path and identity is not None:
                members.setdefault(identity, (slot, path))
        for place, identity in known.items():
            if identity is not None:
                yield HeldItem(*place, "tie"), members.get(identity)

    def _attributes(self, slot: int, value: Any) -> Iterator[tuple[HeldItem, Any]]:
        for name, one in self.framework.attributes(value).items():
            if isinstance(one, (*PLAIN_TYPES, tuple)) and name != "training":
                yield HeldItem(slot, f".{name}", "attribute"), one

    def _of_optimizer(self, slot: int, value: Any) -> Iterator[tuple[HeldItem, Any]]:
        groups = self.framework.hyperparameters(value)
        for at, group in enumerate(groups):
            for name, one in group.items():
                if isinstance(one, (*PLAIN_TYPES, tuple)):
                    yield HeldItem(slot, f"{name} of group {at}", "setting"), one
        if not groups:
            return
        memories = self.framework.memories(value)
        yield HeldItem(slot, "", "memory"), any(memories)
        for at, memory in enumerate(memories):
            for name, one in zip(memory, freeze(self.framework, [*memory.values()]), strict=True):
                yield HeldItem(slot, f"{name} of tensor {at}", "memory"), one
