"""What operators were given in a run, as counts of features, and which features nobody tried."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping

#: Operator -> feature -> in how many trials. Plain data, so that it goes through JSON.
Coverage = dict[str, dict[str, int]]

#: Counts trials of the operator that were given any floating, or any integral, numbers.
FLOATING, WHOLE, TRIALS = "floating", "whole", "trials"
#: Fewer trials than this say nothing about what is never tried.
ENOUGH = 20

#: What an operator that was given floating numbers should have had, and what is said where it had not.
_NUMBERS = {
    "negative": "a negative value",
    "positive": "a positive value",
    "zero": "a zero",
    "special": "NaN or an infinity",
}
_SHAPES = {
    "past a block": "more than 8 elements",
    "large": "a few thousand elements",
}
_LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded")


def merged(parts: Iterable[Coverage]) -> Coverage:
    """The sum of several."""
    whole: dict[str, collections.Counter[str]] = {}
    for part in parts:
        for operator, features in part.items():
            whole.setdefault(operator, collections.Counter()).update(features)
    return {operator: dict(features) for operator, features in whole.items()}


def gaps(coverage: Coverage) -> dict[str, list[str]]:
    """For each operator that was tried often enough, what it was never given; none for those with nothing to say."""
    told = {operator: [*_gaps(features)] for operator, features in sorted(coverage.items())}
    return {operator: lines for operator, lines in told.items() if lines}


def _gaps(features: Mapping[str, int]) -> Iterator[str]:
    if features.get(TRIALS, 0) < ENOUGH:
        return
    if features.get(FLOATING):
        yield from (f"never {said}" for name, said in _NUMBERS.items() if not features.get(name))
    if features.get(WHOLE) and not features.get("negative whole"):
        yield "never a negative integer"
    if features.get(FLOATING) or features.get(WHOLE):
        yield from (f"never {said}" for name, said in _SHAPES.items() if not features.get(name))
        lying = [name for name in _LAYOUTS if features.get(f"layout {name}")]
        if lying == ["contiguous"]:
            yield "never memory that is not contiguous"
    yield from _constant_arguments(features)
    if features.get("differentiable") and not features.get("gradient"):
        yield "never a gradient compared"


def _constant_arguments(features: Mapping[str, int]) -> Iterator[str]:
    """Arguments that could have been otherwise: a truth value that is always the same, a dimension never negative."""
    given: dict[str, set[str]] = {}
    for feature in features:
        kind, _, rest = feature.partition(" ")
        name, equals, value = rest.partition("=")
        if kind == "argument" and equals:
            given.setdefault(name, set()).add(value)
    for name, values in sorted(given.items()):
        if len(values) == 1 and values <= {"True", "False"} and features[f"argument {name}={min(values)}"] >= ENOUGH:
            yield f"{name} always {min(values)}"
        elif name == "dim" and not any(value.startswith(("-", "(")) for value in values) and len(values) > 1:
            yield "never a negative dim"
