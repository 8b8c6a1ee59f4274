"""By what rule a gradient is held against differences."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """How a gradient is held against differences: ``|analytic - numeric| <= atol + rtol * |numeric|``."""

    eps: float = 1e-6
    atol: float = 1e-6
    rtol: float = 1e-4
    nondet_tol: float = 0.0
    dtypes: bool = True
    fast: bool = True
    #: Whether a cotangent must give the same gradient when it is laid out otherwise, and its negative the negative one.
    strict: bool = False
    #: Whether only those differences count that show something, since nobody chose the inputs: of a function that is
    #: computed in lower precision than its input's, and beside a tie, a pole or what is not finite, they do not.
    cautious: bool = False
