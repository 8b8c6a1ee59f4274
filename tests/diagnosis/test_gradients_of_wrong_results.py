"""A gradient that differs because the result is wrong is reported as the wrong result, which an oracle can judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest import Divergence, torch
from autotest.results.finding import Finding
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import trials
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import gradient_where


def of_nan() -> Any:
    """Return a sum that is NaN on both sides, so that only its gradient can show a difference."""
    held = np.arange(20, dtype="float32")
    held[3] = np.nan
    return torch.sum(torch.tensor(held, requires_grad=True))


def found(fault: Replacement, folder: Path) -> Finding:
    with pytest.raises(Divergence) as caught:
        trials(of_nan, folder, FaultyTorch({"sum": fault}), n=1, options={"shrink": 20.0})
    assert caught.value.finding is not None
    return caught.value.finding


def test_the_wrong_result_behind_a_gradient_is_reported(tmp_path: Path) -> None:
    finding = found(called(lambda x: x.numel() > 8), tmp_path)
    assert (finding.operator, finding.first.symptom, finding.blame) == ("sum", "value", "candidate")
    assert finding.happens == ("needs 9 elements or more",)
    assert finding.identity.symptom == "gradient"  # as the trial showed it, whatever the diagnosis finds


def test_a_gradient_that_is_wrong_itself_is_reported_as_one(tmp_path: Path) -> None:
    finding = found(gradient_where(lambda x: x.numel() > 8), tmp_path)
    assert (finding.operator, finding.first.symptom, finding.blame) == ("sum", "gradient", "candidate")
