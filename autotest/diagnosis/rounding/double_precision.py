"""Replays one program in double precision, as it is and with perturbed inputs."""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
from collections.abc import Collection, Iterable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue, limits
from autotest.comparison.elementwise import Values, differing
from autotest.comparison.values import tolerated_as
from autotest.diagnosis.rounding.measurement import Measured, Rounding, Spread, measure, reaches
from autotest.diagnosis.rounding.perturbation import RUNS, perturbed
from autotest.diagnosis.rounding.perturbed_operands import can_be_scaled, factors, results_of_scaled
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.frameworks import Pair
from autotest.program import Call, Ref, leaves, refs
from autotest.program.calls import LAYOUT
from autotest.program.exact_conversions import exact_conversions
from autotest.program.numpy_scalars import is_fraction
from autotest.program.paths import is_gradient
from autotest.program.rewriting import widened, with_arrays
from autotest.program.semantics import (
    OPERATIONS,
    makes_input,
    overwritten_operand,
    plain_name,
    pushes_gradients,
    writes_first_operand,
)
from autotest.replaying.agreement import Agreement, results, with_counterparts
from autotest.replaying.replay import Place

#: The slots of several calls.
Slots: TypeAlias = tuple[int, ...]

#: Operators that only compare or select numbers, or round them to whole ones. Of the same operands, they give the same
#: result in any precision.
_WITHOUT_ROUNDOFF = frozenset(
    """all any argmax argmin argsort bool bucketize byte ceil char count_nonzero cummax cummin eq equal fix floor frac
    frexp ge gt hardshrink heaviside int isfinite isinf isnan isneginf isposinf kthvalue le logical_and logical_not
    logical_or logical_xor long lt max median min mode nanmedian ne nonzero round searchsorted sgn short sign
    signbit sort threshold to topk trunc type type_as unique unique_consecutive""".split()
)
#: The largest number of calls whose operands are all perturbed, each by two more calls.
_MOST_ROUNDED = 64
#: The largest number of elements, over several places, whose spread the same runs measure. Each takes nine bytes.
_AT_ONCE = 1 << 24
#: An error that is less than the first number times what rounding explains accuses a side only after the second number
#: of runs. An error divided by a spread measured in few runs follows Student's t distribution: it is above 6 in one of
#: 250 cases if the element changed in four of eight runs, and in one of 140,000 if it changed in twenty of forty.
_CLOSE, _MANY_RUNS = 8.0, 40
#: The size of perturbations by roundoffs of double precision, in these. A single one would be rounded away.
_FEW = 4.0


