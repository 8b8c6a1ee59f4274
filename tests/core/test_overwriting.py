"""A value that a call overwrites is compared nevertheless, as it was before the call."""

from __future__ import annotations

import pytest

from autotest import Divergence, random_tensor, torch
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, trial, trials


def plain():
    return random_tensor(ndim=2, requires_grad=False)


def zeroed():
    return torch.sin(random_tensor(ndim=2)).zero_()


def filled_and_not_returned():
    torch.sin(plain()).fill_(2.0)


def assigned():
    y = torch.sin(random_tensor(ndim=2))
    y[:, 0] = 1.0
    y[:, 1:] = 1.0
    return y


def copied_into():
    y = torch.sin(plain())
    return y.copy_(torch.ones_like(y))


def written_as_out():
    x = plain()
    y = torch.sin(x)
    torch.exp(x, out=y)
    return y


def after_another_change():
    x = plain()
    torch.sin_(x)
    x.zero_()
    return x


BODIES = (zeroed, filled_and_not_returned, assigned, copied_into, written_as_out, after_another_change)


@pytest.mark.parametrize("body", BODIES)
def test_a_fault_is_seen_although_its_result_is_overwritten(body):
    wrong = FaultyTorch(
        {"sin": lambda sin: lambda x: sin(x) + 1, "sin_": lambda sin: lambda x: sin(x).add_(1)},
    )
    found = trial(body, wrong).mismatches
    assert {mismatch.symptom for mismatch in found} == {"value"}, found
    assert agrees(trial(body))


def test_the_report_says_what_the_copy_is_for_and_its_script_shows_the_fault(tmp_path):
    wrong = FaultyTorch({"sin": lambda sin: lambda x: sin(x) + 1})
    with pytest.raises(Divergence) as caught:
        trials(zeroed, tmp_path, wrong, n=3)
    script = caught.value.finding.script
    assert ".clone()" in script
    assert "kept before it is overwritten" in script


def test_nothing_is_copied_of_what_is_an_input_or_is_assigned_into_new_memory():
    def body():
        x = plain()
        x.zero_()
        y = torch.zeros(3, 4)
        y[0] = 1.0
        return x, y

    assert "clone" not in [call.target for call in trial(body).recorder.calls]


def test_a_copy_is_no_result_that_cotangents_are_pushed_into():
    def body():
        y = torch.sin(random_tensor(ndim=2))
        y.zero_()

    program = trial(body).program
    pushed = [call for call in program.calls if call.target == "backward"]
    assert [program.calls[call.args[0].slot].target for call in pushed] == ["zero_"]


def test_a_candidate_without_a_tensor_to_overwrite_differs_and_is_no_error_of_the_test():
    numbers = FaultyTorch({"sin": lambda sin: lambda x: 1.5})
    found = trial(zeroed, numbers).mismatches
    assert found
    assert {mismatch.side for mismatch in found} == {"candidate"}
