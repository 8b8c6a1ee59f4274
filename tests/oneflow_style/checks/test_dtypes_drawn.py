"""What tests of later OneFlow releases draw: families of dtypes, complex and real tensors, placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from autotest.results.divergence import Divergence
from autotest.base.errors import UsageError
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.oneflow import (
    all_cpu_placement,
    autotest,
    random_dtype,
    random_pytorch_dtype,
    random_tensor,
    torch,
    torch_flow_dual_object,
)
from autotest.oneflow.dtypes import FAMILIES
from autotest.oneflow.global_scope import GlobalScope
from generators import Source, using
from tests.support.faulty import FaultyTorch


def against(candidate: FaultyTorch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use `candidate` in place of OneFlow 0.9.0, which cannot create complex tensors."""
    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")
    monkeypatch.setattr(torch_flow_dual_object, "style_pair", lambda: Pair(TorchFramework(), candidate))


def drawn_dtypes(draw: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, **asked: Any) -> Counter[str]:
    against(FaultyTorch(), monkeypatch)
    seen: Counter[str] = Counter()

    @autotest(n=20, **asked)
    def test(case: object) -> object:
        x = draw()
        seen[str(x.pytorch.dtype)] += 1
        return x + x

    test(None)
    return seen


def test_include_complex_makes_half_of_the_tensors_complex(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = drawn_dtypes(lambda: random_tensor(2, 3, 4), monkeypatch, include_complex=True)
    assert set(seen) == {"torch.float32", "torch.complex64"}
    assert min(seen.values()) >= 4
    assert str(random_tensor(2, 3, 4).pytorch.dtype) == "torch.float32"


def test_a_tensor_stays_real_unless_complex_ones_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(drawn_dtypes(lambda: random_tensor(2, 3, 4), monkeypatch, check_graph=False)) == {"torch.float32"}
    with_dtype = drawn_dtypes(lambda: random_tensor(2, 3, 4, dtype=int), monkeypatch, include_complex=True)
    assert set(with_dtype) == {"torch.int64"}


def test_a_fault_that_only_complex_tensors_have_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(exp: Any) -> Any:
        return lambda x: exp(x).conj().resolve_conj() if x.is_complex() else exp(x)

    against(FaultyTorch({"exp": wrong}), monkeypatch)

    def body(case: object) -> object:
        return torch.exp(random_tensor(2, 3, 4))

    autotest(n=10, check_graph=False)(body)(None)
    with pytest.raises(Divergence, match="exp, value"):
        autotest(n=10, include_complex=True)(body)(None)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64"])
def test_a_global_tensor_requires_grad_if_a_local_one_of_its_dtype_does(dtype: str) -> None:
    asked: list[tuple[bool, bool]] = []

    @autotest(n=2, auto_backward=False, check_graph=False)
    def test(case: object) -> None:
        local = random_tensor(2, 3, 4, dtype=dtype)
        with GlobalScope():
            drawn = random_tensor(2, 3, 4, dtype=dtype)
        assert drawn.oneflow.is_global
        asked.append((drawn.oneflow.requires_grad, local.oneflow.requires_grad))

    test(None)
    assert asked == [(dtype != "int64",) * 2] * 2


def test_oneflow_is_told_of_for_having_no_complex_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")

    @autotest(n=10, include_complex=True)
    def test(case: object) -> object:
        return torch.exp(random_tensor(2, 3, 4))

    with pytest.raises(Divergence, match="tensor, exception"):
        test(None)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_draws_each_of_its_dtypes_and_no_other(family: str) -> None:
    with using(Source(7)):
        drawn = {str(random_pytorch_dtype([family]).value()).rpartition(".")[2] for _ in range(60)}
    assert drawn == {str(name) for name in FAMILIES[family]}


def test_a_dtype_is_one_on_both_sides() -> None:
    x = random_tensor(2, 3, 4).to(dtype=random_dtype(["int", "bool"]))
    assert str(x.pytorch.dtype).rpartition(".")[2] == str(x.oneflow.dtype).rpartition(".")[2]
    assert str(random_tensor(1, 3, dtype=random_dtype(["float64"])).oneflow.dtype) == "oneflow.float64"
    assert random_dtype(["None"]) is None


@pytest.mark.parametrize("families", [["number"], "arithmetic", []])
def test_a_word_that_is_no_family_is_refused(families: Any) -> None:
    with pytest.raises(UsageError, match="arithmetic"):
        random_dtype(families)


def test_all_placements_on_cpu_are_on_cpu() -> None:
    placements = all_cpu_placement()
    assert len(placements) > 0
    assert {placement.type for placement in placements} == {"cpu"}
