"""Generators of numbers and truth values."""

from __future__ import annotations

import builtins
import math
import numbers
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from generators import annotations as kinds
from generators.choosing import MOST_IN_TURN, choose, inside, whole_number
from generators.code_position import call_site, location
from generators.combinators import nothing, oneof
from generators.core import Annotation, Generator
from generators.errors import BadBounds, GeneratorError, is_test_mistake
from generators.levels import BLOCK, PLAIN_ROWS
from generators.plan import values_in
from generators.source import Source, trial_of
from generators.strategies import as_generator

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: Greatest length of a tuple for a parameter that takes any length.
_LONGEST = 3
#: The bounds of plain numbers, if none are given.
LOW, HIGH = 1, 6
#: Bounds of numbers that have none: those of plain trials first, and then one pair for each of the other trials in a
#: block of twenty.
_OF_SIZES = ((LOW, HIGH), *((LOW, HIGH),) * 13, *((HIGH, 18),) * 5)
#: The same for dimensions. Three sizes are one past a block of a vectorised loop, one is 1, and one range is larger
#: than a tile of a matrix product. Each occurs once, spaced so that the other dimensions of the same array have smaller
#: bounds.
_OF_DIMENSIONS = (
    (LOW, HIGH),
    *((129, 200), *((LOW, HIGH),) * 3, (1, 2)),
    *((65, 66), *((LOW, HIGH),) * 3, (HIGH, 18)),
    *((33, 34), *((LOW, HIGH),) * 2, (HIGH, 18)),
    *((17, 18), *((LOW, HIGH),) * 2, (HIGH, 18)),
)
#: The bounds of all dimensions in one trial of each block, and the place of this trial, whose numbers are ordinary ones
#: in single precision: a fault may need several long dimensions.
_LONG, _ALL_LONG = (65, 81), 17
_OF_WHOLE = ((LOW, HIGH), *((LOW, HIGH),) * 9, *((HIGH, 18),) * 3, *((-6, 0),) * 4, *((0, 1),) * 2)
#: The alternative of a whole number that is zero; and the level and turn of values beside which numbers are zero.
_ZERO, _BESIDE_ZERO = (kinds.INT, 0, 1), ("nan", 1)
_OF_FLOATS = (
    (1.0, 6.0),
    *(*((1.0, 6.0),) * 5, *((0.0, 1.0),) * 4, *((-6.0, 0.0),) * 4, *((-1e3, 1e3),) * 3, *((-0.01, 0.01),) * 2),
)
#: Numbers that functions compare exponents, factors and slopes with (the first two are drawn twice as often), and the
#: maximum number of them in a range.
_TELLING, _MOST_POINTS = (0.0, 1.0, 0.5, -1.0, 2.0, -0.5, -2.0), 6
#: Step in the tables of bounds from one trial to the next. It uses each entry but the first once in a block of trials.
_STRIDE = 7


