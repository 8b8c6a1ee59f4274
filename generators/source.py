"""`Source`, the only source of randomness in a trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Literal, NamedTuple

from generators.entropy import bit_generator
from generators.errors import BadBounds, GeneratorError, is_test_mistake

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

ChoiceKind = Literal["integer", "uniform", "boolean", "index", "bits"]
Primitive = int | float | bool
#: A choice that the plan makes: the number of alternatives; their relative chances, None if they are equally likely;
#: which of them is a dimension of size 1, -1 if none is; and the `nesting` of the choice.
Alternatives = tuple[int, tuple[float, ...] | None, int, int]

#: Number of 64-bit words that are generated at once: about the number that a trial of one operator uses.
_BLOCK = 16
# Does the same as a NamedTuple's constructor at half the cost: every primitive choice creates a `Choice`.
_made = tuple.__new__
_ENDLESS = 1 << 62


class Choice(NamedTuple):
    """One primitive choice that was made. It is stored in JSON as a list of its four fields.

    ``low <= value < high``, except for booleans, whose bounds are False and True.
    """

    kind: ChoiceKind
    value: Primitive
    low: Primitive
    high: Primitive


def simplest(kind: ChoiceKind, low: Primitive, high: Primitive) -> Primitive:
    """Return the value that shrinking prefers: the number nearest to zero, False, the first index, or zero bits."""
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


#: Number of low bits of a trial's seed below the index of the trial in its test. The index selects the row of the plan.
TRIAL_BITS = 40


def trial_of(seed: int) -> int:
    """Return the index of the trial that has `seed`; 0 for a seed of at most `TRIAL_BITS` bits."""
    return seed >> TRIAL_BITS & 0xFFFFFF


class Source:
    """Makes and logs the choices of one trial.

    The same seed and the same forced choices give the same choices on every machine. The random word at position i
    depends only on the seed and on i. Forcing the first choices to their earlier values therefore leaves the others
    unchanged.

    Args:
        seed: ``0 <= seed < 2**128``.
        forced: choices to make first, each a `Choice` or its four fields. A forced choice of the requested kind is
            clipped to the requested bounds; one of another kind is replaced by the simplest value.
        then: the origin of the choices after the forced ones: ``"seed"`` or ``"simplest"``.

    Raises:
        GeneratorError: if the seed, a forced choice or `then` is not valid.
    """

    __slots__ = (
        "_bits",
        "_forced",
        "_scripted",
        "_words",
        "all_require_grad",
        "alternatives",
        "choices",
        "features",
        "gradients_left_out",
        "memo",
        "nesting",
        "refuses_special",
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
        #: The choices made so far, in order.
        self.choices: list[Choice] = []
        #: The values drawn in this trial, by generator. The key is the generator and not its ``id()``: the reference
        #: keeps the generator alive, and an ``id()`` is reused after its object is freed.
        self.memo: dict[Any, Any] = {}
        #: The level of each factor of the plan that the test leaves open, by the factor's name; and the position taken
        #: in each planned choice among alternatives, by the value of `alternatives` at that choice.
        self.features: dict[Any, int] = {}
        #: The choices among alternatives that the plan handled so far. Those that a chosen alternative makes are
        #: removed at its end, so that choices of an argument are the same ones in each trial, whatever the arguments
        #: before it are.
        self.alternatives: tuple[Alternatives, ...] = ()
        #: In how many chosen alternatives of choices the next choice is.
        self.nesting = 0
        #: Whether special numbers such as NaN and infinities are drawn if a test leaves the numbers open.
        self.special_values = True
        #: Whether the test itself excludes special numbers, so that it must not ask for them by name.
        self.refuses_special = False
        #: Whether every tensor requires grad if a test leaves it open. Otherwise some do not, in a few trials.
        self.all_require_grad = False
        #: Which tensors require no grad because the plan chose so, and how many were drawn, in one number, see
        #: `generators.gradients_left_open`; None until a trial that leaves out gradients draws a tensor, and 0 if none
        #: is left out.
        self.gradients_left_out: int | None = None
        self._forced: tuple[Choice, ...] = () if forced is None else _read(forced)
        if then not in ("seed", "simplest"):
            raise GeneratorError(f'Source(then={then!r}): expected "seed" or "simplest"')
        self._scripted = _ENDLESS if then == "simplest" else len(self._forced)
        self._bits = bit_generator(seed)
        self._words: list[int] = self._bits.random_raw(_BLOCK).tolist()

    def __repr__(self) -> str:
        return f"<Source seed={self.seed} choices={len(self.choices)}>"

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high). Raises `BadBounds` if there is none."""
        if not low < high:
            raise BadBounds(f"expected low < high, got low={low!r}, high={high!r}: no whole number lies in [low, high)")
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "integer", low, high))
        else:
            words = self._words
            word = words[position] if position < len(words) else self._word(position)
            value = low + (word * (high - low) >> 64)
        choices.append(_made(Choice, ("integer", value, low, high)))
        return value

    def integer_within(self, first: int, end: int, low: int, high: int) -> int:
        """Return an integer in [first, end), the part of [low, high) that the plan selected.

        A forced choice may be any integer in [low, high).
        """
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "integer", low, high))
        else:
            value = first + (self._word(position) * (end - first) >> 64)
        choices.append(_made(Choice, ("integer", value, low, high)))
        return value

    def uniform(self, low: float, high: float) -> float:
        """Return a float in [low, high). Raises `BadBounds` if there is none or a bound is not finite."""
        if not low < high or not (math.isfinite(low) and math.isfinite(high)):
            raise BadBounds(f"expected finite low < high, got low={low!r}, high={high!r}")
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = float(self._script(position, "uniform", low, high))
        else:
            unit = (self._word(position) >> 11) * 2.0**-53
            # Not low + unit * (high - low): that difference overflows if the bounds are far apart.
            value = low * (1.0 - unit) + high * unit
            if not low <= value < high:  # because of rounding
                value = float(_into("uniform", value, low, high))
        choices.append(_made(Choice, ("uniform", value, low, high)))
        return value

    def boolean(self) -> bool:
        """Return True or False, equally likely."""
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = bool(self._script(position, "boolean", False, True))
        else:
            value = self._word(position) >> 63 == 1
        choices.append(_made(Choice, ("boolean", value, False, True)))
        return value

    def index(self, count: int, weights: Sequence[float] | None = None) -> int:
        """Return a position in ``range(count)``.

        `weights` are the relative chances of the positions, none of them negative; None makes all equally likely.
        Raises `BadBounds` if `count` is below 1 or no weight is positive.
        """
        if count < 1:
            raise BadBounds(f"expected at least one alternative to choose from, got {count!r}")
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "index", 0, count))
            if weights is not None and not weights[value] > 0:  # Such an alternative is never drawn, forced or not.
                value = next((place for place, weight in enumerate(weights) if weight > 0), value)
        elif weights is None:
            value = self._word(position) * count >> 64
        else:
            left = (self._word(position) >> 11) * 2.0**-53 * math.fsum(weights)
            value = -1
            for place, weight in enumerate(weights):
                if weight > 0:
                    value = place  # the last position with a chance remains if rounding leaves a rest
                    left -= weight
                    if left < 0:
                        break
            if value < 0:
                raise BadBounds(f"expected at least one positive weight, got {list(weights)!r}")
        choices.append(_made(Choice, ("index", value, 0, count)))
        return value

    def bits(self) -> int:
        """Return 64 random bits: the seed of an object that is drawn as one choice, such as an array."""
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            value = int(self._script(position, "bits", 0, 1 << 64))
        else:
            words = self._words
            value = words[position] if position < len(words) else self._word(position)
        choices.append(_made(Choice, ("bits", value, 0, 1 << 64)))
        return value

    def planned(self, level: int, count: int) -> int:
        """Return and log `level`, the position in ``range(count)`` that the plan chose, unless a choice is forced."""
        choices = self.choices
        position = len(choices)
        if position < self._scripted:
            level = int(self._script(position, "index", 0, count))
        choices.append(_made(Choice, ("index", level, 0, count)))
        return level

    def vary(self, scripted: int | None = None) -> int:
        """Draw from the seed after the forced choices, even with ``then="simplest"``.

        Filters need this: the simplest choices would give the same refused value on every try. A second call with the
        return value as `scripted` restores the previous state.
        """
        before = self._scripted
        self._scripted = len(self._forced) if scripted is None else scripted
        return before

    def _word(self, position: int) -> int:
        """Return the random word at `position`. The most frequent choices call it only for one not generated yet."""
        words = self._words
        # The loop runs several times if many forced or planned choices, which use no words, came before.
        while position >= len(words):
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
#: Returns the `Source` to use outside of `using`; None, the default, or a result None: one with seed 0.
otherwise: ContextVar[Callable[[], Source | None] | None] = ContextVar("generators.otherwise", default=None)


def current() -> Source:
    """Return the `Source` in use. Outside of trials it is one with seed 0, created at the first call in a context."""
    source = _active.get()
    if source is None and (find := otherwise.get()) is not None:
        source = find()
    if source is None:
        source = _ambient.get()
        if source is None:
            source = Source(0)
            _ambient.set(source)
    return source


class using:
    """Context manager that makes `source` the one that generators draw from, and then restores the previous one.

    The values drawn in the block are forgotten at its end, because some of them refer to arrays and to `source` itself.
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
