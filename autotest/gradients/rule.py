"""The rule by which gradients are compared with differences."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """How gradients are compared with differences: ``|analytic - numeric| <= atol + rtol * |numeric|``.

    Attributes:
        eps: the step of the differences.
        atol: the absolute tolerance.
        rtol: the relative tolerance.
        nondet_tol: the maximum difference between two runs of the backward pass.
        dtypes: whether a gradient must have the dtype of its input.
        fast: whether to check one projection of each Jacobian first.
    """

    eps: float = 1e-6
    atol: float = 1e-6
    rtol: float = 1e-4
    nondet_tol: float = 0.0
    dtypes: bool = True
    fast: bool = True
    #: Whether a cotangent must give the same gradient in another memory layout, and its negative the negative gradient.
    strict: bool = False
    #: Whether only differences that prove something count, because the inputs were not chosen for differences. They
    #: prove nothing for a function that is computed in a lower precision than its input's, nor near a tie, a pole or a
    #: value that is not finite.
    cautious: bool = False


#: The rule for inputs that were not chosen for differences. Differences in double precision are accurate to about nine
#: digits; an error above these tolerances is not rounding.
RULE = Rule(eps=1e-6, atol=1e-6, rtol=1e-4, strict=True, cautious=True)
