"""The order of a test's trials. Trials with features that the reference refused are run later, or never."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

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
#: Two or three features of one trial.
_Together = tuple[_Feature, ...]


class _Likely(NamedTuple):
    """The chance that a pending trial is accepted, and the worth of its features that no accepted one had."""

    chance: float
    new: int


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
        "_features",
        "_likely",
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
        #: The results of `_blame`, and of `_chances` for pending trials, as far as what they depend on did not change.
        self._blames: dict[_Feature, int] = {}
        self._likely: dict[int, _Likely] = {}
        #: For each choice that an alternative makes: the alternatives in which it is made.
        self._within: dict[Any, set[int | None]] = {}
        #: What is drawn for a planned level, which may be another one: without special values, NaN is left out.
        self._drawn_as: dict[_Feature, int] = {}
        #: The factors that the test leaves open, and its choices among alternatives, as far as they are known.
        self._open: dict[Any, None] = {}
        #: The first of these choices.
        self._choices: tuple[Any, ...] = ()
        #: The pairs and triples of these choices that accepted trials had.
        self._accepted_together: set[_Together] = set()
        #: The features that each compared trial has, and the pairs and triples of its choices.
        self._features: dict[int, tuple[_Feature, ...]] = {}
        self._combinations: dict[int, frozenset[_Together]] = {}

    def __iter__(self) -> Iterator[int]:
        while (index := self._next()) is not None:
            if index in self._window:
                for remembered in (self._window, self._likely, self._features, self._combinations):
                    remembered.pop(index, None)
            yield index

    def give_back(self, indices: Iterable[int]) -> None:
        """Take back the latest indices, which were not run, as the next ones."""
        self._coming = itertools.chain(indices, self._coming)

    def record(self, index: int, features: Mapping[Any, int], *, refused: bool) -> None:
        """Record the `features` that trial `index` drew, and whether the reference refused it."""
        self.has_accepted = self.has_accepted or not refused
        told = refused  # whether the trial may change the chances of any other one
        for feature in features.items():
            # A feature that is accepted for the first time is no reason of refusals any more, so others may be.
            told |= self._note_structure(index, feature, features)
            told |= feature in self._refused and feature not in self._accepted
            if refused:
                self._refused.setdefault(feature, []).append((*features.items(),))
            else:
                self._accepted[feature] = self._accepted.get(feature, 0) + 1
        new: Set[_Together] = frozenset()
        if not refused and self._choices:
            new = _together([(name, features.get(name)) for name in self._choices]) - self._accepted_together
            self._accepted_together |= new
        if told:
            self._blames.clear()
            self._likely.clear()
        elif self._likely:
            self._forget_chances(features, new)

    def _note_structure(self, index: int, feature: _Feature, features: Mapping[Any, int]) -> bool:
        """Note what `feature` of trial `index` tells about all trials; return whether anything of it is new."""
        name, level = feature
        is_open = name in self._open
        if not is_open:
            self._open[name] = None
            # A choice that an alternative makes, such as the second number of a pair, is in few trials.
            if name not in PLACES and not parent(name) and len(self._choices) < MOST_TOGETHER:
                self._choices += (name,)
                self._combinations.clear()
        if (place := PLACES.get(name)) is not None:
            planned = name, row(index)[place]
            is_known = self._drawn_as.get(planned, planned[1]) == level
            self._drawn_as[planned] = level  # type: ignore[assignment]  # the plan's own levels are not random
        elif outer := parent(name):
            alternatives = self._within.setdefault(name, set())
            is_known = features.get(outer) in alternatives
            alternatives.add(features.get(outer))
        else:
            is_known = True
        if is_open and is_known:
            return False
        self._features.clear()
        return True

    def _forget_chances(self, features: Mapping[Any, int], new: Set[_Together]) -> None:
        """Forget the chances of pending trials that an accepted trial changed by these features and new combinations.

        How often a feature was accepted counts only if it is blamed for a refusal, or was never accepted before.
        """
        counted = {one for one in features.items() if self._accepted[one] == 1 or self._blame(one)}
        for index in [*self._likely] if counted or new else ():
            if not (counted.isdisjoint(self._features_of(index)) and new.isdisjoint(self._together_in(index))):
                del self._likely[index]

    def _next(self) -> int | None:
        if not self._refused:
            return next(self._coming, None)
        for index in itertools.islice(self._coming, WINDOW - len(self._window)):
            self._window[index] = None
        if not self._window:
            return None
        likely = self._likely
        for index in self._window:
            if index not in likely:
                likely[index] = self._chances(index)
        enough = max(chance for chance, _ in likely.values()) / 2
        for index in self._window:
            # The trials of the first block complement each other: they keep their order if they may be accepted.
            if index < BLOCK and likely[index].chance >= enough:
                return index
        best, best_score = None, -1.0
        for index in self._window:
            score = likely[index].chance * (1 + likely[index].new)
            if score > best_score:
                best, best_score = index, score
        return best

    def _chances(self, index: int) -> _Likely:
        """Return the chance that trial `index` is accepted, and the worth of its features that no accepted one had."""
        likely, new = 1.0, 0
        together = self._together_in(index)
        known = together & self._accepted_together
        #: Alternatives that were accepted together with another one of this trial, and may be so again.
        fitting: set[_Feature] = set().union(*known)
        for feature in self._features_of(index):
            of_plan = feature[0] in PLACES
            accepted, refused = self._accepted.get(feature, 0), self._blame(feature)
            if not accepted:
                new += _OF_LEVEL if of_plan else _OF_ALTERNATIVE
            if feature in fitting:
                continue
            if accepted or refused >= (DOUBTFUL if of_plan else DOUBTFUL_ALTERNATIVE):
                likely *= (accepted + 1) / (accepted + refused + 1)
        return _Likely(likely, new + len(together) - len(known))

    def _features_of(self, index: int) -> tuple[_Feature, ...]:
        """Return the features that trial `index` has, as far as is known what the test leaves open."""
        found = self._features.get(index)
        if found is None:
            found = self._features[index] = tuple(self._planned_features(index))
        return found

    def _planned_features(self, index: int) -> Iterator[_Feature]:
        levels: tuple[int, ...] = row(index)
        for name in self._open:
            if name in self._within and planned_alternative(index, parent(name)) not in self._within[name]:
                continue  # this trial does not make the choice
            place = PLACES.get(name)
            level = planned_alternative(index, name) if place is None else levels[place]
            yield name, self._drawn_as.get((name, level), level)

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

    def _together_in(self, index: int) -> frozenset[_Together]:
        """Return the pairs and triples of choices that trial `index` has."""
        together = self._combinations.get(index)
        if together is None:
            levels_of = [(name, planned_alternative(index, name)) for name in self._choices]
            together = self._combinations[index] = _together(levels_of)
        return together


def _together(levels: list[_Feature]) -> frozenset[_Together]:
    """Return all pairs and triples of these choices."""
    return frozenset((*itertools.combinations(levels, 2), *itertools.combinations(levels, 3)))
