"""Plain Python works with dual objects as expected: text, conditions, loops, items, numbers, containers."""

# ruff: noqa: C416, PLR0124, PLW0108 - written as a new user writes it

from __future__ import annotations

import copy
import functools
import math

import numpy as np
import pytest
import torch as real

from autotest import choice_tensor, oneof, random, random_tensor, torch
from tests.support import faults
from tests.support.running import agrees, trial

GLOBAL = random(2, 4)


def in_place(x):
    y = x * 1
    y[0] = 5.0
    y += 1
    return y


def chosen_by_condition(x):
    return x * 2 if x.sum() > 0 else -x


def asserting(x):
    assert (x == x).all()
    assert x.shape == (2, 3)
    assert len(x) == 2
    assert isinstance(x, torch.Tensor)
    assert hasattr(x, "shape")
    assert not hasattr(x, "nonsense")
    assert getattr(x, "nonsense", 7) == 7
    assert x in [x]
    assert x is not None
    return x * 2


def with_default(x, k=GLOBAL):
    return x * k


def unpacked(x):
    first, second = x
    return first + second


BODIES = {
    "f-string": lambda x: x * len(f"{x}"),
    "format": lambda x: x * len(f"{x.sum():.3f}"),
    "repr": lambda x: x * len(repr(x)),
    "condition": chosen_by_condition,
    "plain_condition": lambda x: x * 2 if x.sum().item() > 0 else -x,
    "assertions": asserting,
    "rows": lambda x: functools.reduce(lambda a, b: a + b, [row for row in x]),
    "sum": lambda x: sum(x),
    "max": lambda x: max(x.sum(), x.mean()),
    "sorted": lambda x: sorted(x.reshape(-1))[0],
    "enumerated": lambda x: [row * at for at, row in enumerate(x)],
    "zipped": lambda x: sum(a * b for a, b in zip(x, x, strict=True)),
    "stacked": lambda x: torch.stack(list(x)),
    "indices": lambda x: [x[at] for at in range(x.shape[0])],
    "unpacked": unpacked,
    "items": in_place,
    "key": lambda x: {x: 2}[x] * x,
    "literal": lambda x: torch.tensor([1.0, 2.0, 3.0]) + x,
    "size_of_numpy": lambda x: x.reshape(np.int64(3), np.int64(2)),
    "number_of_numpy": lambda x: x * np.float32(2) + np.float64(1),
    "root": lambda x: x * math.sqrt(x.shape[1]),
    "dtype_of_torch": lambda x: x.to(real.float64),
    "device_of_torch": lambda x: x.to(real.device("cpu")) * torch.zeros(1, device="cpu"),
    "dual_dtype": lambda x: random_tensor(shape=x.shape, dtype=torch.float64) * x,
    "drawn_dual_dtype": lambda x: random_tensor(shape=x.shape, dtype=oneof(torch.float32, torch.float64)) * x,
    "dual_dtype_of_a_choice": lambda x: choice_tensor([0.5, 1.5], size=3, dtype=torch.float64) * x,
    "dtype_of_numpy": lambda x: random_tensor(shape=[2, 3], dtype=np.float32) * x,
    "copied": lambda x: copy.deepcopy(x) * 2,
    "default_argument": with_default,
    "generator_in_a_list": lambda x: x.reshape([3, random(2, 3).to(int)]),
    "generator_as_operand": lambda x: x * random(1, 3) - random(0.5, 1.5),
    "power": lambda x: x**2 + 2**x - (-x) / 2,
    "nested": lambda x: {"a": x * 2, "b": [x + 1, (x - 1,)], "c": None},
    "twice": lambda x: (x.exp(),) * 2,
}


@pytest.mark.parametrize("name", BODIES)
def test_plain_python_means_what_it_says(name):
    outcome = trial(
        lambda: BODIES[name](random_tensor(shape=(2, 3), low=-1, high=1, dtype="float32")), faults.none(), seed=3
    )
    assert agrees(outcome), (outcome.mismatches, outcome.rejection)
