"""Generators whose value is worked out from the value of one other: `.map`, `.filter`, `.flatmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from generators import combinators
from generators.core import Annotation, Generator
from generators.errors import GeneratorError, Unsatisfiable, of_the_test
from generators.source import Source
from generators.where import here, text

# Errors of a test's own making are told at its line: what raises them here is no part of the traceback.
__tracebackhide__ = of_the_test

#: How many values a filter may refuse. Even one that accepts one in a hundred fails once in 20,000 draws.
MOST_REFUSALS: Final = 1000


class _Applied(Generator):
    """What a function makes of the value of a child; nothing stays nothing."""

    __slots__ = ("_function",)
    _method = ""

    def __init__(self, child: Generator, function: Callable[[Any], Any]) -> None:
        _must_be_callable(child, self._method, function)
        self.children = (child,)
        self._function = function

    def __repr__(self) -> str:
        return f"{combinators.bracketed(self.children[0], '|+-*')}.{self._method}({_called(self._function)})"


def _must_be_callable(child: Generator, method: str, function: Any) -> None:
    if not callable(function):
        raise GeneratorError(f"{child!r}.{method}({function!r}): expected a function of the drawn value")


class Mapped(_Applied):
    """``function(value)``; the parameter's annotation is about the result, so the child does not get to see it."""

    __slots__ = ()
    _method = "map"

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        value = self.children[0].draw_in(source)
        return value if value is combinators.NOTHING else self._function(value)

    def size(self) -> int:
        return self.children[0].size()


class FlatMapped(_Applied):
    """The value of the generator that ``function(value)`` returns."""

    __slots__ = ()
    _method = "flatmap"

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        value = self.children[0].draw_in(source)
        return (
            value
            if value is combinators.NOTHING
            else combinators.pack(self._function(value)).draw_in(source, annotation)
        )


class Filtered(Generator):
    """Values that ``accepts(value)`` finds true."""

    __slots__ = ("_accepts", "_where")

    def __init__(self, child: Generator, accepts: Callable[[Any], object]) -> None:
        _must_be_callable(child, "filter", accepts)
        self.children = (child,)
        self._accepts = accepts
        self._where = here()

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        child = self.children[0]
        memo = source.memo
        drawn_before = len(memo)
        value: Any = None
        before: int | None = None
        try:
            for _ in range(MOST_REFUSALS):
                choices_before = len(source.choices)
                value = child.draw_in(source, annotation)
                if value is combinators.NOTHING or self._accepts(value):
                    return value
                if len(source.choices) == choices_before:
                    raise self._unsatisfiable(value, "and it can be no other")
                # The memo keeps its order: what this try drew comes off the end. What the trial had drawn before
                # stays, for it may have been used.
                while len(memo) > drawn_before:
                    memo.popitem()
                if before is None:
                    before = source.vary()
        finally:
            if before is not None:
                source.vary(before)
        raise self._unsatisfiable(value, f"as were {MOST_REFUSALS - 1} before it")

    def _unsatisfiable(self, value: Any, why: str) -> Unsatisfiable:
        return Unsatisfiable(
            f"{self!r} at {text(self._where)}: expected some value to be accepted, but {value!r} was refused, {why}; "
            "widen what is drawn, or draw the filtered generator before what it is made of"
        )

    def size(self) -> int:
        return self.children[0].size()

    def __repr__(self) -> str:
        return f"{combinators.bracketed(self.children[0], '|+-*')}.filter({_called(self._accepts)})"


def _called(function: Any) -> str:
    name: str = getattr(function, "__name__", "...")
    return name if name.isidentifier() else "..."


def _map(self: Generator, function: Callable[[Any], Any]) -> Generator:
    """The generator of ``function(value)``; nothing stays nothing."""
    return Mapped(self, function)


def _filter(self: Generator, accepts: Callable[[Any], object]) -> Generator:
    """The generator of those values that `accepts` finds true; nothing is always accepted.

    Drawing raises `Unsatisfiable`, naming the line of this call, when no value was accepted in many tries.
    What this generator is made of and was drawn before in the same trial keeps its value.
    """
    return Filtered(self, accepts)


def _flatmap(self: Generator, function: Callable[[Any], Any]) -> Generator:
    """The generator that draws from the generator (or is the plain value) that ``function(value)`` gives."""
    return FlatMapped(self, function)


for _name, _method in (("map", _map), ("filter", _filter), ("flatmap", _flatmap)):
    setattr(Generator, _name, _method)
