"""A gradient that is not the derivative is named by the operator that makes it wrong, not by the leaf's first use."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.gradients import guilty_operator
from autotest.gradients.programs import check_program
from autotest.results.identity import Identity
from autotest.trials.judgement import identity_of_trial
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import trial

pytestmark = pytest.mark.parametrize("check_grad", ["numeric", "forward"])


def doubled(gradient):
    return 2 * gradient


def identity(body, check_grad, **faults) -> Identity:
    """Return the identity of the failure of a trial whose sides share the same faults."""
    fault = FaultyTorch(**faults)
    outcome = trial(body, fault, reference=fault, check_grad=check_grad)
    assert outcome.mismatches
    return identity_of_trial(outcome, Settings(check_grad=check_grad))


def test_of_a_chain_the_wrong_link_is_named(check_grad):
    def body():
        return (torch.tanh(random_tensor(2, requires_grad=True).sin() * 2) + 1).sum()

    assert identity(body, check_grad, replace={"tanh": with_gradient(doubled)}).operator == "tanh"


def test_what_is_asked_of_a_tensor_is_not_named(check_grad):
    def body():
        x = random_tensor(2, requires_grad=True)
        assert x.dim() + x.numel() > 0
        x.retain_grad()
        return torch.tanh(x)

    assert identity(body, check_grad, replace={"tanh": with_gradient(doubled)}).operator == "tanh"


def test_each_input_has_its_own_wrong_operator(check_grad):
    def body():
        x, y = (
            random_tensor(2, dim0=3, dim1=2, requires_grad=True),
            random_tensor(2, dim0=3, dim1=2, requires_grad=True),
        )
        return torch.tanh(x * 2) + torch.sinh(y.clamp(-3, 3))

    faults = {"tanh": with_gradient(doubled), "sinh": with_gradient(doubled)}
    fault = FaultyTorch(faults)
    outcome = trial(body, fault, reference=fault, check_grad=check_grad)
    assert {mismatch.operator for mismatch in outcome.mismatches} == {"tanh", "sinh"}


def test_a_wrong_operator_in_a_branch_that_no_result_needs_is_not_named(check_grad):
    def body():
        x = random_tensor(2, requires_grad=True)
        torch.sinh(x.clamp(-3, 3)).detach()
        return torch.tanh(x)

    faults = {"tanh": with_gradient(doubled), "sinh": with_gradient(doubled)}
    assert identity(body, check_grad, replace=faults).operator == "tanh"


def test_of_two_results_each_is_named_with_its_input(check_grad):
    def body():
        x, y = (random_tensor(2, dim0=3, dim1=2, low=-3, high=3, requires_grad=True) for _ in range(2))
        return torch.tanh(x), torch.sinh(y)

    fault = FaultyTorch({"tanh": with_gradient(doubled), "sinh": with_gradient(doubled)})
    outcome = trial(body, fault, reference=fault, check_grad=check_grad)
    assert {mismatch.operator for mismatch in outcome.mismatches} == {"tanh", "sinh"}


@pytest.fixture
def checked(monkeypatch):
    """Return a list that gets each program whose gradients are checked to find the operator that is wrong."""
    programs = []

    def noted(program, *given, **named):
        programs.append(program)
        return check_program(program, *given, **named)

    monkeypatch.setattr(guilty_operator, "check_program", noted)
    return programs


def test_the_last_operator_is_named_by_the_check_of_the_whole_program(check_grad, checked):
    def body():
        return torch.tanh(random_tensor(2, layout="transposed", requires_grad=True).sin())

    assert identity(body, check_grad, replace={"tanh": with_gradient(doubled)}).operator == "tanh"
    assert {[call.target for call in program.calls][-2] for program in checked} == {"sin"}


def test_it_is_checked_by_itself_if_something_happens_to_its_result(check_grad, checked):
    def body():
        y = torch.tanh(random_tensor(2, requires_grad=True))
        y.retain_grad()
        return y

    assert identity(body, check_grad, replace={"tanh": with_gradient(doubled)}).operator == "tanh"
    assert checked
