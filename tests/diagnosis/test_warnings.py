"""Warnings of frameworks in replays are not shown as warnings of the test."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from autotest import Divergence, random_tensor, torch
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


def test_warnings_while_a_failure_is_made_smaller_are_not_the_tests(tmp_path: Path) -> None:
    def body() -> Any:
        return torch.relu(random_tensor(2, 2, 3, dtype="float32"))

    def wrong(relu: Any) -> Any:
        def changed(x: Any) -> Any:
            warnings.warn("of the framework", stacklevel=1)
            return relu(x) + 1

        return changed

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with pytest.raises(Divergence):
            trials(body, tmp_path, FaultyTorch({"relu": wrong}), n=1, options={"shrink": 3.0})
    assert len([item for item in shown if "of the framework" in str(item.message)]) == 1  # by the trial itself
