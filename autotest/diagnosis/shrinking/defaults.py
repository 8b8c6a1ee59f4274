"""Finds arguments that a program leaves out and whose default values differ between the two sides."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autotest.frameworks import Framework, Pair
from autotest.program import Call, Program

_PLAIN = (type(None), bool, int, float, str, tuple)


def differing_defaults(program: Program, pair: Pair) -> list[str]:
    """Return a line for each omitted argument with different default values.

    Such a line is ``default of weight_decay in optim.AdamW: torch 0.01, oneflow 0.0``.
    """
    return list(dict.fromkeys(line for call in program.calls for line in differing_defaults_of(call, pair)))


def differing_defaults_of(call: Call, pair: Pair) -> Sequence[str]:
    """Return the lines of `differing_defaults` for one call."""
    return list(_differing_of_call(call, pair)) if call.kind == "function" else ()


def _differing_of_call(call: Call, pair: Pair) -> Iterator[str]:
    own, theirs = (_defaults(side, call.target) for side in pair.frameworks)
    for position, name in enumerate(own):
        if name in call.kwargs or position < len(call.args) or name not in theirs or own[name] == theirs[name]:
            continue
        if all(value[name] is None or value[name] is False for value in (own, theirs)):
            continue  # None and False both mean no
        if isinstance(own[name], _PLAIN) and isinstance(theirs[name], _PLAIN):
            values = (f"{side} {value[name]!r}" for side, value in zip(pair.sides, (own, theirs), strict=True))
            yield f"default of {name} in {call.target}: {', '.join(values)}"


def _defaults(framework: Framework, path: str) -> Mapping[str, Any]:
    """Return the default values of a callable's parameters, in order; empty if its signature is unknown."""
    try:
        parameters = inspect.signature(framework.resolve(path)).parameters
    except (AttributeError, ValueError, TypeError):  # the callable is missing, or built in
        return {}
    return {name: parameter.default for name, parameter in parameters.items()}
