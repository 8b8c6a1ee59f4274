"""Recording slows training down by less than three times."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from autotest import harvest
from tests.harvest import networks


@pytest.mark.slow
@pytest.mark.parametrize("train", [networks.images, networks.texts])
def test_recording_takes_less_than_three_times_as_long_as_training(
    tmp_path: Path, train: Callable[[int], float]
) -> None:
    """The least of several turns, side by side: other processes make single ones longer."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        alone, recorded = [], []
        for turn in range(6):
            alone.append(_seconds(train))
            with harvest(tmp_path / f"{turn}.jsonl"):
                recorded.append(_seconds(train))
    finally:
        torch.set_num_threads(threads)
    assert min(recorded) < 3 * min(alone)


def _seconds(train: Callable[[int], float]) -> float:
    began = time.perf_counter()
    train(20)
    return time.perf_counter() - began
