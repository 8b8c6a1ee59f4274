"""The report names the whole number in a call that a failure needs, and no other number that is equal to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from autotest import nothing, random, random_bool, random_tensor, torch
from autotest.diagnosis.explaining.decisive_counts import count_clauses
from autotest.program import Call, Program

pytestmark = pytest.mark.usefixtures("shrinking")

#: Returns whether a module is wrong for an input.
Wrong = Callable[[Any, Any], bool]


def modules(is_wrong: Wrong) -> Callable[[Any], Any]:
    """Return a replacement of a class of modules: the results of some are too large by half."""

    def replaced(kind: Any) -> Any:
        class Module(kind):
            def forward(self, x: Any) -> Any:
                result = super().forward(x)
                if not is_wrong(self, x):
                    return result
                return (result[0] * 1.5, *result[1:]) if isinstance(result, tuple) else result * 1.5

        Module.__name__ = kind.__name__
        return Module

    return replaced


def linear() -> Any:
    inside = random(1, 20)
    return torch.nn.Linear(inside, random(1, 20))(random_tensor(ndim=2, dim1=inside, dtype="float32"))


def convolution() -> Any:
    channels = random(1, 7)
    made = torch.nn.Conv2d(channels, random(1, 9), random(1, 5))
    return made(random_tensor(ndim=4, dim1=channels, dim2=random(9, 12), dim3=random(9, 12), dtype="float32"))


def recurrent() -> Any:
    inside = random(1, 7)
    flags = {"bidirectional": random_bool() | nothing(), "batch_first": random_bool() | nothing()}
    made = torch.nn.LSTM(inside, random(1, 7), num_layers=random(1, 4) | nothing(), **flags)
    return made(random_tensor(ndim=3, dim2=inside, dtype="float32"))[0]


def groups() -> Any:
    count = random(1, 5)
    channels = count * random(1, 4)
    return torch.nn.GroupNorm(count, channels)(random_tensor(ndim=3, dim1=channels, dtype="float32"))


def shuffle() -> Any:
    factor = random(1, 5)
    channels = factor * factor * random(1, 3)
    return torch.nn.functional.pixel_shuffle(random_tensor(ndim=4, dim1=channels), factor)


@pytest.mark.parametrize(
    ("path", "body", "is_wrong", "told"),
    [
        ("nn.Linear", linear, lambda it, x: it.out_features >= 9, "needs out_features of 9 or more"),
        ("nn.Conv2d", convolution, lambda it, x: it.kernel_size == (3, 3), "only with kernel_size=3"),
        ("nn.Conv2d", convolution, lambda it, x: it.out_channels == 1, "only with out_channels=1"),
        ("nn.LSTM", recurrent, lambda it, x: it.num_layers > 1, "needs num_layers of 2 or more"),
        ("nn.LSTM", recurrent, lambda it, x: it.bidirectional, "only with bidirectional=True"),
        ("nn.GroupNorm", groups, lambda it, x: it.num_groups == 4, "only with num_groups=4"),
        (
            "nn.Linear",
            linear,
            lambda it, x: it.out_features % 3 == 2,
            "only with some values of out_features, such as ",
        ),
    ],
)
def test_the_number_that_a_module_needs_is_named(happens, path: str, body: Any, is_wrong: Wrong, told: str) -> None:
    assert happens(path, modules(is_wrong), body, special_values=False).startswith(told)


def test_a_number_is_named_that_a_test_gives_as_a_pair_of_equal_ones(happens) -> None:
    def square() -> Any:
        size = random(1, 5)
        made = torch.nn.Conv2d(1, 1, kernel_size=(size, size))
        return made(random_tensor(ndim=4, dim1=1, dim2=random(9, 12), dim3=random(9, 12), dtype="float32"))

    replaced = modules(lambda it, x: it.kernel_size == (3, 3))
    assert happens("nn.Conv2d", replaced, square, special_values=False).endswith("only with kernel_size=3")


def test_the_number_that_a_function_needs_is_named(happens) -> None:
    def wrong(pixel_shuffle: Any) -> Any:
        return lambda x, factor: pixel_shuffle(x, factor) * (1.5 if factor > 2 else 1)

    assert happens("nn.functional.pixel_shuffle", wrong, shuffle) == "needs upscale_factor of 3 or more"


@pytest.mark.parametrize(
    "is_wrong",
    [
        pytest.param(lambda it, x: it.out_features == it.in_features, id="equal to another number"),
        pytest.param(lambda it, x: it.out_features * len(x) >= 9, id="so many results"),
    ],
)
def test_a_number_that_matters_only_beside_others_is_not_named(happens, is_wrong: Wrong) -> None:
    assert "features" not in happens("nn.Linear", modules(is_wrong), linear, special_values=False)


def test_a_number_is_not_varied_if_results_would_be_too_large() -> None:
    program = Program((Call("function", "arange", (1 << 23,), {}, 0),), ())

    def run(other: Program, inputs: object) -> NoReturn:
        pytest.fail(f"{other.calls} was run")

    assert list(count_clauses(program, (), run, lambda call: ("end",))) == []


def test_a_number_is_not_the_only_one_if_greater_elements_show_others(happens) -> None:
    def wrong(bincount: Any) -> Any:
        return lambda x, minlength=0: bincount(x, minlength=minlength)[: minlength or None]

    def body() -> Any:
        return torch.bincount(random_tensor(shape=(1,), dtype="int64", low=1, high=2), minlength=1)

    assert happens("bincount", wrong, body) == "only where minlength is given"


def test_a_dimension_is_no_number_of_things(happens) -> None:
    def wrong(cumsum: Any) -> Any:
        return lambda x, dim: cumsum(x, dim) * (1.5 if dim == 1 else 1)

    body = lambda: torch.cumsum(random_tensor(ndim=3, low=1, high=2), random(0, 3).to(int))  # noqa: E731
    assert "dim=" not in happens("cumsum", wrong, body)


def test_evaluation_mode_is_named(happens) -> None:
    def body() -> Any:
        channels = random(1, 7)
        made = torch.nn.BatchNorm1d(channels)
        made.train(random_bool())
        return made(random_tensor(ndim=2, dim0=random(2, 7), dim1=channels, dtype="float32"))

    fault = modules(lambda it, x: not it.training)
    assert happens("nn.BatchNorm1d", fault, body, special_values=False).startswith("only in evaluation mode")


def test_a_smaller_module_keeps_the_state_that_it_has(report) -> None:
    fault = modules(lambda it, x: it.bidirectional)
    assert "torch.nn.LSTM(1, 1, bidirectional=True)" in report("nn.LSTM", fault, recurrent, special_values=False)
