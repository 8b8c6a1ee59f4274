"""Expressions that choose tests by name, as ``pytest -k`` takes them."""

from __future__ import annotations

import re
from collections.abc import Callable

from autotest.base.errors import UsageError

Predicate = Callable[[str], bool]
_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


def selection(expression: str) -> Predicate:
    """The predicate that `expression` describes; raises `UsageError` saying what was expected where."""
    tokens = _TOKEN.findall(expression)
    chosen, rest = _either(tokens, expression)
    if rest:
        raise _wrong(expression, f"nothing more at {rest[0]!r}")
    return chosen


def _either(tokens: list[str], whole: str) -> tuple[Predicate, list[str]]:
    left, rest = _both(tokens, whole)
    if rest[:1] == ["or"]:
        right, rest = _either(rest[1:], whole)
        return (lambda name: left(name) or right(name)), rest
    return left, rest


def _both(tokens: list[str], whole: str) -> tuple[Predicate, list[str]]:
    left, rest = _one(tokens, whole)
    if rest[:1] == ["and"]:
        right, rest = _both(rest[1:], whole)
        return (lambda name: left(name) and right(name)), rest
    return left, rest


def _one(tokens: list[str], whole: str) -> tuple[Predicate, list[str]]:
    if not tokens or tokens[0] in ("and", "or", ")"):
        raise _wrong(whole, f"a word before {tokens[0]!r}" if tokens else "a word at its end")
    first, *rest = tokens
    if first == "not":
        inner, rest = _one(rest, whole)
        return (lambda name: not inner(name)), rest
    if first == "(":
        inner, rest = _either(rest, whole)
        if rest[:1] != [")"]:
            raise _wrong(whole, "a closing parenthesis")
        return inner, rest[1:]
    word = first.lower()
    return (lambda name: word in name.lower()), rest


def _wrong(expression: str, expected: str) -> UsageError:
    return UsageError(f"-k {expression!r}: expected {expected}; write words joined by and, or, not and parentheses")
