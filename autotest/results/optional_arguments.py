"""Tells which optional arguments of an operator, and which of their literal values, no call of a run gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from autotest.results.coverage import (
    BEYOND,
    CALLED_AS,
    COMPUTED,
    GIVEN,
    NUMPY_NAMES,
    REFUSED,
    TRIALS,
    UNNAMED,
    values_of,
)

#: The values of a flag.
FLAG: Final = ("True", "False")


class OptionalArgument(NamedTuple):
    """An argument that a call may leave out. Values are source texts."""

    #: The default; empty if there is none, because an overload without this argument does something else.
    default: str = ""
    #: All values, if these are few: of a flag, or of a word that documentation lists.
    literals: tuple[str, ...] = ()


#: Operator -> name -> optional argument.
OptionalArguments = Mapping[str, Mapping[str, OptionalArgument]]


def calling(features: Mapping[str, int]) -> list[str]:
    """Return how calls of an operator with these features were written: ``function``, ``method``, ``module``."""
    return [*values_of(features, CALLED_AS)]


def never_given(features: Mapping[str, int], optional: Mapping[str, OptionalArgument]) -> Iterator[str]:
    """Yield lines for the arguments among `optional` that no call gave, and for literal values that occurred in none.

    Calls whose operands were all results of other calls count, too. Nothing is told of an operator with a call whose
    arguments could not be named.
    """
    computed = values_of(features, BEYOND)
    if UNNAMED in features or UNNAMED in computed:
        return
    given, values = _given(features, computed)
    unread = {*values_of(features, GIVEN), *values_of(computed, GIVEN)}
    refused = values_of(features, REFUSED)
    missing = [name for name in optional if name not in given and name not in refused]
    if missing:
        yield f"never given: {', '.join(missing)}"
    calls = features.get(TRIALS, 0) + features.get(COMPUTED, 0)
    lacking: list[str] = []
    for name, argument in optional.items():
        if name not in given or name in unread:
            continue
        had = values[name] | ({argument.default} if given[name] < calls else set())
        if argument.literals == FLAG and given[name] == calls and len(had) == 1:
            continue  # the only value is in the table, and says the same
        lacking += [f"{name}={literal}" for literal in argument.literals if literal not in had]
    if lacking:
        yield f"never {', '.join(lacking)}"


def _given(*parts: Mapping[str, int]) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Return the number of calls that gave each argument, and the source texts of its values."""
    given: dict[str, int] = {}
    values: dict[str, set[str]] = {}
    for part in parts:
        for said, times in values_of(part, "argument").items():
            written, _, value = said.partition("=")
            name = NUMPY_NAMES.get(written, written)
            given[name] = given.get(name, 0) + times
            values.setdefault(name, set()).add(value)
        for written, times in values_of(part, GIVEN).items():
            name = NUMPY_NAMES.get(written, written)
            given[name] = given.get(name, 0) + times
    return given, values