class DoublePrecision:
    """The program of one agreement in double precision, which is run as often as the measurements need."""

    def __init__(self, focus: Agreement, pair: Pair, settings: Settings) -> None:
        self._focus, self.pair, self._settings = focus, pair, settings
        self.program = focus.program
        self.wide, self._places = widened(focus.program)
        #: The measurements made, and the spreads of places that are not measured yet; both by place and by the calls
        #: whose operands are perturbed in addition to the inputs.
        self._measured: dict[tuple[Place, Slots], Measured | None] = {}
        self._spreads: dict[tuple[Place, Slots], Spread] = {}
        self._movable: dict[Slots, bool] = {}

    def wide_place(self, place: Place) -> Place:
        return self._places[place[0]], place[1]

    @functools.cached_property
    def sides(self) -> tuple[dict[Place, Any], dict[Place, Any]]:
        """The results of both sides in double precision."""
        expected, actual = results(self.wide, self.pair.reference), results(self.wide, self.pair.candidate)
        asked = {self.wide_place(item.at) for item in self._focus.mismatches} & expected.keys()
        return expected, with_counterparts(actual, self.wide, self.pair, asked) if actual else actual

    @functools.cached_property
    def one_sided(self) -> bool:
        """Whether the candidate refuses the program in double precision, so that the truth is the reference's alone.

        Some devices have no tensors of double precision, and kernels are often written for single precision only.
        """
        expected, actual = self.sides
        return bool(expected) and not actual

    @property
    def own_sides(self) -> tuple[dict[Place, Any], dict[Place, Any]]:
        """The results of both sides in their own precision, at the places in double precision."""
        found = {self.wide_place(place): pair for place, pair in self._focus.read().items()}
        return {at: pair[0] for at, pair in found.items()}, {at: pair[1] for at, pair in found.items()}

    def spreads(self, places: Iterable[Place], dtype: str, into: Slots, roundoffs: float = 1.0) -> dict[Place, Spread]:
        """Return the spreads of the reference's results in double precision over runs with perturbed inputs.

        All places are measured in the same runs. One run is in memory at a time, as its results may be large.

        Args:
            places: the places in the program.
            dtype: the dtype whose roundoff is the size of the perturbation. It changes about half of the elements.
            into: the slots of the calls whose operands are perturbed, too; none for the inputs alone.
            roundoffs: the size of the perturbation.
        """
        truths = {place: as_array(self.sides[0].get(self.wide_place(place))) for place in places}
        spreads = {place: Spread(truth) for place, truth in truths.items() if truth is not None}
        self._add_runs(spreads, range(RUNS), roundoffs * ROUNDOFF.get(dtype, ROUNDOFF["float32"]), into)
        return spreads

    def _add_runs(self, spreads: Mapping[Place, Spread], runs: Iterable[int], roundoff: float, into: Slots) -> None:
        """Add `runs` with inputs that are changed by `roundoff` to the spreads of some places."""
        slots = {self.wide_place(place)[0] for place in spreads}
        for run in runs:
            found = self._run_moved(roundoff, run, into, slots)
            for place, spread in spreads.items():
                array = as_array(found.get(self.wide_place(place)))
                if array is not None:
                    spread.add(array)
            del found

    def _spread(self, place: Place, dtype: str, into: Slots) -> Spread:
        """Return the spread at `place`, and measure other mismatches in the same runs, as they come next."""
        if (place, into) not in self._spreads:
            found = self.spreads(self._together(place, dtype, into), dtype, into)
            self._spreads |= {(other, into): spread for other, spread in found.items()}
        return self._spreads.pop((place, into))

    def free_spreads(self) -> None:
        """Free the spreads of places that are not measured yet; if needed later, they are computed again."""
        self._spreads.clear()

    def _together(self, place: Place, dtype: str, into: Slots) -> list[Place]:
        """Return `place` and other mismatched places of the same dtype, up to `_AT_ONCE` elements."""
        together, room = [place], _AT_ONCE
        for other in dict.fromkeys(item.at for item in self._focus.mismatches):
            value = self._focus.read().get(other, (None, None))[0]
            if other == place or (other, into) in self._measured or tolerated_as(value) != dtype:
                continue
            room -= value.data.size if type(value) is TensorValue else 1
            if room < 0:
                break
            together.append(other)
        return together

    def _run_moved(self, roundoff: float, run: int, into: Slots, slots: Collection[int]) -> dict[Place, Any]:
        program = with_arrays(self.wide, perturbed(self.wide.arrays, roundoff, run))
        scaled = factors(self.wide, map(self._places.__getitem__, into), self.sides[0], roundoff, run)
        return results_of_scaled(program, self.pair.reference, scaled, slots)

    def _can_be_moved(self, into: Slots) -> bool:
        """Whether the operands of the calls `into` can be perturbed by factors: factors of one change no result."""
        if into not in self._movable:
            places = {self.wide_place(item.at) for item in self._focus.mismatches}
            values = {place: value for place, value in self.sides[0].items() if place in places}
            ones = factors(self.wide, map(self._places.__getitem__, into), self.sides[0], 0.0, 0)
            self._movable[into] = can_be_scaled(self.wide, self.pair.reference, ones, values)
        return self._movable[into]

    @functools.cached_property
    def computations(self) -> Slots:
        """The slots of the calls that compute with results of other calls; none if the program is long."""
        calls = self.program.calls
        computed = [call for call in calls if call.kind in OPERATIONS and call.note != LAYOUT]
        made = {call.slot for call in computed}
        found = tuple(
            call.slot for call in computed if not pushes_gradients(call) and any(ref.slot in made for ref in refs(call))
        )
        return found if len(found) <= _MOST_ROUNDED else ()

    def measured(self, item: Mismatch, into: Slots = ()) -> Measured | None:
        """Compare both sides with double precision at the place of `item`.

        Args:
            item: a mismatch of the agreement.
            into: the slots of the calls whose operands are perturbed in addition to the inputs, if they can be.

        Returns:
            The measurement, or None if the values cannot be compared, such as those of different shapes.
        """
        key = item.at, into
        if key not in self._measured:
            self._measured[key] = self._measure(item, into if into and self._can_be_moved(into) else ())
        return self._measured[key]

    def _measure(self, item: Mismatch, into: Slots) -> Measured | None:
        place = item.at
        pair = self._focus.read().get(place)
        if item.stage == "forward" and place[0] in self._exact_conversions and not _is_whole(pair):
            return None  # in double precision, nothing is converted
        at = self.wide_place(place)
        wide = (self.sides[0].get(at), self.sides[0 if self.one_sided else 1].get(at))
        arrays = [as_array(one) for one in (*(pair or (None, None)), *wide)]
        if any(one is None or one.shape != arrays[0].shape for one in arrays):  # type: ignore[union-attr]
            return None
        expected, actual, true, claimed = [one for one in arrays if one is not None]
        dtype = tolerated_as(None if pair is None else pair[0])
        tolerated = limits(self._settings.tolerance_at(item.stage), *(pair or (None, None)))
        mask = differing(expected, actual.astype(expected.dtype), *tolerated)
        if not mask.any():
            return None
        exact = self._unrounded(place)
        whole = expected.dtype.kind in "biu"
        # Where exact operands lie beside a step, perturbed inputs would fall to the other side of it.
        if exact and _is_without_roundoff(self._last_writer(place[0])):
            moved = Spread(true)
        else:
            moved = self._spread(place, dtype, into)
        if self.one_sided and exact:  # nothing but double precision shows that a side is right beside a step
            moved.leave_out(self.spreads([place], "float64", into, _FEW)[place])
        moved_by, dtype = dtype, str(expected.dtype) if whole else dtype  # a plain integer has no dtype of its own
        rounding = Rounding(dtype, self._length, self.cancellation, exact)
        found = measure((expected, actual), (true, claimed), moved, mask, rounding)
        if moved.runs and any(found.wrong) and max(found.excess) < _CLOSE and not self.one_sided:
            self._add_runs({place: moved}, range(RUNS, _MANY_RUNS), ROUNDOFF.get(moved_by, ROUNDOFF["float32"]), into)
            found = measure((expected, actual), (true, claimed), moved, mask, rounding)
        found = dataclasses.replace(found, one_sided=self.one_sided)
        if into and not found.double_decides and not any(found.wrong):
            finer = self.spreads([place], "float64", into, _FEW)[place]
            found = dataclasses.replace(found, beside_step=reaches(finer, claimed, mask, self._length))
        # If integers meet floats, double precision changes the promotion, and therefore the result.
        return None if whole and any(found.wrong) and self._promotes(place[0]) else found

    @functools.cached_property
    def _exact_conversions(self) -> Set[int]:
        return exact_conversions(self.program.calls)

    def _promotes(self, slot: int) -> bool:
        """Whether the call in `slot` has integer and floating operands, so that it promotes integers to floats."""
        given = [self.sides[0].get(self.wide_place((ref.slot, ""))) for ref in refs(self.program.calls[slot])]
        kinds = {value.data.dtype.kind for value in given if type(value) is TensorValue}
        return "f" in kinds and bool(kinds & {"i", "u"})

    def _unrounded(self, place: Place) -> bool:
        """Whether the call that gave `place` its value got the same numbers on both sides and in both precisions.

        Rounding before the call then does not explain its result.
        """
        calls, call = self.program.calls, self._computing(place)
        if call is None:
            return False
        writing = calls if call.slot > place[0] else calls[: place[0]]
        if call.kind not in OPERATIONS or any(writes_first_operand(other) for other in writing if other is not call):
            return False
        if any(is_fraction(item) and float(np.float32(item)) != item for item in leaves((call.args, call.kwargs))):
            return False  # such a number is rounded to the precision of the operands
        given = [ref.slot for ref in refs(call)]
        # A captured array is the same in both precisions.
        return bool(given) and all(makes_input(calls[slot]) or self._is_same(slot) for slot in given)

    def _computing(self, place: Place) -> Call | None:
        """Return the call that gave `place` its value, or None if several did.

        For a gradient, that is the only operation: with several, the cotangent of one is a rounded result of another.
        """
        if not is_gradient(place[1]):
            return self._last_writer(place[0])
        operations = [call for call in self.program.calls if call.kind in OPERATIONS and call.note != LAYOUT]
        differentiated = [call for call in operations if not pushes_gradients(call)]
        return differentiated[0] if len(differentiated) == 1 else None

    def _last_writer(self, slot: int) -> Call:
        """Return the last call that wrote into the tensor in `slot`, or else the call that made it."""
        calls = self.program.calls
        return next((call for call in reversed(calls) if overwritten_operand(call) == Ref(slot)), calls[slot])

    def _is_same(self, slot: int) -> bool:
        """Whether the value in `slot` is the same on both sides and in both precisions."""
        at = self.wide_place((slot, ""))
        values = [*self._focus.read().get((slot, ""), (None, None)), *(side.get(at) for side in self.sides)]
        arrays = [item.data for item in values if type(item) is TensorValue]
        same = [
            item.shape == arrays[0].shape and np.array_equal(item, arrays[0], equal_nan=item.dtype.kind in "fc")
            for item in arrays
        ]
        return len(arrays) == len(values) and all(same)

    @functools.cached_property
    def _length(self) -> float:
        """The largest number of terms that may be summed in one element: all elements of the largest tensor.

        Only sizes are known. A statistic of a whole batch, a kernel of many channels and the gradient of an embedding
        sum nearly as many, although their results have many elements, too.
        """
        sizes = [value.data.size for value in self.sides[0].values() if type(value) is TensorValue]
        return float(max([1, *sizes]))

    @functools.cached_property
    def cancellation(self) -> float:
        """The rounding error of the greatest magnitudes in the program, which remains if they cancel."""
        values = [value for value in self.sides[0].values() if type(value) is TensorValue and value.data.size]
        floats = [np.abs(value.data[np.isfinite(value.data)]) for value in values if value.data.dtype.kind == "f"]
        greatest = max([1.0, *(float(item.max(initial=0.0)) for item in floats)])
        with np.errstate(over="ignore"):  # the sum is limited, as an infinite one would excuse any error
            sums = [min(_summed(item), sys.float_info.max) for item in floats]
        summed = max([1.0, *sums])
        dtype = max((array.dtype for array in self.program.arrays), key=lambda name: ROUNDOFF.get(name, 0), default="")
        roundoff = ROUNDOFF.get(dtype, ROUNDOFF["float32"])
        return 100 * roundoff * greatest + roundoff * summed


def _summed(values: Values) -> float:
    """Return the error of a sum of the magnitudes `values` in any order, in roundoffs: 4 or sqrt(n) times their sum."""
    return max(4.0, math.sqrt(values.size)) * float(values.sum(dtype=np.float64))


def _is_whole(pair: tuple[Any, Any] | None) -> bool:
    """Whether the reference's value is a tensor of integers or booleans."""
    value = None if pair is None else pair[0]
    return type(value) is TensorValue and value.data.dtype.kind in "biu"


def _is_without_roundoff(call: Call) -> bool:
    """Whether `call` computes its result from its operands without rounding errors."""
    # To round to decimals, numbers are multiplied by a power of ten first.
    return plain_name(call.target) in _WITHOUT_ROUNDOFF and not call.kwargs.get("decimals")


def as_array(value: Any) -> Values | None:
    """Return the numbers of a tensor, or a plain number, as an array; None for any other value."""
    if type(value) is TensorValue:
        return value.data
    return np.asarray(value) if type(value) in (bool, int, float, complex) else None
