"""Compares the gradients of both sides with finite differences of each side's own forward."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import TensorValue
from autotest.comparison.elementwise import Values, distance, index_of_greatest
from autotest.diagnosis.oracles.oracle_result import OracleResult
from autotest.frameworks import Framework, Pair
from autotest.frameworks.tape import listed
from autotest.gradients.function import overlaps
from autotest.gradients.redefined_gradients import ProgramRun, redefined
from autotest.gradients.reverse_mode import weighted
from autotest.program import Array, Call, Program, Ref
from autotest.program.paths import indices_of, is_gradient, member_of, owner_of_gradient
from autotest.program.rewriting import assembled, filled, with_contents
from autotest.program.semantics import (
    argument,
    base_name,
    clips_gradients,
    differentiated_slots,
    is_backward,
    pushed_pairs,
    pushed_slots,
    reads_gradient,
    returns_gradients,
    written,
)
from autotest.replaying.agreement import results_of_side
from autotest.replaying.replay import Place, replay


def _worst(one: Values, other: Values) -> tuple[int, ...] | None:
    if one.shape != other.shape or not one.size:
        return None
    return index_of_greatest(distance(one, other.astype(one.dtype)))


def numeric_gradient(wide: Program, place: Place, pair: Pair) -> tuple[OracleResult | None, bool]:
    """Compare each side's gradient with central differences of its own forward.

    The comparison is at the element where the gradients of the two sides differ most.

    Args:
        wide: the program in double precision.
        place: the place of the gradient in `wide`.
        pair: the reference and the candidate.

    Returns:
        The errors of the sides, or None if differences do not decide; and whether the function has a kink there, at
        which the sides chose different gradients.
    """
    if redefined(ProgramRun(wide.calls, replay(wide, pair.reference).values, pair.reference)):
        return None, False
    wide, place = _with_contents_of_its_own(wide, place, pair.reference)
    pushing = place[0] if returns_gradients(wide.calls[place[0]]) else _only_push(wide)
    leaf = None if pushing is None else _leaf(wide, place, pushing, pair.reference)
    if leaf is None or pushing is None:
        return None, False
    sides = pair.frameworks
    own = [results_of_side(wide, side, pair, place).get(place) for side in sides]
    shape = wide.arrays[leaf].data.shape
    gradients = [_gradient(item, shape) for item in own]
    if any(item is None for item in gradients) or not wide.arrays[leaf].data.size:
        return None, False
    one, other = (item for item in gradients if item is not None)
    at = _worst(one, other)
    if at is None:
        return None, False
    if not (np.isfinite(wide.arrays[leaf].data[at]) or np.isfinite([one[at], other[at]]).all()):
        # A step does not change a number that is not finite, and a backward may have multiplied a cotangent of zero by
        # it. Then differences of zero prove nothing about a gradient of NaN.
        return None, False
    if _multiplies_zero(float(one[at]), wide, pushing, pair.reference):
        return None, False
    elements = [_Element(wide, leaf, at, side, pushing) for side in sides]
    return _by_differences((float(one[at]), float(other[at])), elements, at)


def _by_differences(
    gradients: tuple[float, float], elements: Sequence[_Element], at: tuple[int, ...]
) -> tuple[OracleResult | None, bool]:
    """Compare the gradients of both sides at one element with differences; see `numeric_gradient`."""
    own, other = gradients
    differences: list[_Difference] = []
    for element in elements:
        difference = element.difference()
        if difference is None:
            return None, False
        differences.append(difference)
    found = [difference.derivative for difference in differences]
    kinks = [difference.kink for difference in differences]
    scale = max(abs(found[0]), abs(found[1]), 1e-3)
    allowed = 1e-4 * scale + 2 * max(difference.uncertainty for difference in differences)
    # At a kink the sides may choose different gradients; if the gradients are nearly equal, they chose the same.
    gap = abs(own - other)
    kink = any(kinks) and gap > allowed
    if max(abs(own - found[0]), abs(other - found[1])) <= allowed:
        # Both gradients are too near to a plain difference to tell which one is wrong.
        closer = [element.extrapolated() for element in elements]
        if any(item is None for item in closer):
            return None, kink
        found = [item[0] for item in closer if item is not None]
        allowed = 16 * max(item[1] for item in closer if item is not None) + 1e-10 * scale
    errors = (abs(own - found[0]), abs(other - found[1]))
    agreed = abs(found[0] - found[1]) <= allowed
    # If the gradients differ by less than the differences' own error, it is chance which one is within that error.
    near = gap <= allowed  # false if one of them is NaN
    shown = f"{found[0]:.9g}" + (f" at {at}" if at else "")
    oracle = OracleResult("finite difference of its own forward", shown, errors, allowed)
    return (oracle if agreed and not near and not any(kinks) else None), kink


def _only_push(program: Program) -> int | None:
    """Return the slot of the backward that the gradients in `program` are of.

    None if there is no backward, or if gradients may not be those of one: several are added up, or one is cleared,
    clipped or written into.
    """
    pushes = [call.slot for call in program.calls if is_backward(call)]
    if len(pushes) != 1 or any(_changes_gradients(program, call) for call in program.calls):
        return None
    return pushes[0]


def _changes_gradients(program: Program, call: Call) -> bool:
    into_gradient = any(reads_gradient(program.calls[ref.slot]) for ref in written(call))
    assigned = call.kind == "setattr" and call.target == "grad"
    return clips_gradients(call) or base_name(call) == "zero_grad" or assigned or into_gradient


def _gradient(value: Any, shape: tuple[int, ...]) -> Values | None:
    """Return a gradient as an array, with zeros for a missing one; None if `value` does not fit `shape`."""
    if value is None:
        return np.zeros(shape)
    fits = type(value) is TensorValue and value.data.shape == shape and value.data.dtype.kind == "f"
    return value.data if fits else None


def _with_contents_of_its_own(program: Program, place: Place, framework: Framework) -> tuple[Program, Place]:
    """Return `program` with a leaf that is a view filled from a captured array, which can be varied, and the new place.

    Strided and transposed inputs are such leaves. If the leaf is no view, or overlaps itself, which makes it impossible
    to fill, both are returned unchanged.
    """
    slot, suffix = place
    if not any(call.target == "requires_grad_" and call.args[:1] == (Ref(slot),) for call in program.calls):
        return program, place
    leaf = replay(program, framework, upto=slot + 1).values[slot]
    if overlaps(framework, leaf):
        return program, place
    array = framework.values([leaf])[0].as_array()
    calls, arrays = filled(program.calls, program.arrays, {slot: Array(array.data.copy(), array.dtype)})
    made, places = assembled(calls, arrays, program.undefined)
    return made, (places[slot], suffix)


def _leaf(program: Program, place: Place, pushing: int, framework: Framework) -> int | None:
    """Return the index of the captured array that the gradient at `place` belongs to; None if there is none.

    Of several arrays that a parameter is filled from, it is the last one before the backward call in slot `pushing`.
    """
    slot, suffix = place
    call = program.calls[slot]
    name = member_of(owner_of_gradient(suffix))
    if returns_gradients(call):
        inputs = argument(call, 1, "inputs")
        indices = indices_of(suffix)
        inputs = [inputs] if type(inputs) is Ref else inputs
        wanted = inputs[indices[0]] if isinstance(inputs, (list, tuple)) and indices else None
        made = program.calls[wanted.slot] if type(wanted) is Ref else call
        return int(made.args[0].index) if made.kind == "tensor" else None
    if not is_gradient(suffix):
        return None
    if call.kind == "tensor":
        index: int = call.args[0].index
        return index
    found: int | None = None
    values: Sequence[Any] = ()
    for later in program.calls[:pushing]:
        if later.kind == "overwrite" and later.args[0] == Ref(slot):
            found = int(later.args[1].index)
        elif later.kind == "load_state" and later.args[0] == Ref(slot) and name in later.args[1]:
            found = int(later.args[1][name].index)
        elif later.kind == "load_state" and found is not None and name:  # not for a tensor, which no module contains
            # The state of a module that contains this one.
            values = values or replay(program, framework, upto=pushing).values
            owner, inner = (framework.state(values[at]) for at in (later.args[0].slot, slot))
            keys = [key for key in later.args[1] if name in inner and owner.get(key) is inner[name]]
            found = int(later.args[1][keys[0]].index) if keys else found
    return found


class _Difference(NamedTuple):
    """A central difference, its change with a smaller step, and whether the slopes on either side of it differ."""

    derivative: float
    uncertainty: float
    kink: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Element:
    """Element `at` of the captured array `leaf`, with respect to which differences are taken.

    The function is the sum of the roots of the backward call in slot `pushing`, weighted by their cotangents.
    """

    program: Program
    leaf: int
    at: tuple[int, ...]
    side: Framework
    pushing: int

    @property
    def centre(self) -> float:
        return float(self.program.arrays[self.leaf].data[self.at])

    def difference(self) -> _Difference | None:
        """Return the central difference, or None if a smaller step gives a different one.

        The forward then is too steep for differences.
        """
        step = 1e-5 * max(1.0, abs(self.centre))
        wide, narrow = self.slopes(step), self.slopes(step / 8)
        if wide is None or narrow is None:
            return None
        (left, right, rounding), (inner_left, inner_right, _) = wide, narrow
        derivative, inner = (left + right) / 2, (inner_left + inner_right) / 2
        if abs(derivative - inner) > 1e-2 * max(abs(derivative), abs(inner), 1e-3):
            return None
        # The slopes beside a kink differ however small the step is; those of a steep smooth function do not.
        kink = _bends(left, right) and _bends(inner_left, inner_right)
        return _Difference(derivative, abs(derivative - inner) + rounding, kink)

    def extrapolated(self) -> tuple[float, float] | None:
        """Return the derivative to many more digits, and its uncertainty, by Richardson extrapolation of differences.

        See W. H. Press et al., Numerical Recipes, 3rd edition, 5.7. Near a kink the uncertainty is great.
        """
        step = 1e-2 * max(1.0, abs(self.centre))
        slopes = [self.slopes(size) for size in (step, step / 2, step / 4)]
        lefts = [pair[0] for pair in slopes if pair is not None]
        rights = [pair[1] for pair in slopes if pair is not None]
        if len(lefts) < len(slopes):
            return None
        middle = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
        # If two pieces of the function meet without a kink, only one-sided differences may converge.
        found = [_limit(middle, 4.0), _limit(lefts, 2.0), _limit(rights, 2.0)]
        limit, uncertainty = min(found, key=lambda pair: pair[1])
        return limit, uncertainty + max(pair[2] for pair in slopes if pair is not None)

    def slopes(self, step: float) -> tuple[float, float, float] | None:
        """Return the slopes to the left and to the right, and the part of them that may be rounding.

        Beside a result of 1e38, what a step changes in the other results is lost. The slopes then are 0, whatever the
        derivative is. None if one of the values is not finite.
        """
        below, centre, above = (self._pushed(offset) for offset in (-step, 0.0, step))
        if below is None or centre is None or above is None:
            return None
        rounding = float(np.finfo(np.float64).eps) * centre[1] / step
        return (centre[0] - below[0]) / step, (above[0] - centre[0]) / step, rounding

    def _pushed(self, offset: float) -> tuple[float, float] | None:
        data = self.program.arrays[self.leaf].data.copy()
        data[self.at] = self.centre + offset
        pushed = _pushed(with_contents(self.program, self.leaf, data), self.side, self.pushing)
        return None if pushed is None or not np.isfinite(pushed[0]) else pushed


def _bends(left: float, right: float) -> bool:
    """Whether the slopes to the left and to the right of a point differ clearly."""
    return abs(right - left) > 1e-2 * max(abs(left), abs(right), 1e-3)


def _limit(values: Sequence[float], ratio: float) -> tuple[float, float]:
    """Return the limit of `values` for steps of 1, 1/2 and 1/4, and its uncertainty.

    The leading error shrinks by the factor `ratio` from step to step.
    """
    first = [(ratio * fine - coarse) / (ratio - 1) for coarse, fine in itertools.pairwise(values)]
    second = ratio * ratio if ratio > 2 else 2 * ratio
    best = (second * first[1] - first[0]) / (second - 1)
    return best, abs(best - first[1])


def _pushed(program: Program, side: Framework, pushing: int) -> tuple[float, float] | None:
    """Return the sum of the roots of the backward call in slot `pushing`, weighted by their cotangents, and its size.

    The size is the norm of the terms, of which rounding changes a sum by about the machine epsilon.
    """
    replayed = replay(program, side, upto=pushing)
    if replayed.error is not None:
        return None
    total = size = 0.0
    for root, cotangent in pushed_pairs(program.calls[pushing]):
        held = [listed(replayed.values[item.slot]) for item in (root, cotangent) if type(item) is Ref]
        if any(item is None for part in held for item in part):
            return None  # an earlier call returned no gradient here
        frozen = [[_in_double_precision(value.data) for value in side.values(part)] for part in held]
        weights = frozen[1] if len(frozen) > 1 else [np.ones(())] * len(frozen[0])
        if len(frozen) > 1 and [one.shape for one in weights] != [one.shape for one in frozen[0]]:
            return None  # its contents decide the shape of a root, as for a mask
        with np.errstate(all="ignore"):  # the caller discards a sum that is not finite
            total += sum(weighted(weight, array) for array, weight in zip(frozen[0], weights, strict=True))
            size = float(np.hypot(size, _norm_of_terms(frozen[0], weights)))
    return total, size


def _in_double_precision(data: Values) -> Values:
    return data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)


def _multiplies_zero(gradient: float, program: Program, pushing: int, framework: Framework) -> bool:
    """Return whether a `gradient` of the backward call in slot `pushing` may be zero times what is not finite.

    A backward may have multiplied a cotangent of zero by the slope of a result that is not finite, or by an infinite
    slope, as of ``sqrt`` at zero.
    """
    if np.isfinite(gradient):
        return False
    replayed = replay(program, framework, upto=pushing)
    if replayed.error is not None:
        return False
    push = program.calls[pushing]
    roots, cotangents = (
        [value.data for slot in slots for value in framework.values(listed(replayed.values[slot]))]
        for slots in (differentiated_slots(push), pushed_slots(push))
    )
    if not all(np.isfinite(root).all() for root in roots):
        return True
    return bool(np.isnan(gradient)) and any((cotangent == 0).any() for cotangent in cotangents)


def _norm_of_terms(arrays: Sequence[Values], weights: Sequence[Values]) -> float:
    """Return the Euclidean norm of all products of the finite elements of `arrays` with their weights."""
    terms = [np.abs(array * weight).reshape(-1) for array, weight in zip(arrays, weights, strict=True)]
    held = np.concatenate([one[np.isfinite(one)] for one in terms] or [np.zeros(0)])
    greatest = float(held.max(initial=0.0))
    return greatest * float(np.linalg.norm(held / greatest)) if greatest else 0.0
