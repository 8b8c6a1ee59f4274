"""Compares optimizer steps of the candidate with the reference's, on equal gradients in double precision."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import Values
from autotest.frameworks import Framework
from autotest.frameworks.freezing import freeze
from autotest.program import COTANGENT, Program, leaves
from autotest.program.numpy_scalars import is_fraction
from autotest.program.rewriting import with_arrays
from autotest.program.semantics import is_backward, makes_optimizer
from autotest.recording.record import Record
from autotest.recording.steps import OptimizerStep
from autotest.replaying.program_of_steps import ProgramOfSteps
from autotest.replaying.rates import in_single, numbers_by_default, other_rate, with_rates
from autotest.replaying.replay import replay

#: Maximum number of steps of one optimizer that are compared.
_STEPS = 10
#: Allowed relative error of an update. _EXACT: if the candidate computes in double precision throughout. If it keeps
#: its rates in single precision (where 1 - 0.999 is off by 6e-5): _SINGLE, plus _TIMES times the change that such rates
#: make to the reference's own update.
_EXACT, _SINGLE, _TIMES = 1e-9, 1e-4, 16
#: Largest relative tolerance with which a wrong update is shown.
_PLAIN = 0.1
#: Minimum number of elements that single-precision rates change, to find out whether the candidate keeps such rates.
_TELLING = 8
_DOUBLE = 2.0**-52
#: Pairs of factors for the greatest parameter (0.0: unchanged) and the greatest gradient, in units of the smallest
#: number of the optimizer. A wrong epsilon or decay has little effect on a step with gradients of ordinary size. It is
#: most of a step whose gradients are as small as that number, or zero. If the decay is added to the gradient, this also
#: needs parameters of a certain multiple of that number.
_SMALL = ((0.0, 1.0), (0.0, 0.0), (100.0, 0.0))
#: Smaller numbers are not taken for an epsilon: the squares of such small gradients underflow in single precision.
_LEAST = float(np.sqrt(np.finfo(np.float32).tiny))


@dataclasses.dataclass(frozen=True, slots=True)
class Update:
    """A program whose last result shows a wrong step, and the relative tolerance at which it shows it."""

    program: Program
    tolerance: float
    #: Absolute error of an update that rounding may cause.
    floor: float
    #: Description of the wrong step, in words and as a mismatch.
    description: str
    mismatch: Mismatch


@dataclasses.dataclass(frozen=True, slots=True)
class Updates:
    """Result of the comparison of all optimizers of a trial with the reference's."""

    wrong: Update | None = None
    #: Whether all optimizers could be compared.
    checked: bool = True
    #: Whether one of them keeps its rates in single precision, even for parameters in double precision.
    single: bool = False
    #: The greatest relative error of a tensor's whole update.
    error: float = 0.0


class _UpdateError(NamedTuple):
    """The relative error of the candidate's update of one tensor in one step, beyond what rounding may cause."""

    step: int
    #: The position of the tensor among those that are compared.
    at: int
    error: float


class _JudgedUpdates(NamedTuple):
    """The errors of all updates."""

    #: Whether the candidate's rates are in single precision, and the relative error that is allowed then.
    single: bool
    allowed: float
    rows: list[_UpdateError]


def check_updates(record: Record) -> Updates:
    """Compare the optimizers' steps on equal gradients, and return the first wrong step, if any."""
    checked, single, error = True, False, 0.0
    for owner in dict.fromkeys(step.owner for step in record.steps):
        if not makes_optimizer(record.calls[owner]):
            checked = False
            continue
        steps = [step for step in record.steps if step.owner == owner][:_STEPS]
        found = _ComparedSteps(record, owner, steps).outcome()
        checked, single, error = checked and found.checked, single or found.single, max(error, found.error)
        for small in () if found.wrong is not None else _made_small(record, owner, steps[0]):
            found = _ComparedSteps(record, owner, [small], single=single).outcome()
            if found.wrong is not None:
                break
        if found.wrong is not None:
            return found
    return Updates(None, checked, single, error)


