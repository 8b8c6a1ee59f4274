"""The recorded program of one trial, as plain data."""

from __future__ import annotations

import dataclasses
import io
from collections import OrderedDict
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

#: How a call is performed. The kind determines the meaning of `target` and `args`.
#:
#: ============== ======================= ================================================================
#: kind           target                  args
#: ============== ======================= ================================================================
#: ``tensor``     dtype name              ``(Captured,)``, kwargs ``requires_grad``, ``device``
#: ``function``   path below the root     the arguments: ``torch.nn.functional.relu(x)``
#: ``method``     method name             owner, then the arguments; ``__call__`` for a module's call
#: ``operator``   name in :mod:`operator` operands: ``add``, ``iadd``, ``getitem``, ``setitem``, ...
#: ``builtin``    name in :mod:`builtins` ``len``, ``bool``, ``int``, ``float``, ``list``, ...
#: ``getattr``    attribute name          ``(owner,)``
#: ``setattr``    attribute name          ``(owner, value)``
#: ``load_state`` ``""``                  ``(module, {name: Captured})``: parameters and buffers, in place
#: ``overwrite``  ``""``                  ``(tensor, Captured)``: contents, in place, outside of autograd
#: ``enter``      ``""``                  ``(context manager,)``
#: ``exit``       ``""``                  ``(context manager,)``
#: ============== ======================= ================================================================
CallKind = Literal[
    "tensor",
    "function",
    "method",
    "operator",
    "builtin",
    "getattr",
    "setattr",
    "load_state",
    "overwrite",
    "enter",
    "exit",
]

#: The note of the views that give an input its memory layout.
LAYOUT = "layout"
#: The note of inputs that are pushed back as gradients.
COTANGENT = "cotangent"
#: The note of calls that compute what all random results of one call have in common.
PROPERTY = "a property of what was drawn"


# `Ref`, `Captured` and `Array` are never changed. They are not frozen because that halves the cost of creating one, and
# every call of every trial creates some.


@dataclasses.dataclass(unsafe_hash=True, slots=True)
class Ref:
    """The result of the earlier call in `slot`."""

    slot: int


@dataclasses.dataclass(frozen=True, slots=True)
class Root:
    """An object of the framework's namespace by its dotted path below the root: ``"float32"``, ``"nn.ReLU"``."""

    path: str


@dataclasses.dataclass(unsafe_hash=True, slots=True)
class Captured:
    """The captured array of the program at `index`."""

    index: int


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """A file named `name` that the program writes; each side has its own, which exists until the program has run."""

    name: str


@dataclasses.dataclass(slots=True)
class Array:
    """A captured array with the framework's name of its dtype.

    `dtype` is authoritative. `data.dtype` is the same except for ``bfloat16``: NumPy does not have it, so its values
    are stored as float32, which represents each of them exactly.
    """

    data: np.ndarray[Any, Any]
    dtype: str


#: A literal (None, bool, int, float, complex, str, Ellipsis), a `Ref`, a `Root`, a `Captured`, a `File`, or a
#: tuple, list, dict, OrderedDict (nn.Sequential takes no plain dict) or slice of such.
#: It is an alias of Any, because a union of all these would not help a type checker and would need casts.
Operand: TypeAlias = Any


class Scope(NamedTuple):
    """A module of a network: the network's class name, and the module's path in it, "" for the network itself."""

    network: str
    path: str = ""

    def child(self, name: str) -> Scope:
        """Return the scope of the submodule named `name`."""
        return Scope(self.network, f"{self.path}.{name}" if self.path else name)

    def __str__(self) -> str:
        return f"{self.network}.{self.path}" if self.path else self.network


class Call(NamedTuple):
    """One step of a program. `slot` is the place of its result, which is the call's own position in the program."""

    kind: CallKind
    target: str
    args: tuple[Operand, ...]
    kwargs: dict[str, Operand]
    slot: int
    #: Information that a reproducer's code does not show, such as "drawn by torch.randn".
    note: str = ""
    #: The module of a network that made the call.
    scope: Scope | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    """The calls of one trial, as plain data that any framework can run again.

    Attributes:
        calls: the calls in order; ``calls[i].slot == i`` always.
        arrays: the arrays that the calls read, by index.
        undefined: slots whose contents no framework defines (``torch.empty``, random numbers that are not shared); in
            these everything but the values is compared.

    Raises:
        ValueError: a call's slot is not its position, or it reads a slot that is not written yet.
    """

    calls: tuple[Call, ...]
    arrays: tuple[Array, ...]
    undefined: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for position, call in enumerate(self.calls):
            if call.slot != position:
                raise ValueError(f"call {position} of a program writes slot {call.slot}; expected {position}")
            for ref in refs(call):
                if not 0 <= ref.slot < position:
                    raise ValueError(f"call {position} ({call.target}) reads slot {ref.slot}, which is not written yet")

    @property
    def has_properties(self) -> bool:
        """Whether calls compute properties of random results, which hold only for as many elements as there are."""
        return any(call.note == PROPERTY for call in self.calls)

    def inputs(self) -> list[Call]:
        """Return the calls that make tensors of captured arrays, in order."""
        return [call for call in self.calls if call.kind == "tensor"]

    def shape_class(self) -> Literal["zero-size", "0-dim", "ordinary"]:
        """Return the class of the input shapes: an input has no elements, an input has no dimensions, or neither."""
        shapes = [self.arrays[call.args[0].index].data.shape for call in self.inputs() if call.note != COTANGENT]
        if any(0 in shape for shape in shapes):
            return "zero-size"
        return "0-dim" if () in shapes else "ordinary"


