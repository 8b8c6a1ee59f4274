"""The gate fails tests that could compare gradients and do not: what passes, what is refused, and its messages."""

from __future__ import annotations

import functools

import pytest

from autotest import (
    Divergence,
    GradientNotCompared,
    UsageError,
    autotest,
    random_bool,
    random_tensor,
    skip_grad_check,
    torch,
)
from autotest.comparison.rejection import Rejection
from autotest.results.gradient_tally import GradientTally
from autotest.results.ledger import Ledger, LedgerEntry
from tests.support import faults
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import agrees, trial, trials


def passes(body, **settings):
    outcome = trial(body, **settings)
    return agrees(outcome) and not outcome.complaint


def refusal(body, **settings):
    outcome = trial(body, **settings)
    assert agrees(outcome)
    return outcome.complaint


def test_a_trial_whose_gradients_were_compared_passes():
    assert passes(lambda: torch.relu(random_tensor(ndim=2)))


def test_a_test_whose_inputs_could_carry_gradients_fails_by_name_when_none_is_compared(tmp_path):
    with pytest.raises(GradientNotCompared) as caught:
        trials(lambda: torch.relu(random_tensor(ndim=2)), tmp_path, auto_backward=False)
    text = str(caught.value)
    assert text.startswith("test_it.py::test_it: trial 0 ")
    assert "the results of relu depend on them, but no gradient was compared: auto_backward=False" in text
    assert "@skip_grad_check(reason=...)" in text


def test_a_result_that_is_not_returned_is_missed():
    def body():
        y = torch.exp(random_tensor(ndim=1))
        return y.argmax()

    assert "results of exp depend on them" in refusal(body)
    assert "no returned tensor depends on them" in refusal(body)


def test_inputs_that_carry_no_gradient_need_none():
    assert passes(lambda: torch.relu(random_tensor(ndim=2, requires_grad=False)), auto_backward=False)
    assert passes(lambda: torch.abs(random_tensor(ndim=2, dtype=int, high=9)), auto_backward=False)
    assert passes(lambda: ~random_tensor(ndim=2, dtype=bool), auto_backward=False)


def test_results_that_depend_on_no_input_need_none():
    def body():
        with torch.no_grad():
            return torch.relu(random_tensor(ndim=2))

    assert passes(body)


@pytest.mark.parametrize("name", ["argmax", "isnan", "floor", "sign", "ones_like"])
def test_operators_without_a_gradient_need_none(name):
    assert passes(lambda: getattr(torch, name)(random_tensor(ndim=2)), auto_backward=False)


def test_an_input_to_which_torch_gives_no_gradient_needs_none():
    assert passes(lambda: torch.norm(random_tensor(ndim=2), 0))


def test_a_gradient_of_such_an_input_on_one_side_is_a_divergence(against):
    against(FaultyTorch({"norm": lambda norm: lambda x, p: (x != 0).sum() + 0.0 * x.sum()}))
    with pytest.raises(Divergence, match=r"x0\.grad"):
        autotest(n=2)(lambda: torch.norm(random_tensor(ndim=2), 0))()


def test_one_operator_without_a_gradient_does_not_excuse_another():
    found = refusal(lambda: torch.floor(torch.exp(random_tensor(ndim=2))), auto_backward=False)
    assert "results of exp depend" in found


def test_a_backward_whose_result_nobody_compares_is_reported():
    def body():
        x = random_tensor(ndim=2) * 1  # not a leaf: its gradient is not kept
        z = x.detach()
        y = torch.exp(random_tensor(ndim=2))
        y.sum().backward()
        y.detach_()
        return z

    def thrown_away():
        x = random_tensor(ndim=2)
        torch.exp(x).sum().backward()
        x.grad = None

    assert passes(body, auto_backward=False)
    assert "ran backward, but .grad = None removed the gradients" in refusal(thrown_away, auto_backward=False)


def test_a_gradient_that_is_zeroed_before_anything_reads_it_is_reported():
    def body():
        x = random_tensor(ndim=2)
        torch.exp(x).sum().backward()
        x.grad.zero_()

    assert ".grad.zero_() removed the gradients" in refusal(body, auto_backward=False)


def test_an_optimizer_that_forgets_its_gradients_before_the_step_is_reported():
    def body(stepping):
        x = random_tensor(ndim=1, dim0=3)
        optimizer = torch.optim.SGD([x], lr=0.1)
        (x * x).sum().backward()
        if stepping:
            optimizer.step()
        optimizer.zero_grad()
        return x.detach()

    assert passes(functools.partial(body, True), auto_backward=False)
    assert "optim.SGD.zero_grad() removed the gradients" in refusal(functools.partial(body, False), auto_backward=False)


def test_gradients_that_the_body_takes_itself_count():
    def read():
        x = random_tensor(ndim=2)
        torch.exp(x).sum().backward()
        return x.grad

    def asked_for():
        x = random_tensor(ndim=2)
        return torch.autograd.grad(torch.exp(x).sum(), [x])

    assert passes(read, auto_backward=False)
    assert passes(asked_for, auto_backward=False)


