"""Hypothesis strategies as generators, and a `Source` whose choices Hypothesis makes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from generators.core import Annotation, Generator
from generators.errors import GeneratorError, Unsatisfiable, is_test_mistake
from generators.source import Choice, Source

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: Number of examples that Hypothesis generates for one draw. One of them is picked at random, because the first
#: examples are always the simplest.
EXAMPLES = 12
#: Size of Hypothesis' cache of constants during one draw.
_CACHED = 64
#: Name of the base class of all strategies, including user-defined ones.
_BASE = "SearchStrategy"


def is_strategy(value: Any) -> bool:
    """Return whether `value` is a Hypothesis strategy. Hypothesis is not imported: a strategy has imported it."""
    return any(base.__name__ == _BASE and base.__module__.startswith("hypothesis.") for base in type(value).__mro__)


class from_strategy(Generator):
    """Generator of the values of a Hypothesis `strategy`. The same trial draws the same value."""

    __slots__ = ("_strategy",)

    def __init__(self, strategy: Any) -> None:
        self.children = ()
        self._strategy = strategy

    def _draw(self, source: Source, annotation: Annotation) -> Any:
        if isinstance(source, ExternalSource):
            return source.of_strategy(self._strategy)
        word = source.bits()
        hypothesis = sys.modules["hypothesis"]
        examples: list[Any] = []

        def collect(example: Any) -> None:
            examples.append(example)

        settings = hypothesis.settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=[*hypothesis.HealthCheck],
        )
        if repr(self._strategy) == "data()":
            raise GeneratorError("data(): expected a strategy of values; data() works only in a test under @given")
        try:
            # Under @given, Hypothesis refuses another @given unless the default settings, then the test's, allow it.
            with _without_constants_of_modules(), hypothesis._settings.local_settings(settings):
                hypothesis.seed(word)(settings(hypothesis.given(self._strategy)(collect)))()
        except hypothesis.errors.InvalidArgument as error:
            raise GeneratorError(f"{self._strategy!r}: {error}") from None
        except hypothesis.errors.Unsatisfiable:
            raise Unsatisfiable(
                f"{self._strategy!r}: expected some value to be accepted, but Hypothesis finds none; use a wider range"
            ) from None
        return examples[word % len(examples)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, from_strategy) and other._strategy is self._strategy

    def __hash__(self) -> int:
        return hash((from_strategy, id(self._strategy)))  # so that a strategy has one value in a trial

    def __repr__(self) -> str:
        return repr(self._strategy)


@contextlib.contextmanager
def _without_constants_of_modules() -> Iterator[None]:
    """Keep Hypothesis from drawing constants that it finds in the source code of the modules imported so far.

    The same seed would draw other values in a run of more test files. Its own nasty numbers are still drawn.
    """
    providers: Any = sys.modules.get("hypothesis.internal.conjecture.providers")
    found = getattr(providers, "_get_local_constants", None)
    if providers is None or found is None:  # an older version, which does not look for any
        yield
        return
    cache, nothing = providers.CONSTANTS_CACHE, providers.Constants()
    providers._get_local_constants = lambda: nothing
    providers.CONSTANTS_CACHE = type(cache)(_CACHED)
    try:
        yield
    finally:
        providers._get_local_constants, providers.CONSTANTS_CACHE = found, cache


def as_generator(value: Any) -> Any:
    """Return `value`, but a Hypothesis strategy as a generator of its values."""
    if type(value) in _PLAIN or isinstance(value, Generator) or not is_strategy(value):
        return value
    return from_strategy(value)


def are_plain(values: Iterable[Any]) -> bool:
    """Return whether all `values` have plain types. A tuple is plain, although it may contain generators."""
    return _PLAIN.issuperset(map(type, values))


_PLAIN = frozenset((type(None), int, float, bool, str, type, tuple))


class ExternalSource(Source):
    """A `Source` whose choices another library makes, which can then repeat and shrink them.

    Args:
        whole: ``whole(low, high)`` returns an int in [low, high).
        real: ``real(low, high)`` returns a float in [low, high).
        of_strategy: ``of_strategy(strategy)`` returns a value of the strategy.
    """

    __slots__ = ("_real", "_whole", "of_strategy")

    def __init__(
        self,
        whole: Callable[[int, int], int],
        real: Callable[[float, float], float],
        of_strategy: Callable[[Any], Any],
    ) -> None:
        super().__init__(0)
        self._whole, self._real, self.of_strategy = whole, real, of_strategy

    def integer(self, low: int, high: int) -> int:
        value = self._whole(low, high)
        self.choices.append(Choice("integer", value, low, high))
        return value

    def uniform(self, low: float, high: float) -> float:
        value = self._real(low, high)
        self.choices.append(Choice("uniform", value, low, high))
        return value

    def boolean(self) -> bool:
        value = bool(self._whole(0, 2))
        self.choices.append(Choice("boolean", value, False, True))
        return value

    def index(self, count: int, weights: Sequence[float] | None = None) -> int:
        possible = range(count) if weights is None else [place for place in range(count) if weights[place] > 0]
        value = possible[self._whole(0, len(possible))]
        self.choices.append(Choice("index", value, 0, count))
        return value

    def bits(self) -> int:
        value = self._whole(0, 1 << 64)
        self.choices.append(Choice("bits", value, 0, 1 << 64))
        return value

    def planned(self, level: int, count: int) -> int:
        return self.index(count)
