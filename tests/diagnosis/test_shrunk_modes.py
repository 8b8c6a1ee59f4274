"""A program whose modules draw no random numbers is not shrunk to one in which both sides draw some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from tests.diagnosis.test_state_of_modules import method
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


def always_dropping(cls: Any) -> Callable[..., Any]:
    import torch

    return lambda self, x: torch.nn.functional.dropout(x, self.p, training=True)


def test_the_evaluation_mode_of_a_dropout_that_drops_in_it_is_kept(quick: Any) -> None:
    def body() -> Any:
        net = dual.nn.Sequential(dual.nn.Tanh(), dual.nn.Dropout(0.5))
        net.eval()
        return net(random_tensor(shape=(3, 4), low=-1, high=1, dtype="float32"))

    faulty = FaultyTorch({"nn.Dropout": method("forward", always_dropping)})
    with pytest.raises(Divergence) as raised:
        trials(body, quick, faulty, n=1, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == "nn.Dropout"
    assert {call.target for call in finding.program.calls} & {"train", "eval"}
    assert not any("two runs of torch differ" in line and "by 0" not in line for line in finding.verdict)