def test_parameters_of_modules_count_as_inputs():
    def body():
        return torch.nn.Linear(3, 2)(random_tensor(ndim=2, dim1=3, requires_grad=False))

    assert passes(body)
    assert "results of nn.Linear depend" in refusal(body, auto_backward=False)


def test_a_divergence_that_the_ledger_expects_is_no_forgotten_gradient(tmp_path):
    entry = LedgerEntry(key="known", test="*", symptom="exception", reason="planted")
    body = functools.partial(lambda: torch.relu(random_tensor(ndim=2)))
    tally = trials(body, tmp_path, faults.missing_relu(), n=3, ledger=Ledger((entry,)))
    assert tally.expected == {"known": 3}


def test_a_wrong_gradient_that_the_test_forgets_is_what_the_gate_is_for(tmp_path):
    with pytest.raises(GradientNotCompared):
        trials(lambda: torch.relu(random_tensor()), tmp_path, faults.wrong_relu_gradient(), auto_backward=False)
    with pytest.raises(Divergence):
        trials(lambda: torch.relu(random_tensor()), tmp_path, faults.wrong_relu_gradient())


def test_a_listed_operator_that_turns_out_to_have_a_gradient_fails():
    leaky = FaultyTorch({"argmax": lambda _: lambda x: x.sum()})
    outcome = trial(lambda: torch.argmax(random_tensor(ndim=1)), leaky, reference=leaky)
    assert "argmax has a gradient" in outcome.complaint


def test_what_is_written_into_the_result_of_a_listed_operator_may_have_a_gradient():
    def body():
        x = random_tensor(shape=(3, 2))
        total = x.new_zeros(3)
        total += x.sum(1)
        filled = torch.zeros_like(x)
        filled[0][1] = x[1, 0]
        return total, filled

    assert passes(body)


def test_a_listed_operator_whose_gradient_is_not_zero_fails():
    straight = FaultyTorch({"floor": lambda _: lambda x: x * 1})
    outcome = trial(lambda: torch.floor(random_tensor(ndim=1)), straight, reference=straight)
    assert "floor has a gradient that is not zero" in outcome.complaint


def test_a_wrong_gradient_of_a_listed_operator_is_a_divergence():
    wrong = FaultyTorch({"floor": with_gradient(lambda gradient: gradient + 1)})
    assert trial(lambda: torch.floor(random_tensor(ndim=1)), wrong).mismatches


# -- skip_grad_check ----------------------------------------------------------------------------------------


def relu():
    """Return a new body each time, because a mark stays on its function."""
    return lambda: torch.relu(random_tensor(ndim=2))


def test_a_test_may_say_why_it_compares_no_gradient():
    below = autotest(n=2, auto_backward=False)(skip_grad_check(reason="planted")(relu()))
    below()
    above = skip_grad_check(reason="planted")(autotest(n=2, auto_backward=False)(relu()))
    above()
    with pytest.raises(GradientNotCompared):
        autotest(n=2, auto_backward=False)(relu())()


def test_other_decorators_may_stand_between():
    def other(function):
        @functools.wraps(function)
        def wrapper():
            return function()

        return wrapper

    skip_grad_check(reason="planted")(other(autotest(n=2, auto_backward=False)(relu())))()


@pytest.mark.parametrize("reason", ["", "  ", None])
def test_an_empty_reason_is_refused(reason):
    with pytest.raises(UsageError, match="expected a reason why"):
        skip_grad_check(reason=reason)


def test_only_functions_are_marked():
    with pytest.raises(UsageError, match="marks test functions"):
        skip_grad_check(reason="planted")(dict)


def scattered_from_a_larger_source():
    x, source = random_tensor(ndim=2, dim0=3, dim1=4), random_tensor(ndim=2, dim0=3, dim1=4)
    index = random_tensor(ndim=2, dim0=3, dim1=2, dtype=int, low=0, high=4)
    return x.scatter(1, index, source * 2)


def test_a_test_whose_every_backward_is_refused_fails_although_trials_without_some_gradients_are_accepted(tmp_path):
    with pytest.raises(GradientNotCompared) as caught:
        trials(scattered_from_a_larger_source, tmp_path)
    text = str(caught.value)
    assert "in no trial in which all inputs require grad: the reference refused the backward of " in text
    assert "ScatterBackward0 returned an invalid gradient" in text


def test_a_test_some_of_whose_backwards_are_refused_passes(tmp_path):
    def body():
        return scattered_from_a_larger_source() if random_bool().value() else torch.relu(random_tensor(ndim=2))

    trials(body, tmp_path)


def test_a_test_that_says_that_it_compares_no_gradients_may_be_refused_them(tmp_path):
    trials(scattered_from_a_larger_source, tmp_path, skip_grad="its gradient is not defined")


def test_a_backward_that_needs_what_the_candidate_lacks_is_not_said_to_be_refused_by_the_reference():
    tally = GradientTally()
    tally.add_rejection(Rejection("backward", "Absent", "mine has no expand"))
    assert "mine has no expand, which the backward of 1 trial needs. Add it to the adapter" in tally.complaint
    assert "reference" not in tally.complaint
