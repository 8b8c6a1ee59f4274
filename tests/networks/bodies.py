"""Test bodies for the models: they build a network, set its mode, and call it with drawn inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import autotest as at
from autotest import torch as dual
from tests.networks.further_models import FURTHER_INPUTS, FURTHER_MODELS
from tests.networks.models import INPUTS, MODELS, Model

ALL_MODELS: Mapping[str, Model] = {**MODELS, **FURTHER_MODELS}
ALL_INPUTS: Mapping[str, tuple[Any, ...]] = {**INPUTS, **FURTHER_INPUTS}


def inputs(name: str) -> list[Any]:
    """Return drawn dual inputs for the model `name`."""
    drawn = []
    for spec in ALL_INPUTS[name]:
        if isinstance(spec[0], tuple):
            drawn.append(at.random_tensor(shape=spec[0], low=0, high=spec[1], dtype="int64"))
        else:
            drawn.append(at.random_tensor(shape=spec, low=-1, high=1))
    return drawn


def distinct(network: Any) -> Any:
    """Give the normalisations of `network` different parameters, as trained ones have."""
    for module in network.modules():
        if isinstance(module, (dual.nn.LayerNorm, dual.nn.GroupNorm, dual.nn.BatchNorm1d, dual.nn.BatchNorm2d)):
            dual.nn.init.uniform_(module.weight, 0.5, 1.5)
            dual.nn.init.uniform_(module.bias, -0.5, 0.5)
    return network


def calling(name: str, *, training: bool) -> Callable[[], Any]:
    """Return a body that calls the model `name` once."""

    def body() -> Any:
        network = ALL_MODELS[name](dual)
        network.train(training)
        return network(*inputs(name))

    return body
