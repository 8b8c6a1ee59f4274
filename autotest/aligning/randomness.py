"""Refuses a model whose results depend on random numbers that its forward draws: its port draws others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.frameworks import Framework
from autotest.frameworks.freezing import frozen_copies
from autotest.program import Array
from autotest.replaying.module_alone import flat


def check_not_random(framework: Framework, side: str, model: Any, inputs: Sequence[Array]) -> None:
    """Raise `UsageError` if `model`, which has drawn random numbers, returns others when it draws others.

    Some models draw and do not use the numbers, as those that skip layers with probability 0.
    """
    try:
        twin = copy.deepcopy(model)  # because a call may change buffers
        one, other = (_results(framework, twin, inputs, seed) for seed in (0, 1))
    except Exception:  # noqa: BLE001 - a model that cannot be copied: nothing is known about it
        return
    if len(one) != len(other) or not all(map(np.array_equal, one, other, [True] * len(one))):
        raise UsageError(
            f"the {side} model draws random numbers in its forward, on which its results depend (such as "
            "nn.functional.dropout in training): call .eval() on both models, or set the probability to 0"
        )


def _results(framework: Framework, model: Any, inputs: Sequence[Array], seed: int) -> list[np.ndarray[Any, Any]]:
    framework.seed(seed)
    tensors = [framework.tensor(one) for one in inputs]
    output = framework.invoke("method", "__call__", [model, *tensors], {})
    return [value.data for value in frozen_copies(framework, flat(framework, output))]