class random(Generator):
    """A generator of numbers in [low, high), or of values of the type that the parameter is annotated with.

    The type is the one that `.to` fixed, or else that of the annotation of the parameter that receives the value. With
    neither, it is int if both bounds are ints, and float if not. For a tuple, each element is drawn separately. For a
    bool, the bounds are ignored. For a complex number, both parts are within the bounds. A parameter that takes a tuple
    of any length gets one to three elements. None is never drawn.

    Over the trials of a test, each integer of a short range occurs, and the ends of a longer one. In a third of the
    trials a float is `low`, 0, 1 or a similar number. A number without bounds is mostly from 1 to 5. In some trials it
    is greater or, if it is not a size, zero, negative, or between 0 and 1.

    Args:
        low: the least number, or a generator of it.
        high: the bound above all numbers, itself excluded, or a generator of it.

    Raises:
        BadBounds: if there is no number between the bounds. It is raised here if both are plain numbers, else when a
            value is drawn, with the line that built this object.
    """

    __slots__ = ("_fixed", "_kind", "_open", "_where", "high", "low")

    def __init__(self, low: Any = None, high: Any = None) -> None:
        self._where = call_site()
        self._kind: kinds.Kind | None = None
        self._fixed: Annotation = None
        self.low: Any
        self.high: Any
        if type(low) is int and type(high) is int and low < high:  # the most frequent case
            self._open = False
            self.low, self.high, self.children = low, high, ()
            return
        self._open = low is None and high is None
        omitted = "low" if low is None else "high" if high is None else ""
        self.low = low = LOW if low is None else as_generator(low)
        self.high = high = HIGH if high is None else as_generator(high)
        children: builtins.tuple[Generator, ...] = ()
        if not isinstance(low, Generator):
            if type(low) is not int:
                self.low = low = self._bound("low", low)
        else:
            children = (low,)
        if not isinstance(high, Generator):
            if type(high) is not int:
                self.high = high = self._bound("high", high)
            if not children and not low < high:
                raise self._bad(low, high, omitted and f"; {omitted}, which was omitted, is {getattr(self, omitted)}")
        else:
            children = (*children, high)
        self.children = children

    def __repr__(self) -> str:
        typed = "" if self._kind is None else f".to({_spell(self._fixed)})"
        return f"random({'' if self._open else f'{self.low!r}, {self.high!r}'}){typed}"

    def to(self, annotation: Annotation) -> random:
        """Fix the type, unless it is fixed already, and return this same generator. Bounds keep their own types."""
        self._to(annotation)
        return self

    def _to(self, annotation: Annotation) -> None:
        if self._kind is not None:
            return
        kind = kinds.INT if annotation is int else kinds.describe(annotation)
        if kind is None:
            raise GeneratorError(
                f"{self!r}.to({_spell(annotation)}): expected a type to draw (int, float, bool, complex, a Literal, "
                f"or tuples and unions of these); {self!r} was written at {location(self._where)}"
            )
        self._kind = kind
        self._fixed = annotation

    def _typed_children(self) -> builtins.tuple[Generator, ...]:
        # A bound is not part of the value: random(1, channels).to(float) must not make channels a float.
        return ()

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        low, high = self.low, self.high
        if self.children:
            if isinstance(low, Generator):
                low = self._bound("low", low.draw_in(source))
            if isinstance(high, Generator):
                high = self._bound("high", high.draw_in(source))
            if not low < high:
                raise self._bad(low, high)
        kind = self._kind_for(annotation, low, high) if self._kind is None else self._kind
        if self._open and isinstance(kind, kinds.Scalar):
            # A number that is a size, or may be used as one, is not negative.
            size = annotation is None or annotation is kinds.SIZE or annotation is kinds.DIMENSION
            table = _OF_SIZES if size else _OF_WHOLE
            if kind.type is int and annotation is kinds.DIMENSION:
                low, high = _bounds_of_dimension(source)
            else:
                low, high = open_bounds(source, table if kind.type is int else _OF_FLOATS)
            if kind.type is float:
                return _float(source, low, high, _TELLING, is_zero=not size and _meets_special_numbers(source))
        if kind is kinds.INT and type(low) is int and type(high) is int:
            # Few sizes matter, and tensors have their own plan for them.
            size = annotation is kinds.SIZE or annotation is kinds.DIMENSION
            return source.integer(low, high) if size else whole_number(source, low, high)
        return self._of(kind, source, low, high)

    def greatest(self) -> int | None:
        return self.high - 1 if not self._open and type(self.high) is int else None

    def turns(self, annotation: Annotation) -> builtins.tuple[float, ...]:
        count = max(len(self._in_turn(annotation)), 1)
        return (1 / count,) * count

    def draw_turn(self, source: Source, annotation: Annotation, turn: int) -> Any:
        values = self._in_turn(annotation)
        if not values:
            return self.draw_in(source, annotation)
        value, low, high = values[turn], self.low, self.high
        count = kinds.ints_in_tuple(self._kind_for(annotation, low, high))
        source.memo[self] = value = _one_or_tuple(source, low, high, value, count) if count else value
        return value

    def _in_turn(self, annotation: Annotation) -> Sequence[Any]:
        """Return the values that take turns, the one first that shrinking prefers; empty if they are too many."""
        low, high = self.low, self.high
        kind = self._kind_for(annotation, low, high)
        if kind == kinds.BOOL:
            return (False, True)
        if isinstance(kind, kinds.Fixed):
            return kind.values
        if self.children or self._open or type(low) is not int or type(high) is not int:
            return ()
        if high - low > MOST_IN_TURN or annotation is kinds.SIZE or annotation is kinds.DIMENSION:
            return ()
        return sorted(range(low, high), key=abs) if kind == kinds.INT or kinds.ints_in_tuple(kind) else ()

    def _kind_for(self, annotation: Annotation, low: Any, high: Any) -> kinds.Kind:
        """Return the kind of value to draw: the one of `.to`, of the annotation, or of the bounds."""
        kind = self._kind
        if kind is None and annotation is not None:
            kind = kinds.describe(annotation)
        if kind is None:
            kind = kinds.INT if isinstance(low, int) and isinstance(high, int) else kinds.FLOAT
        return kind

    def _of(self, kind: kinds.Kind, source: Source, low: Any, high: Any) -> Any:
        if type(kind) is kinds.Scalar:
            wanted = kind.type
            if wanted is int:
                if type(low) is not int or type(high) is not int:
                    low, high = math.ceil(low), math.ceil(high)
                    if not low < high:
                        raise self._bad(self.low, self.high, " when whole numbers are requested")
                return whole_number(source, low, high, dimension=kind is kinds.DIMENSION)
            if wanted is float:
                if self._open and not LOW <= high - low <= HIGH:
                    return source.uniform(float(low), float(high))  # such a range has only one or two trials
                return _float(source, low, high, _TELLING if self._open else _points(low, high))
            if wanted is bool:
                return choose(source, 2) == 1
            return complex(source.uniform(float(low), float(high)), source.uniform(float(low), float(high)))
        if isinstance(kind, kinds.Fixed):
            return kind.values[choose(source, len(kind.values))]
        if isinstance(kind, kinds.Items):
            return builtins.tuple([self._of(item, source, low, high) for item in kind.elements])
        if isinstance(kind, kinds.Many):
            return builtins.tuple(
                [self._of(kind.element, source, low, high) for _ in range(source.integer(1, _LONGEST + 1))]
            )
        assert isinstance(kind, kinds.OneOf)
        options = kind.options
        if type(low) is type(high) is int and (count := kinds.ints_in_tuple(kind)):
            # The number is chosen before the form, so that the plan combines it with those of the other arguments.
            return _one_or_tuple(source, low, high, whole_number(source, low, high), count)
        if not (isinstance(low, int) and isinstance(high, int)) and kinds.FLOAT in options:
            # Bounds that are not ints select float, if it is allowed.
            options = (kinds.FLOAT,)
        if self._open and trial_of(source.seed) and all(isinstance(option, kinds.Scalar) for option in options):
            # A number, and not a size: a tuple is not among the options.
            alternatives, shares = _open_numbers(options)
            zero = alternatives.index(_ZERO) if _ZERO in alternatives and _meets_special_numbers(source) else None
            option, low, high = alternatives[choose(source, len(alternatives), shares, zero)]
        else:
            option = options[choose(source, len(options))]
        with inside(source):
            return self._of(option, source, low, high)

    def _bound(self, name: str, bound: Any) -> Any:
        """Return `bound` as a plain int or float; raise `BadBounds` if it is not a finite number."""
        if isinstance(bound, (int, float)) and math.isfinite(bound):
            return bound
        if isinstance(bound, numbers.Integral):
            return int(bound)
        if isinstance(bound, numbers.Real) and math.isfinite(bound):
            return float(bound)
        hint = ": fix the type of its generator with .to(int)" if isinstance(bound, builtins.tuple) else ""
        raise BadBounds(
            f"random({name}={bound!r}) at {location(self._where)}: expected a finite number or a generator of one{hint}"
        )

    def _bad(self, low: Any, high: Any, when: str = "") -> BadBounds:
        return BadBounds(f"{self!r} at {location(self._where)}: {_nothing_between(low, high)}{when}")