def map_operand(operand: Operand, leaf: Callable[[Any], Any]) -> Any:
    """Return `operand` with every non-container in it replaced by ``leaf(item)``."""
    kind = type(operand)
    if kind is tuple:
        return tuple([map_operand(item, leaf) for item in operand])
    if kind is list:
        return [map_operand(item, leaf) for item in operand]
    if kind is dict or kind is OrderedDict:
        return kind((key, map_operand(item, leaf)) for key, item in operand.items())
    if kind is slice:
        return slice(map_operand(operand.start, leaf), map_operand(operand.stop, leaf), map_operand(operand.step, leaf))
    return leaf(operand)


def plain_container(value: Any) -> Operand:
    """Return the tuple, list or dict with the same items as a container of another type; None for anything else.

    An iterator is read to its end and returned as a list, because only one of the two sides could read it.
    """
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, tuple):
        return tuple(value)
    # A file is also an iterator (of its lines), but is passed on unchanged.
    if isinstance(value, (list, range, KeysView, ValuesView, ItemsView, Iterator)) and not isinstance(value, io.IOBase):
        return list(value)
    return None


def leaves(operand: Operand) -> list[Any]:
    """Return every non-container inside `operand`, from left to right."""
    found: list[Any] = []
    _gather(operand, found)
    return found


def _gather(operand: Operand, found: list[Any]) -> None:
    # Every program is read this way many times, and a generator for each container would take five times as long.
    kind = type(operand)
    items: Iterable[Any]
    if kind is tuple or kind is list:
        items = operand
    elif kind is dict or kind is OrderedDict:
        items = operand.values()
    elif kind is slice:
        items = (operand.start, operand.stop, operand.step)
    else:
        found.append(operand)
        return
    for item in items:
        if type(item) in _CONTAINERS:
            _gather(item, found)
        else:
            found.append(item)


_CONTAINERS = frozenset((tuple, list, dict, OrderedDict, slice))


def refs(call: Call) -> Iterator[Ref]:
    """Return the references to earlier values that `call` reads."""
    found: list[Ref] = []
    for operands in (call.args, call.kwargs.values()):
        # Most operands are no containers; do not build a list of leaves for them.
        for item in operands:
            kind = type(item)
            if kind is Ref:
                found.append(item)
            elif kind in _CONTAINERS:
                found += [leaf for leaf in leaves(item) if type(leaf) is Ref]
    return iter(found)


def captured(call: Call) -> Iterator[Captured]:
    """Return the captured arrays that `call` reads."""
    return iter([item for item in leaves((call.args, call.kwargs)) if type(item) is Captured])


#: Kinds of calls that change or read their first operand, and for which a finding names the operator behind it.
_ABOUT_THEIR_OWNER = frozenset(("load_state", "overwrite", "enter", "exit", "setattr", "getattr"))
#: Functions that differentiate their first operand; a finding names the operator behind that.
_DIFFERENTIATING = frozenset(("autograd.grad", "autograd.backward"))


