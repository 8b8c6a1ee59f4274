"""Helpers of the comparison tests: make a tensor in few words, and compare two values with default settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, Mismatch, TensorValue, compare_values


@pytest.fixture
def tensor() -> Callable[..., TensorValue]:
    """Return ``tensor(values, dtype)``, which makes a tensor; bfloat16 is held as float32, as adapters do."""

    def build(values: Any, dtype: str = "float32", *, device: str = "cpu", requires_grad: bool = False) -> TensorValue:
        data = np.array(values, "float32" if dtype == "bfloat16" else dtype)
        return TensorValue(data, dtype, device, requires_grad)

    return build


@pytest.fixture
def compare() -> Callable[..., Sequence[Mismatch]]:
    """Return ``compare(expected, actual)``, with defaults for name, slot and stage, which most tests do not need."""

    def judge(expected: Any, actual: Any, name: str = "v1", stage: Any = "forward", **options: Any) -> Any:
        tolerance = Tolerance(options.pop("rtol", None), options.pop("atol", None))
        how = Comparison(stage, tolerance, 1, **options)
        found = compare_values(name, expected, actual, how)
        assert how.differs(expected, actual) == bool(found), "the answer without statistics is another one"
        return found

    return judge


@pytest.fixture
def symptoms(compare: Callable[..., Sequence[Mismatch]]) -> Callable[..., list[str]]:
    """Return ``symptoms(expected, actual)``, which compares and returns only the symptoms, in order."""
    return lambda *args, **options: [found.symptom for found in compare(*args, **options)]
