"""`Generator`, the base of everything that can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from generators.errors import NotAValue, of_the_test
from generators.source import Source, current

# Errors of a test's own making are told at its line: what raises them here is no part of the traceback.
__tracebackhide__ = of_the_test

#: An annotation: a type, a typing construct, or the text of one as a stub file has it.
Annotation = Any

_MISSING: Any = object()
_PLAIN = (int, float, complex, str, bytes, tuple, list)


class Generator:
    """Something to draw a value from.

    A subclass gives `children` to `__init__` (the generators that it draws from) and overrides `_draw`. In `_draw`, a
    child is drawn by ``child.draw_in(source, annotation)``. `__repr__` is written as the code that builds it.
    """

    __slots__ = ("__weakref__", "children")

    def __init__(self, children: tuple[Generator, ...] = ()) -> None:
        self.children = children

    # --- to override ---

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        """A new value from `source`; `annotation` is what the parameter asks for, or None."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to draw: override _draw")

    def _to(self, annotation: Annotation) -> None:
        """Fix the type of this generator alone, unless it is fixed already. Most have none."""

    def _typed_children(self) -> tuple[Generator, ...]:
        """The children that `.to` reaches: those whose value is, or becomes part of, this one's value."""
        return self.children

    def size(self) -> int:
        """The number of alternatives, by which ``a | b`` weighs."""
        return 1

    # --- drawing ---

    def draw_in(self, source: Source, annotation: Annotation = None) -> Any:
        """The value in `source`, drawn now unless it was before."""
        memo = source.memo
        value = memo.get(self, _MISSING)
        if value is _MISSING:
            value = memo[self] = self._draw(source, annotation)
        return value

    def draw(self, annotation: Annotation = None) -> Any:
        """The value in the current `Source`; an untyped `random` takes its type from `annotation`."""
        return self.draw_in(current(), annotation)

    def value(self) -> Any:
        """The value in the current `Source`: the same throughout a trial."""
        return self.draw_in(current(), None)

    def eval(self) -> Any:
        """Forget the value in the current `Source`, of this and of all it is made of, and draw anew."""
        source = current()
        self.forget(source)
        return self.draw_in(source, None)

    def forget(self, source: Source) -> None:
        """Let the next draw in `source` be a new one, also of all that this is made of."""
        memo = source.memo
        for generator in _descendants(self, lambda generator: generator.children):
            memo.pop(generator, None)

    def to(self, annotation: Annotation) -> Generator:
        """Fix the type that is drawn, where it is not fixed yet, and return this same generator.

        ``a.to(int)`` is `a`: both names have the same value. Raises `GeneratorError` for a type that cannot be drawn.
        """
        for generator in _descendants(self, lambda generator: generator._typed_children()):
            generator._to(annotation)
        return self

    # --- combining ---

    if TYPE_CHECKING:
        # `combinators` gives the operators to this class, and `derived` the rest, for they are made of it.
        def map(self, function: Callable[[Any], Any]) -> Generator: ...
        def filter(self, accepts: Callable[[Any], object]) -> Generator: ...
        def flatmap(self, function: Callable[[Any], Any]) -> Generator: ...
        def __or__(self, other: Any) -> Generator: ...
        def __ror__(self, other: Any) -> Generator: ...
        def __add__(self, other: Any) -> Generator: ...
        def __radd__(self, other: Any) -> Generator: ...
        def __sub__(self, other: Any) -> Generator: ...
        def __rsub__(self, other: Any) -> Generator: ...
        def __mul__(self, other: Any) -> Generator: ...
        def __rmul__(self, other: Any) -> Generator: ...
        def __neg__(self) -> Generator: ...

    # --- mistakes that would otherwise pass in silence ---

    def _no_value(self, use: str) -> NotAValue:
        return NotAValue(
            f"{use} needs a drawn value, and {self!r} is a generator: write .value() for its value in this trial"
        )

    def __bool__(self) -> bool:
        raise self._no_value("a condition (if, and, or, not)")

    def __iter__(self) -> Iterator[Any]:
        raise self._no_value("iteration")

    def __index__(self) -> int:
        raise self._no_value("a whole number, as range() and an index take it,")

    def __int__(self) -> int:
        raise self._no_value("int()")

    def __float__(self) -> float:
        raise self._no_value("float()")

    def __len__(self) -> int:
        raise self._no_value("len()")

    def __format__(self, specification: str) -> str:
        raise self._no_value("text, as f-strings and str.format make it,")

    def __lt__(self, other: object) -> bool:
        raise self._no_value("<")

    def __le__(self, other: object) -> bool:
        raise self._no_value("<=")

    def __gt__(self, other: object) -> bool:
        raise self._no_value(">")

    def __ge__(self, other: object) -> bool:
        raise self._no_value(">=")

    def __eq__(self, other: object) -> bool:
        # Only beside plain values, where it would be quietly false; generators among themselves compare by identity.
        if isinstance(other, _PLAIN):
            raise self._no_value("==")
        return NotImplemented

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.children))})"


def _descendants(root: Generator, children: Callable[[Generator], tuple[Generator, ...]]) -> Iterator[Generator]:
    """`root` and everything below it, each once however often it is shared."""
    seen = {root}
    waiting = [root]
    while waiting:
        generator = waiting.pop()
        yield generator
        for child in reversed(children(generator)):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