def _one_or_tuple(source: Source, low: int, high: int, number: int, count: int) -> Any:
    """Return `number`, or a tuple of `count` whole numbers in [low, high) that begins with it."""
    with inside(source):
        if not choose(source, 2):
            return number
        return (number, *[whole_number(source, low, high) for _ in range(count - 1)])


def open_bounds(source: Source, table: Sequence[builtins.tuple[Any, Any]]) -> builtins.tuple[Any, Any]:
    """Return the bounds from `table` for an unbounded number in the trial of `source`; plain trials get the first."""
    later = trial_of(source.seed) - PLAIN_ROWS
    position = 1 + (later * _STRIDE + len(source.choices)) % (len(table) - 1) if later >= 0 else 0
    return table[source.planned(position, len(table))]


def _bounds_of_dimension(source: Source) -> builtins.tuple[Any, Any]:
    """Return the bounds for an unbounded dimension. In one trial of a block, all are longer than a tile."""
    return _LONG if trial_of(source.seed) % BLOCK == _ALL_LONG else open_bounds(source, _OF_DIMENSIONS)


@lru_cache(maxsize=16)
def _open_numbers(
    options: builtins.tuple[kinds.Kind, ...],
) -> builtins.tuple[list[builtins.tuple[kinds.Kind, Any, Any]], builtins.tuple[float, ...]]:
    """Return the types and bounds that a number of one of these types has if no bounds are given, and their shares."""
    times: Counter[builtins.tuple[kinds.Kind, Any, Any]] = Counter()
    for option in options:
        table = _OF_WHOLE if option == kinds.INT else _OF_FLOATS
        times.update((option, low, high) for low, high in table)
    return [*times], tuple(map(float, times.values()))


