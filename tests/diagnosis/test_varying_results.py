"""A candidate whose results vary from run to run is called nondeterministic, and no feature is said to matter."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from tests.support.faulty import FaultyTorch
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
