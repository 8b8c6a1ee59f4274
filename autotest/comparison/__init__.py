"""Takes pairs of values of the two sides; returns mismatches as data, and classifies why the reference refused."""

from autotest.comparison.elementwise import Statistics
from autotest.comparison.mismatch import SPECIAL, Mismatch, Side, Stage, Symptom
from autotest.comparison.values import (
    Comparison,
    Missing,
    OpaqueObject,
    TensorValue,
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
    "OpaqueObject",
    "Side",
    "Stage",
    "Statistics",
    "Symptom",
    "TensorValue",
    "compare_values",
    "limits",
    "passing_tolerance",
    "surely_agree",
]
