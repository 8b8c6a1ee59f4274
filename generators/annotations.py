"""Translates the annotation of a parameter to the kind of value to draw for it."""

from __future__ import annotations

import ast
import dataclasses
import re
import types
import typing
from functools import lru_cache
from typing import Any, Literal, Union


@dataclasses.dataclass(frozen=True, slots=True)
class Scalar:
    """One value of `type`, which is int, float, bool or complex."""

    type: type


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    """One of `values`, as in ``Literal``."""

    values: tuple[Any, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Items:
    """A tuple with these elements."""

    elements: tuple[Kind, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Many:
    """A tuple of any length, all of whose elements are of kind `element`."""

    element: Kind


@dataclasses.dataclass(frozen=True, slots=True)
class OneOf:
    """One of several kinds, in an order that does not depend on the spelling of the annotation."""

    options: tuple[Kind, ...]


Kind = Scalar | Fixed | Items | Many | OneOf
_KINDS = (Scalar, Fixed, Items, Many, OneOf)

INT, FLOAT, BOOL, COMPLEX = Scalar(int), Scalar(float), Scalar(bool), Scalar(complex)
#: An int that is a size, and therefore not negative. It is equal to `INT` and recognised by identity.
SIZE = Scalar(int)
#: An int that is the size of a dimension of a drawn array. It is recognised by identity, too.
DIMENSION = Scalar(int)
_SCALARS = (INT, FLOAT, BOOL, COMPLEX)
_NUMBER = OneOf((INT, FLOAT))

#: The kinds of names in annotations and in torch's stub files. `SymInt` and `_size` are torch's names. Torch's `Number`
#: also allows bool and complex, but these are not drawn for parameters that take an int or a float.
_NAMES: dict[str, Kind] = {
    **dict.fromkeys(("int", "_int", "SymInt", "_symint", "Integral"), INT),
    **dict.fromkeys(("float", "_float", "SymFloat", "Real"), FLOAT),
    **dict.fromkeys(("bool", "_bool", "SymBool"), BOOL),
    **dict.fromkeys(("complex", "_complex"), COMPLEX),
    **dict.fromkeys(("Number", "_Number", "Scalar", "_scalar"), _NUMBER),
    **dict.fromkeys(("_size", "Size"), Many(INT)),
}
_SEQUENCES = frozenset(("Sequence", "List", "list", "Iterable", "Collection", "MutableSequence"))
_BROADCASTING = re.compile(r"(?:BroadcastingList|_ntuple)(\d)$")
_COMMON = re.compile(r"_(size|ratio|maybe)_(\d|any)_(opt_)?t$")


def describe(annotation: Any) -> Kind | None:
    """Return the kind of value to draw for `annotation`, or None if it is unknown, empty, or cannot be drawn.

    ``Optional`` is ignored: a value is always drawn. Of a union, the parts that can be drawn are kept, with two
    exceptions. `bool` and `complex` are dropped beside `int` or `float`, because the parameter takes them only as
    numbers. Tuples of any length are dropped beside any other kind, because the parameter takes only some lengths,
    which the annotation does not state.
    """
    if annotation is None or isinstance(annotation, _KINDS):
        return annotation
    try:
        return _describe(annotation)
    except TypeError:  # not hashable
        return _describe.__wrapped__(annotation)


def ints_in_tuple(kind: Kind) -> int:
    """Return n if `kind` is an int or a tuple of n ints, as a kernel size is; 0 if it is anything else."""
    if not isinstance(kind, OneOf) or len(kind.options) != 2:
        return 0
    one, items = kind.options
    if one != INT or not isinstance(items, Items) or any(item != INT for item in items.elements):
        return 0
    return len(items.elements)


def element(kind: Kind | None, position: int, count: int) -> Kind | None:
    """Return the kind of element `position` in a tuple of `count` elements and kind `kind`, or None if not stated."""
    if isinstance(kind, Items):
        return kind.elements[position] if len(kind.elements) == count else None
    if isinstance(kind, Many):
        return kind.element
    if isinstance(kind, OneOf):
        for option in kind.options:
            if isinstance(option, (Items, Many)):
                found = element(option, position, count)
                if found is not None:
                    return found
    return None


@lru_cache(maxsize=4096)
def _describe(annotation: Any) -> Kind | None:
    if isinstance(annotation, str):
        return _describe_text(annotation)
    if isinstance(annotation, typing.ForwardRef):
        return _describe_text(annotation.__forward_arg__)
    if isinstance(annotation, typing.TypeVar):
        return describe(annotation.__bound__) or _union([describe(item) for item in annotation.__constraints__])
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        for scalar in _SCALARS:
            if annotation is scalar.type:
                return scalar
        return _NAMES.get(annotation.__name__)
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is Union or origin is types.UnionType:
        return _union([describe(item) for item in arguments])
    if origin is Literal:
        return _literal(arguments)
    if origin is typing.Annotated or origin in (typing.Final, typing.ClassVar):
        return describe(arguments[0])
    if origin is tuple:
        return _tuple([... if item is ... else describe(item) for item in arguments])
    if isinstance(origin, type) and origin.__name__ in _SEQUENCES and len(arguments) == 1:
        return _many(describe(arguments[0]))
    return None


def _describe_text(text: str) -> Kind | None:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None
    return _node(tree.body)


def _node(node: ast.expr) -> Kind | None:
    name = _name(node)
    if name is not None:
        if (match := _COMMON.match(name)) is not None:
            return _common(match)
        return _NAMES.get(name)
    if isinstance(node, ast.Constant):
        return _describe_text(node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_node(node.left), _node(node.right)])
    if not isinstance(node, ast.Subscript):
        return None
    outer = _name(node.value) or ""
    inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if outer == "Literal":
        return _literal(tuple([_constant(item) for item in inner]))
    if outer in ("Optional", "Annotated", "Final", "ClassVar"):
        return _node(inner[0])
    if outer == "Union":
        return _union([_node(item) for item in inner])
    if outer in ("Tuple", "tuple"):
        return _tuple([... if _is_ellipsis(item) else _node(item) for item in inner])
    if outer in _SEQUENCES:
        return _many(_node(inner[0]))
    if (match := _BROADCASTING.match(outer)) is not None:
        return _one_or_tuple(_node(inner[0]), int(match[1]))
    return None


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _common(match: re.Match[str]) -> Kind | None:
    scalar = FLOAT if match[1] == "ratio" else INT
    return Many(scalar) if match[2] == "any" else _one_or_tuple(scalar, int(match[2]))


def _one_or_tuple(kind: Kind | None, count: int) -> Kind | None:
    return None if kind is None else _union([kind, Items((kind,) * count)])


def _literal(values: tuple[Any, ...]) -> Kind | None:
    drawn = [value for value in values if value is not None]
    # Sorted, because Literal["a", "b"] == Literal["b", "a"]: the first one that is described is cached for both.
    return Fixed(tuple(sorted(drawn, key=lambda value: (type(value).__name__, repr(value))))) if drawn else None


def _many(item: Kind | None) -> Kind | None:
    return None if item is None else Many(item)


def _tuple(items: list[Any]) -> Kind | None:
    if len(items) == 2 and items[1] is ...:
        return _many(items[0])
    if not items or any(item is None for item in items):
        return None
    return Items(tuple(items))


def _union(parts: list[Kind | None]) -> Kind | None:
    options: set[Kind] = set()
    for part in parts:
        if isinstance(part, OneOf):
            options.update(part.options)
        elif part is not None:
            options.add(part)
    if INT in options or FLOAT in options:
        options -= {BOOL, COMPLEX}
    if any(not isinstance(option, Many) for option in options):
        options = {option for option in options if not isinstance(option, Many)}
    # Sorted for the same reason as literals: Union[int, str] == Union[str, int].
    ordered = sorted(options, key=_rank)
    if len(ordered) < 2:
        return ordered[0] if ordered else None
    return OneOf(tuple(ordered))


def _rank(kind: Kind) -> tuple[int, int, str]:
    # The simplest kind comes first: a failure shrinks to the first one.
    simple = _SCALARS.index(kind) if isinstance(kind, Scalar) else 0
    return _KINDS.index(type(kind)), simple, repr(kind)
