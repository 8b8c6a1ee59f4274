"""How often a diagnosis reads what all objects hold, which takes long for a large network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import trials


class Counting(FaultyTorch):
    """A faulty candidate that counts how often the modes of a module are read."""

    def __init__(self) -> None:
        super().__init__({"relu": plus(1.0)})
        self.count = 0

    def training_modes(self, module: Any) -> dict[str, bool]:
        self.count += 1
        return super().training_modes(module)


def readings(layers: int, folder: Path) -> int:
    """Return how often a module is read in the diagnosis of a wrong `relu` behind a network of `layers` layers."""

    def body() -> Any:
        network = dual.nn.Sequential()
        for at in range(layers):
            network.add_module(f"layer{at}", dual.nn.Linear(2, 2))
        network.eval()
        return dual.relu(network(random_tensor(shape=(3, 2), dtype="float32")))

    candidate = Counting()
    with pytest.raises(Divergence) as raised:
        trials(body, folder, candidate, n=1, special_values=False)
    assert raised.value.finding is not None
    assert raised.value.finding.operator == "relu"
    return candidate.count


def test_the_layers_of_a_larger_network_are_not_read_more_often(quick: Path) -> None:
    small, middle, large = (readings(layers, quick / str(layers)) for layers in (4, 8, 16))
    assert large - middle == 2 * (middle - small) > 0
