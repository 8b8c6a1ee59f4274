"""Formats which values operators were never given, as lines and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from autotest.base.plural import several
from autotest.results.coverage import (
    BEYOND,
    BROADCAST,
    COMPUTED,
    ENOUGH,
    GRADIENT,
    NEGATIVE,
    TRIALS,
    Coverage,
    gaps,
    hardly_tried,
    left_out,
    may_broadcast,
    values_of,
    values_of_arguments,
)
from autotest.results.optional_arguments import OptionalArguments, never_given

#: Number of operators listed at the end of a run; the table has all of them.
SHOWN = 8
#: Number of values of an argument up to which the table has each of them.
_FEW = 8
_COLUMNS = ("negative", "zero", "special", "ties", "past a block", "large", BROADCAST, GRADIENT)
#: The features that columns with another name count.
_COUNTED = {"negative": NEGATIVE}


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


def table(coverage: Coverage, signatures: OptionalArguments = MappingProxyType({})) -> list[str]:
    """Return the number of calls in which each operator was given each kind of value, and its gaps.

    With the `signatures` of operators, also the optional arguments, and the literal values of them, that no call gave.
    """
    width = max((len(operator) for operator in coverage), default=8)
    lines = [f"{'operator':{width}}   calls  " + "  ".join(_COLUMNS) + "  dtypes, layouts, ranks, arguments"]
    found = gaps(coverage)
    for operator, features in sorted(coverage.items()):
        shown = {name: str(features.get(_COUNTED.get(name, name), 0)) for name in _COLUMNS}
        if not may_broadcast(operator):
            shown[BROADCAST] = "-"  # tensors of different shapes mean something else to it
        counts = "  ".join(f"{shown[name]:>{len(name)}}" for name in _COLUMNS)
        others = [
            f"{f'rank {value}' if kind == 'rank' else value} {count}"
            for kind in ("dtype", "layout", "rank")
            for value, count in values_of(features, kind).items()
        ]
        others += _arguments(features)
        others += [f"no {name} {count}" for name, count in left_out(features).items()]
        if features.get(COMPUTED):
            given = ", ".join(_arguments(values_of(features, BEYOND)))
            others.append(f"{COMPUTED} {features[COMPUTED]}" + (f" ({given})" if given else ""))
        lines.append(f"{operator:{width}}  {features.get(TRIALS, 0):6}  {counts}  {', '.join(others)}")
        told = [*found.get(operator, ()), *never_given(features, signatures.get(operator, {}))]
        lines += [f"{'':{width}}  {said}" for said in told]
    few = len(hardly_tried(coverage))
    if few:
        lines.append(f"{several(few, 'operator')} had fewer than {ENOUGH} calls, too few to tell what was never drawn")
    return lines


def _arguments(features: Mapping[str, int]) -> Iterator[str]:
    """Yield each value of each argument with its number of calls; of many numbers only the least and the greatest."""
    for name, values in values_of_arguments(features).items():
        numbers = _numbers(values) if len(values) > _FEW else []
        if numbers:
            yield f"{name} from {min(numbers):g} to {max(numbers):g} {sum(values.values())}"
        else:
            yield from (f"{name}={value} {times}" for value, times in values.items())


def _numbers(values: Iterable[str]) -> list[float]:
    """Return `values` as numbers; an empty list if some are none."""
    try:
        return [float(value) for value in values]
    except ValueError:
        return []
