"""A candidate whose results vary from run to run is called nondeterministic, and no feature is said to matter."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import trials


@pytest.mark.parametrize("period", [5, 13])
def test_what_passes_now_and_then_is_nondeterministic_and_not_explained(period: int, tmp_path: Path) -> None:
    def body() -> Any:
        return dual.cos(random_tensor(ndim=2, low=-1, high=1, requires_grad=False))

    runs = itertools.count(1)

    def mostly_wrong(cos: Any) -> Any:
        return lambda x: cos(x) + (1 if next(runs) % period else 0)

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch({"cos": mostly_wrong}), n=1, options={"shrink": 5.0, "verify": False})
    finding = raised.value.finding
    assert finding is not None
    assert (finding.blame, finding.happens) == ("nondeterministic", ())
    assert not [line for line in finding.shrinking if line.startswith(("Matters", "Irrelevant", "Nearest"))]


def test_a_wrong_operand_of_a_normalisation_that_keeps_its_mean_is_no_nondeterminism(tmp_path: Path) -> None:
    def body() -> Any:
        norm = dual.nn.BatchNorm1d(4)
        return norm(random_tensor(2, 3, 4, low=-1, high=1).float())

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch(tensors={"float": plus(1)}), n=1, options={"shrink": 5.0, "verify": False})
    finding = raised.value.finding
    assert finding is not None
    assert (finding.operator, finding.blame) == ("float", "candidate")
