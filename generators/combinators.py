"""Generators made of other generators."""

from __future__ import annotations

import builtins
import enum
import math
import operator
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final

from generators import annotations as kinds
from generators.choosing import choose, have_rows, inside
from generators.code_position import call_site, location
from generators.core import Annotation, Generator
from generators.errors import GeneratorError, is_test_mistake
from generators.source import Source
from generators.strategies import as_generator

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


class Nothing(enum.Enum):
    """The type of `NOTHING`, a value that removes its argument from a call, or its element from a tuple."""

    NOTHING = enum.auto()

    def __repr__(self) -> str:
        return "NOTHING"

    __str__ = __repr__


NOTHING: Final = Nothing.NOTHING


class constant(Generator):
    """A generator that always draws `x` itself."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.children = ()
        self.x = x

    def draw_in(self, source: Source, annotation: Annotation = None) -> Any:
        return self.x  # needs no memo

    def greatest(self) -> int | None:
        return self.x if type(self.x) is int else None

    def __repr__(self) -> str:
        return f"constant({self.x!r})"


class nothing(Generator):
    """A generator of no value: its argument is omitted from the call. It draws `NOTHING`."""

    __slots__ = ()

    def __init__(self) -> None:
        self.children = ()

    def draw_in(self, source: Source, annotation: Annotation = None) -> Any:
        return NOTHING

    def __repr__(self) -> str:
        return "nothing()"


def pack(x: Any) -> Generator:
    """Return `x` as a generator.

    A generator is returned unchanged. A tuple or list that contains generators becomes a generator of tuples or lists.
    Any other value becomes a constant.
    """
    x = as_generator(x)
    if isinstance(x, Generator):
        return x
    if type(x) is builtins.tuple or type(x) is list:
        parts = [pack(item) for item in x]
        if any(type(part) is not constant for part in parts):
            return tuple(*parts) if type(x) is builtins.tuple else tuple(*parts).map(list)
    return constant(x)


class tuple(Generator):
    """A generator of tuples of the values of `parts`. Parts whose value is `NOTHING` are omitted."""

    __slots__ = ()

    def __init__(self, *parts: Any) -> None:
        self.children = builtins.tuple([pack(part) for part in parts])

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        children = self.children
        wanted = None if annotation is None else kinds.describe(annotation)
        count = len(children)
        values = [child.draw_in(source, kinds.element(wanted, i, count)) for i, child in enumerate(children)]
        return builtins.tuple([value for value in values if value is not NOTHING])


class oneof(Generator):
    """A generator that draws the value of one of `alternatives`.

    Calling this generator calls the drawn value: ``oneof(f, g)(x)``.

    Args:
        alternatives: generators or plain values.
        possibility: one chance per alternative, none negative, with sum 1; or, for two alternatives, a float, which is
            the chance of the first. By default all are equally likely.

    Raises:
        GeneratorError: if `possibility` is not valid or there is no alternative.
    """

    __slots__ = ("_weights",)

    def __init__(self, *alternatives: Any, possibility: float | Sequence[float] | None = None) -> None:
        if not alternatives:
            raise GeneratorError("oneof(): expected at least one alternative")
        self.children = builtins.tuple([pack(item) for item in alternatives])
        self._weights = None if possibility is None else _chances(possibility, len(alternatives))

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        children = self.children
        if not self._is_drawn(source):  # the value of one that was drawn before is kept
            values = self._in_turn(annotation)
            chances = [chance for *_, chance in values]
            if len(chances) > len(children) and have_rows(chances):
                # One choice among all values: the plan combines each value with those of the other arguments.
                child, turn, _ = values[choose(source, len(values), chances)]
                with inside(source):
                    return child.draw_turn(source, annotation, turn)
        chosen = children[choose(source, len(children), self._weights)]
        with inside(source):
            return chosen.draw_in(source, annotation)

    def turns(self, annotation: Annotation) -> builtins.tuple[float, ...]:
        chances = [chance for *_, chance in self._in_turn(annotation)]
        total = math.fsum(chances)
        return builtins.tuple([chance / total for chance in chances]) if have_rows(chances) else (1.0,)

    def draw_turn(self, source: Source, annotation: Annotation, turn: int) -> Any:
        if len(self.turns(annotation)) == 1:
            return self.draw_in(source, annotation)
        child, turn, _ = self._in_turn(annotation)[turn]
        value = source.memo[self] = child.draw_turn(source, annotation, turn)
        return value

    def _in_turn(self, annotation: Annotation) -> list[builtins.tuple[Generator, int, float]]:
        """Return the values of all alternatives that take turns: the alternative, its turn, and a relative chance."""
        weights = self._weights or (1.0,) * len(self.children)
        return [
            (child, turn, weight * chance)
            for weight, child in zip(weights, self.children, strict=True)
            for turn, chance in enumerate(child.turns(annotation))
        ]

    def _is_drawn(self, source: Source) -> bool:
        """Return whether `source` has a value of an alternative, also of one of an alternative that is a choice."""
        return any(
            child in source.memo or (isinstance(child, oneof) and child._is_drawn(source)) for child in self.children
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value()(*args, **kwargs)

    def size(self) -> int:
        return sum([child.size() for child in self.children])

    def greatest(self) -> int | None:
        bounds = [bound for child in self.children if (bound := child.greatest()) is not None]
        return max(bounds) if len(bounds) == len(self.children) else None

    def __repr__(self) -> str:
        chances = "" if self._weights is None else f", possibility={list(self._weights)!r}"
        return f"oneof({', '.join(map(repr, self.children))}{chances})"


def _chances(possibility: Any, count: int) -> builtins.tuple[float, ...]:
    if isinstance(possibility, (int, float)) and count == 2:
        chances: builtins.tuple[float, ...] = (float(possibility), 1.0 - possibility)
    else:
        try:
            chances = builtins.tuple([float(chance) for chance in possibility])
        except (TypeError, ValueError):
            raise GeneratorError(
                f"oneof(possibility={possibility!r}): "
                + (f"expected {count} probabilities with sum 1" if count > 1 else "expected one probability, 1")
                + (", or the probability of the first alternative" if count == 2 else "")
            ) from None
    if len(chances) != count:
        raise GeneratorError(
            f"oneof(possibility={possibility!r}): expected {count} probabilities, one for each alternative, got "
            f"{len(chances)}"
        )
    if isinstance(possibility, (int, float)) and not 0.0 <= possibility <= 1.0:
        raise GeneratorError(
            f"oneof(possibility={possibility!r}): expected the probability of the first alternative, from 0 to 1"
        )
    if not all(0.0 <= chance <= 1.0 for chance in chances) or not math.isclose(sum(chances), 1.0, abs_tol=1e-6):
        raise GeneratorError(
            f"oneof(possibility={possibility!r}): expected probabilities from 0 to 1 with sum 1, got {list(chances)!r}"
        )
    return chances


class Either(oneof):
    """``left | right``, weighted by their numbers of alternatives, so that ``a | b | c`` is uniform."""

    __slots__ = ()

    def __init__(self, left: Generator, right: Generator) -> None:
        self.children = (left, right)
        sizes = left.size(), right.size()
        self._weights = None if sizes[0] == sizes[1] else sizes

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.children))


_OPERATORS = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod}
)
#: By operator, the operators that need brackets in the left and in the right operand. Each operator is one character:
#: ``/`` stands for ``//``.
_BRACKETED = MappingProxyType({"+": ("|", "|"), "-": ("|", "|+-"), "*": ("|+-", "|+-/%")})
_OF_QUOTIENTS = ("|+-", "|+-*/%")


class Arithmetic(Generator):
    """The sum, difference, product, quotient or remainder of two values; `NOTHING` if either is `NOTHING`."""

    __slots__ = ("_sign", "_where")

    def __init__(self, sign: str, left: Generator, right: Generator) -> None:
        self._where = call_site()
        self._sign = sign
        self.children = (left, right)

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        left, right = self.children
        wanted = _number(annotation)
        first = left.draw_in(source, wanted)
        second = right.draw_in(source, wanted)
        if first is NOTHING or second is NOTHING:
            return NOTHING
        try:
            return _OPERATORS[self._sign](first, second)
        except ZeroDivisionError:
            expected = "a divisor other than zero"
        except TypeError:
            expected = f"values that have {self._sign}"
        raise GeneratorError(
            f"{self!r} at {location(self._where)}: expected {expected}, got {first!r} {self._sign} {second!r}"
        )

    def __repr__(self) -> str:
        left, right = self.children
        of_left, of_right = _BRACKETED.get(self._sign, _OF_QUOTIENTS)
        return f"{bracketed(left, of_left)} {self._sign} {bracketed(right, of_right)}"


class Negated(Generator):
    """The negated value of a child; `NOTHING` stays `NOTHING`."""

    __slots__ = ("_where",)

    def __init__(self, child: Generator) -> None:
        self._where = call_site()
        self.children = (child,)

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        value = self.children[0].draw_in(source, _number(annotation))
        try:
            return value if value is NOTHING else -value
        except TypeError:
            got = f"expected a value that has a negative, got {value!r}"
        raise GeneratorError(f"{self!r} at {location(self._where)}: {got}")

    def __repr__(self) -> str:
        return f"-{bracketed(self.children[0], '|+-*/%')}"


def _number(annotation: Annotation) -> kinds.Kind | None:
    """Return the type of number that both operands of an operator must have, or None if `annotation` allows several."""
    kind = None if annotation is None else kinds.describe(annotation)
    options = kind.options if isinstance(kind, kinds.OneOf) else (kind,)
    allowed = [option for option in options if option in (kinds.INT, kinds.FLOAT, kinds.COMPLEX)]
    if len(allowed) == 1:
        return allowed[0]
    # If several are allowed, the bounds decide: 1 + random(0.0, 0.5) must not draw an int.
    return None


def bracketed(generator: Generator, looser: str) -> str:
    if type(generator) is constant:
        return repr(generator.x)  # an operand that is a plain value is written without `constant`
    sign = "|" if isinstance(generator, Either) else getattr(generator, "_sign", None)
    if isinstance(generator, Negated):
        sign = "-"
    return f"({generator!r})" if sign is not None and sign[0] in looser else repr(generator)


def _install_operators() -> None:
    """Add the operators to `Generator`: alternatives and arithmetic, with generators and with plain values."""

    def alternatives(left: Generator, right: Any) -> Generator:
        return Either(left, pack(right))

    def turned(right: Generator, left: Any) -> Generator:
        return Either(pack(left), right)

    def forward(sign: str) -> Callable[[Generator, Any], Generator]:
        return lambda left, right: Arithmetic(sign, left, pack(right))

    def reflected(sign: str) -> Callable[[Generator, Any], Generator]:
        return lambda right, left: Arithmetic(sign, pack(left), right)

    def negated(child: Generator) -> Generator:
        return Negated(child)

    methods: dict[str, Callable[..., Generator]] = {"or": alternatives, "ror": turned, "neg": negated}
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "//"), ("mod", "%")):
        methods |= {name: forward(sign), f"r{name}": reflected(sign)}
    for name, method in methods.items():
        setattr(Generator, f"__{name}__", method)


_install_operators()
