"""The order of a test's trials. Trials with features that the reference refused are run later, or never."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from generators.choosing import parent, planned_alternative
from generators.levels import BLOCK, PLACES, THOROUGH
from generators.plan import row

#: Number of pending trials that are compared with each other to select the next one.
WINDOW = 60
#: Number of a test's choices of which all pairs and triples should occur in an accepted trial, as far as possible.
MOST_TOGETHER = 6
#: Number of refusals after which a feature of the plan, or an alternative, that was never accepted is put off. An
#: alternative that the test names may fit to few others: `groups=2` needs even numbers of channels.
DOUBTFUL, DOUBTFUL_ALTERNATIVE = 2, 8
#: Worth of a level of the plan and of an alternative that were never accepted, as numbers of new pairs of alternatives.
_OF_LEVEL, _OF_ALTERNATIVE = 3, 20

#: A factor of the plan or a choice of the test, and its level or alternative; None if that is random.
_Feature = tuple[Any, int | None]


class Schedule:
    """Iterator over the indices of a test's trials.

    The caller reports the result of each trial with `record`. A feature whose trials were all refused counts as new
    again: a trial that has it, and whose other features make it likely to be accepted, is preferred to a trial that has
    only new features.
    """

    __slots__ = (
        "_accepted",
        "_accepted_together",
        "_blames",
        "_choices",
        "_combinations",
        "_coming",
        "_drawn_as",
        "_open",
        "_refused",
        "_window",
        "_within",
        "has_accepted",
    )

    def __init__(self, attempts: int, *, first: int = 0, thorough: bool = False) -> None:
        """Create the schedule.

        Args:
            attempts: the maximum number of indices.
            first: the first index.
            thorough: whether the indices after the first block start at `THOROUGH`, where half precision is used, too.
        """
        #: Whether any trial was accepted so far.
        self.has_accepted = False
        after = THOROUGH - BLOCK if thorough else 0
        end = first + attempts
        self._coming: Iterator[int] = itertools.chain(
            range(first, min(end, BLOCK)), range(after + max(first, BLOCK), after + end)
        )
        #: The pending trials that are compared with each other after the first refusal, in their order.
        self._window: dict[int, None] = {}
        self._accepted: dict[_Feature, int] = {}
        #: For each feature, all features of each refused trial that had it.
        self._refused: dict[_Feature, list[tuple[_Feature, ...]]] = {}
        #: The results of `_blame` since the last recorded trial.
        self._blames: dict[_Feature, int] = {}
        #: For each choice that an alternative makes: the alternatives in which it is made.
        self._within: dict[Any, set[int | None]] = {}
        #: What is drawn for a planned level, which may be another one: without special values, NaN is left out.
        self._drawn_as: dict[_Feature, int] = {}
        #: The factors that the test leaves open, and its choices among alternatives, as far as they are known.
        self._open: dict[Any, None] = {}
        #: The first of these choices.
        self._choices: tuple[Any, ...] = ()
        #: The pairs and triples of these choices that accepted trials had.
        self._accepted_together: set[tuple[_Feature, ...]] = set()
        #: The pairs and triples that each compared trial has.
        self._combinations: dict[int, frozenset[tuple[_Feature, ...]]] = {}

    def __iter__(self) -> Iterator[int]:
        while (index := self._next()) is not None:
            self._window.pop(index, None)
            yield index

    def give_back(self, indices: Iterable[int]) -> None:
        """Take back the latest indices, which were not run, as the next ones."""
        self._coming = itertools.chain(indices, self._coming)

    def record(self, index: int, features: Mapping[Any, int], *, refused: bool) -> None:
        """Record the `features` that trial `index` drew, and whether the reference refused it."""
        self.has_accepted = self.has_accepted or not refused
        self._blames.clear()
        for feature in features.items():
            if feature[0] not in self._open:
                self._open[feature[0]] = None
                # A choice that an alternative makes, such as the second number of a pair, is in few trials.
                if feature[0] not in PLACES and not parent(feature[0]) and len(self._choices) < MOST_TOGETHER:
                    self._choices += (feature[0],)
                    self._combinations.clear()
            if (place := PLACES.get(feature[0])) is not None:
                self._drawn_as[feature[0], row(index)[place]] = feature[1]
            elif outer := parent(feature[0]):
                self._within.setdefault(feature[0], set()).add(features.get(outer))
            if refused:
                self._refused.setdefault(feature, []).append((*features.items(),))
            else:
                self._accepted[feature] = self._accepted.get(feature, 0) + 1
        if not refused and self._choices:
            self._accepted_together.update(_together([(name, features.get(name)) for name in self._choices]))

    def _next(self) -> int | None:
        if not self._refused:
            return next(self._coming, None)
        for index in itertools.islice(self._coming, WINDOW - len(self._window)):
            self._window[index] = None
        if not self._window:
            return None
        likely = {index: self._chances(index) for index in self._window}
        enough = max(chance for chance, _ in likely.values()) / 2
        for index in likely:
            # The trials of the first block complement each other: they keep their order if they may be accepted.
            if index < BLOCK and likely[index][0] >= enough:
                return index
        best, best_score = None, -1.0
        for index, (chance, new) in likely.items():
            score = chance * (1 + new)
            if score > best_score:
                best, best_score = index, score
        return best

    def _chances(self, index: int) -> tuple[float, int]:
        """Return the chance that trial `index` is accepted, and the number of its features that no accepted one had."""
        levels: tuple[int, ...] = row(index)
        likely, new = 1.0, 0
        together = self._together_in(index)
        known = together & self._accepted_together
        #: Alternatives that were accepted together with another one of this trial, and may be so again.
        fitting = {feature for features in known for feature in features}
        for name in self._open:
            if name in self._within and planned_alternative(index, parent(name)) not in self._within[name]:
                continue  # this trial does not make the choice
            place = PLACES.get(name)
            level = planned_alternative(index, name) if place is None else levels[place]
            feature = (name, self._drawn_as.get((name, level), level))
            accepted, refused = self._accepted.get(feature, 0), self._blame(feature)
            if not accepted:
                new += _OF_ALTERNATIVE if place is None else _OF_LEVEL
            if feature in fitting:
                continue
            if accepted or refused >= (DOUBTFUL_ALTERNATIVE if place is None else DOUBTFUL):
                likely *= (accepted + 1) / (accepted + refused + 1)
        return likely, new + len(together) - len(known)

    def _blame(self, feature: _Feature) -> int:
        """Return the number of refused trials with `feature` whose other features were all accepted in some trial.

        If another one was never accepted, that one may be the reason.
        """
        found = self._blames.get(feature)
        if found is None:
            refusals = self._refused.get(feature, ())
            found = self._blames[feature] = sum(
                all(other in self._accepted for other in features if other != feature) for features in refusals
            )
        return found

    def _together_in(self, index: int) -> frozenset[tuple[_Feature, ...]]:
        """Return the pairs and triples of choices that trial `index` has."""
        together = self._combinations.get(index)
        if together is None:
            levels_of = [(name, planned_alternative(index, name)) for name in self._choices]
            together = self._combinations[index] = _together(levels_of)
        return together


def _together(levels: list[_Feature]) -> frozenset[tuple[_Feature, ...]]:
    """Return all pairs and triples of these choices."""
    return frozenset((*itertools.combinations(levels, 2), *itertools.combinations(levels, 3)))
