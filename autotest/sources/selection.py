"""Parses expressions that select tests by name, in the syntax of ``pytest -k``."""

from __future__ import annotations

import re
from collections.abc import Callable

from autotest.base.errors import UsageError

Predicate = Callable[[str], bool]
_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


def selection(expression: str, option: str = "-k ") -> Predicate:
    """Return the predicate that `expression` describes.

    Args:
        expression: words joined by ``and``, ``or``, ``not`` and parentheses.
        option: the option that the expression was given by, for error messages.

    Raises:
        UsageError: The expression is invalid; the message says what was expected.
    """
    asked = f"{option}{expression!r}"
    tokens = _TOKEN.findall(expression)
    chosen, rest = _either(tokens, asked)
    if rest:
        raise _wrong(asked, f"nothing more at {rest[0]!r}")
    return chosen


def _either(tokens: list[str], asked: str) -> tuple[Predicate, list[str]]:
    left, rest = _both(tokens, asked)
    if rest[:1] == ["or"]:
        right, rest = _either(rest[1:], asked)
        return (lambda name: left(name) or right(name)), rest
    return left, rest


def _both(tokens: list[str], asked: str) -> tuple[Predicate, list[str]]:
    left, rest = _one(tokens, asked)
    if rest[:1] == ["and"]:
        right, rest = _both(rest[1:], asked)
        return (lambda name: left(name) and right(name)), rest
    return left, rest


def _one(tokens: list[str], asked: str) -> tuple[Predicate, list[str]]:
    if not tokens or tokens[0] in ("and", "or", ")"):
        raise _wrong(asked, f"a word before {tokens[0]!r}" if tokens else "a word at its end")
    first, *rest = tokens
    if first == "not":
        inner, rest = _one(rest, asked)
        return (lambda name: not inner(name)), rest
    if first == "(":
        inner, rest = _either(rest, asked)
        if rest[:1] != [")"]:
            raise _wrong(asked, "a closing parenthesis")
        return inner, rest[1:]
    word = first.lower()
    return (lambda name: word in name.lower()), rest


def _wrong(asked: str, expected: str) -> UsageError:
    return UsageError(f"{asked}: expected {expected}; write words joined by and, or, not and parentheses")
