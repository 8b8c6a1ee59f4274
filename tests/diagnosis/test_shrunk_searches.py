"""What is searched in stays sorted while a failure is shrunk: among other numbers, a search has no defined result."""

from __future__ import annotations

from typing import Any

import pytest

from autotest import random_tensor, torch
from autotest.program.sorted_operands import searches_unsorted
from tests.support.running import trial
from tests.wrong_operators.wrong import torch as real

pytestmark = pytest.mark.usefixtures("shrinking")


def numbers(contents: Any = None) -> Any:
    return random_tensor(ndim=1, contents=contents, requires_grad=False)


@pytest.mark.parametrize("layout", ["contiguous", "strided", "offset"])
@pytest.mark.parametrize(("contents", "unsorted"), [("sorted", False), ("distinct", True)])
@pytest.mark.parametrize(
    "call",
    [
        lambda held: torch.searchsorted(held, numbers()),
        lambda held: torch.bucketize(numbers(), held),
        lambda held: torch.bucketize(numbers(), boundaries=held),
    ],
    ids=["searchsorted", "bucketize", "by name"],
)
def test_unsorted_operands_are_known(call: Any, contents: str, *, unsorted: bool, layout: str) -> None:
    body = lambda: call(random_tensor(shape=(9,), contents=contents, layout=layout, requires_grad=False))  # noqa: E731
    assert searches_unsorted(trial(body, auto_backward=False).program) == unsorted


def test_any_order_may_be_searched_with_a_sorter() -> None:
    def body() -> Any:
        held = random_tensor(shape=(9,), contents="distinct", requires_grad=False)
        return torch.searchsorted(held, numbers(), sorter=torch.argsort(held))

    assert not searches_unsorted(trial(body, auto_backward=False).program)


def test_a_shrunk_sequence_is_sorted(report) -> None:
    def wrong(search: Any) -> Any:
        return lambda held, x: search(held, x) + real().as_tensor(len(held) > 2)

    text = report("searchsorted", wrong, lambda: torch.searchsorted(numbers("sorted"), numbers()))
    held = text.partition("x0 holds ")[2].partition("\n")[0]
    found = [float(one) for one in held.strip("[]").split(",")] if held.startswith("[") else []
    assert found == sorted(found)
