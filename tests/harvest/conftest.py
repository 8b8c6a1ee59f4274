"""What the tests of harvesting share: a block that is harvested, and what was written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import harvest
from autotest.sources.calls_file import Harvest, HarvestedCall, read


@pytest.fixture
def harvested(tmp_path: Path) -> Callable[..., Harvest]:
    """``harvested(function)``: the calls that the function makes."""

    def run(function: Callable[[], object], **options: int) -> Harvest:
        path = tmp_path / "calls.jsonl"
        with harvest(path, **options):
            function()
        return read(path)

    return run


@pytest.fixture
def only(harvested: Callable[..., Harvest]) -> Callable[..., HarvestedCall]:
    """``only(function, "nn.functional.relu")``: the one call of that name that the function makes."""

    def run(function: Callable[[], object], name: str) -> HarvestedCall:
        (call,) = [call for call in harvested(function).calls if call.name == name]
        return call

    return run
