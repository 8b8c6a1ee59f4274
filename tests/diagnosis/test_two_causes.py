"""Of an operator that is wrong for two reasons, no report says that only one matters, or goes over to the other one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import random_tensor
from autotest import torch as dual
from tests.support.faulty import Replacement


@pytest.fixture(autouse=True)
def _shrinking(shrinking: None) -> None:
    """Shrink as ordinary runs do."""


def exp(**options: Any) -> Callable[[], Any]:
    drawn = {"low": -2, "high": 2, "dtype": "float32", "layout": "transposed", "requires_grad": False, **options}
    return lambda: dual.exp(random_tensor(shape=(3, 4), **drawn))


def total() -> Any:
    return dual.sum(
        random_tensor(shape=(3, 4), low=-2, high=2, layout="transposed", requires_grad=False), dim=1, keepdim=True
    )


def off_where(condition: Callable[..., Any]) -> Replacement:
    """Return a replacement whose result is one too great where ``condition(x)`` is true, of the whole or by element."""
    return lambda original: lambda x, **options: original(x, **options) + 1 * condition(x, **options)


def is_strided(x: Any, **_: Any) -> bool:
    return not x.is_contiguous()


def is_negative(x: Any, **_: Any) -> Any:
    return (x < 0).any()


CASES: dict[str, tuple[str, Replacement, Callable[[], Any]]] = {
    "a sign or memory": ("exp", off_where(lambda x: (x < 0) | is_strided(x)), exp()),
    "great or small numbers": ("exp", off_where(lambda x: (x > 1.5) | (x < -1)), exp()),
    "memory or a dtype": ("exp", off_where(lambda x: is_strided(x) or str(x.dtype) == "torch.float32"), exp()),
    "a flag or memory": ("sum", off_where(lambda x, dim=None, keepdim=False: keepdim or is_strided(x)), total),
    "a flag or a sign": ("sum", off_where(lambda x, dim=None, keepdim=False: is_negative(x) or keepdim), total),
}


@pytest.mark.parametrize("name", CASES)
def test_neither_of_two_causes_is_said_to_be_the_only_one(name: str, happens: Callable[..., str]) -> None:
    assert happens(*CASES[name], special_values=False) == ""


@pytest.mark.parametrize(
    ("fault", "body", "told"),
    [
        (off_where(lambda x: x < 0), exp(), "only where an element is negative"),
        (off_where(is_strided), exp(), "only with transposed, strided, expanded or pitched memory"),
    ],
    ids=["a sign", "memory"],
)
def test_a_single_cause_is_told(
    fault: Replacement, body: Callable[[], Any], told: str, happens: Callable[..., str]
) -> None:
    assert happens("exp", fault, body, special_values=False) == told


def test_one_that_the_trial_does_not_show_beside_the_other_is_told(happens: Callable[..., str]) -> None:
    fault = off_where(lambda x: (x < 0) | is_strided(x))
    assert happens("exp", fault, exp(layout="contiguous"), special_values=False) == "only where an element is negative"


def test_a_flag_alone_is_told(happens: Callable[..., str]) -> None:
    fault = off_where(lambda x, dim=None, keepdim=False: keepdim)
    assert happens("sum", fault, total, special_values=False) == "only with keepdim=True"


def decayed(first: str, second: str) -> Replacement:
    """Return an optimizer that takes two of its arguments for greater ones."""

    def changed(cls: Any) -> Any:
        return lambda parameters, **given: cls(
            parameters, **{name: value * 1.2 if name in (first, second) else value for name, value in given.items()}
        )

    return changed


@pytest.mark.parametrize(
    ("shown", "hidden"), [("weight_decay", "momentum"), ("lr", "momentum")], ids=["decay and momentum", "both rates"]
)
def test_an_optimizer_is_shrunk_to_the_fault_that_its_first_wrong_step_shows(
    shown: str, hidden: str, report: Callable[..., str]
) -> None:
    def body() -> Any:
        layer, x = dual.nn.Linear(3, 2), random_tensor(shape=(4, 3), low=-1, high=1, dtype="float32")
        optimizer = dual.optim.SGD(layer.parameters(), lr=0.1, momentum=0.5, weight_decay=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            layer(x).pow(2).sum().backward()
            optimizer.step()
        return layer(x)

    told = report("optim.SGD", decayed(shown, hidden), body)
    (made,) = (line for line in told.splitlines() if "torch.optim.SGD(" in line)
    assert f"{shown}=" in made
    assert f"{hidden}=" not in made
