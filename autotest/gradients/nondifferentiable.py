"""Operators whose gradients need not be compared, each with the reason."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Literal, NamedTuple

from autotest.program.semantics import plain_name

#: ``none``: the result belongs to no autograd graph. ``zero``: it does, and its derivative is zero wherever it exists.
#: ``unimplemented``: it does, and torch raises in the backward pass.
GradientKind = Literal["none", "zero", "unimplemented"]


class NoGradient(NamedTuple):
    """The reason why an operator has no gradient to compare."""

    kind: GradientKind
    reason: str


_TRUTH = NoGradient("none", "the result is a truth value")
_INDEX = NoGradient("none", "the result holds positions")
_COUNT = NoGradient("none", "the result holds counts")
_SHAPE = NoGradient("none", "only the shape of its operand is used, not its contents")
_CUT = NoGradient("none", "it detaches its result from the graph, on purpose")
_STEPS = NoGradient("zero", "piecewise constant: the derivative is zero where it exists")
_MISSING = NoGradient("unimplemented", "torch implements no derivative of it")

#: Keys are the last part of an operator's name, without the underscore of an in-place form. Modules have the name of
#: their class.
WITHOUT_GRADIENT: dict[str, NoGradient] = {
    **dict.fromkeys("eq ne lt le gt ge equal allclose isclose greater less".split(), _TRUTH),
    **dict.fromkeys("greater_equal less_equal not_equal".split(), _TRUTH),
    **dict.fromkeys("isnan isinf isfinite isneginf isposinf signbit any all".split(), _TRUTH),
    **dict.fromkeys("logical_and logical_or logical_xor logical_not contains".split(), _TRUTH),
    **dict.fromkeys("argmax argmin argsort argwhere nonzero searchsorted bucketize".split(), _INDEX),
    **dict.fromkeys("count_nonzero bincount".split(), _COUNT),
    **dict.fromkeys("zeros_like ones_like empty_like full_like rand_like randn_like randint_like".split(), _SHAPE),
    **dict.fromkeys("new_zeros new_ones new_empty new_full".split(), _SHAPE),
    **dict.fromkeys("detach item tolist numpy".split(), _CUT),
    **dict.fromkeys("ceil floor round trunc fix sign".split(), _STEPS),
    **dict.fromkeys("nextafter heaviside histc floor_divide floordiv".split(), _MISSING),
}


@functools.lru_cache(maxsize=1024)
def listed(operator: str) -> NoGradient | None:
    """Return why `operator` has no gradient to compare, or None if it must have one.

    Args:
        operator: a dotted path, or the name of a method or an in-place form.
    """
    return WITHOUT_GRADIENT.get(plain_name(operator))


def are_zero(entries: Iterable[NoGradient | None]) -> bool:
    """Return whether all operators with these entries are listed as having zero gradients."""
    return all(entry is not None and entry.kind == "zero" for entry in entries)
