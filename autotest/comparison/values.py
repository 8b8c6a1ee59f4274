"""Compares pairs of values from the two sides; returns mismatches as data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.plural import several
from autotest.base.settings import Tolerance
from autotest.comparison.elementwise import (
    Statistics,
    agree,
    differing,
    identical,
    is_small,
    passing_tolerance,
    scaled_limits,
    statistics,
)
from autotest.comparison.mismatch import Detail, Mismatch, Stage, Symptom
from autotest.program.paths import is_gradient
from autotest.program.values import ARRAY, NamedItems, TensorValue

__all__ = [
    "Comparison",
    "Missing",
    "OpaqueObject",
    "TensorValue",
    "compare_values",
    "limits",
    "passing_tolerance",
    "surely_agree",
    "tolerated_as",
]

#: The dtype whose tolerance applies to Python floats and complex numbers. They are results of ``.item()`` or
#: ``float()`` of a tensor of unknown dtype, nearly always float32; with the tolerance of float64, rounding to float32
#: would be reported as a divergence.
PLAIN_FLOAT = "float32"
#: Types of plain values that agree if ``==`` is true. A float may also agree within its tolerance.
_PLAIN = frozenset((type(None), bool, int, str, float))


@dataclasses.dataclass(frozen=True, slots=True)
class Missing:
    """Placeholder for a value that one side lacks and the other has under the same name."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpaqueObject:
    """Placeholder for an object without a value, such as a function: only its presence on both sides is compared."""

    kind: str = dataclasses.field(compare=False)


def compare_values(name: str, expected: Any, actual: Any, how: Comparison) -> Sequence[Mismatch]:
    """Return the mismatches between two values.

    Args:
        name: the name of the values in messages.
        expected, actual: tensors, plain values, or nested containers of these.
        how: the tolerance and context of the comparison.
    """
    return how.compare(name, expected, actual)


def surely_agree(expected: Any, actual: Any, tolerance: Tolerance, *, check_values: bool = True) -> bool:
    """Whether two values surely agree; a quick check for the common case. False leaves it open."""
    kind = type(expected)
    if kind is not type(actual):
        return False
    if kind is NamedItems:
        named = expected.has_names_of(actual)
        return named and surely_agree(tuple(expected), tuple(actual), tolerance, check_values=check_values)
    if kind is TensorValue:
        one, other = expected.data, actual.data
        if (
            one.shape != other.shape
            or expected.dtype != actual.dtype
            or expected.requires_grad != actual.requires_grad
            or expected.device != actual.device
            or expected.layout != actual.layout
        ):
            return False
        if not check_values or identical(one, other):
            return True
        dtype = expected.rounded_to or expected.dtype
        rtol, atol = tolerance.of(dtype)
        if not agree(one, other, rtol, atol):
            return False
        if tolerance.gives(dtype) or not tolerance.by_scale or not is_small(one, other, rtol, atol):
            return True
        return agree(one, other, *scaled_limits(one, other, rtol, atol))
    if kind in _PLAIN:
        if expected == actual:
            return True
        if kind is float:
            rtol, atol = limits(tolerance, expected, actual)
            gap: float = abs(actual - expected)
            return gap < math.inf and gap <= atol + rtol * abs(expected)
        return False
    return (kind is tuple or kind is list) and (
        len(expected) == len(actual)
        and all(
            surely_agree(one, other, tolerance, check_values=check_values)
            for one, other in zip(expected, actual, strict=True)
        )
    )


def limits(tolerance: Tolerance, expected: Any, actual: Any) -> tuple[float, float]:
    """Return ``(rtol, atol)`` for two tensors of the same shape, or for two plain numbers.

    Unless the test gave a tolerance, which is final, `atol` is relative to the greatest element if all are small.
    """
    dtype = tolerated_as(expected)
    rtol, atol = tolerance.of(dtype)
    if tolerance.gives(dtype) or not tolerance.by_scale:
        return rtol, atol
    one, other = (side.data if type(side) is TensorValue else np.asarray(side) for side in (expected, actual))
    return scaled_limits(one, other, rtol, atol)


