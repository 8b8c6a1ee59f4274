"""A call that changes a value which it only has to read is wrong, whatever it computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.changed_operands import changing_operator
from autotest.replaying.agreement import agree
from tests.support import planted_inplace
from tests.support.faulty import FaultyTorch
from tests.support.running import pair_with, trial, trials


def drawn() -> Any:
    return random_tensor(shape=(2, 3), low=1, high=3, dtype="float32", requires_grad=False)


def test_a_call_that_works_in_place_by_mistake_is_wrong_without_an_oracle(tmp_path: Path) -> None:
    in_place = FaultyTorch({"relu": lambda original: lambda x: x.relu_()})
    with pytest.raises(Divergence) as caught:
        trials(lambda: dual.relu(drawn() - 2).sum(), tmp_path, in_place, n=1, options={"shrink": 5.0})
    assert caught.value.finding.verdict == ("faulty: relu changes an earlier value, which torch leaves as it is",)


def test_a_call_that_writes_into_its_operand_changes_it_on_purpose() -> None:
    def body() -> Any:
        x = drawn() * 1
        x.relu_()  # changes no number above zero
        return x

    wrong = planted_inplace.wrong()
    agreement = agree(trial(body, wrong).program, pair_with(wrong), Settings())
    (write,) = (call.slot for call in agreement.program.calls if call.target == "relu_")
    assert agreement.mismatches
    assert changing_operator(agreement.program, (write - 1, ""), write, pair_with(wrong)) == ""


def test_a_step_changes_parameters_on_purpose() -> None:
    def body() -> Any:
        layer = dual.nn.Linear(3, 2)
        optimizer = dual.optim.SGD(layer.parameters(), lr=0.0)
        layer(drawn()).sum().backward()
        optimizer.step()
        return layer(drawn())

    fast = FaultyTorch({"optim.SGD": lambda original: lambda parameters, lr: original(parameters, lr=lr + 1)})
    agreement = agree(trial(body, fast).program, pair_with(fast), Settings())
    (step,) = (call.slot for call in agreement.program.calls if call.target == "step")
    assert agreement.mismatches
    assert changing_operator(agreement.program, (0, ".weight"), step, pair_with(fast)) == ""
