"""The report names the argument that a failure needs, and none if other values of it show the failure, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, autotest, constant, nothing, oneof, random, random_bool, random_tensor, torch
from tests.support.faulty import FaultyTorch

pytestmark = pytest.mark.usefixtures("shrinking")


@pytest.fixture
def happens(against: Callable[..., object]) -> Callable[..., str]:
    """Return a function that returns the line on when the function `path` fails that is off where `condition` holds."""

    def told(path: str, condition: Callable[..., bool], body: Callable[[], Any]) -> str:
        def faulty(original: Any) -> Any:
            def wrong(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                if not condition(*args, **kwargs):
                    return result
                return (result[0] + 1, *result[1:]) if isinstance(result, tuple) else result + 1

            return wrong

        against(FaultyTorch({path: faulty}))
        with pytest.raises(Divergence) as caught:
            autotest()(body)()
        found = re.search(r"^Happens: .*(?:\n {12}.*)*", str(caught.value), re.MULTILINE)
        return "" if found is None else " ".join(found[0].split()).removeprefix("Happens: ")

    return told


def x(ndim: int = 2, **said: Any) -> Any:
    return random_tensor(ndim=ndim, **said)


def losses(**said: Any) -> Any:
    size = random(1, 9)
    return torch.nn.functional.mse_loss(x(1, dim0=size), x(1, dim0=size), **said)


def leaky(slope: Any, **said: Any) -> Any:
    return torch.nn.functional.leaky_relu(x(), slope, **said)


@pytest.mark.parametrize(
    ("path", "condition", "body", "said"),
    [
        (
            "sum",
            lambda x, dim, keepdim: keepdim,
            lambda: torch.sum(x(), dim=random(-2, 2), keepdim=random_bool()),
            "only with keepdim=True",
        ),
        (
            "sort",
            lambda x, dim, descending: descending,
            lambda: torch.sort(x(), random(-2, 2), random_bool())[0],
            "only with the True of sort",
        ),
        (
            "nn.functional.mse_loss",
            lambda x, y, reduction="mean": reduction == "sum",
            lambda: losses(reduction=oneof("sum", "mean", "none")),
            "only with reduction='sum'",
        ),
        (
            "add",
            lambda x, y, alpha=1: alpha != 1,
            lambda: torch.add(x(), x(), alpha=constant(2.0) | nothing()),
            "only where alpha is given",
        ),
        (
            "nn.functional.leaky_relu",
            lambda x, slope: slope == 0,
            lambda: leaky(random(0.0, 1.0)),
            "only with the 0.0 of nn.functional.leaky_relu",
        ),
        (
            "nn.functional.dropout",
            lambda x, p, training: p == 0,
            lambda: torch.nn.functional.dropout(x(), p=oneof(0.0, 0.5), training=True),
            "only where p is zero",
        ),
        (
            "nan_to_num",
            lambda x, nan="": nan is None,
            lambda: torch.nan_to_num(x(), nan=None),
            "only with nan=None",
        ),
        (
            "tril",
            lambda x, diagonal: diagonal < 0,
            lambda: torch.tril(x(), diagonal=random(-2, 3)),
            "only where diagonal is negative",
        ),
        ("relu", lambda x: x.numel() == 1, lambda: torch.relu(random_tensor()), "only with 1 element"),
    ],
)
def test_the_argument_that_a_failure_needs_is_named(happens, path, condition, body, said) -> None:
    assert happens(path, condition, body) == said


@pytest.mark.parametrize(
    ("path", "condition", "body"),
    [
        ("nn.functional.leaky_relu", lambda x, slope: True, lambda: leaky(random(0.0, 1.0))),
        ("nn.functional.leaky_relu", lambda x, slope, inplace: True, lambda: leaky(0.0, inplace=False)),
        ("nn.functional.mse_loss", lambda x, y, reduction="": True, lambda: losses(reduction=oneof("sum", "none"))),
        ("sum", lambda x, **said: True, lambda: torch.sum(x(), dim=0, keepdim=random_bool())),
        ("clamp", lambda x, **said: True, lambda: torch.clamp(x(), min=0)),
        ("nn.functional.leaky_relu", lambda x, slope: x.numel() > 1 or slope == 0, lambda: leaky(0.0)),
    ],
)
def test_an_argument_with_whose_other_values_it_fails_too_is_not_named(happens, path, condition, body) -> None:
    assert happens(path, condition, body) == ""


@pytest.mark.parametrize("given", [lambda y: torch.softmax(y, 0), lambda y: torch.softmax(y, dim=0)])
def test_a_dimension_is_not_named_because_another_one_has_another_size(happens, given) -> None:
    told = happens("softmax", lambda x, dim: x.shape[dim] > 8, lambda: given(x(2, dim0=9, dim1=random(1, 4))))
    assert told == "needs 9 elements or more"


def test_that_a_dimension_is_given_at_all_is_not_named(happens) -> None:
    told = happens("sum", lambda x, dim=None: dim == 0, lambda: torch.sum(x(2, dim0=3, dim1=4), dim=0))
    assert "given" not in told


def signal() -> Any:
    return random_tensor(shape=(6,), dtype="complex64")


def image() -> Any:
    return random_tensor(shape=(1, 1, 4, 4), dtype="float32")


def scaled(words: str) -> Any:
    return torch.nn.functional.interpolate(
        image(), size=(6, 5), mode=oneof(*words.split()), align_corners=random_bool()
    )


@pytest.mark.parametrize(
    ("path", "condition", "body", "told"),
    [
        (
            "fft.ifft",
            lambda x, norm="backward": norm != "backward",
            lambda: torch.fft.ifft(signal(), norm=oneof("backward", "ortho", "forward")),
            r"only with norm='(forward' or 'ortho|ortho' or 'forward)'",
        ),
        (
            "nn.functional.pad",
            lambda x, pad, mode="constant": mode in ("reflect", "circular"),
            lambda: torch.nn.functional.pad(
                image(), (1, 1, 1, 1), mode=oneof("constant", "reflect", "replicate", "circular")
            ),
            r".*only with mode='(reflect' or 'circular|circular' or 'reflect)'",
        ),
        (
            "nn.functional.interpolate",
            lambda x, size, mode, align_corners: mode == "bicubic",
            lambda: scaled("bilinear bicubic"),
            r".*only with mode='bicubic'",  # without a mode, the corners cannot be aligned
        ),
    ],
    ids=["two of three words", "two of four words", "an argument that must be given"],
)
def test_all_words_that_show_a_failure_are_named(happens, path, condition, body, told) -> None:
    assert re.fullmatch(told, happens(path, condition, body))
