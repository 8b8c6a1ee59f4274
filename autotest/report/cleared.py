"""Says how many mismatches the float64 referee cleared."""

from __future__ import annotations

from autotest.base.plural import several, were


def rounding(cleared: int) -> str:
    """Return the sentence about the number of mismatches that the referee cleared."""
    mismatches = several(cleared, "mismatch", "mismatches")
    return f"{mismatches} {were(cleared)} only rounding according to the float64 referee"
