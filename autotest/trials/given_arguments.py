"""The arguments that are not tensors which calls were given, by the reference's names of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, Final

from autotest.program import Call, Ref, Root, leaves
from autotest.program.semantics import is_module_call
from autotest.recording.record import Record
from autotest.results.coverage import GIVEN, UNNAMED, argument, valued

#: Maximum length of the text of an argument that is reported.
_LONGEST: Final = 30
#: The types of values that have a text; a `Root` is an object of the framework, such as a dtype.
_PLAIN: Final = (bool, int, float, str, type(None), slice, EllipsisType, Root)
#: The names of an operator's two operands, if they are not the usual ones.
_OPERANDS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("pow", "ipow"), ("input", "exponent")),
    **dict.fromkeys(("getitem", "setitem", "delitem"), ("input", "index")),
}
#: The names of the arguments of a function of which nothing is known, and of one that only passes them on.
_HIDDEN: Final[tuple[tuple[str, ...], ...]] = ((), ("*args",))
_USUAL_OPERANDS: Final = ("input", "other")
#: Operators whose number is a condition of the test, such as the mask ``x > 0``, and no argument that could vary.
_CONDITIONS: Final = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))


def given_arguments(record: Record, call: Call) -> Iterator[str]:
    """Yield the feature of each argument of `call`: its name and value, or its name only if the value has no text.

    If the reference does not tell the names of positional arguments, yield `UNNAMED`.
    """
    for name, value in _all_arguments(record, call):
        if name == UNNAMED:
            yield UNNAMED
            continue
        text = _text(name, value)
        yield valued(GIVEN, name) if text is None else argument(name, text)


def plain_arguments(record: Record, call: Call) -> Iterator[str]:
    """Yield the names of the arguments of `call` whose values have a text."""
    return (name for name, value in _all_arguments(record, call) if name != UNNAMED and _text(name, value) is not None)


def _all_arguments(record: Record, call: Call) -> Iterator[tuple[str, object]]:
    """Yield the arguments of `call`; for the call of a module, also those with which the module was made."""
    yield from _arguments(record, call)
    if is_module_call(call) and type(call.args[0]) is Ref:
        yield from _arguments(record, record.calls[call.args[0].slot])


def _arguments(record: Record, call: Call) -> Iterator[tuple[str, object]]:
    """Yield name and value of the arguments of `call`; `UNNAMED` for positional ones without names."""
    if call.kind == "operator":
        if call.target in _CONDITIONS:
            return
        names = _OPERANDS.get(call.target, _USUAL_OPERANDS)
        yield from zip(names, call.args, strict=False)
        return
    if call.kind in ("function", "method"):
        owner = 1 if call.kind == "method" else 0
        given = call.args[owner:]
        whose = record.expected[call.args[0].slot] if owner and type(call.args[0]) is Ref else None
        # The first tensor of a function or a module is its input, which has no need of a name.
        inputs = 0 if owner and not is_module_call(call) else 1
        if len(given) > inputs or any(map(_has_text, given)):
            tensors = tuple([None if type(value) is Root else type(value) is Ref for value in given])
            named = record.pair.argument_names(call.kind, call.target, whose, tensors, (*call.kwargs,))
            if named in _HIDDEN:
                yield UNNAMED, None
            yield from _named(named, given)
    yield from call.kwargs.items()


def _named(names: Sequence[str], given: Sequence[Any]) -> Iterator[tuple[str, object]]:
    """Yield each of the values `given` with its name; those of a starred parameter, the last of `names`, as a tuple."""
    for place, name in enumerate(names):
        yield (name[1:], (*given[place:],)) if name.startswith("*") else (name, given[place])


def _text(name: str, value: object) -> str | None:
    """Return `value` as source text; None if it is not plain, contains a tensor, or is long."""
    if not _has_text(value):
        return None
    text = _index(value) if name == "index" else _source(value)
    return text if len(text) <= _LONGEST else None


def _has_text(value: object) -> bool:
    items = leaves(value) if isinstance(value, (tuple, list)) else (value,)
    return all(isinstance(item, _PLAIN) for item in items)


def _index(value: object) -> str:
    """Return an index as it is written between brackets: ``1:, 0``."""
    return ", ".join(map(_source, value)) if isinstance(value, tuple) and value else _source(value)


def _source(value: object) -> str:
    if isinstance(value, slice):
        ends = ["" if end is None else str(end) for end in (value.start, value.stop)]
        return ":".join(ends if value.step is None else [*ends, str(value.step)])
    if isinstance(value, (tuple, list)) and any(isinstance(item, (slice, Root)) for item in value):
        return f"[{', '.join(map(_source, value))}]"
    return value.path if isinstance(value, Root) else "..." if value is ... else repr(value)
