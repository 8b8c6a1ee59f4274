"""A claim on a number of an input or of a call is also tried with other numbers of the rest of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import oneof, random, random_bool, random_tensor, torch
from autotest.diagnosis.explaining.decisive_numbers import number_claim
from autotest.diagnosis.explaining.outcomes import ProgramOutcome
from autotest.program import Array
from tests.support.faulty import Replacement

pytestmark = pytest.mark.usefixtures("shrinking")


def real() -> Any:
    import torch as module

    return module


def without(*names: str) -> Replacement:
    """Return an operator that ignores these keyword arguments."""

    def replacement(original: Any) -> Any:
        return lambda *args, **given: original(*args, **{key: one for key, one in given.items() if key not in names})

    return replacement


def few(*shape: int, **more: Any) -> Any:
    return random_tensor(shape=shape, dtype="float32", **more)


def labels(*shape: int, high: int) -> Any:
    return random_tensor(shape=shape, contents="indices", high=high, dtype="int64")


def without_ignored(original: Any) -> Any:
    """Return a loss that is zero if all targets are ignored."""

    def loss(x: Any, y: Any, ignore_index: int) -> Any:
        return original(x, y, ignore_index=ignore_index) if bool((y != ignore_index).any()) else x.sum() * 0

    return loss


def without_upper_edge(original: Any) -> Any:
    """Return a histogram that leaves out numbers at its upper end."""

    def histogram(x: Any, bins: int, min: float, max: float) -> Any:  # noqa: A002 - as torch calls them
        return original(x[x < max], bins, min, max)

    return histogram


CASES: dict[str, tuple[str, Replacement, Callable[[], Any], str]] = {
    "a negative divisor": (
        "remainder",
        lambda f: lambda x, y: real().fmod(x, y),
        lambda: torch.remainder(few(4, low=0.5, high=9), random(-5.0, -1.0).to(float)),
        "",
    ),
    "a boundary at zero": (
        "bucketize",
        without("right"),
        lambda: torch.bucketize(
            random_tensor(ndim=2, contents="integers", requires_grad=False),
            torch.tensor([-2.0, 0.0, 2.0]),
            right=random_bool(),
        ),
        "only with right=True",
    ),
    "an upper end of zero": (
        "histc",
        without_upper_edge,
        lambda: torch.histc(few(6, contents="integers", requires_grad=False), bins=4, min=-3, max=3),
        "",
    ),
    "an index to ignore": (
        "nn.functional.cross_entropy",
        without_ignored,
        lambda: torch.nn.functional.cross_entropy(few(2, 3), labels(2, high=3), ignore_index=2),
        "only where an element of x1 is equal to ignore_index",
    ),
    "a limit that is an argument": (
        "linalg.matrix_rank",
        without("atol"),
        lambda: torch.linalg.matrix_rank(few(3, 3, low=-1, high=1, requires_grad=False), atol=oneof(0.5, 1e-5)),
        "only where atol is given",
    ),
    "a limit that depends on an argument": (
        "nn.functional.celu",
        lambda f: real().nn.functional.elu,
        lambda: torch.nn.functional.celu(random_tensor(ndim=2), alpha=random(1.0, 3.0).to(float)),
        "only where an element is negative, only where alpha is given",
    ),
    "a limit that is the magnitude of a number": (
        "nn.functional.hardshrink",
        lambda f: lambda x, limit: real().where(x.abs() < limit, 0.0, x),
        lambda: torch.nn.functional.hardshrink(few(6, low=-3, high=0, contents="integers"), 1.0),
        "",
    ),
    "an order of a norm": (
        "nn.functional.embedding",
        without("norm_type"),
        lambda: torch.nn.functional.embedding(
            labels(4, high=5), few(5, 3, requires_grad=False), max_norm=1.0, norm_type=oneof(1.0, 2.0)
        ),
        "only where max_norm is given, only where norm_type is given",
    ),
    "bounds in the wrong order": (
        "clamp",
        lambda f: lambda x, low, high: x.clamp(max=high).clamp(min=low),
        lambda: torch.clamp(few(4, requires_grad=False), random(-3, 3), random(-3, 3)),
        "",
    ),
    "a limit that depends on a weight": (
        "nn.Linear",
        lambda cls: type(
            "Linear", (cls,), {"forward": lambda self, x: cls.forward(self, x).clamp(max=6), "__module__": __name__}
        ),
        lambda: torch.nn.Linear(1, 1)(few(2, 1, low=-20, high=20)),
        "",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_holds_beside_one_number_alone_is_not_said(name: str, happens: Callable[..., str]) -> None:
    *planted, told = CASES[name]
    assert happens(*planted) == told


def test_a_negative_number_that_a_second_input_must_share_is_said_of_neither(happens) -> None:
    def body() -> Any:
        return torch.nn.functional.cosine_embedding_loss(
            few(4, 3, high=0), few(4, 3, high=0), torch.tensor([1.0, -1.0, 1.0, -1.0]), margin=oneof(0.0, 0.5)
        )

    told = happens("nn.functional.cosine_embedding_loss", without("margin"), body)
    assert "margin is given" in told
    assert "of x0 is negative" not in told
    assert "of x1 is negative" not in told


def test_a_number_is_not_needed_if_the_sides_differ_by_infinity_with_others(happens) -> None:
    def of_zero(power: Any) -> Any:
        return lambda x, y: real().where(x == 0, 0.0, power(x, y))

    told = happens("pow", of_zero, lambda: torch.pow(few(4, requires_grad=False), few(4, requires_grad=False)))
    assert told == "only where an element of x0 is zero, only where an element of x1 is zero or negative"


def test_an_integer_that_makes_a_product_too_great_needs_no_further_ones(happens) -> None:
    def narrow(original: Any) -> Any:
        return lambda x: original(x, dtype=real().int32).long()

    told = happens("prod", narrow, lambda: torch.prod(random_tensor(ndim=2, dtype="int32")))
    assert "elements or more" not in told


def test_numbers_that_are_evenly_spaced_are_not_all_different_ones(happens) -> None:
    def body() -> Any:
        return torch.nn.functional.interpolate(few(2, 2, 6, 6), size=(3, 4), mode="bilinear", antialias=random_bool())

    told = happens("nn.functional.interpolate", without("antialias"), body)
    assert told == "needs a dimension of 3 or more, only with antialias=True"


def test_nan_is_not_needed_if_a_number_greater_than_ordinary_ones_shows_it(happens) -> None:
    def saturated(original: Any) -> Any:
        return lambda x, y: original(x.clamp(max=20), y)

    def body() -> Any:
        return torch.nn.functional.multilabel_soft_margin_loss(
            few(3, 4), few(3, 4, contents="one_hot", requires_grad=False)
        )

    assert "NaN" not in happens("nn.functional.multilabel_soft_margin_loss", saturated, body)


def test_limits_of_both_signs_that_are_alike_are_told_as_the_smaller_one(happens) -> None:
    def unstable(original: Any) -> Any:
        return lambda x, dim: x.exp().cumsum(dim).log()

    told = happens("logcumsumexp", unstable, lambda: torch.logcumsumexp(few(3, 4, low=-2000, high=0), dim=random(0, 2)))
    assert told == "only where an element is greater than about 89 in magnitude"


def test_a_rank_is_tried_with_another_last_dimension_too(happens) -> None:
    def kept(original: Any) -> Any:
        return lambda x: original(x) if x.dim() < 3 else x

    told = happens("flipud", kept, lambda: torch.flipud(random_tensor(ndim=random(1, 4))))
    assert told == "needs rank 3 or more, needs a dimension of 2 or more"


def test_an_index_that_only_has_to_differ_from_another_one_needs_no_size() -> None:
    places = np.array([[1, 3], [0, 3]])

    def ending(data: Any) -> ProgramOutcome:
        if data.shape != places.shape or data.min() < 0 or data.max() > 3:
            return "neither"
        return "fails" if data[0, 0] != data[0, 1] else "passes"

    claim = number_claim(Array(places, "int64"), ending, special_only=False)
    assert claim is None or "at least" not in claim.text


def test_a_limit_of_whole_numbers_is_told(happens) -> None:
    def saturated(original: Any) -> Any:
        return lambda x, power: original(x, power.clamp(max=30))

    def body() -> Any:
        return torch.ldexp(few(5), random_tensor(shape=(5,), dtype="int32"))

    assert happens("ldexp", saturated, body) == "only where an element of x1 is at least 31"
