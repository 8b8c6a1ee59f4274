"""The recorded parts of an optimizer: its options, and some of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

#: Maximum number of parameters of a group that are recorded: the smallest ones of different shapes and layouts.
SEVERAL = 4
#: Classes that are left out: they need a closure that computes the loss again, or sparse gradients, or are abstract.
_OTHERWISE = ("Optimizer", "LBFGS", "SparseAdam")


class ParameterGroup(NamedTuple):
    """A group of parameters with the same options."""

    parameters: Sequence[Any]
    options: Mapping[str, Any]


def optimizer_classes() -> Mapping[type, str]:
    """Return a mapping from the public classes of `torch.optim` whose step needs only gradients to their names."""
    return {
        kind: f"optim.{name}"
        for name, kind in vars(torch.optim).items()
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer) and name not in _OTHERWISE
    }


def groups(optimizer: Any) -> list[ParameterGroup]:
    """Return the parameter groups of `optimizer`, with the options that its constructor takes."""
    taken = inspect.signature(type(optimizer).__init__).parameters
    return [
        ParameterGroup(
            group["params"], {name: value for name, value in group.items() if name in taken and name != "params"}
        )
        for group in optimizer.param_groups
    ]


def representatives(parameters: Sequence[Any]) -> list[Any]:
    """Return one parameter of each dtype, shape and layout, at most `SEVERAL`, the smallest first."""
    distinct: dict[Any, Any] = {}
    for parameter in parameters:
        distinct.setdefault((parameter.dtype, parameter.shape, parameter.stride()), parameter)
    return sorted(distinct.values(), key=lambda parameter: parameter.numel())[:SEVERAL]
