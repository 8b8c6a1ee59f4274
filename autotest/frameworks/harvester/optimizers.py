"""Says what is recorded of an optimizer: its options, and some of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

#: Parameters of a group that are written down: small ones of other shapes and layouts.
SEVERAL = 4
#: Take a function that computes the loss again, or sparse gradients.
_OTHERWISE = ("Optimizer", "LBFGS", "SparseAdam")


class ParameterGroup(NamedTuple):
    """One group of parameters that is stepped alike."""

    parameters: Sequence[Any]
    options: Mapping[str, Any]


def optimizer_classes() -> Mapping[type, str]:
    """The public classes of `torch.optim` that step on gradients alone, by what they are called."""
    return {
        kind: f"optim.{name}"
        for name, kind in vars(torch.optim).items()
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer) and name not in _OTHERWISE
    }


def groups(optimizer: Any) -> list[ParameterGroup]:
    """The groups of `optimizer`, with the options that its constructor takes."""
    taken = inspect.signature(type(optimizer).__init__).parameters
    return [
        ParameterGroup(
            group["params"], {name: value for name, value in group.items() if name in taken and name != "params"}
        )
        for group in optimizer.param_groups
    ]


def some(parameters: Sequence[Any]) -> list[Any]:
    """The smallest of them of each shape and layout, a few at most."""
    distinct: dict[Any, Any] = {}
    for parameter in parameters:
        distinct.setdefault((parameter.dtype, parameter.shape, parameter.stride()), parameter)
    return sorted(distinct.values(), key=lambda parameter: parameter.numel())[:SEVERAL]