def _made_small(record: Record, owner: int, step: OptimizerStep) -> Iterator[OptimizerStep]:
    """Yield `step` with parameters and gradients so small that an epsilon or a decay has a visible effect."""
    creation = record.calls[owner]
    given = [*leaves(creation.args), *leaves(creation.kwargs)]
    default = numbers_by_default(record.pair.reference.resolve(creation.target), len(creation.args))
    numbers = [item for item in (*given, *leaves(default)) if is_fraction(item) and item > _LEAST]
    least = min(numbers, default=0.0)
    greatest = [_greatest(step.parameters), _greatest([one for one in step.gradients if one is not None])]
    if not least or not all(math.isfinite(one) and one > 0 for one in greatest):
        return
    for parameter, gradient in _SMALL:
        of_parameters = parameter * least / greatest[0] if parameter else 1.0
        of_gradients = gradient * least / greatest[1]
        yield dataclasses.replace(
            step,
            parameters=[one * of_parameters for one in step.parameters],
            gradients=[None if one is None else one * of_gradients for one in step.gradients],
        )


def _greatest(arrays: Sequence[Values]) -> float:
    return max((float(np.abs(one).max(initial=0.0)) for one in arrays), default=0.0)


class _ComparedSteps:
    """The comparison of one optimizer's steps on both sides.

    `single` tells that the candidate is known to keep its rates in single precision. If it is False, the steps show
    that.
    """

    def __init__(self, record: Record, owner: int, steps: Sequence[OptimizerStep], *, single: bool = False) -> None:
        self._pair, self._steps, self._single = record.pair, steps, single
        self._of_steps = ProgramOfSteps(record, owner, steps)

    def outcome(self) -> Updates:
        if not self._of_steps.kept:
            return Updates(checked=False)
        try:
            program, places = self._of_steps.assembled()
        except (KeyError, ValueError):  # not created with a list of its parameters
            return Updates(checked=False)
        slots = [[places[slot] for slot in row] for row in self._of_steps.updates]
        pair = self._pair
        own, rounded, decays, other = (
            _values(run, side, slots)
            for run, side in (
                (program, pair.reference),
                (with_rates(program, pair.reference, in_single), pair.reference),
                (_without_gradients(program), pair.reference),
                (program, pair.candidate),
            )
        )
        if own is None or other is None or not _alike_in_shape(own, other):
            return Updates(checked=False)
        judged = self._judged(own, rounded or own, decays or own, other)
        found = next((row for row in judged.rows if row.error > judged.allowed), None)
        if found is None:
            error = max(_relative_error(one, theirs) for one, theirs in _each(own, other))
            return Updates(single=judged.single, error=error)
        if any(_keeps_gradients(program, side) for side in pair.frameworks):
            return Updates(checked=False)  # later steps have other gradients than those pushed back
        return Updates(self._wrong(program, places, own, found, judged.allowed), single=judged.single)

    def _wrong(
        self, program: Program, places: Mapping[int, int], own: Any, found: _UpdateError, allowed: float
    ) -> Update:
        """Return what is wrong with the first wrong update.

        Args:
            program: the program of the steps.
            places: its slots by those of the trial and of `ProgramOfSteps.updates`.
            own: the reference's updates.
            found: the error of the update.
            allowed: the relative error that is allowed.
        """
        pair = self._pair
        step, at, error = found
        slot = places[self._of_steps.updates[step][at]]
        whole = self._steps[step].slot
        # A large part of the error, so that a smaller program shows the same error. It is limited, because the relative
        # error of a nearly zero update may be huge.
        tolerance = float(f"{max(allowed, min(error / 4, _PLAIN)):.1g}")
        held = float(np.abs(self._steps[step].parameters[self._of_steps.kept[at]]).max(initial=0.0))
        floor = 64 * _DOUBLE * held + 1e-6 * tolerance * float(np.abs(own[step][at]).max(initial=0.0))
        reference, candidate = pair.sides
        given = self._steps[step].gradients
        size = _greatest([one for one in given if one is not None])
        description = (
            f"step {step}: {candidate} updates a parameter differently with the same gradients: the relative error "
            f"of the update is {error:.3g} in double precision ({allowed:.3g} allowed), with gradients up to "
            f"{size:.3g}"
        )
        # Results after the first wrong step would only hide it.
        cut = Program(program.calls[: slot + 1], program.arrays, frozenset())
        rate = other_rate(cut, pair)
        if rate is not None:
            whole = next(made for made, place in places.items() if place == rate.slot)
            description = (
                f"{candidate} sets another learning rate: {rate.candidate:.6g}, {reference} sets {rate.reference:.6g}"
            )
        message = f"{description}. expected={reference} actual={candidate}"
        mismatch = Mismatch("step", whole, "value", "forward", "candidate", message, what="another update")
        return Update(cut, tolerance, floor, description, mismatch)

    def _judged(self, own: Any, rounded: Any, decays: Any, other: Any) -> _JudgedUpdates:
        """Compare the updates of all steps and tensors.

        Args:
            own: the reference's updates.
            rounded: the reference's updates with rates in single precision.
            decays: the reference's updates with zero gradients.
            other: the candidate's updates.
        """
        rows: list[_UpdateError] = []
        exact, rounded_rates, changed = [], [], 0.0
        with np.errstate(all="ignore"):
            for step, row in enumerate(own):
                for at, update in enumerate(row):
                    # A decay's part of an update may cancel the gradient's part, and each is only as exact as its own
                    # size. The same is true of the momentum of earlier steps.
                    terms = [np.abs(each[at]) for each in (*own[: step + 1], decays[step])]
                    scale = np.max(np.stack(terms), axis=0)
                    scale = np.maximum(scale, 1e-6 * scale.max(initial=0.0)) + 1e-300
                    held = np.abs(self._steps[step].parameters[self._of_steps.kept[at]]).max(initial=0.0)
                    theirs, rough = other[step][at], rounded[step][at]
                    errors = _errors(update, theirs, scale)
                    beyond_rounding = errors - 64 * _DOUBLE * held / scale
                    rows.append(_UpdateError(step, at, float(beyond_rounding.max(initial=0.0))))
                    tell = update != rough
                    exact.append(errors[tell])
                    rounded_rates.append(_errors(rough, theirs, scale)[tell])
                    changed = max(changed, float(np.nan_to_num(np.abs(update - rough) / scale).max(initial=0.0)))
        # A candidate in double precision is much closer to the reference than to a reference with single-precision
        # rates.
        own_way, other_way = np.concatenate(exact), np.concatenate(rounded_rates)
        exactly = own_way.size >= _TELLING and float(np.median(own_way)) < float(np.median(other_way)) / 3
        single = self._single or not exactly
        return _JudgedUpdates(single, _SINGLE + _TIMES * changed if single else _EXACT, rows)


