"""Calls that write into tensors of a framework without writes accept and refuse what torch accepts and refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from autotest import random_tensor, torch
from tests.support.hand_written_framework import HandWrittenFramework, framework
from tests.support.running import agrees, trial


class SpelledOut(HandWrittenFramework):
    """A framework that has a function for each of torch's views."""

    @property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        return {
            **super().spelling,
            "squeeze": np.squeeze,
            "unsqueeze": np.expand_dims,
            "swapaxes": np.swapaxes,
            "t": np.transpose,
        }


def floats(*shape: int) -> Any:
    return random_tensor(shape=shape, dtype="float32")


def whole(*shape: int) -> Any:
    return random_tensor(shape=shape, dtype="int64", low=1, high=9, requires_grad=False)


@pytest.mark.parametrize(
    ("key", "shape"),
    [(0, (1, 3)), ((0, 1), (1,)), ((0, 1), (1, 1)), ([True, False], (1, 1, 3)), (slice(1), (1, 1, 1, 3))],
)
def test_an_assigned_value_may_have_more_dimensions_of_one_element(key: Any, shape: tuple[int, ...]) -> None:
    def body() -> Any:
        x = torch.mul(floats(2, 3), 2.0)
        x[key] = torch.mul(floats(*shape), 3.0)
        return x

    outcome = trial(body, framework())
    assert outcome.rejection is None
    assert agrees(outcome)
    assert outcome.gradients


def product_of_integers() -> Any:
    return torch.add(whole(3), whole(3), out=torch.mul(whole(3), 2))


def view_of_a_matrix() -> Any:
    return torch.mul(floats(2, 3), 2.0).transpose(0, 1).transpose(0, 1).view(6)


def smaller_copy() -> Any:
    return torch.mul(floats(2, 3), 2.0).copy_(floats(3))


def sum_into_floats() -> Any:
    return torch.mul(floats(3), 2.0).add_(whole(3))


@pytest.mark.parametrize("body", [product_of_integers, sum_into_floats, smaller_copy, view_of_a_matrix])
def test_what_torch_accepts_is_accepted(body: Callable[[], Any]) -> None:
    outcome = trial(body, framework())
    assert outcome.rejection is None
    assert agrees(outcome)


def floats_out_of_integers() -> Any:
    return torch.add(floats(3).detach(), floats(3).detach(), out=whole(3))


def floats_in_place_of_truth_values() -> Any:
    return torch.tanh(floats(3).detach(), out=random_tensor(shape=(3,), dtype="bool", requires_grad=False))


def larger_copy() -> Any:
    return torch.mul(floats(3), 2.0).copy_(floats(1, 3))


def view_of_a_transposed_matrix() -> Any:
    return torch.mul(floats(2, 3), 2.0).transpose(0, 1).view(6)


@pytest.mark.parametrize(
    "body", [floats_out_of_integers, floats_in_place_of_truth_values, larger_copy, view_of_a_transposed_matrix]
)
def test_what_torch_refuses_is_refused(body: Callable[[], Any]) -> None:
    outcome = trial(body, framework(), check_errors=True)
    assert outcome.rejection is not None
    assert outcome.mismatches == []


@pytest.mark.parametrize(
    ("name", "dims"),
    [("transpose_", (0, 1)), ("swapaxes_", (0, 1)), ("squeeze_", (1,)), ("unsqueeze_", (0,)), ("t_", ())],
)
def test_what_gives_a_tensor_another_shape_in_place_is_absent(name: str, dims: tuple[int, ...]) -> None:
    def body() -> Any:
        x = torch.mul(floats(2, 1), 2.0)
        return getattr(x, name)(*dims)

    outcome = trial(body, adapter := SpelledOut())
    assert outcome.mismatches == []
    assert outcome.rejection is not None
    assert outcome.rejection.text == f"{adapter.name} has no {name}"
