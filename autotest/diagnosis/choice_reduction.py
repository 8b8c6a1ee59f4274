"""The choices of a failing trial -> plainer ones to force, the boldest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autotest.program.reduction import Cost

#: ``[kind, value, low, high]`` of a logged choice.
Choice = Sequence[Any]


def choice_cost(choices: Sequence[Choice]) -> Cost:
    """What shrinking the choices of a trial makes less: how many there are, then how far they are from simple."""
    distances = [abs(float(choice[1]) - float(simplest(choice))) for choice in choices if choice[0] != "bits"]
    return len(choices), sum(1 for distance in distances if distance), sum(min(distance, 1e6) for distance in distances)


def simplest(choice: Choice) -> Any:
    """The plainest value that `choice` could have had."""
    kind, _, low, high = choice
    if kind == "boolean":
        return False
    if kind == "uniform":
        return min(max(0.0, low), high)
    return min(max(0, low), high - 1)


def choices(made: Sequence[Choice]) -> Iterator[list[Choice]]:
    """Plainer choices to force: all plain, then blocks of them, then each one halfway."""
    plain = [_with_value(choice, simplest(choice)) for choice in made]
    block = len(made)
    while block:
        for start in range(0, len(made), block):
            yield [*made[:start], *plain[start : start + block], *made[start + block :]]
        block //= 2
    for at, choice in enumerate(made):
        kind, value, _, _ = choice
        if kind in ("integer", "index"):
            goal = simplest(choice)
            for new in dict.fromkeys((goal + 1, goal + (value - goal) // 2, value - 1)):
                if goal < new < value:
                    yield [*made[:at], _with_value(choice, new), *made[at + 1 :]]


def _with_value(choice: Choice, value: Any) -> Choice:
    kind, old, low, high = choice
    # An array is one choice of 64 bits, and its contents are for the program's own shrinking.
    return choice if kind == "bits" else (kind, type(old)(value), low, high)


__all__ = ["Choice", "choice_cost", "choices", "simplest"]
