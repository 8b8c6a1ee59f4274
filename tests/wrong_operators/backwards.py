"""Backward passes that are wrong for some cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.wrong import Replacement, Wrong, as_it_lies, repeats
from tests.wrong_operators.wrong import torch as real


def backward(change: Callable[[Any], Any]) -> Replacement:
    """Return an operator whose gradient is ``change(cotangent)``."""
    torch = real()

    class Through(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, result: Any) -> Any:
            return result.view_as(result)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return change(gradient)

    return lambda original: lambda *args, **kwargs: Through.apply(original(*args, **kwargs))


#: The kinds of wrong backward passes, with the gradient that each gives.
CHANGES: dict[str, Callable[[Any], Any]] = {
    "doubles great gradients": lambda g: real().where(g.abs() > 1, g * 2, g),
    "reads the gradient as it lies in memory": lambda g: as_it_lies(g).clone(),
    "adds to an expanded gradient": lambda g: g + 1 if repeats(g) else g.clone(),
    "divides by a gradient of zero": lambda g: real().where(g == 0, g + 1, g),
}

BACKWARDS = [
    Wrong(f"the backward of {name} in {ndim} dimensions {what}", name, backward(change), body)
    for what, change in CHANGES.items()
    for ndim in (2, 3)
    for name, body in (
        ("relu", lambda ndim=ndim: torch.relu(random_tensor(ndim=ndim))),
        ("mul", lambda ndim=ndim: torch.mul(random_tensor(ndim=ndim), random_tensor(ndim=ndim))),
        ("cumsum", lambda ndim=ndim: torch.cumsum(random_tensor(ndim=ndim), 0)),
    )
]
