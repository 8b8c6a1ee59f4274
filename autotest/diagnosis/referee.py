"""Finds out who is wrong: replays in double precision, with the inputs moved a little, and twice."""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue, limits
from autotest.comparison.elementwise import differing, distance
from autotest.diagnosis.agreement import Agreement, Place, results
from autotest.diagnosis.forward_oracles import opinions
from autotest.diagnosis.locating import Located, locate
from autotest.diagnosis.oracles import numeric_gradient, ties
from autotest.diagnosis.verdict import HARMLESS, ROUNDOFF, Evidence, Measured, Verdict, judge, measure
from autotest.diagnosis.voting import votes, weighed
from autotest.frameworks import Pair
from autotest.program import Array, Program
from autotest.program.rewriting import widened, with_arrays
from autotest.program.semantics import returns_gradients

#: Runs with moved inputs. An element that one input reaches is taken for one that many do once in 2 ** RUNS.
RUNS = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict on a program and where it applies."""

    verdict: Verdict
    located: Located
    #: The whole program in double precision, where it was needed.
    laboratory: Laboratory


def examine(agreement: Agreement, pair: Pair, settings: Settings) -> Opinion:
    """Judge the first mismatch of a program."""
    first = agreement.mismatches[0]
    program = agreement.program
    located = locate(program, pair, settings, first)
    alone = located.alone
    # A program of that call alone is told about as it stands.
    focus = alone if alone is not None and len(alone.program.calls) < len(program.calls) else agreement
    laboratory = Laboratory(program, pair)
    bench = laboratory if focus is agreement else Laboratory(focus.program, pair)
    verdict = judge(_evidence(focus, located, pair, settings, bench))
    if verdict.weak and focus is not agreement:
        # Alone, a call may lack what decides: a whole program has more to differentiate, or other dtypes.
        again = judge(_evidence(agreement, located, pair, settings, laboratory))
        verdict = verdict if again.weak else again
    if pair.others:
        shown = focus.mismatches[0]
        verdict = weighed(verdict, votes(focus, focus.place(shown), shown, pair, settings), pair.sides)
    return Opinion(verdict, located, laboratory)


def cleared(agreement: Agreement, pair: Pair, settings: Settings) -> Verdict | None:
    """Why nothing in `agreement` is anybody's fault, or None when something is."""
    if any(item.symptom not in ("value", "gradient") for item in agreement.mismatches):
        return None
    opinion = examine(agreement, pair, settings)
    if opinion.verdict.blame not in HARMLESS:
        return None
    if opinion.verdict.blame == "ties":
        return opinion.verdict
    laboratory = opinion.laboratory
    for item in agreement.mismatches:
        measured = laboratory.measured(agreement.place(item), item, settings, agreement)
        if measured is None or not measured.wide_agrees:
            return None
        if _is_small(item, settings):
            continue
        if any(measured.wrong) and not max(measured.errors) <= laboratory.backdrop():
            return None
        if any(measured.wrong) and opinion.located.slot is not None and opinion.located.alone is None:
            return None
    return opinion.verdict


def _evidence(focus: Agreement, located: Located, pair: Pair, settings: Settings, laboratory: Laboratory) -> Evidence:
    first = focus.mismatches[0]
    evidence = Evidence(first.symptom, pair.sides, each_agrees=located.slot is None)
    if first.symptom in ("exception", "accepted", "out of memory"):
        return evidence
    place = focus.place(first)
    evidence = dataclasses.replace(evidence, **_noise(focus, place, pair, first))
    if max(evidence.noise) > evidence.tolerated:
        return evidence
    measured = laboratory.measured(place, first, settings, focus)
    evidence = dataclasses.replace(
        evidence, measured=measured, backdrop=laboratory.backdrop(), small=_is_small(first, settings)
    )
    if first.stage == "backward" or returns_gradients(focus.program.calls[place[0]]):
        witness, kink = numeric_gradient(laboratory.wide, laboratory.wide_place(place), pair, first)
        return dataclasses.replace(evidence, witnesses=() if witness is None else (witness,), kink=kink)
    if first.symptom == "value" and ties(focus, place, pair):
        return dataclasses.replace(evidence, ties=True)
    writer = located.alone_slot if focus is located.alone else located.slot
    if first.symptom == "dtype":
        found = opinions(focus.program, place, pair, about="dtype", writer=writer)
    else:
        at = None if writer is None else laboratory.wide_place((writer, ""))[0]
        found = opinions(laboratory.wide, laboratory.wide_place(place), pair, about=first.symptom, writer=at)
    return dataclasses.replace(evidence, witnesses=found)


def _is_small(mismatch: Mismatch, settings: Settings) -> bool:
    """Whether it is one for the size of the numbers alone, and would be tolerated of numbers around 1."""
    numbers = mismatch.statistics
    if numbers is None:
        return False
    atol = settings.tolerance_at(mismatch.stage).of(numbers.dtype)[1]
    return numbers.atol < atol and numbers.greatest_abs <= atol


def _noise(focus: Agreement, place: Place, pair: Pair, first: Mismatch) -> dict[str, Any]:
    """How far either side is from itself at the mismatch."""
    noise = []
    for side, at in ((pair.reference, 0), (pair.candidate, 1)):
        once = focus.read().get(place, (None, None))[at]
        again = results(focus.program, side).get(place)
        noise.append(_apart(once, again))
    numbers = first.statistics
    tolerated = 0.0 if numbers is None else numbers.atol + numbers.rtol * abs(_real(numbers.abs_expected))
    return {"noise": (noise[0], noise[1]), "tolerated": tolerated}


