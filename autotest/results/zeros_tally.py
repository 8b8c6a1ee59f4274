"""Counts the comparisons that zeros would have passed, so that a test whose tolerance hides everything fails."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from autotest.base.plural import several
from autotest.base.settings import DEFAULT_TOLERANCES, Tolerance, ordinary_from
from autotest.comparison import TensorValue
from autotest.comparison.values import PLAIN_FLOAT

#: Number of trials below which nothing is told: what a few of them draw, and push back, may be small by chance. The
#: shortest profile has as many of a usual test.
ENOUGH: Final = 5


@dataclasses.dataclass(slots=True)
class ZerosOfStage:
    """The comparisons of the values of some trials, or of their gradients, under a tolerance that the test gave."""

    #: Number of comparisons that zeros would not pass. With one of these, something was checked.
    refusing: int = 0
    #: Number of comparisons of numbers other than zero that zeros would pass, and of the trials that had any.
    passing: int = 0
    trials: int = 0
    #: The greatest expected number in these, if it is no tiny one (see `autotest.base.settings.ordinary_from`), with
    #: the dtype and the tolerance under which it was compared.
    greatest: float = 0.0
    dtype: str = ""
    rtol: float = 0.0
    atol: float = 0.0

    def count(self, expected: Any, tolerance: Tolerance) -> None:
        """Add the comparison of the reference's value `expected`.

        Only its finite numbers count: a NaN or an infinity is compared whatever the tolerance is.
        """
        for numbers, dtype in _floating(expected):
            with np.errstate(all="ignore"):  # the modulus of a complex number may overflow
                sizes = np.abs(numbers)
            greatest = float(sizes.max())
            if not math.isfinite(greatest):
                greatest = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
            if not greatest:
                continue
            rtol, atol = tolerance.of(dtype)
            if greatest > atol + rtol * greatest:
                self.refusing += 1
                return
            self.passing += 1
            if greatest >= ordinary_from(dtype) and greatest > self.greatest:
                self.greatest, self.dtype, self.rtol, self.atol = greatest, dtype, rtol, atol

    def add(self, other: ZerosOfStage) -> None:
        """Add the comparisons of other trials."""
        self.refusing += other.refusing
        self.passing += other.passing
        self.trials += other.trials
        if other.greatest > self.greatest:
            self.greatest, self.dtype = other.greatest, other.dtype
            self.rtol, self.atol = other.rtol, other.atol

    @property
    def accepts_everything(self) -> bool:
        """Whether zeros would have passed in each comparison of enough trials, also for numbers that are not tiny."""
        return self.greatest > 0 and not self.refusing and self.trials >= ENOUGH


def _floating(value: Any) -> Iterator[tuple[np.ndarray[Any, Any], str]]:
    """Yield the floating arrays and numbers in `value`, each with the dtype whose tolerance applies to it."""
    if type(value) is TensorValue:
        if value.data.dtype.kind in "fc" and value.data.size:
            yield value.data, value.rounded_to or value.dtype
    elif isinstance(value, (float, complex)):
        yield np.asarray(value), PLAIN_FLOAT
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _floating(item)
    elif isinstance(value, dict):
        yield from _floating([*value.values()])


@dataclasses.dataclass(slots=True)
class ZerosTally:
    """The comparisons of some trials that zeros would and would not have passed; empty for usual tolerances."""

    values: ZerosOfStage = dataclasses.field(default_factory=ZerosOfStage)
    gradients: ZerosOfStage = dataclasses.field(default_factory=ZerosOfStage)

    def add(self, other: ZerosTally) -> None:
        """Add the comparisons of other trials."""
        self.values.add(other.values)
        self.gradients.add(other.gradients)

    @property
    def complaint(self) -> str:
        """The message about a test of which zeros would have passed all comparisons; "" if they would not."""
        if self.values.accepts_everything:
            return _sentence(self.values, "values", "atol", "or write check_values=False to compare no values")
        if self.gradients.accepts_everything:
            other = "or mark the test @skip_grad_check(reason=...)"
            return _sentence(self.gradients, "gradients", "grad_atol", other)
        return ""


def _sentence(stage: ZerosOfStage, what: str, argument: str, otherwise: str) -> str:
    usual = DEFAULT_TOLERANCES[stage.dtype][1]
    return (
        f"zeros would have passed as {what} in {several(stage.trials, 'trial')}, in each of "
        f"{several(stage.passing, 'comparison')}: the greatest expected number was {stage.greatest:.3g} "
        f"({stage.dtype}), and {stage.atol:g} + {stage.rtol:g} * |expected| is allowed. Give a smaller {argument} (if "
        f"it is left out, it is {usual:g} for {stage.dtype}), draw greater numbers, {otherwise}."
    )
