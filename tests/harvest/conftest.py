"""Fixtures of the tests of harvesting: run a function and return the harvested calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import harvest
from autotest.sources.calls_file import Harvest, HarvestedCall, read


@pytest.fixture
def harvested(tmp_path: Path) -> Callable[..., Harvest]:
    """Return ``harvested(function)``, which returns the calls that the function makes."""

    def run(function: Callable[[], object], **options: int) -> Harvest:
        path = tmp_path / "calls.jsonl"
        with harvest(path, **options):
            function()
        return read(path)

    return run


@pytest.fixture
def only(harvested: Callable[..., Harvest]) -> Callable[..., HarvestedCall]:
    """Return ``only(function, "nn.functional.relu")``, which returns the function's only call of that name."""

    def run(function: Callable[[], object], name: str) -> HarvestedCall:
        (call,) = [call for call in harvested(function).calls if call.name == name]
        return call

    return run
