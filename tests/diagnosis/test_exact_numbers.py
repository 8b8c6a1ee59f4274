"""A failure that does not depend on exact numbers is not shrunk to one that does: to a tie, or to a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.shrinking.shifted_inputs import is_stable
from autotest.program import Program
from autotest.trials.trial import run_without_comparison
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import pair_with


def drawn(*shape: int, **options: Any) -> Any:
    return random_tensor(shape=shape, **{"dtype": "float32", "requires_grad": False, **options})


def last_of_equal_without_the_last(argmax: Any) -> Any:
    """Two faults: of more than two elements the last is ignored, and of equal ones it is the last."""

    def found(x: Any, dim: int) -> Any:
        size = x.shape[dim]
        if size > 2:
            x, size = x.narrow(dim, 0, size - 1), size - 1
        return size - 1 - argmax(x.flip(dim), dim)

    return found


def one_at_zero_and_twice_beyond_two(_: Any) -> Any:
    import torch

    return lambda x: torch.where(x >= 0, 1.0, -1.0) * (1.0 + (x.abs() > 2).float())


def right_and_further(searchsorted: Any) -> Any:
    return lambda edges, x: searchsorted(edges, x + 0.05, right=True)


def searched() -> Any:
    return dual.searchsorted(dual.sort(drawn(6))[0], drawn(4))


CASES: dict[str, tuple[str, Replacement, Callable[[], Any]]] = {
    "argmax": ("argmax", last_of_equal_without_the_last, lambda: dual.argmax(drawn(3, 5), 1)),
    "sign": ("sign", one_at_zero_and_twice_beyond_two, lambda: dual.sign(drawn(6, low=-3, high=3))),
    "searchsorted": ("searchsorted", right_and_further, searched),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_not_shrunk_to_another_fault_at_exact_numbers(
    name: str, shrinking: None, report: Callable[..., str]
) -> None:
    path, fault, body = CASES[name]
    told = report(path, fault, body, special_values=False, auto_backward=False)
    holds = [line for line in told.splitlines() if line.strip().startswith("# x")]
    assert not any(line.endswith(("[0., 0.]", "holds 0.", "[0.]")) for line in holds), told
    assert "are equal" not in told


def test_a_failure_of_equal_numbers_alone_is_still_shrunk(shrinking: None, report: Callable[..., str]) -> None:
    def last_of_equal(argmax: Any) -> Any:
        return lambda x, dim: x.shape[dim] - 1 - argmax(x.flip(dim), dim)

    def body() -> Any:
        return dual.argmax(dual.round(drawn(3, 5, low=0, high=2)), 1)

    told = report("argmax", last_of_equal, body, special_values=False, auto_backward=False)
    assert "only where elements are equal" in told
    assert "# x0 holds [0., 0.]" in told


def program(data: Any) -> Program:
    def body() -> Any:
        return dual.sqrt(dual.tensor(np.array(data, "float32")))

    return run_without_comparison(body, 0, Settings(auto_backward=False), pair_with(FaultyTorch())).program


def fails_where(condition: Callable[[Any], bool]) -> Callable[[Program], bool]:
    return lambda changed: condition(changed.arrays[0].data)


@pytest.mark.parametrize(
    ("data", "condition", "stable"),
    [
        ([0.0, 0.0], lambda x: x[0] == x[1], False),
        ([0.5], lambda x: x[0] == 0.5, False),
        ([0.0], lambda x: x[0] >= 0, True),
        ([1.0], lambda x: x[0] <= 1, True),
        ([np.inf], lambda x: np.isinf(x[0]), True),
        ([1.0, 2.0], lambda x: x[0] < x[1], True),
    ],
)
def test_a_failure_is_stable_if_shifts_in_one_direction_leave_it(
    data: list[float], condition: Callable[[Any], bool], stable: bool
) -> None:
    assert is_stable(program(data), fails_where(condition)) is stable
