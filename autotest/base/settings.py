"""The settings of a test: `Settings` and `Tolerance`, frozen and validated."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from autotest.base.errors import UsageError, nearest

#: Number of accepted trials of a test that names none, and how many times as many are tried at most.
DEFAULT_TRIALS = 20
ATTEMPTS_PER_TRIAL = 20

#: Default tolerances by dtype, ``(rtol, atol)``. Only with these may the referee clear a mismatch that rounding
#: explains; a tolerance that the test gives is final.
DEFAULT_TOLERANCES: dict[str, tuple[float, float]] = {
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
    "float32": (1e-4, 1e-5),
    # Below 2**-24, the error of an intermediate rounding to float32, so that such a rounding is found.
    "float64": (1e-9, 1e-9),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-9, 1e-9),
}


#: Size of the roundoff of 1 by dtype; of the other dtypes it is smaller than that of float32.
_ROUNDOFF: Final[Mapping[str, float]] = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def ordinary_from(dtype: str) -> float:
    """Return the size from which on numbers of `dtype` are no tiny ones, which any usual `atol` hides.

    It is the square root of the roundoff, of float32 at least, for which tolerances are mostly chosen. What is left of
    ordinary numbers that cancel in half of their digits is smaller, and may be rounding alone.
    """
    return math.sqrt(_ROUNDOFF.get(dtype, 2.0**-23))


#: One number for all dtypes, or a mapping from dtypes to numbers: ``1e-4``, ``{"float16": 1e-2}``.
Limit: TypeAlias = "float | Mapping[str, float] | None"

#: The allowed values of `Settings.check_grad`.
_CHECKS_OF_GRADIENTS: Final = ("dual", "intermediate", "numeric", "forward")


@dataclasses.dataclass(frozen=True, slots=True)
class Tolerance:
    """``|actual - expected| <= atol + rtol * |expected|``, where expected is the reference's value.

    `rtol` and `atol` are the test's own and apply to floating and complex dtypes. For ``None``, and for a dtype that a
    mapping does not contain, the table `DEFAULT_TOLERANCES` applies. Integers and booleans are compared exactly.
    """

    rtol: Limit = None
    atol: Limit = None
    #: Whether tensors of only small numbers are compared relative to their greatest number. This is stricter, and
    #: needs the referee to clear mismatches that are rounding.
    by_scale: bool = True

    @property
    def given(self) -> bool:
        """Whether the test gave a tolerance of its own, which is then final."""
        return self.rtol is not None or self.atol is not None

    def gives(self, dtype: str) -> bool:
        """Whether the test gave a tolerance for values of `dtype`, which a mapping may leave out."""
        for limit in (self.rtol, self.atol):  # every comparison asks, so that a plain number is told first
            if limit is not None and (type(limit) is float or not isinstance(limit, Mapping) or dtype in limit):
                return True
        return False

    @property
    def for_all(self) -> bool:
        """Whether the test gave one pair of numbers for all dtypes."""
        return isinstance(self.rtol, (int, float)) and isinstance(self.atol, (int, float))

    def of(self, dtype: str) -> tuple[float, float]:
        """Return ``(rtol, atol)`` for values of `dtype`; zeros for integers and booleans.

        A test that gives only one of the two gets the table's value for the other.
        """
        table = DEFAULT_TOLERANCES.get(dtype)
        if table is None:
            return 0.0, 0.0
        if not self.given:
            return table
        return _of(self.rtol, dtype, table[0]), _of(self.atol, dtype, table[1])

    def relaxed_to(self, dtypes: Iterable[str]) -> Tolerance:
        """Return the tolerance of results that were partly computed in `dtypes`.

        Such a result cannot be more exact than the least exact of these dtypes. A tolerance that the test gave is
        final and is returned unchanged.
        """
        table = DEFAULT_TOLERANCES
        known = [table[dtype] for dtype in dtypes if dtype in table]
        if self.given or not known:
            return self
        rtol, atol = (
            {dtype: max(own[at], *(one[at] for one in known)) for dtype, own in table.items()} for at in (0, 1)
        )
        return dataclasses.replace(self, rtol=rtol, atol=atol)


def _of(limit: Limit, dtype: str, default: float) -> float:
    if limit is None or isinstance(limit, (int, float)):
        return default if limit is None else limit
    return limit.get(dtype, default)


def _greatest(limit: Limit) -> float:
    return max(limit.values(), default=0.0) if isinstance(limit, Mapping) else limit or 0.0


def _limit_of_gradients(own: Limit, of_values: Limit) -> Limit:
    """Return the limit of gradients: that of values where the test gave none, also for dtypes that `own` leaves out."""
    if own is None or of_values is None or not isinstance(own, Mapping):
        return of_values if own is None else own
    others = of_values if isinstance(of_values, Mapping) else dict.fromkeys(DEFAULT_TOLERANCES, of_values)
    return {**others, **own}


#: The tolerance of results that are exactly defined. Some frameworks replace numbers below the normal range by zero.
EXACT: Final = Tolerance(0.0, 2.0**-126)


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """The validated arguments of one `@autotest`, which `autotest.autotest` describes, and further settings of a test.

    Attributes:
        deadline: seconds that a trial in a worker process may take.
        pinned: base seed and index of each trial that is run before any other.
        gives_special_values: whether the test itself says whether special values are drawn.
        has_pair: whether the test itself gives both frameworks, by its argument `pair`.
        skip_grad: why the gradient gate accepts trials that compare no gradient; "" if it does not accept them.
        own_assertions: whether a trial may compare nothing, because the body has assertions of its own.
        tolerance_is_final: whether given tolerances are deliberate and final, so that nothing is cleared as rounding.
        set_aside: known differences that are ignored: ``"structure copy_"`` (symptom and operator), or
            ``"value sort [0]"`` for only one of its results or gradients.

    Raises:
        UsageError: an argument is not allowed; the message names it and says what is allowed.
    """

    n: int = DEFAULT_TRIALS
    rtol: Limit = None
    atol: Limit = None
    auto_backward: bool | Literal["auto"] = True
    grad_rtol: Limit = None
    grad_atol: Limit = None
    check_graph: bool = False
    check_values: bool = True
    check_dtype: bool = True
    check_errors: bool = False
    special_values: bool = True
    check_grad: Literal["dual", "intermediate", "numeric", "forward"] = "dual"
    grad_order: Literal[1, 2] = 1
    seed: int | None = None
    deadline: float | None = None
    candidate: str = ""
    pinned: tuple[tuple[int, int], ...] = ()
    gives_special_values: bool = False
    has_pair: bool = False
    skip_grad: str = ""
    own_assertions: bool = False
    tolerance_is_final: bool = True
    set_aside: tuple[str, ...] = ()

    @classmethod
    def kept(cls, facts: Mapping[str, Any]) -> Settings:
        """Return the settings stored with a finding by this or an older version of the library.

        Args:
            facts: the stored settings by name; unknown names are ignored.
        """
        names = {field.name for field in dataclasses.fields(cls)}
        older = {"check_values": facts["check_allclose"]} if "check_allclose" in facts else {}
        found = {**older, **{name: value for name, value in facts.items() if name in names}}
        found["set_aside"] = tuple(found.get("set_aside", ()))
        found["pinned"] = tuple((base, index) for base, index in found.get("pinned", ()))
        return cls(**found)

    @property
    def tolerance(self) -> Tolerance:
        """The tolerance of results of the forward pass."""
        return Tolerance(self.rtol, self.atol)

    @property
    def gradient_tolerance(self) -> Tolerance:
        """The tolerance of gradients: `grad_rtol` and `grad_atol` where the test gave them, else `rtol` and `atol`."""
        return Tolerance(_limit_of_gradients(self.grad_rtol, self.rtol), _limit_of_gradients(self.grad_atol, self.atol))

    @property
    def gives_tolerance(self) -> bool:
        """Whether the test gave a tolerance that is final for some values: none of them is cleared as rounding."""
        return self.tolerance_is_final and (self.tolerance.given or self.gradient_tolerance.given)

    @property
    def asks_of_gradients(self) -> str:
        """The argument with which the test asks for a further check of gradients; "" if it does not."""
        if self.check_grad != "dual":
            return f"check_grad={self.check_grad!r}"
        return f"grad_order={self.grad_order}" if self.grad_order != 1 else ""

    @property
    def passes_zeros(self) -> str:
        """The argument with which a zero passes for every number, such as ``rtol=1.5``; "" if there is none.

        NumPy and torch accept such a tolerance, too, so it is no error.
        """
        for name in ("rtol", "grad_rtol"):
            limit = getattr(self, name)
            given = limit.values() if isinstance(limit, Mapping) else () if limit is None else (limit,)
            if any(one >= 1 for one in given):
                return f"{name}={limit!r}"
        return ""

    @property
    def may_pass_zeros(self) -> bool:
        """Whether the test gives a tolerance with which zeros may pass for numbers that are not tiny.

        It does not count if they pass for all numbers, as `passes_zeros` tells, which the test was warned of.
        """
        if not (self.atol or self.grad_atol) or not (self.check_values and self.tolerance_is_final):
            return False  # each trial asks, so that the usual answer takes no time
        atol, rtol = (
            max(map(_greatest, limits)) for limits in ((self.atol, self.grad_atol), (self.rtol, self.grad_rtol))
        )
        return rtol < 1 and atol >= (1 - rtol) * ordinary_from("float32")

    def tolerance_at(self, stage: str) -> Tolerance:
        """Return the tolerance of gradients for the stage ``"backward"``, that of values for any other stage."""
        return self.gradient_tolerance if stage == "backward" else self.tolerance

    def is_final_at(self, stage: str, dtype: str) -> bool:
        """Whether a difference of values of `dtype` counts although it may be rounding: the test gave the tolerance."""
        return self.tolerance_is_final and self.tolerance_at(stage).gives(dtype)

    def __post_init__(self) -> None:
        if type(self.n) is not int or self.n < 1:
            raise _refused("n", self.n, "a whole number of trials, at least 1")
        if type(self.auto_backward) is not bool and self.auto_backward != "auto":
            raise _refused("auto_backward", self.auto_backward, 'True, False or "auto"')
        for name in ("rtol", "atol", "grad_rtol", "grad_atol"):
            if (limit := getattr(self, name)) is not None:
                _require_limit(name, limit)
        for name in ("check_graph", "check_values", "check_dtype", "check_errors", "special_values"):
            if type(getattr(self, name)) is not bool:
                raise _refused(name, getattr(self, name), "True or False")
        if self.check_grad not in _CHECKS_OF_GRADIENTS:
            raise _refused("check_grad", self.check_grad, ", ".join(f'"{kind}"' for kind in _CHECKS_OF_GRADIENTS))
        if type(self.grad_order) is not int or self.grad_order not in (1, 2):
            raise _refused("grad_order", self.grad_order, "1 or 2")
        if self.seed is not None and not _is_seed(self.seed):
            raise _refused("seed", self.seed, "a whole number, 0 or more")
        if self.deadline is not None and not (_is_number(self.deadline) and self.deadline > 0):
            raise _refused("deadline", self.deadline, "seconds above 0, as a number or as text such as '20s'")
        if not isinstance(self.candidate, str):
            raise _refused("candidate", self.candidate, 'a name or "module:factory"')
        if not all(map(_is_pinned, self.pinned)):
            allowed = "(base seed, trial) as a report names them, or a list of such pairs"
            raise _refused("pinned", self.pinned, allowed)
        # Without auto_backward these arguments would silently check nothing: they apply only to cotangents that the
        # trial itself propagates back.
        if (self.check_grad != "dual" or self.grad_order != 1) and self.auto_backward is False:
            name = "check_grad" if self.check_grad != "dual" else "grad_order"
            raise _refused(name, getattr(self, name), 'auto_backward=True or "auto" as well')


def _refused(name: str, value: Any, allowed: str) -> UsageError:
    return UsageError(f"autotest({name}={value!r}): expected {allowed}")


def _require_limit(name: str, value: float | Mapping[str, float]) -> None:
    if not isinstance(value, Mapping):
        if not _is_limit(value):
            allowed = 'a finite number >= 0, a mapping such as {"float16": 1e-2}, or None for the default by dtype'
            raise _refused(name, value, allowed)
        return
    unknown = [dtype for dtype in value if dtype not in DEFAULT_TOLERANCES]
    if unknown or not value:
        allowed = f"dtypes among {', '.join(DEFAULT_TOLERANCES)} (all others are compared exactly)"
        allowed += "".join(nearest(str(dtype), DEFAULT_TOLERANCES) or _as_text(dtype) for dtype in unknown[:1])
        raise _refused(name, dict(value), allowed)
    for dtype, limit in value.items():
        if not _is_limit(limit):
            raise _refused(f"{name}[{dtype!r}]", limit, "a finite number >= 0")


def _as_text(dtype: Any) -> str:
    """Return the hint to write a framework's own dtype as text; its `repr` ends with the dtype's name."""
    named = re.search(r"(\w+)\W*$", repr(dtype))
    return f"; write {named[1]!r}" if named is not None and named[1] in DEFAULT_TOLERANCES else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_limit(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_pinned(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(_is_seed, value))


def _is_seed(value: Any) -> bool:
    return type(value) is int and value >= 0
