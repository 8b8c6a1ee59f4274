"""Finds the conversions of inputs to another dtype or to numbers of Python, whose results are exactly defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Final

from autotest.program.calls import LAYOUT, Call, Ref, Root, leaves, refs
from autotest.program.influence import shared_memory
from autotest.program.semantics import writes

_METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64",
        "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    }
)  # fmt: skip
_TO_GIVEN: Final = frozenset(("to", "type", "type_as"))
#: Kind and target of the calls that convert. The last three return numbers of Python, which are exact for each dtype.
_CONVERSIONS: Final = frozenset(
    (
        *(("method", name) for name in (*_METHODS, *_TO_GIVEN)),
        *(("method", "item"), ("method", "tolist"), ("builtin", "float")),
    )
)
_NARROW: Final = frozenset(("float16", "bfloat16"))
#: dtypes whose numbers are float32 numbers, too. Others are rounded to float32 before they become narrow, by torch as
#: by many frameworks, so that the nearest narrow number is not the only right one.
_SINGLE: Final = frozenset(("float32", "float16", "bfloat16", "int16", "int8", "uint8", "bool"))
_KNOWN: Final = frozenset((*_METHODS.values(), *_SINGLE))


def exact_conversions(calls: Sequence[Call]) -> Set[int]:
    """Return the slots of the conversions of inputs that have one right result, unless something is written there.

    No rounding precedes them: the inputs are the same on both sides.
    """
    found = {call.slot for call in calls if _is_conversion(call) and _has_one_result(calls, call)}
    if not found:
        return found
    memory = shared_memory(calls)
    written = {memory[ref.slot] for call in calls if writes(call) for ref in refs(call)}
    return {slot for slot in found if not {memory[slot], memory[_operand(calls[slot]).slot]} & written}


def _is_conversion(call: Call) -> bool:
    return (call.kind, call.target) in _CONVERSIONS and type(call.args[0]) is Ref


def _has_one_result(calls: Sequence[Call], call: Call) -> bool:
    own, wanted = _dtype_of_input(calls, _operand(call)), [*_wanted(calls, call)]
    if own not in _KNOWN or len(wanted) > 1 or not _KNOWN.issuperset(wanted):
        return False
    return own in _SINGLE or _NARROW.isdisjoint(wanted)


def _operand(call: Call) -> Ref:
    operand: Ref = call.args[0]
    return operand


def _dtype_of_input(calls: Sequence[Call], operand: Ref) -> str:
    """Return the dtype of the input `operand`, or of the input that it is a view of; empty for any other value."""
    call = calls[operand.slot]
    if call.note == LAYOUT and call.args and type(call.args[0]) is Ref:
        return _dtype_of_input(calls, call.args[0])
    return call.target if call.kind == "tensor" else ""


def _wanted(calls: Sequence[Call], call: Call) -> Iterator[str]:
    """Yield the dtype that `call` converts to, nothing if it keeps the dtype; empty if the dtype is unknown."""
    if call.kind == "method" and call.target in _METHODS:
        yield _METHODS[call.target]
        return
    for leaf in leaves((call.args[1:], call.kwargs)):
        if type(leaf) is Ref:
            yield _dtype_of_input(calls, leaf)
        elif type(leaf) is Root and leaf.path in _KNOWN:
            yield leaf.path
        elif type(leaf) is Root:
            yield ""
