"""Programs of optimizers: steps on a parameter, with single options and pairs of options."""

from __future__ import annotations

from typing import Any

import torch

from tests.sweep.planted import TORCH, failing, fault, swept

CELL = "optim.SGD/optimizer/float32"


def without_dampening(kind: Any) -> Any:
    def made(parameters: Any, **options: Any) -> torch.optim.SGD:
        return kind(parameters, **{**options, "dampening": 0})

    return made


def test_torch_beside_itself_steps_alike() -> None:
    found = swept(TORCH, CELL)
    assert failing(found) == set()
    assert found.accepted > 30


def test_an_option_that_only_matters_beside_another_is_tried() -> None:
    assert "value" in failing(swept(fault("optim.SGD", without_dampening), CELL, "sample"))
