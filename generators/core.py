"""`Generator`, the base class of everything that can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from generators.errors import NotAValue, is_test_mistake
from generators.source import Source, current

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: An annotation: a type, a typing construct, or its text as in a stub file.
Annotation = Any

_MISSING: Any = object()
_PLAIN = (int, float, complex, str, bytes, tuple, list)


class Generator:
    """Base class of objects that draw a value.

    A subclass passes `children` (the generators that it draws from) to `__init__` and overrides `_draw`. `_draw` draws
    a child with ``child.draw_in(source, annotation)``. `__repr__` returns the code that builds the generator.
    """

    __slots__ = ("__weakref__", "children")

    def __init__(self, children: tuple[Generator, ...] = ()) -> None:
        self.children = children

    # --- to override ---

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        """Return a new value from `source`; `annotation` is that of the parameter that receives it, or None."""
        raise NotImplementedError(f"{type(self).__name__} does not define how to draw: override _draw")

    def _to(self, annotation: Annotation) -> None:
        """Fix the type of this generator only, unless it is fixed already. Most generators have no type."""

    def _typed_children(self) -> tuple[Generator, ...]:
        """Return the children that `.to` applies to: those whose value is, or is part of, this generator's value."""
        return self.children

    def size(self) -> int:
        """Return the number of alternatives, which is the weight of this generator in ``a | b``."""
        return 1

    def greatest(self) -> int | None:
        """Return a whole number that no drawn value exceeds; None if there is none, or if only a draw can tell."""
        return None

    def turns(self, annotation: Annotation) -> tuple[float, ...]:
        """Return the chances of the values that take turns in the trials of a test, each of which `draw_turn` can draw.

        They add up to 1. If the values cannot take turns, there is one chance, that of any value.
        """
        return (1.0,)

    def draw_turn(self, source: Source, annotation: Annotation, turn: int) -> Any:
        """Return the value that has chance number `turn` of `turns`, which becomes the value in `source`."""
        return self.draw_in(source, annotation)

    # --- drawing ---

    def draw_in(self, source: Source, annotation: Annotation = None) -> Any:
        """Return the value in `source`, and draw it if this is the first call for `source`."""
        memo = source.memo
        value = memo.get(self, _MISSING)
        if value is _MISSING:
            value = memo[self] = self._draw(source, annotation)
        return value

    def draw(self, annotation: Annotation = None) -> Any:
        """Return the value in the current `Source`; an untyped `random` takes its type from `annotation`."""
        return self.draw_in(current(), annotation)

    def value(self) -> Any:
        """Return the value in the current `Source`, which stays the same throughout a trial."""
        return self.draw_in(current(), None)

    def eval(self) -> Any:
        """Forget the values of this generator and all its descendants in the current `Source`, and draw a new one."""
        source = current()
        self.forget(source)
        return self.draw_in(source, None)

    def forget(self, source: Source) -> None:
        """Forget the values of this generator and all its descendants in `source`, so that the next draw is new."""
        memo = source.memo
        for generator in _descendants(self, lambda generator: generator.children):
            memo.pop(generator, None)

    def to(self, annotation: Annotation) -> Generator:
        """Fix the type of the drawn value, unless it is fixed already, and return this same generator.

        ``a.to(int)`` is `a`, so both have the same value.

        Raises:
            GeneratorError: if values of the type cannot be drawn.
        """
        for generator in _descendants(self, lambda generator: generator._typed_children()):
            generator._to(annotation)
        return self

    # --- combining ---

    if TYPE_CHECKING:
        # `combinators` adds the operators to this class and `derived` adds the other methods: both import this module.
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
        def __floordiv__(self, other: Any) -> Generator: ...
        def __rfloordiv__(self, other: Any) -> Generator: ...
        def __mod__(self, other: Any) -> Generator: ...
        def __rmod__(self, other: Any) -> Generator: ...
        def __neg__(self) -> Generator: ...

    # --- mistakes that would otherwise go unnoticed ---

    def _no_value(self, use: str) -> NotAValue:
        return NotAValue(
            f"{use} needs a drawn value, but {self!r} is a generator: write .value() for its value in this trial"
        )

    def __bool__(self) -> bool:
        raise self._no_value("a condition (if, and, or, not)")

    def __iter__(self) -> Iterator[Any]:
        raise self._no_value("iteration")

    def __index__(self) -> int:
        raise self._no_value("range() or an index")

    def __int__(self) -> int:
        raise self._no_value("int()")

    def __float__(self) -> float:
        raise self._no_value("float()")

    def __len__(self) -> int:
        raise self._no_value("len()")

    def __format__(self, specification: str) -> str:
        raise self._no_value("an f-string or str.format")

    def __lt__(self, other: object) -> bool:
        raise self._no_value("<")

    def __le__(self, other: object) -> bool:
        raise self._no_value("<=")

    def __gt__(self, other: object) -> bool:
        raise self._no_value(">")

    def __ge__(self, other: object) -> bool:
        raise self._no_value(">=")

    def __eq__(self, other: object) -> bool:
        # Raise only for plain values, to which a generator would always be unequal. Two generators compare by identity.
        if isinstance(other, _PLAIN):
            raise self._no_value("==")
        return NotImplemented

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.children))})"


def _descendants(root: Generator, children: Callable[[Generator], tuple[Generator, ...]]) -> Iterator[Generator]:
    """Yield `root` and all its descendants, each once even if several generators share it."""
    seen = {root}
    waiting = [root]
    while waiting:
        generator = waiting.pop()
        yield generator
        for child in reversed(children(generator)):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