def operator_of(calls: Sequence[Call], slot: int, *, gradient: bool = False) -> str:
    """Return the name of the operator that a finding about the value in `slot`, or about its gradient, should have.

    - A module's call and an optimizer's step have the name of their class.
    - An input, a view that gives it its memory layout, and the gradient of a leaf made by a function have the name of
      the first call that computes with it.
    - A property of a random result has the name of the call that drew it.
    - An attribute of an input has the name of the attribute.
    - The result of `autograd.grad`, or of a backward pass through it, has the name of the differentiated operator.
    - Any other value has the name of its own call.

    Args:
        calls: the calls of the program.
        slot: the slot of the value.
        gradient: whether the finding is about the gradient of the value.
    """
    if slot >= len(calls):
        return ""
    call = calls[slot]
    if call.kind == "tensor" or call.note == LAYOUT or (gradient and _makes_leaf(call)):
        own = "tensor" if call.kind == "tensor" else call.target
        known_by = next(_readers(calls, slot), _pushed_through(calls, slot))
        return own if known_by is None else operator_of(calls, known_by)
    if call.note == PROPERTY and type(call.args[0]) is Ref:
        return operator_of(calls, call.args[0].slot)
    if call.kind == "method" and call.target in ("__call__", "step") and type(call.args[0]) is Ref:
        return operator_of(calls, call.args[0].slot)
    if call.kind == "function" and call.target in _DIFFERENTIATING:
        return next((operator_of(calls, made) for made in _differentiated(calls, call)), call.target)
    if call.target == "getitem" and type(call.args[0]) is Ref and calls[call.args[0].slot].target in _DIFFERENTIATING:
        return operator_of(calls, call.args[0].slot)
    if call.kind in _ABOUT_THEIR_OWNER and type(call.args[0]) is Ref:
        owner = calls[call.args[0].slot]
        # An input is named after a later call, which may be this one; therefore use this call's own name.
        return (call.target or call.kind) if owner.kind == "tensor" else operator_of(calls, owner.slot)
    return call.target


def first_use(calls: Sequence[Call], slot: int) -> tuple[int, str] | None:
    """Return the call that the gradient of the leaf in `slot` is named after, and the operand that is the leaf.

    The operand is ``"1"`` for the second argument, ``"0[1]"`` for the second item of a list that is the first argument,
    ``"weight"`` for a keyword argument. Return None if `slot` has no leaf, or if no call computes with it.
    """
    if slot >= len(calls) or not (
        calls[slot].kind == "tensor" or calls[slot].note == LAYOUT or _makes_leaf(calls[slot])
    ):
        return None
    reader = next(_readers(calls, slot), None)
    if reader is None:
        return None
    call = calls[reader]
    if call.note == LAYOUT:
        return first_use(calls, reader)
    called = call.args[1:] if call.kind == "method" and call.target == "__call__" else call.args
    named = [*((str(at), item) for at, item in enumerate(called)), *call.kwargs.items()]
    parts = [
        *named,
        *((f"{at}[{own}]", part) for at, item in named if type(item) in (tuple, list) for own, part in enumerate(item)),
    ]
    names = {
        Ref(slot),
        *(Ref(one.slot) for one in calls if one.target == "requires_grad_" and one.args[0] == Ref(slot)),
    }
    return next(((reader, at) for at, item in parts if type(item) is Ref and item in names), None)


def _pushed_through(calls: Sequence[Call], slot: int) -> int | None:
    """Return the slot of the call through which the cotangent in `slot` is propagated back; None if there is none."""
    for later in calls[slot + 1 :]:
        if later.target == "backward" and Ref(slot) in set(refs(later)) and type(later.args[0]) is Ref:
            made = calls[later.args[0].slot]
            return made.slot if made.kind != "tensor" and made.slot != slot else None
    return None


def _differentiated(calls: Sequence[Call], call: Call) -> Iterator[int]:
    """Yield the slots of the calls whose results `call` differentiates.

    For an item of a tuple of results, this is the call that returned the tuple.
    """
    for output in leaves(call.args[:1]):
        made = calls[output.slot] if type(output) is Ref else call
        if made.target == "getitem" and type(made.args[0]) is Ref and type(made.args[1]) is int:
            made = calls[made.args[0].slot]
        if made.kind != "tensor" and made is not call:
            yield made.slot


def _makes_leaf(call: Call) -> bool:
    """Whether the result of `call` may be a leaf: a factory function such as ``torch.ones(2)``, or a parameter."""
    made_of_nothing = call.target.rpartition(".")[2][:1].islower() and not [*refs(call)]
    return call.kind == "function" and (made_of_nothing or call.target == "nn.Parameter")


def _readers(calls: Sequence[Call], slot: int) -> Iterator[int]:
    """Yield the slots of the calls that compute with the value in `slot`, also after `requires_grad_` returned it."""
    names = [Ref(slot)]
    for later in calls[slot + 1 :]:
        if later.target == "requires_grad_" and later.args[0] in names:
            names.append(Ref(later.slot))
        elif later.target != "backward" and any(_computes_of(later, name) for name in names):
            yield later.slot


def _computes_of(call: Call, operand: Ref) -> bool:
    if call.kind in _ABOUT_THEIR_OWNER and call.args[0] == operand:
        return False
    return operand in set(refs(call))
