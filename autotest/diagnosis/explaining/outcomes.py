"""How changed programs end, and which properties of the numbers a failure needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from autotest.program import Program
from autotest.program.inputs import Input

Numbers = np.ndarray[Any, Any]
#: How a program ends: it fails in the same way, the sides differ in another way, they agree, or none of these, for
#: example if the reference rejects it.
ProgramOutcome: TypeAlias = Literal["fails", "differs", "passes", "neither"]
#: A function that runs the failing program on other numbers and returns how it ends.
OnNumbers: TypeAlias = Callable[[Numbers], ProgramOutcome]
#: A function that returns how a program ends on other inputs.
OnPrograms: TypeAlias = Callable[[Program, Sequence[Input]], ProgramOutcome]


#: By the text of a claim, which numbers are what the claim says.
PROPERTIES: Mapping[str, Callable[[Numbers], Numbers]] = MappingProxyType(
    {
        "NaN": np.isnan,
        "infinite": np.isinf,
        "+infinity": lambda data: data == np.inf,
        "-infinity": lambda data: data == -np.inf,
        "NaN or infinite": lambda data: ~np.isfinite(data),
        "zero": lambda data: data == 0,
        "negative": lambda data: data < 0,
        "zero or negative": lambda data: data <= 0,
        "a whole number": lambda data: data == np.rint(data),
        "not a whole number": lambda data: data != np.rint(data),
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class NumberClaim:
    """A property that an element of one input must have; without it, the failure is gone."""

    text: str
    #: Other contents of the input, in which no element has the property.
    without: Sequence[Numbers]
    #: Whether the negative of each number with the property has it, too.
    either_sign: bool = False
    #: Returns for each of some numbers whether it has the property, or may have it. If it is None, the text tells that,
    #: as far as it is one of `PROPERTIES`.
    holds: Callable[[Numbers], Numbers] | None = None

    def lacking(self, numbers: Numbers) -> Numbers:
        """Return those of `numbers` that surely do not have the property; none if that is not known."""
        holds = self.holds or PROPERTIES.get(self.text)
        return numbers[:0] if holds is None else numbers[~holds(numbers)]


def larger_matrix(data: Numbers, number: float) -> list[Numbers]:
    """Return matrices of equal numbers that are larger than `data` by a row and a column; none if it has no matrices.

    Their determinant is zero, although no number is.
    """
    if data.ndim < 2:
        return []
    return [np.full((*data.shape[:-2], *(size + 1 for size in data.shape[-2:])), number, data.dtype)]


def together(endings: Sequence[ProgramOutcome]) -> ProgramOutcome:
    """Return "fails" if one of `endings` is that, else "passes" if one of them is; those that cannot run are ignored.

    One variant that fails refutes a claim, no matter how many pass.
    """
    return "fails" if "fails" in endings else "passes" if "passes" in endings else "neither"


def ending_of(variants: Sequence[Numbers], run: OnNumbers) -> ProgramOutcome:
    """Return how the program ends on `variants` together; after one that fails, no other one is run.

    If the sides differ on one of them in another way, that is how it ends: the same fault may show as infinity there.
    """
    endings: list[ProgramOutcome] = []
    for one in variants:
        endings.append(run(one))
        if endings[-1] == "fails":
            break
    ending = together(endings)
    return "differs" if ending == "passes" and "differs" in endings else ending


def holdable(values: Sequence[float], dtype: np.dtype[Any]) -> list[float]:
    """Return those of `values` that `dtype` can hold; for integers, these are whole and not too large."""
    if dtype.kind == "f":
        return [one for one in values if abs(one) <= np.finfo(dtype).max]
    limits = np.iinfo(dtype)
    return [one for one in values if one == int(one) and limits.min <= one <= limits.max]
