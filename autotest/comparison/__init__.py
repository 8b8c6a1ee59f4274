"""Takes pairs of values of the two sides; leaves mismatches as data, and says why the reference refused a trial."""

from autotest.comparison.values import (
    SPECIAL,
    Comparison,
    Mismatch,
    Missing,
    Side,
    Stage,
    Statistics,
    Symptom,
    TensorValue,
    Thing,
    compare_values,
    limits,
    passing_tolerance,
    surely_agree,
)

__all__ = [
    "SPECIAL",
    "Comparison",
    "Mismatch",
    "Missing",
    "Side",
    "Stage",
    "Statistics",
    "Symptom",
    "TensorValue",
    "Thing",
    "compare_values",
    "limits",
    "passing_tolerance",
    "surely_agree",
]
