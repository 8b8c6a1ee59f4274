"""The only entropy of a trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Literal, NamedTuple

from generators.entropy import bit_generator
from generators.errors import BadBounds, GeneratorError, of_the_test

# Errors of a test's own making are told at its line: what raises them here is no part of the traceback.
__tracebackhide__ = of_the_test

ChoiceKind = Literal["integer", "uniform", "boolean", "index", "bits"]
Primitive = int | float | bool

#: So many words are made at once: about as many as a trial of one operator takes.
_BLOCK = 16
# What a NamedTuple's own constructor does, at half the cost: every primitive choice makes one.
_made = tuple.__new__
_ENDLESS = 1 << 62


class Choice(NamedTuple):
    """One primitive choice as it was made; survives JSON as a list of its four fields.

    ``low <= value < high`` holds, except in booleans, whose bounds are False and True.
    """

    kind: ChoiceKind
    value: Primitive
    low: Primitive
    high: Primitive


def simplest(kind: ChoiceKind, low: Primitive, high: Primitive) -> Primitive:
    """The value that a smaller failure would rather have: the one nearest to zero; False; the first; zero bits."""
    if kind == "boolean":
        return False
    return _into(kind, 0, low, high)


def _into(kind: ChoiceKind, value: Primitive, low: Primitive, high: Primitive) -> Primitive:
    if kind == "uniform":
        if value < low or math.isnan(value):
            return float(low)
        return float(value) if value < high else max(float(low), math.nextafter(high, low))
    if not math.isfinite(value):
        return low
    return min(max(int(value), int(low)), int(high) - 1)


#: A trial's seed says above these bits which trial of its test it is: its row of the plan.
TRIAL_BITS = 40


def trial_of(seed: int) -> int:
    """The index of the trial that `seed` belongs to; 0 for a seed of fewer than `TRIAL_BITS` bits."""
    return seed >> TRIAL_BITS & 0xFFFFFF


class Source:
    """Makes and logs the choices of one trial.

    The same seed and the same forced choices give the same choices everywhere. The choice at position i depends
    on the seed and on i alone, so that forcing the first choices to what they were leaves the rest as it was.

    `seed`: ``0 <= seed < 2**128``.
    `forced`: choices to make first, as `Choice` or as its four fields. One that does not fit what is asked for
      is brought into its bounds when it is of the same kind, and replaced by the simplest value when not.
    `then`: where choices come from when the forced ones are used up: ``"seed"``, or ``"simplest"``.

    Raises `GeneratorError` when the seed or a forced choice cannot be read.
    """

    __slots__ = (
        "_bits",
        "_forced",
        "_scripted",
        "_words",
        "alternatives",
        "choices",
        "features",
        "memo",
        "seed",
        "special_values",
    )

    def __init__(
        self,
        seed: int,
        forced: Sequence[Choice] | Sequence[Sequence[Any]] | None = None,
        *,
        then: Literal["seed", "simplest"] = "seed",
    ) -> None:
        self.seed = seed
        #: Every choice made so far, in order.
        self.choices: list[Choice] = []
        #: What was drawn in this trial. Keyed by the generator itself: the reference keeps it alive, so that no other
        #: can take its place (an ``id()`` alone is given again after it is freed).
        self.memo: dict[Any, Any] = {}
        #: The level of each factor of the plan that the test left open, by the factor's name, and of what it chose
        #: among alternatives, by the choices up to there.
        self.features: dict[Any, int] = {}
        #: The choices among alternatives that the plan made so far: how many there were, with what chances.
        self.alternatives: tuple[tuple[int, tuple[float, ...] | None], ...] = ()
        #: Whether NaN, infinities and the like are drawn where a test leaves numbers open.
        self.special_values = True
        self._forced: tuple[Choice, ...] = () if forced is None else _read(forced)
        if then not in ("seed", "simplest"):
            raise GeneratorError(f'Source(then={then!r}): expected "seed" or "simplest"')
        self._scripted = _ENDLESS if then == "simplest" else len(self._forced)
        self._bits = bit_generator(seed)
        self._words: list[int] = self._bits.random_raw(_BLOCK).tolist()

    def __repr__(self) -> str:
        return f"<Source seed={self.seed} choices={len(self.choices)}>"

    def integer(self, low: int, high: int) -> int:
        """A whole number in [low, high). Raises `BadBounds` when there is none."""
        if not low < high:
            raise BadBounds(f"expected low < high, got low={low!r}, high={high!r}: no whole number lies in [low, high)")
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "integer", low, high))
        else:
            value = low + (self._word(position) * (high - low) >> 64)
        choices.append(_made(Choice, ("integer", value, low, high)))
        return value

    def integer_within(self, first: int, end: int, low: int, high: int) -> int:
        """A whole number in [first, end), which a plan chose of those in [low, high): where a choice is forced, any of
        these."""
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "integer", low, high))
        else:
            value = first + (self._word(position) * (end - first) >> 64)
        choices.append(_made(Choice, ("integer", value, low, high)))
        return value

    def uniform(self, low: float, high: float) -> float:
        """A float in [low, high). Raises `BadBounds` when there is none or a bound is not finite."""
        if not low < high or not (math.isfinite(low) and math.isfinite(high)):
            raise BadBounds(f"expected finite low < high, got low={low!r}, high={high!r}")
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = float(self._script(position, "uniform", low, high))
        else:
            unit = (self._word(position) >> 11) * 2.0**-53
            # Not low + unit * (high - low), whose difference overflows for bounds that are far apart.
            value = low * (1.0 - unit) + high * unit
            if not low <= value < high:  # by rounding
                value = float(_into("uniform", value, low, high))
        choices.append(_made(Choice, ("uniform", value, low, high)))
        return value

    def boolean(self) -> bool:
        """True or False, equally likely."""
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = bool(self._script(position, "boolean", False, True))
        else:
            value = self._word(position) >> 63 == 1
        choices.append(_made(Choice, ("boolean", value, False, True)))
        return value

    def index(self, count: int, weights: Sequence[float] | None = None) -> int:
        """A position in ``range(count)``; `weights` are relative chances, one each, none negative."""
        if count < 1:
            raise BadBounds(f"expected at least one alternative to choose from, got {count!r}")
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "index", 0, count))
        elif weights is None:
            value = self._word(position) * count >> 64
        else:
            left = (self._word(position) >> 11) * 2.0**-53 * math.fsum(weights)
            value = -1
            for place, weight in enumerate(weights):
                if weight > 0:
                    value = place  # stays at the last possible one should rounding leave a rest
                    left -= weight
                    if left < 0:
                        break
            if value < 0:
                raise BadBounds(f"expected at least one positive weight, got {list(weights)!r}")
        choices.append(_made(Choice, ("index", value, 0, count)))
        return value

    def bits(self) -> int:
        """64 random bits, as the seed of something that is one choice as a whole, such as an array."""
        choices = self.choices
        position = len(choices)
        scripted = position < self._scripted
        value = int(self._script(position, "bits", 0, 1 << 64)) if scripted else self._word(position)
        choices.append(_made(Choice, ("bits", value, 0, 1 << 64)))
        return value

    def planned(self, level: int, count: int) -> int:
        """A position in ``range(count)`` that a plan chose: `level`, where nothing else is forced."""
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            level = int(self._script(position, "index", 0, count))
        choices.append(_made(Choice, ("index", level, 0, count)))
        return level

    def vary(self, scripted: int | None = None) -> int:
        """Make choices from the seed once the forced ones are used up, even with ``then="simplest"``.

        For a filter, which would be offered the same value for ever. Returns what to call this with to go back.
        """
        before = self._scripted
        self._scripted = len(self._forced) if scripted is None else scripted
        return before

    def _word(self, position: int) -> int:
        words = self._words
        while position >= len(words):  # more than once, after many choices that were forced or planned
            words += self._bits.random_raw(_BLOCK).tolist()
        return words[position]

    def _script(self, position: int, kind: ChoiceKind, low: Primitive, high: Primitive) -> Primitive:
        if position >= len(self._forced):
            return simplest(kind, low, high)
        choice = self._forced[position]
        if choice.kind != kind:
            return simplest(kind, low, high)
        return choice.value if kind == "boolean" else _into(kind, choice.value, low, high)


def _read(forced: Sequence[Choice] | Sequence[Sequence[Any]]) -> tuple[Choice, ...]:
    read = []
    for position, item in enumerate(forced):
        try:
            choice = item if type(item) is Choice else Choice(*item)
            choice.value + 0
        except TypeError:
            raise GeneratorError(
                f"Source(forced=...): expected [kind, value, low, high] at position {position}, got {item!r}"
            ) from None
        read.append(choice)
    return tuple(read)


_active: ContextVar[Source | None] = ContextVar("generators.active", default=None)
_ambient: ContextVar[Source | None] = ContextVar("generators.ambient", default=None)


def current() -> Source:
    """The `Source` in use; outside of every trial one for the context, with seed 0, made when first asked for."""
    source = _active.get()
    if source is None:
        source = _ambient.get()
        if source is None:
            source = Source(0)
            _ambient.set(source)
    return source


class using:
    """``with using(source):`` makes `source` the one that generators draw from, and restores what was before.

    What was drawn in the block is forgotten at its end: some of it holds arrays, and `source` itself.
    """

    __slots__ = ("_token", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._token: Token[Source | None] | None = None

    def __enter__(self) -> Source:
        self._token = _active.set(self.source)
        return self.source

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _active.reset(self._token)
            self._token = None
            self.source.memo.clear()
