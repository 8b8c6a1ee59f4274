"""Outside of any trial: the pair that dual objects belong to, and the immediate comparison of plain values."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
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
    """Return the pair that the environment selects, the first of several; code outside of trials is given no pair."""
    note_computed()
    pair, draws = chosen_pairs()[0], _draws.get()
    if draws is not None:
        draws.seed(pair)
    return pair


class OutsideDraws:
    """What the fixtures and the set-up of a test draw: the same numbers whichever other tests ran before."""

    def __init__(self, key: str) -> None:
        """Begin a series of draws; `key` identifies it."""
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=generators.TRIAL_BITS // 8).digest()
        self._seed = int.from_bytes(digest, "big")
        self._source = generators.Source(self._seed)
        self._is_seeded = False

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """Draw from this series inside the block, outside of trials; a second block continues it."""
        token = _draws.set(self)
        try:
            with generators.using(self._source):
                yield
        finally:
            _draws.reset(token)

    def seed(self, pair: Pair) -> None:
        """Seed the reference when it is used for the first time, for parameters of modules and the like."""
        if not self._is_seeded:
            self._is_seeded = True
            pair.reference.seed(self._seed & 0xFFFFFFFF)


_draws: ContextVar[OutsideDraws | None] = ContextVar("autotest_outside_draws", default=None)


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