def _real(value: Any) -> float:
    number = float(np.abs(value))  # not abs(), which raises OverflowError for some complex NaNs
    return number if np.isfinite(number) else 0.0


def _apart(once: Any, again: Any) -> float:
    if type(once) is not TensorValue or type(again) is not TensorValue or once.data.shape != again.data.shape:
        return 0.0
    return float(distance(once.data, again.data).max(initial=0.0))


class Laboratory:
    """One program in double precision, run as often as it takes."""

    def __init__(self, program: Program, pair: Pair) -> None:
        self._pair = pair
        self.program = program
        self.wide, self._places = widened(program)
        self._backdrop: float | None = None
        self._moved: dict[str, list[dict[Place, Any]]] = {}
        self._sides: tuple[dict[Place, Any], dict[Place, Any]] | None = None

    def wide_place(self, place: Place) -> Place:
        return self._places[place[0]], place[1]

    @property
    def sides(self) -> tuple[dict[Place, Any], dict[Place, Any]]:
        """Each side's results in double precision."""
        if self._sides is None:
            self._sides = (results(self.wide, self._pair.reference), results(self.wide, self._pair.candidate))
        return self._sides

    def moved(self, dtype: str) -> list[dict[Place, Any]]:
        """The reference's results when about half of the inputs move by a roundoff of `dtype`."""
        if dtype not in self._moved:
            roundoff = ROUNDOFF.get(dtype, ROUNDOFF["float32"])
            self._moved[dtype] = [
                results(with_arrays(self.wide, nudged(self.wide.arrays, roundoff, run)), self._pair.reference)
                for run in range(RUNS)
            ]
        return self._moved[dtype]

    def measured(self, place: Place, first: Mismatch, settings: Settings, focus: Agreement) -> Measured | None:
        """Both sides against double precision at `place`; None where they cannot be laid beside each other."""
        pair = focus.read().get(place)
        at = self.wide_place(place)
        wide = (self.sides[0].get(at), self.sides[1].get(at))
        arrays = [_array(item) for item in (*(pair or (None, None)), *wide)]
        if any(item is None or item.shape != arrays[0].shape for item in arrays):  # type: ignore[union-attr]
            return None
        expected, actual, true, claimed = [item for item in arrays if item is not None]
        dtype = pair[0].dtype if pair is not None and type(pair[0]) is TensorValue else "float32"
        tolerance = settings.tolerance_at(first.stage)
        tolerated = tolerance.of(dtype)
        if pair is not None and type(pair[0]) is TensorValue and type(pair[1]) is TensorValue:
            tolerated = limits(tolerance, *pair)
        mask = differing(expected, actual.astype(expected.dtype), *tolerated)
        if not mask.any():
            return None
        moved = [] if dtype.startswith("complex") else [_array(run.get(at)) for run in self.moved(dtype)]
        same = [item for item in moved if item is not None and item.shape == expected.shape]
        return measure(
            (expected, actual), (true, claimed), same, dtype, self._length(expected.size), mask, self.backdrop()
        )

    def _length(self, size: int) -> float:
        """How many numbers may be added up in one element, judged by sizes alone."""
        largest = self._largest
        return max(largest / max(size, 1), math.sqrt(largest), 1.0)

    @functools.cached_property
    def _largest(self) -> int:
        return max([value.data.size for value in self.sides[0].values() if type(value) is TensorValue], default=1)

    def backdrop(self) -> float:
        """What rounding makes of the greatest magnitudes in the program, where results cancel against each other."""
        if self._backdrop is None:
            self._backdrop = self._weighed()
        return self._backdrop

    def _weighed(self) -> float:
        values = [value for value in self.sides[0].values() if type(value) is TensorValue and value.data.size]
        floats = [np.abs(value.data[np.isfinite(value.data)]) for value in values if value.data.dtype.kind == "f"]
        greatest = max([1.0, *(float(item.max(initial=0.0)) for item in floats)])
        with np.errstate(over="ignore"):  # an infinite backdrop would excuse everything
            sums = [min(float(item.sum(dtype=np.float64)), sys.float_info.max) for item in floats]
        summed = max([1.0, *sums])
        dtype = max((array.dtype for array in self.program.arrays), key=lambda name: ROUNDOFF.get(name, 0), default="")
        roundoff = ROUNDOFF.get(dtype, ROUNDOFF["float32"])
        return 100 * roundoff * greatest + 4 * roundoff * summed


def _array(value: Any) -> np.ndarray[Any, Any] | None:
    if type(value) is TensorValue:
        return value.data
    return np.asarray(value) if type(value) in (bool, int, float, complex) else None


def nudged(arrays: Sequence[Array], roundoff: float, run: int) -> list[Array]:
    """`arrays` with about half of the floating elements moved by up to `roundoff`, relative to each."""
    random = np.random.Generator(np.random.SFC64(run))
    moved = []
    for array in arrays:
        if not array.dtype.startswith("float"):
            moved.append(array)
            continue
        shape = array.data.shape
        step = random.uniform(-roundoff, roundoff, shape) * random.integers(0, 2, shape)
        with np.errstate(over="ignore"):
            data = np.asarray(array.data * (1 + step))
        # The greatest numbers stay where they are: what moves to infinity makes everything look ill-conditioned.
        moved.append(dataclasses.replace(array, data=np.where(np.isfinite(data), data, array.data)))
    return moved


__all__ = ["RUNS", "Opinion", "cleared", "examine", "nudged"]
