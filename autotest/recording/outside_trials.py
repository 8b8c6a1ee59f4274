"""Outside of any trial: the pair that dual objects belong to, and the immediate comparison of plain values."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import generators
from autotest.base.errors import is_test_mistake
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, compare_values
from autotest.frameworks import Pair, chosen_pairs
from autotest.recording.recorder import Recorder
from autotest.recording.unread import note_computed, note_read
from autotest.results.divergence import Divergence

__tracebackhide__ = is_test_mistake  # as in recorder.py


def pair_outside_trials() -> Pair:
    """Return the pair of the test that is set up, or else that of the environment; the first of several."""
    note_computed()
    draws = _draws.get() or _found()
    return chosen_pairs()[0] if draws is None else draws.pair()


class OutsideDraws:
    """What the fixtures and the set-up of a test draw: the same numbers whichever other tests ran before."""

    def __init__(self, key: str, sides: Callable[[], Pair | tuple[Pair, ...]] = chosen_pairs) -> None:
        """Begin a series of draws.

        Args:
            key: identifies the series.
            sides: returns the frameworks to draw for; by default those that the environment selects.
        """
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=generators.TRIAL_BITS // 8).digest()
        self._seed = int.from_bytes(digest, "big")
        #: What the generators draw from.
        self.source = generators.Source(self._seed)
        self._sides, self._is_seeded = sides, False

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """Draw from this series inside the block, outside of trials; a second block continues it."""
        token = _draws.set(self)
        try:
            with generators.using(self.source):
                yield
        finally:
            _draws.reset(token)

    def pair(self) -> Pair:
        """Return the frameworks to draw for; seed the reference at the first use, for parameters of modules."""
        found = self._sides()
        pair = found[0] if isinstance(found, tuple) else found
        if not self._is_seeded:
            self._is_seeded = True
            pair.reference.seed(self._seed & 0xFFFFFFFF)
        return pair


_draws: ContextVar[OutsideDraws | None] = ContextVar("autotest_outside_draws", default=None)
_finder: ContextVar[Callable[[], OutsideDraws | None] | None] = ContextVar("autotest_outside_finder", default=None)


def find_draws_with(find: Callable[[], OutsideDraws | None]) -> None:
    """Outside of trials and of `OutsideDraws.drawing`, draw from the series that `find` returns, if any."""
    _finder.set(find)
    generators.source.otherwise.set(_found_source)


def _found() -> OutsideDraws | None:
    find = _finder.get()
    return None if find is None else find()


def _found_source() -> generators.Source | None:
    draws = _found()
    return None if draws is None else draws.source


def compare_plain_results(recorder: Recorder, slot: int) -> None:
    """Compare the plain values that call `slot` returned at once, because no trial compares them later.

    Raises:
        Divergence: the sides disagree, and the value is not undefined.
    """
    note_read()
    how = Comparison("forward", Tolerance(), slot, sides=recorder.pair.sides)
    found = compare_values(recorder.calls[slot].target, recorder.expected[slot], recorder.actual[slot], how)
    if found and not recorder.is_undefined(slot):
        raise Divergence(found[0].message)
