"""Formats tables of both sides' accuracy, and of names without samples, for the Markdown page of a sweep."""

from __future__ import annotations

from autotest.base.plural import thousands
from autotest.results.accuracy import WORSE
from autotest.results.sweep import SweepMap, less_accurate
from autotest.results.sweep_coverage import of_modules, of_names


def accuracy(swept: SweepMap) -> list[str]:
    """Return the cells in which the candidate agrees but is several times less accurate, and the number of elements."""
    measured = [row for row in swept.rows.values() if row.cell.accuracy is not None]
    if not measured:
        return []
    elements = sum(row.cell.accuracy.elements for row in measured if row.cell.accuracy is not None)
    reference, candidate = swept.sides
    worse = less_accurate(swept)
    lines = [
        "## Accuracy",
        "",
        (
            f"Errors in units in the last place (ULPs) of {thousands(elements, 'element')} of "
            f"{thousands(len(measured), 'cell')}, on ordinary and on hard inputs, against the result of {reference} in "
            "double precision. Cells of float64 are compared with NumPy's result in extended precision, if NumPy has "
            "the operator and this machine supports that precision; the others are not measured. In "
            f"{thousands(len(worse), 'cell')} all values agree within tolerance, but the greatest error or the 99th "
            f"percentile of {candidate} is more than {WORSE:g} times that of {reference}."
        ),
        "",
    ]
    if worse:
        lines += [f"| cell | {reference}: greatest | 99 % | {candidate}: greatest | 99 % |", "|---|---|---|---|---|"]
    for row in worse:
        if row.cell.accuracy is not None:
            errors = (row.cell.accuracy.reference, row.cell.accuracy.candidate)
            numbers = [f"{value:.3g}" for side in errors for value in (side.greatest, side.quantile(0.99))]
            lines.append(f"| `{row.key}` | {' | '.join(numbers)} |")
    return [*lines, ""]


def coverage(swept: SweepMap) -> list[str]:
    """Return how many of the shared names have accepted samples, and the other names with their reasons."""
    if not swept.shared:
        return []
    lines = ["## Shared names with accepted samples", ""]
    for title, found in (("public functions and methods", of_names(swept)), ("classes of modules", of_modules(swept))):
        lines += [f"{found} {title}." + (" Without:" if found.without else ""), ""]
        reasons: dict[str, list[str]] = {}
        for name, reason in found.without.items():
            reasons.setdefault(reason, []).append(f"`{name}`")
        lines += [f"- {reason}: {', '.join(names)}" for reason, names in sorted(reasons.items())]
        lines += [""] if reasons else []
    return lines
