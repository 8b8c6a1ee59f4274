"""Findings of ``check_grad="numeric"`` that need a layout, shape or special number have a script that shows them."""

from __future__ import annotations

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.gradients.reverse_mode import wrong_gradient
from tests.support.faulty import FaultyTorch

pytestmark = pytest.mark.usefixtures("quick")

#: The tensors whose gradient is 1.5 times the right one, and the text of the report on what the failure needs.
WRONG = {
    "strided": (
        lambda x: not x.is_contiguous() and 0 not in x.stride(),
        "only with transposed, strided or pitched memory",
    ),
    "offset": (lambda x: x.storage_offset() > 0, "only with strided, offset, pitched or sliced memory"),
    "nine": (lambda x: x.numel() >= 9, "needs 9 elements or more"),
    "a thousand": (lambda x: x.numel() >= 1000, "needs 1000 elements or more"),
    "rank": (lambda x: x.dim() >= 3, "needs rank 3 or more"),
    "NaN": (lambda x: bool(x.isnan().any()), "only where an element is NaN"),
    "infinity": (lambda x: bool((x.abs() == float("inf")).any()), "only where an element is infinite"),
    "ties": (lambda x: x.numel() > x.unique().numel(), "only where elements are equal"),
    "a dimension of one": (lambda x: x.dim() > 1 and 1 in x.shape, "only with a dimension of 1"),
}


def wrong_where(holds):
    def replacement(original):
        import torch as real

        class Through(real.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.holds = holds(x.detach())
                return x.view_as(x)

            @staticmethod
            def backward(ctx, gradient):
                return gradient * 1.5 if ctx.holds else gradient

        return lambda x: original(Through.apply(x))

    return FaultyTorch({"sin": replacement})


@pytest.mark.parametrize("name", WRONG)
def test_a_script_shows_what_only_an_explored_feature_shows(name, against, monkeypatch):
    monkeypatch.setenv("AUTOTEST_SHRINK", "5")
    holds, told = WRONG[name]
    wrong = wrong_where(holds)
    against(wrong, wrong)
    with pytest.raises(Divergence) as caught:
        autotest(n=40, check_grad="numeric")(lambda: torch.sin(random_tensor()))()
    finding = caught.value.finding
    assert finding.script
    assert told in finding.happens
    assert wrong_gradient(finding.program, wrong) is not None
    assert wrong_gradient(finding.program, TorchFramework()) is None


def test_what_is_written_over_is_not_what_is_varied(against):
    wrong = wrong_where(lambda x: False)
    against(wrong, wrong)
    autotest(n=40, check_grad="numeric")(lambda: torch.sin(random_tensor()))()
