"""Generators whose value is computed from the value of one other generator: `.map`, `.filter`, `.flatmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from generators import combinators
from generators.code_position import call_site, location
from generators.core import Annotation, Generator
from generators.errors import GeneratorError, Unsatisfiable, is_test_mistake
from generators.source import Source

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: Maximum number of values that a filter refuses in one draw before it fails. A filter that accepts only one value in a
#: hundred fails once in 20,000 draws.
MOST_REFUSALS: Final = 1000


class _Applied(Generator):
    """Base class for the result of a function of a child's value; `NOTHING` stays `NOTHING`."""

    __slots__ = ("_function",)
    _method = ""

    def __init__(self, child: Generator, function: Callable[[Any], Any]) -> None:
        _must_be_callable(child, self._method, function)
        self.children = (child,)
        self._function = function

    def __repr__(self) -> str:
        return f"{combinators.bracketed(self.children[0], '|+-*/%')}.{self._method}({_called(self._function)})"


def _must_be_callable(child: Generator, method: str, function: Any) -> None:
    if not callable(function):
        raise GeneratorError(f"{child!r}.{method}({function!r}): expected a function of the drawn value")


class Mapped(_Applied):
    """``function(value)``. The parameter's annotation describes the result, so it is not passed to the child."""

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
    """The values of a child for which ``accepts(value)`` is true."""

    __slots__ = ("_accepts", "_where")

    def __init__(self, child: Generator, accepts: Callable[[Any], object]) -> None:
        _must_be_callable(child, "filter", accepts)
        self.children = (child,)
        self._accepts = accepts
        self._where = call_site()

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
                    raise self._unsatisfiable(value, "and it has no other value")
                # Remove the values that this try drew: they are at the end, because dicts keep insertion order. Values
                # that the trial drew earlier stay, because they may have been used.
                while len(memo) > drawn_before:
                    memo.popitem()
                if before is None:
                    before = source.vary()
        finally:
            if before is not None:
                source.vary(before)
        raise self._unsatisfiable(value, f"like the {MOST_REFUSALS - 1} values before it")

    def _unsatisfiable(self, value: Any, why: str) -> Unsatisfiable:
        return Unsatisfiable(
            f"{self!r} at {location(self._where)}: expected some value to be accepted, but {value!r} was refused, {why}"
            "; draw from a wider range, or draw the filtered generator before the generators that it uses"
        )

    def size(self) -> int:
        return self.children[0].size()

    def __repr__(self) -> str:
        return f"{combinators.bracketed(self.children[0], '|+-*/%')}.filter({_called(self._accepts)})"


def _called(function: Any) -> str:
    name: str = getattr(function, "__name__", "...")
    return name if name.isidentifier() else "..."


def _map(self: Generator, function: Callable[[Any], Any]) -> Generator:
    """Return the generator of ``function(value)``; `NOTHING` stays `NOTHING`."""
    return Mapped(self, function)


def _filter(self: Generator, accepts: Callable[[Any], object]) -> Generator:
    """Return the generator of the values for which `accepts` is true; `NOTHING` is always accepted.

    Drawing raises `Unsatisfiable`, with the line of this call, if `MOST_REFUSALS` values in a row are refused. Parts of
    this generator that were drawn earlier in the same trial keep their values.
    """
    return Filtered(self, accepts)


def _flatmap(self: Generator, function: Callable[[Any], Any]) -> Generator:
    """Return the generator that draws from ``function(value)``, which returns a generator or a plain value."""
    return FlatMapped(self, function)


for _name, _method in (("map", _map), ("filter", _filter), ("flatmap", _flatmap)):
    setattr(Generator, _name, _method)