def _values(program: Program, framework: Framework, slots: Sequence[Sequence[int]]) -> Any:
    """Return the values in `slots` as arrays, or None if the framework refuses the program, or gives no tensors."""
    replayed = replay(program, framework)
    if replayed.error is not None:
        return None
    held = freeze(framework, [replayed.values[slot] for row in slots for slot in row])
    if not all(type(one) is TensorValue for one in held):
        return None
    flat = iter(held)
    return [[next(flat).data for _ in row] for row in slots]


def _keeps_gradients(program: Program, framework: Framework) -> bool:
    """Whether a parameter still has a gradient when the next one is pushed back, since ``zero_grad`` has not worked."""
    pushed = {call.slot: call.args[0].slot for call in program.calls if is_backward(call)}
    kept: list[int] = []

    def between_calls(at: int, values: list[Any]) -> None:
        gradient = framework.gradient(values[pushed[at]]) if at in pushed else None
        if gradient is not None and framework.values([gradient])[0].data.any():
            kept.append(at)

    replay(program, framework, between_calls=between_calls)
    return bool(kept)


def _alike_in_shape(own: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> bool:
    """Whether the updates of both sides have the same shapes. A wrong one is that of the subtraction."""
    return all(one.shape == theirs.shape for one, theirs in _each(own, other))


def _each(own: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, Any]]:
    """Yield each update of one side with the same one of the other side."""
    return zip(itertools.chain(*own), itertools.chain(*other), strict=True)


def _without_gradients(program: Program) -> Program:
    pushed = {call.args[0].index for call in program.calls if call.kind == "tensor" and call.note == COTANGENT}
    arrays = enumerate(program.arrays)
    return with_arrays(
        program,
        [dataclasses.replace(one, data=np.zeros_like(one.data)) if at in pushed else one for at, one in arrays],
    )


def _errors(own: Values, other: Values, scale: Values) -> Values:
    """Return ``|own - other| / scale``; infinite where only `other` is NaN, and 0 where `own` is not finite."""
    errors = np.abs(own - other) / scale
    return np.where(np.isfinite(own), np.where(np.isnan(errors), np.inf, errors), 0.0)


def _relative_error(own: Values, other: Values) -> float:
    with np.errstate(all="ignore"):  # both sides may have the same infinity
        whole = float(np.linalg.norm(own))
        return float(np.linalg.norm(own - other)) / whole if whole else 0.0
