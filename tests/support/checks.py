"""Removes single checks from the library, to show that these are the checks that catch a fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest.comparison import TensorValue
from autotest.recording import observation

Remove = Callable[[pytest.MonkeyPatch], None]


def compared(change: Callable[..., Any]) -> Remove:
    """Apply ``change(expected, actual)`` to observed values before their comparison; None skips the comparison."""

    def remove(patch: pytest.MonkeyPatch) -> None:
        honest = observation.compare_values

        def careless(name: Any, expected: Any, actual: Any, how: Any) -> Any:
            changed = change(expected, actual)
            return () if changed is None else honest(name, *changed, how)

        patch.setattr(observation, "compare_values", careless)

    return remove


def of_tensors(change: Callable[[TensorValue, TensorValue], Any]) -> Remove:
    """Do the same as `compared` for tensors only; other values are compared unchanged."""

    def pair(expected: Any, actual: Any) -> Any:
        tensors = isinstance(expected, TensorValue) and isinstance(actual, TensorValue)
        return change(expected, actual) if tensors else (expected, actual)

    return compared(pair)


def copying(*fields: str) -> Remove:
    """Give the candidate's tensor the reference's attributes before they are compared."""
    return of_tensors(
        lambda one, other: (one, dataclasses.replace(other, **{field: getattr(one, field) for field in fields}))
    )


def with_data(change: Callable[[np.ndarray], np.ndarray]) -> Remove:
    return of_tensors(
        lambda one, other: tuple(dataclasses.replace(side, data=change(side.data)) for side in (one, other))
    )


def broadcast(one: TensorValue, other: TensorValue) -> Any:
    try:
        return tuple(
            dataclasses.replace(side, data=data)
            for side, data in zip((one, other), np.broadcast_arrays(one.data, other.data), strict=True)
        )
    except ValueError:
        return one, other


def as_floats(one: TensorValue, other: TensorValue) -> Any:
    return tuple(dataclasses.replace(side, data=side.data.astype("float64"), dtype="float64") for side in (one, other))


def plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def replaced(owner: Any, name: str, value: Any) -> Remove:
    return lambda patch: patch.setattr(owner, name, value)


def wrapped(owner: Any, name: str, change: Callable[[Any], Any]) -> Remove:
    return lambda patch: patch.setattr(owner, name, change(getattr(owner, name)))


def pairings(keep: Callable[[Any, Any], bool]) -> Remove:
    """Skip the comparison of pairings for which ``keep(pairing, call)`` is false."""

    def careless(pair_up: Any) -> Any:
        def some(recorder: Any) -> Any:
            found = pair_up(recorder)
            kept = [item for item in found.pairings if keep(item, recorder.calls[item.slot])]
            return found._replace(pairings=kept)

        return some

    return wrapped(observation, "pair_up", careless)


def without_error_parity(refused: Any) -> Any:
    def careless(self: Any, *args: Any) -> Any:
        self.check_errors = False
        return refused(self, *args)

    return careless


def both(one: Remove, other: Remove) -> Remove:
    """Remove two checks that both catch the same fault."""

    def remove(patch: pytest.MonkeyPatch) -> None:
        one(patch)
        other(patch)

    return remove
