"""Formats which values operators were never given, as lines and as a table."""

from __future__ import annotations

from autotest.base.plural import several
from autotest.results.coverage import (
    BROADCAST,
    COMPUTED,
    ENOUGH,
    GRADIENT,
    TRIALS,
    Coverage,
    gaps,
    hardly_tried,
    left_out,
    values_of,
)

#: Number of operators listed at the end of a run; the table has all of them.
SHOWN = 8
_COLUMNS = ("negative", "zero", "special", "ties", "past a block", "large", BROADCAST, GRADIENT)


def closing(coverage: Coverage, more: str = " (see --autotest-coverage)") -> list[str]:
    """Return lines about the operators whose domain was poorly covered; none if there are no such operators.

    `more` tells the reader where to find the rest.
    """
    found = gaps(coverage)
    if not found:
        return []
    lines = [f"never drawn{more}:"]
    lines += [f"  {operator}: {', '.join(told)}" for operator, told in [*found.items()][:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"  and {len(found) - SHOWN} more operators")
    return lines


def table(coverage: Coverage) -> list[str]:
    """Return the number of calls in which each operator was given each kind of value, and its gaps."""
    width = max((len(operator) for operator in coverage), default=8)
    lines = [f"{'operator':{width}}   calls  " + "  ".join(_COLUMNS) + "  dtypes, layouts, ranks, arguments"]
    found = gaps(coverage)
    for operator, features in sorted(coverage.items()):
        counts = "  ".join(f"{features.get(name, 0):>{len(name)}}" for name in _COLUMNS)
        others = [
            f"{f'rank {value}' if kind == 'rank' else value} {count}"
            for kind in ("dtype", "layout", "rank", "argument")
            for value, count in values_of(features, kind).items()
        ]
        others += [f"no {name} {count}" for name, count in left_out(features).items()]
        if features.get(COMPUTED):
            others.append(f"{COMPUTED} {features[COMPUTED]}")
        lines.append(f"{operator:{width}}  {features.get(TRIALS, 0):6}  {counts}  {', '.join(others)}")
        lines += [f"{'':{width}}  {said}" for said in found.get(operator, ())]
    few = len(hardly_tried(coverage))
    if few:
        lines.append(f"{several(few, 'operator')} had fewer than {ENOUGH} calls, too few to tell what was never drawn")
    return lines
