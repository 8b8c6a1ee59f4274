"""A number or size that was read from a dual tensor can be used like a plain one."""

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


def test_a_part_of_a_size_has_both_sides_too() -> None:
    @autotest(n=1, check_graph=False)
    def test(case: object) -> Any:
        x = random_tensor(3, 3, 4, 5)
        shape = x.shape
        assert shape[1:].pytorch == x.pytorch.shape[1:]
        assert tuple(shape[1:].oneflow) == tuple(x.oneflow.shape[1:])
        assert shape[-1] == 5
        return x.reshape(shape[1:] + shape[:1])

    test(None)


def test_only_a_tolerance_that_the_file_gives_is_law() -> None:
    def asked(**given: float) -> Any:
        return autotest(n=1, **given)(lambda case: None).__wrapped__.__autotest__

    assert (asked().rtol, asked().atol) == (1e-4, 1e-5)
    assert not asked().gives_tolerance
    assert asked(rtol=1e-4).gives_tolerance
    assert asked(atol=1e-5).gives_tolerance
