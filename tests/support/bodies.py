"""Test bodies that several files of tests run."""

from __future__ import annotations

from typing import Any

from autotest import random_tensor, torch


def relu() -> Any:
    """Of a small matrix of positive numbers, where it is smooth."""
    return torch.relu(random_tensor(shape=(2, 3), low=1, high=2))
