"""What operators were given in a run, as counts of features, and which features nobody tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

#: Operator -> feature -> in how many trials. Plain data, so that it goes through JSON: a feature is a word of its own,
#: such as `FLOATING` and ``"zero"``, or what `valued` makes of a kind and a value.
Coverage = dict[str, dict[str, int]]

#: Counts trials of the operator that were given any floating, or any integral, numbers.
FLOATING, WHOLE, TRIALS = "floating", "whole", "trials"
#: Counts trials of a run that draws no special numbers for any test, which is no gap of one.
WITHOUT_SPECIAL = "without special"
#: Fewer trials than this say nothing about what is never tried.
ENOUGH = 20

#: What an operator should have been given, and what is said where it was not.
_SAID = {
    "negative": "a negative value",
    "positive": "a positive value",
    "zero": "a zero",
    "special": "NaN or an infinity",
    "negative whole": "a negative integer",
    "past a block": "more than 8 elements",
    "large": "a few thousand elements",
    "not contiguous": "memory that is not contiguous",
}
_OF_FLOATING = ("negative", "positive", "zero", "special")
_OF_ANY = ("past a block", "large")


def valued(kind: str, value: object) -> str:
    """The feature of having `value` of some kind: a dtype, a rank, a layout, an argument."""
    return f"{kind} {value}"


def values_of(features: Mapping[str, int], kind: str) -> dict[str, int]:
    """The values of one kind among `features`, by name, and in how many trials they were given."""
    mark = valued(kind, "")
    return {feature[len(mark) :]: times for feature, times in sorted(features.items()) if feature.startswith(mark)}


def argument(name: str, value: object) -> str:
    """The feature of being given a plain `value` as the argument `name`."""
    return valued("argument", f"{name}={value!r}")


def merged(parts: Iterable[Coverage]) -> Coverage:
    """The sum of several."""
    whole: Coverage = {}
    for part in parts:
        add(whole, part)
    return whole


def add(whole: Coverage, part: Coverage) -> None:
    """Count `part` in `whole`."""
    for operator, features in part.items():
        counts = whole.setdefault(operator, {})
        for feature, trials in features.items():
            counts[feature] = counts.get(feature, 0) + trials


def gaps(coverage: Coverage) -> dict[str, list[str]]:
    """For each operator that was tried often enough, what it was never given; none for those with nothing to say."""
    told = {operator: [*_gaps(features)] for operator, features in sorted(coverage.items())}
    return {operator: lines for operator, lines in told.items() if lines}


def lacking(features: Mapping[str, int]) -> Iterator[str]:
    """What an operator with these features was not given, of what can be drawn for any: keys of what is told."""
    if features.get(FLOATING):
        wanted = [name for name in _OF_FLOATING if name != "special" or not features.get(WITHOUT_SPECIAL)]
        yield from (name for name in wanted if not features.get(name))
    # Whole numbers beside floating ones are mostly positions, or counts.
    if features.get(WHOLE) and not features.get(FLOATING) and not features.get("negative whole"):
        yield "negative whole"
    if features.get(FLOATING) or features.get(WHOLE):
        yield from (name for name in _OF_ANY if not features.get(name))
        if [*values_of(features, "layout")] == ["contiguous"]:
            yield "not contiguous"


def _gaps(features: Mapping[str, int]) -> Iterator[str]:
    if features.get(TRIALS, 0) < ENOUGH:
        return
    yield from (f"never {_SAID[name]}" for name in lacking(features))
    yield from _constant_arguments(features)
    if features.get("differentiable") and not features.get("gradient"):
        yield "never a gradient compared"


def _constant_arguments(features: Mapping[str, int]) -> Iterator[str]:
    """Arguments that could have been otherwise: always given, and always the same; a dimension never negative."""
    given: dict[str, dict[str, int]] = {}
    for told, times in values_of(features, "argument").items():
        name, _, value = told.partition("=")
        given.setdefault(name, {})[value] = times
    for name, values in sorted(given.items()):
        # Where it was left out, too, it had its default there.
        if [*values.values()] == [features[TRIALS]]:
            yield f"{name} always {min(values)}"
        elif name == "dim" and not any(value.startswith(("-", "(")) for value in values) and len(values) > 1:
            yield "never a negative dim"
