"""Compares how both sides drop elements: the factors, how many are dropped, which together, and what the gradient does.

Each side of a dropout draws its own mask, so that the results cannot be compared. What all masks have in common can: an
element is dropped or multiplied by one factor, a certain share of them is dropped, single ones or whole channels, and
the gradient is multiplied by the same mask. Programs of the call alone compute these properties from many ones; their
other results are undefined.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Final

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.frameworks import warnings_ignored
from autotest.program import COTANGENT, Array, Call, CallKind, Operand, Program, Ref
from autotest.program.calls import PROPERTY
from autotest.program.isolation import isolated
from autotest.program.rewriting import tensor_call
from autotest.recording.drawn_result import Mask
from autotest.recording.record import Record
from autotest.replaying.agreement import agree, results

#: The number of rows of ones that are given to the call, unless they would have more elements than the second number.
_ROWS: Final = 2048
_ELEMENTS: Final = 1 << 16
#: Properties are compared only if this many elements are expected to be dropped, and as many to be kept. With
#: probability exp(-40), none is.
_EXPECTED: Final = 40
#: Number of standard deviations between the share of dropped elements in two runs that is taken for chance. The share
#: of either run is normal, so more have a probability below 1e-15.
_DEVIATIONS: Final = 12.0


@np.errstate(all="ignore")
@warnings_ignored()
def compared_masks(record: Record, settings: Settings, done: set[object]) -> tuple[list[Mismatch], Program] | None:
    """Compare the properties of the masks that a trial drew.

    Args:
        record: the record of the trial.
        settings: the settings of the test.
        done: the calls that earlier trials compared; those of this trial are added. Equal calls are compared once,
            because that takes longer than a trial.

    Returns:
        The mismatches of the first call whose masks differ, and the program that shows them; None if there is none.
    """
    pair = record.pair
    if not (settings.check_values and pair.reference.holds_values and pair.candidate.holds_values):
        return None
    for slot, drawn in record.drawn.items():
        if type(drawn) is not Mask or drawn.in_place:
            continue
        key = _key(record, slot, drawn)
        if key in done:
            continue
        programs = _programs(record, slot, drawn)
        if programs:  # else another trial may have enough elements
            done.add(key)
        for program in programs:
            found = agree(program, pair, dataclasses.replace(settings, check_errors=False)).mismatches
            if found and all(item.of_numbers for item in found):
                return found, program
    return None


def _key(record: Record, slot: int, drawn: Mask) -> object:
    """Return what distinguishes the call in `slot` from others that drop elements in another way."""
    call = record.calls[slot]
    origin = record.calls[call.args[0].slot] if call.args and type(call.args[0]) is Ref else call
    plain = [item for item in (*call.args, *call.kwargs.values()) if type(item) is not Ref]
    return call.target, repr(plain), origin.target, repr((origin.args, origin.kwargs)), drawn.factors.dtype


def _programs(record: Record, slot: int, drawn: Mask) -> list[Program]:
    """Return the programs that compute the properties of the call in `slot`; none if it cannot be judged by them."""
    shape = drawn.factors.data.shape
    width = math.prod(shape[1:])
    if not width or width > _ELEMENTS:
        return []
    ones = np.ones((min(_ROWS, _ELEMENTS // width), *shape[1:]), drawn.factors.data.dtype)
    value = TensorValue(ones, drawn.factors.dtype, drawn.factors.device, False)
    try:
        alone, made = isolated(record.program(), slot, {drawn.operand.slot: value})
    except NotReplayable:
        return []
    leaf = next((call for call in alone.inputs() if np.array_equal(alone.arrays[call.args[0].index].data, ones)), None)
    shown = results(dataclasses.replace(alone, undefined=frozenset([made])), record.pair.reference, slots=[made])
    factors = shown.get((made, ""))
    if leaf is None or type(factors) is not TensorValue or factors.data.shape != ones.shape:
        return []
    units, inner = _units(factors.data)
    dropped = float(np.mean(units == 0))
    if units.size * min(dropped, 1 - dropped) < _EXPECTED:
        return []
    slack = _DEVIATIONS * math.sqrt(2 * dropped * (1 - dropped) / units.size)
    share = (dropped - slack, dropped + slack)
    return [
        _Properties(alone, made).of_mask(share, range(ones.ndim - inner, ones.ndim)),
        _Properties(alone, made).of_gradient(leaf.slot),
    ]


def _units(factors: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int]:
    """Return one factor for each part of a mask that is dropped as a whole, and the dimensions inside of a part.

    A channel has one dimension or more, and a single element has none.
    """
    rank = factors.ndim
    while factors.ndim > 1 and (factors == factors[..., :1]).all():
        factors = factors[..., 0]
    return factors, rank - factors.ndim


class _Properties:
    """Appends calls that compute properties of the result in `made` of the program `alone`."""

    def __init__(self, alone: Program, made: int) -> None:
        self._calls, self._arrays, self._undefined = [*alone.calls], [*alone.arrays], {made}
        self._made = Ref(made)

    def of_mask(self, share: tuple[float, float], inner: range) -> Program:
        """Return the program of the factor, of elements with another factor, and of which elements are dropped.

        Args:
            share: the bounds of the share of dropped elements.
            inner: the last dimensions, inside of the parts that are dropped as a whole.
        """
        mask = self._add("method", "detach", self._made)
        factor = self._add("method", "max", mask, defined=True)
        self._add("method", "min", mask, defined=True)
        # Zero where an element is dropped, and where it is multiplied by the factor.
        other = self._add("operator", "mul", mask, self._add("operator", "sub", mask, factor))
        self._add("method", "max", self._add("method", "abs", other), defined=True)
        dropped = self._add("operator", "eq", mask, 0)
        dropped = self._add("method", "mean", self._add("method", "float", dropped))
        self._add("operator", "gt", dropped, share[0], defined=True)
        self._add("operator", "lt", dropped, share[1], defined=True)
        # No difference inside of a part, and some between parts.
        self._add("method", "max", self._differences(mask, inner), defined=True)
        between = self._add("method", "max", self._differences(mask, range(inner.start - 1, inner.start)))
        self._add("operator", "gt", between, 0, defined=True)
        return self._program()

    def _differences(self, mask: Ref, axes: range) -> Ref:
        """Return the magnitude of the difference of each element of `mask` and the first one along `axes`."""
        first = self._add("operator", "getitem", mask, (*[slice(None)] * axes.start, *[slice(0, 1)] * len(axes)))
        return self._add("method", "abs", self._add("operator", "sub", mask, first))

    def of_gradient(self, leaf: int) -> Program:
        """Return the program of the difference of the mask and the gradient of the input in `leaf` for ones."""
        created = self._calls[leaf]
        self._calls[leaf] = created._replace(kwargs={**created.kwargs, "requires_grad": True})
        array = self._arrays[created.args[0].index]
        self._arrays.append(Array(np.ones_like(array.data), array.dtype))
        at, device = len(self._calls), str(created.kwargs["device"])
        self._calls.append(
            tensor_call(at, len(self._arrays) - 1, array, requires_grad=False, device=device, note=COTANGENT)
        )
        self._add("method", "backward", self._made, Ref(at))
        gradient = self._add("getattr", "grad", Ref(leaf))
        difference = self._add("operator", "sub", gradient, self._add("method", "detach", self._made))
        self._add("method", "max", self._add("method", "abs", difference), defined=True)
        return self._program()

    def _add(self, kind: CallKind, target: str, *args: Operand, defined: bool = False) -> Ref:
        self._calls.append(Call(kind, target, args, {}, len(self._calls), PROPERTY))
        if not defined:
            self._undefined.add(len(self._calls) - 1)
        return Ref(len(self._calls) - 1)

    def _program(self) -> Program:
        return Program(tuple(self._calls), tuple(self._arrays), frozenset(self._undefined))