def _meets_special_numbers(source: Source) -> bool:
    """Return whether it is the trial in which numbers without bounds are zero, beside arrays with NaN and infinities.

    Zero times these is NaN, but an implementation may skip what is multiplied by zero.
    """
    return values_in(trial_of(source.seed)) == _BESIDE_ZERO


def _float(
    source: Source, low: float, high: float, points: builtins.tuple[float, ...], *, is_zero: bool = False
) -> float:
    """Return one of `points` in a third of the trials, and any other float in [low, high) in the rest."""
    chances = _chances(points)
    chosen = choose(source, len(chances), chances, 1 + points.index(0.0) if is_zero else None)
    return points[chosen - 1] if chosen else source.uniform(float(low), float(high))


@lru_cache(maxsize=256)
def _chances(points: builtins.tuple[float, ...]) -> builtins.tuple[float, ...]:
    """Return the chances of any other float and of each of `points`."""
    each = [2.0 if point in _TELLING[:2] else 1.0 for point in points]
    return (2.0 * sum(each), *each)


@lru_cache(maxsize=256, typed=True)  # bounds of 0 and 5 have other points than 0.0 and 5.0
def _points(low: float, high: float) -> builtins.tuple[float, ...]:
    """Return the floats at which a function may behave differently: `low`, and numbers that functions compare with."""
    whole = range(math.ceil(low), math.ceil(high)) if type(low) is type(high) is int else ()
    found = dict.fromkeys(map(float, (low, *_TELLING, *whole[:_MOST_POINTS])))
    return builtins.tuple([point for point in found if low <= point < high][:_MOST_POINTS])


def random_bool() -> random:
    """Return a generator of True and False, whatever the parameter's annotation is."""
    return random().to(bool)


def random_or_nothing(low: Any, high: Any) -> oneof:
    """Return a generator of ``random(low, high)`` with a chance of 2/3, and of `NOTHING` otherwise."""
    return oneof(random(low, high), nothing(), possibility=2 / 3)


def _nothing_between(low: Any, high: Any) -> str:
    return f"expected low < high (high itself is not drawn), got low={low!r}, high={high!r}"


def _spell(annotation: Annotation) -> str:
    return annotation.__name__ if isinstance(annotation, type) else repr(annotation)
