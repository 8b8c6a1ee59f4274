"""A number or a size that was read of a dual tensor can be used wherever a plain one can."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from autotest.results.divergence import Divergence
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.oneflow import autotest, random_tensor, torch, torch_flow_dual_object
from tests.support.faulty import FaultyTorch


def test_they_are_used_as_plain_ones_are() -> None:
    @autotest(n=2, check_graph=False)
    def test(case: object) -> Any:
        x = random_tensor(2, 3, 4)
        assert x.shape == (3, 4)
        assert x.shape.numel() == 12
        assert x.shape.oneflow.numel() == 12
        assert np.zeros(x.shape).ndim == x.ndim == copy.deepcopy(x.ndim) == x.dim()
        y = x.reshape(x.shape[1], x.size(0)) + torch.ones(4, 3) * x.ndim
        assert "SidedInt" not in repr(x.ndim) + repr(y.shape)
        return y.reshape(x.shape), x.ndim, {"size": x.shape}

    test(None)


def test_a_number_that_differs_is_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")
    faulty = FaultyTorch(tensors={"dim": lambda dim: lambda x: dim(x) + 1})
    monkeypatch.setattr(torch_flow_dual_object, "style_pair", lambda: Pair(TorchFramework(), faulty))

    @autotest(n=1, check_graph=False)
    def test(case: object) -> Any:
        return random_tensor(2, 3, 4).dim()

    with pytest.raises(Divergence, match="dim"):
        test(None)
