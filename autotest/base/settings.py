"""What a test asks for: `Settings` and `Tolerance`, frozen and validated."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

from autotest.base.errors import UsageError

#: Default tolerances by dtype, ``(rtol, atol)``. A mismatch within what rounding explains may be cleared
#: by the referee only where these are used; tolerances given by the test are law.
DEFAULT_TOLERANCES: dict[str, tuple[float, float]] = {
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
    "float32": (1e-4, 1e-5),
    # Below 2**-24, which is what rounding to float32 somewhere on the way would make of it.
    "float64": (1e-9, 1e-9),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-9, 1e-9),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Tolerance:
    """``|actual - expected| <= atol + rtol * |expected|``, where expected is the reference's value.

    `rtol` and `atol` are those the test gave, for floating and complex dtypes; ``None`` means the table
    `DEFAULT_TOLERANCES`. Integers and booleans are always compared exactly.
    """

    rtol: float | None = None
    atol: float | None = None

    @property
    def given(self) -> bool:
        """Whether the test gave a tolerance itself, which is then law."""
        return self.rtol is not None or self.atol is not None

    def of(self, dtype: str) -> tuple[float, float]:
        """``(rtol, atol)`` for values of `dtype`; zeros for exact dtypes.

        A test that gives only one of the two gets the table's value for the other.
        """
        table = DEFAULT_TOLERANCES.get(dtype)
        if table is None:
            return 0.0, 0.0
        rtol, atol = table
        return (rtol if self.rtol is None else self.rtol), (atol if self.atol is None else self.atol)


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """The validated arguments of one `@autotest`. See `autotest.autotest` for what each one means."""

    n: int = 20
    auto_backward: bool | Literal["auto"] = True
    rtol: float | None = None
    atol: float | None = None
    check_graph: bool = False
    check_allclose: bool = True
    check_dtype: bool = True
    check_errors: bool = False
    special_values: bool = True
    check_grad: Literal["dual", "numeric", "forward"] = "dual"
    grad_order: Literal[1, 2] = 1
    #: Why the gradient gate lets trials pass that compare no gradient; "" where it does not.
    skip_grad: str = ""
    #: Whether a trial may compare nothing, because the body compares by assertions of its own.
    own_assertions: bool = False

    @property
    def tolerance(self) -> Tolerance:
        return Tolerance(self.rtol, self.atol)

    def __post_init__(self) -> None:
        _require(
            type(self.n) is int and self.n >= 1,
            "n",
            self.n,
            "a whole number of trials, at least 1",
        )
        _require(
            any(self.auto_backward is choice for choice in (True, False)) or self.auto_backward == "auto",
            "auto_backward",
            self.auto_backward,
            'True, False or "auto"',
        )
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            _require(
                value is None
                or (
                    isinstance(value, (int, float))
                    and not isinstance(value, bool)
                    and math.isfinite(value)
                    and value >= 0
                ),
                name,
                value,
                "a finite number >= 0, or None for the default by dtype",
            )
        for name in ("check_graph", "check_allclose", "check_dtype", "check_errors", "special_values"):
            _require(isinstance(getattr(self, name), bool), name, getattr(self, name), "True or False")
        _require(
            self.check_grad in ("dual", "numeric", "forward"),
            "check_grad",
            self.check_grad,
            '"dual", "numeric" or "forward"',
        )
        _require(type(self.grad_order) is int and self.grad_order in (1, 2), "grad_order", self.grad_order, "1 or 2")
        if self.check_grad != "dual" or self.grad_order != 1:
            # What they ask for is about cotangents that the trial pushes back itself.
            name = "check_grad" if self.check_grad != "dual" else "grad_order"
            allowed = 'auto_backward=True or "auto" beside it'
            _require(self.auto_backward is not False, name, getattr(self, name), allowed)


def _require(holds: bool, name: str, value: Any, allowed: str) -> None:
    if not holds:
        raise UsageError(f"autotest({name}={value!r}): expected {allowed}")