def tolerated_as(value: Any) -> str:
    """Return the dtype whose tolerance applies to `value`."""
    return value.rounded_to or value.dtype if type(value) is TensorValue else PLAIN_FLOAT


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """The tolerance and context of a comparison, which are the same for all items of the two values.

    Attributes:
        stage: whether the values are results of the forward pass or gradients.
        tolerance: the tolerance of floating values.
        slot: the slot of the call that returned the values.
        check_dtype, check_values: whether dtypes and values are compared.
        sides: the names of the two frameworks in messages.
        place: the part of the call's value that is compared, as in `Mismatch`.
    """

    stage: Stage
    tolerance: Tolerance
    slot: int = 0
    check_dtype: bool = True
    check_values: bool = True
    sides: tuple[str, str] = ("reference", "candidate")
    place: str = ""

    def compare(self, name: str, expected: Any, actual: Any) -> list[Mismatch]:
        """Return the mismatches of two values, which are the part at `place` of the value called `name`."""
        if surely_agree(expected, actual, self.tolerance, check_values=self.check_values):
            return []
        if isinstance(expected, tuple) and isinstance(actual, tuple):
            unnamed = isinstance(expected, NamedItems) and not expected.has_names_of(actual)
            lacking = [self._unlike(name, expected, actual)] if unnamed else []
            return [*lacking, *self._items(name, expected, actual)]
        if type(expected) is not type(actual):
            return [self._unlike(name, expected, actual), *self._as_lists(name, expected, actual)]
        if type(expected) is TensorValue:
            return self._tensors(name, expected, actual)
        if isinstance(expected, list):
            return self._items(name, expected, actual)
        if isinstance(expected, dict):
            wanted, got = list(expected), list(actual)
            # The order of keys counts, since iteration depends on it. The types of keys count, since 1 == True.
            if wanted != got or [*map(type, wanted)] != [*map(type, got)]:
                text = f"expected keys {_text_of(wanted)}, actual {_text_of(got)}"
                return [self._mismatch(name, "structure", "other keys", text, detail="keys")]
            return [
                found
                for key in wanted
                for found in self._inside(f"[{_text_of(key)}]").compare(name, expected[key], actual[key])
            ]
        if isinstance(expected, (np.ndarray, np.generic)):
            return self._compare_arrays(name, np.asarray(expected), np.asarray(actual))
        return self._plain(name, expected, actual)

    def differs(self, expected: Any, actual: Any) -> bool:
        """Whether two values have mismatches: without the statistics of their elements, which take longer than that."""
        if surely_agree(expected, actual, self.tolerance, check_values=self.check_values):
            return False
        are_tensors = type(expected) is TensorValue and type(actual) is TensorValue
        if are_tensors and self.check_values and expected.data.shape == actual.data.shape:
            tolerated = limits(self.tolerance, expected, actual)
            if differing(expected.data, actual.data, *tolerated).any():
                return True
        return bool(self.compare("", expected, actual))

    def _inside(self, step: str) -> Comparison:
        """Return this comparison for the item at `step` of the value."""
        return dataclasses.replace(self, place=self.place + step)

    def _items(self, name: str, expected: Sequence[Any], actual: Sequence[Any]) -> list[Mismatch]:
        """Return the mismatches of the items of two tuples or lists."""
        if len(expected) != len(actual):
            text = f"expected {several(len(expected), 'item')}, actual {len(actual)}"
            return [self._mismatch(name, "structure", "another number of items", text, detail="length")]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [found for at, (one, other) in pairs for found in self._inside(f"[{at}]").compare(name, one, other)]

    def _as_lists(self, name: str, expected: Any, actual: Any) -> list[Mismatch]:
        """Return the mismatches of the items of a list and a tuple of the same length, else nothing."""
        if not all(isinstance(side, (tuple, list)) for side in (expected, actual)) or len(expected) != len(actual):
            return []
        return self.compare(name, list(expected), list(actual))

    def _unlike(self, name: str, expected: Any, actual: Any) -> Mismatch:
        if is_gradient(name + self.place) and (expected is None or actual is None):
            having, lacking = self.sides if actual is None else self.sides[::-1]
            what = f"only the {'reference' if actual is None else 'candidate'} has a gradient"
            text = f"{having} has a gradient, {lacking} has none"
            return self._mismatch(name, "gradient", what, text, detail="one-sided")
        detail: Detail = "one-sided" if Missing in (type(expected), type(actual)) else "type"
        what = f"expected {_class_of(expected)}, actual {_class_of(actual)}"
        text = f"expected {_described(expected)}, actual {_described(actual)}"
        return self._mismatch(name, "structure", what, text, detail=detail)

    def _compare_arrays(self, name: str, one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> list[Mismatch]:
        """Return the mismatches of two NumPy arrays, such as results of ``.numpy()``."""
        if one.dtype.kind not in "biufc" or other.dtype.kind not in "biufc":
            return self._plain(name, one.tolist(), other.tolist())
        sides = (TensorValue(side, side.dtype.name, "cpu", False) for side in (one, other))
        return self._tensors(name, *sides)

    def _tensors(self, name: str, expected: TensorValue, actual: TensorValue) -> list[Mismatch]:
        found: list[Mismatch] = []
        one, other = expected.data, actual.data
        if one.shape != other.shape:
            text = f"expected shape {one.shape}, actual {other.shape}"
            found.append(self._mismatch(name, "shape", "another shape", text))
        if ARRAY in (expected.layout, actual.layout) and expected.layout != actual.layout:
            what, got = ("a tensor" if side.layout != ARRAY else f"an {ARRAY}" for side in (expected, actual))
            return [self._mismatch(name, "structure", f"expected {what}, actual {got}", detail="type")]
        if expected.layout != actual.layout:
            what = f"expected layout {expected.layout}, actual {actual.layout}"
            found.append(self._mismatch(name, "structure", what, detail="layout"))
        attributes: tuple[Symptom, ...] = ("dtype", "device", "requires_grad")
        for attribute in attributes if self.check_dtype else attributes[1:]:
            wanted, got = getattr(expected, attribute), getattr(actual, attribute)
            if wanted != got:
                found.append(self._mismatch(name, attribute, f"expected {attribute} {wanted}, actual {got}"))
        if one.shape == other.shape and self.check_values:
            found.extend(self._elements(name, expected, actual, expected.dtype))
        return found

    def _plain(self, name: str, expected: Any, actual: Any) -> list[Mismatch]:
        if not self.check_values:
            return []
        if isinstance(expected, (float, complex)):
            return self._elements(name, expected, actual, np.asarray(expected).dtype.name)
        try:
            equal = bool(expected == actual)
        except Exception:  # noqa: BLE001 - values that cannot be compared are not equal
            equal = False
        if equal:
            return []
        return [self._mismatch(name, "value", f"expected {_text_of(expected)}, actual {_text_of(actual)}")]

    def _elements(self, name: str, expected: Any, actual: Any, dtype: str) -> list[Mismatch]:
        """Return the mismatch of the elements of two tensors of one shape, or of two plain numbers, in a list."""
        one, other = (side.data if type(side) is TensorValue else np.asarray(side) for side in (expected, actual))
        tolerated = limits(self.tolerance, expected, actual)
        mask = differing(one, other, *tolerated)
        if not mask.any():
            return []
        numbers = dataclasses.replace(
            statistics(one, other, mask, *tolerated, dtype),
            tolerated_as=tolerated_as(expected),
            usual_atol=self.tolerance.of(tolerated_as(expected))[1],
        )
        what = "not close" if numbers.rtol or numbers.atol else "not equal"
        found = self._mismatch(name, "value", what, f"{what}. {_difference_text(numbers)}", numbers)
        special = one.dtype.kind in "fc" and not np.isfinite(one[mask]).any()
        return [dataclasses.replace(found, special=True) if special else found]

    def _mismatch(
        self,
        name: str,
        symptom: Symptom,
        what: str,
        text: str = "",
        numbers: Statistics | None = None,
        *,
        detail: Detail = "",
    ) -> Mismatch:
        """Return a mismatch of kind `what`; `text` is its text for users, with the numbers of this trial."""
        name += self.place
        if symptom == "value" and (is_gradient(name) or self.stage == "backward"):
            symptom = "gradient"
        message = f"{name}: {text or what}. expected={self.sides[0]} actual={self.sides[1]}"
        return Mismatch(
            name,
            self.slot,
            symptom,
            self.stage,
            "candidate",
            message,
            numbers,
            detail=detail,
            what=what,
            place=self.place,
        )


def _difference_text(found: Statistics) -> str:
    tolerant = found.rtol or found.atol
    there = f"expected {_shortest(found.abs_expected, found.dtype)}, actual {_shortest(found.abs_actual, found.dtype)}"
    allowed = f"{found.atol:g} + {found.rtol:g} * |expected| allowed" if tolerant else "none allowed"
    parts = [
        f"Mismatched {found.mismatched} / {found.total} ({100 * found.mismatched / found.total:.3g}%)",
        f"Greatest absolute difference {found.greatest_abs:.3g} at {found.abs_index}: {there} ({allowed})",
        f"Greatest relative difference {found.greatest_rel:.3g} at {found.rel_index}",
    ]
    if found.nonfinite:
        parts.append(f"NaN or infinity on one side only, or different ones, in {found.nonfinite}")
    if found.ulps is not None:
        parts.append(f"At most {found.ulps} ULPs apart")
    return ". ".join(parts)


def _shortest(value: Any, dtype: str) -> str:
    """Return `value` with the fewest digits that distinguish it from its neighbours in `dtype`."""
    narrow = {"float16": np.float16, "bfloat16": np.float32, "float32": np.float32}.get(dtype)
    return str(value) if narrow is None or not isinstance(value, float) else str(narrow(value))


def _class_of(value: Any) -> str:
    if type(value) is Missing:
        return "nothing of that name"
    if type(value) is OpaqueObject:
        return f"an object of type {value.kind}"
    if type(value) is NamedItems:
        return f"a tuple named ({', '.join(value.names)})" if value.names else "a tuple"
    return f"a {value.dtype} tensor" if type(value) is TensorValue else f"a {type(value).__name__}"


def _described(value: Any) -> str:
    if type(value) is TensorValue:
        return f"{_class_of(value)} of shape {value.data.shape}"
    if isinstance(value, (tuple, list, dict)):
        named = isinstance(value, NamedItems) and value.names
        return _class_of(value) if named else f"{_class_of(value)} of {len(value)}"
    return _class_of(value) if type(value) in (Missing, OpaqueObject) else f"{_text_of(value)} ({type(value).__name__})"


def _text_of(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except Exception as error:  # noqa: BLE001 - a foreign repr, or an integer of too many digits
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
