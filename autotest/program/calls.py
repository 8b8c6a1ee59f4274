"""The recorded program of one trial, as plain data."""

from __future__ import annotations

import dataclasses
import io
import itertools
from collections import OrderedDict
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
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
#: The note of the views through which mutations and sweeps lay out a tensor or write into one. Mutations leave their
#: arguments alone, and a sweep looks at them to tell apart the kinds of its samples.
VIEW = "view"
#: The note of the copies of tensors that the next call overwrites.
KEPT = "kept before it is overwritten"
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


def same_bits(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Return whether two arrays have the same shape, dtype and bits: NaN is equal to itself, 0.0 is not -0.0."""
    return one is other or (one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes())


@dataclasses.dataclass(slots=True)
class Array:
    """A captured array with the framework's name of its dtype.

    `dtype` is authoritative. `data.dtype` is the same except for ``bfloat16``: NumPy does not have it, so its values
    are stored as float32, which represents each of them exactly.
    """

    data: np.ndarray[Any, Any]
    dtype: str

    def __eq__(self, other: object) -> bool:  # from Python 3.13 on, that of a dataclass has no opinion on arrays
        return isinstance(other, Array) and self.dtype == other.dtype and same_bits(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]  # it can be changed


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


def map_call(call: Call, leaf: Callable[[Any], Any]) -> Call:
    """Return `call` with every non-container in its operands replaced by ``leaf(item)``."""
    return call._replace(args=map_operand(call.args, leaf), kwargs=map_operand(call.kwargs, leaf))


def reading(call: Call, instead: Mapping[int, Operand]) -> Call:
    """Return `call` with each result that it reads replaced by what `instead` has for its slot."""
    return map_call(call, lambda item: instead.get(item.slot, item) if type(item) is Ref else item)


def with_leaves(call: Call, values: Mapping[int, Operand]) -> Call:
    """Return `call` with other leaves of its operands, by their positions in ``leaves((call.args, call.kwargs))``."""
    counted = itertools.count()
    args, kwargs = map_operand((call.args, call.kwargs), lambda item: values.get(next(counted), item))
    return call._replace(args=args, kwargs=kwargs)


def without_keyword(call: Call, name: str | None) -> Call:
    """Return `call` without the keyword argument `name`."""
    return call._replace(kwargs={key: item for key, item in call.kwargs.items() if key != name})


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
