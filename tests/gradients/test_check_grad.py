"""``@autotest(check_grad=..., grad_order=...)`` finds faults that both sides share, and faults of second order."""

from __future__ import annotations

import itertools

import pytest
import torch as real

from autotest import Divergence, GradientNotCompared, TooFewAccepted, UsageError, autotest, random_tensor, torch
from autotest.frameworks.oneflow import OneFlowFramework
from autotest.results.identity import operator_behind
from tests.gradients.test_gradcheck import PLANTED, Cubes, needs_oneflow
from tests.support import block_framework
from tests.support.faulty import FaultyTorch, returning, with_gradient
from tests.support.running import agrees, targets, trial, trials


def wrong(change):
    """Return torch whose exp has a changed gradient."""
    return FaultyTorch({"exp": with_gradient(change)})


def exp():
    """Square, and as large as the planted faults need: each element costs runs of the program."""
    return torch.exp(random_tensor(shape=(5, 5)))


def passes(body, candidate=None, **settings):
    outcome = trial(body, candidate, **settings)
    assert not outcome.complaint, outcome.complaint
    return agrees(outcome)


@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_that_both_sides_share_is_seen_by_numbers_alone(name):
    fault = wrong(PLANTED[name])
    assert agrees(trial(exp, fault, reference=wrong(PLANTED[name])))
    found = trial(exp, fault, reference=wrong(PLANTED[name]), check_grad="numeric").mismatches
    assert {mismatch.symptom for mismatch in found} == {"gradient"}
    assert "by central differences in float64" in found[0].message


@pytest.mark.parametrize("made", [lambda: random_tensor(shape=(2,)), lambda: torch.ones(2, requires_grad=True)])
def test_such_a_fault_has_the_name_of_the_operator_however_the_leaf_was_made(made):
    fault = PLANTED[next(iter(PLANTED))]
    outcome = trial(lambda: torch.exp(made()), wrong(fault), reference=wrong(fault), check_grad="numeric")
    assert {operator_behind(outcome.program.calls, found) for found in outcome.mismatches} == {"exp"}


def test_right_gradients_are_counted():
    outcome = trial(exp, FaultyTorch(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs == 2


@pytest.mark.parametrize("check_grad", ["numeric", "forward"])
@pytest.mark.parametrize("grad_order", [1, 2])
def test_programs_of_every_kind_can_be_checked(check_grad, grad_order):
    def several():
        x, y = random_tensor(shape=(3, 4), low=1, high=2), random_tensor(shape=(1, 4), low=1, high=2)
        return x * y, (x / y).sum(1)

    def module():
        return torch.tanh(torch.nn.Linear(4, 3)(random_tensor(shape=(5, 4), layout="transposed")))

    def in_place():
        x = random_tensor(shape=(3, 4), requires_grad=False)
        y = random_tensor(shape=(3, 4))
        x.mul_(2)
        z = y * x
        z += 1
        return z.sin_()

    def no_grad():
        x = random_tensor(shape=(3, 4))
        with torch.no_grad():
            size = x * 2
        return x * size

    for body in (several, module, in_place, no_grad):
        outcome = trial(body, check_grad=check_grad, grad_order=grad_order)
        assert agrees(outcome), outcome.mismatches
        assert not outcome.complaint
        assert outcome.numeric_pairs > 0


@pytest.mark.parametrize("check_grad", ["numeric", "forward"])
def test_where_the_function_is_no_number_no_gradient_is_accused(check_grad):
    def body():
        return torch.relu(torch.tensor([float("nan"), 1.0]) + random_tensor(shape=(2,), low=1, high=2)).sum()

    assert passes(body, check_grad=check_grad)


BENT_INSIDE = {
    "a difference of two kinks": lambda x: torch.relu(x) - torch.relu(-x),
    "a kink times a step": lambda x: x.abs() * x.sign(),
    "a tie": lambda x: torch.minimum(torch.relu(x), x),
    "two kinks whose sum has one": lambda x: 2 * torch.relu(x) - torch.relu(-x),
    "an infinity that is not chosen": lambda x: torch.where(x > 0, torch.log(x), x),
    "results that are returned, too": lambda x: (torch.relu(x), torch.relu(x) - torch.relu(-x)),
}


@pytest.mark.parametrize("check_grad", ["numeric", "forward"])
@pytest.mark.parametrize("formula", BENT_INSIDE.values(), ids=BENT_INSIDE)
def test_where_only_an_intermediate_result_has_a_kink_the_chain_rule_is_not_accused(formula, check_grad, tmp_path):
    def body():
        return formula(random_tensor(shape=(3, 2), contents="ties"))

    assert trials(body, tmp_path, check_grad=check_grad, n=10).accepted == 10


@pytest.mark.parametrize("odd", [float("inf"), float("nan")])
def test_a_wrong_gradient_beside_a_number_that_hides_it_in_a_sum_is_found(odd):
    def body():
        x = torch.tensor([0.5, odd, -0.25], requires_grad=True)
        return torch.tanh(x) + x

    fault = FaultyTorch({"tanh": with_gradient(lambda gradient: 1.25 * gradient)})
    found = trial(body, fault, reference=fault, check_grad="numeric").mismatches
    assert "is not its derivative" in found[0].message
    assert passes(body, check_grad="numeric")


def test_a_program_that_fails_inside_of_a_context_leaves_it():
    def body():
        x = random_tensor(shape=(3, 2), requires_grad=True)
        with torch.no_grad():
            torch.exp(x.detach())
        return torch.tanh(x)

    def fails_in_double(original):
        def refuses(x):
            if x.dtype == real.float64:
                raise RuntimeError("not in double precision")
            return original(x)

        return refuses

    fault = FaultyTorch({"exp": fails_in_double})
    trial(body, fault, reference=fault, check_grad="numeric")
    assert real.is_grad_enabled()


@pytest.mark.parametrize("check_grad", ["numeric", "forward"])
def test_kinks_inside_excuse_no_other_element(check_grad):
    fault = FaultyTorch({"relu": with_gradient(lambda gradient: 1.5 * gradient)})

    def body():
        x = random_tensor(shape=(4, 4), contents="ties")
        return torch.relu(x) - torch.relu(-x)

    found = trial(body, fault, reference=fault, check_grad=check_grad).mismatches
    assert "is not its derivative" in found[0].message


def test_forward_mode_is_held_against_numbers_where_there_is_one():
    class Doubles(real.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, cotangent):
            return cotangent * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3

    fault = FaultyTorch({"exp": lambda _: lambda x: Doubles.apply(x)})  # noqa: PLW0108 - it has no signature
    assert agrees(trial(exp, fault, reference=fault, check_grad="numeric"))
    found = trial(exp, fault, reference=fault, check_grad="forward").mismatches
    assert "forward mode" in found[0].message


def test_a_wrong_gradient_of_a_gradient_needs_the_second_order():
    def body():
        return torch.pow(random_tensor(shape=(4, 4)), 3)

    fault = FaultyTorch({"pow": lambda _: lambda x, exponent: Cubes.apply(x)})
    assert passes(body, fault)
    assert trial(body, fault, grad_order=2).mismatches[0].stage == "backward"
    assert passes(body, FaultyTorch(), grad_order=2)
    found = trial(body, fault, reference=fault, check_grad="numeric", grad_order=2).mismatches
    assert "output gradient 0" in found[0].message


def test_the_second_order_is_recorded_as_calls():
    outcome = trial(exp, grad_order=2)
    assert agrees(outcome)
    assert "autograd.grad" in targets(outcome)
    assert outcome.gradients >= 3


def test_a_gradient_that_is_the_cotangent_itself_may_be_a_copy_on_the_candidate():
    def copying(grad):
        return lambda *args, **kwargs: tuple(one.clone() for one in grad(*args, **kwargs))

    def body():
        return torch.add(random_tensor(shape=(3,)), random_tensor(shape=(3,)))

    assert passes(body, FaultyTorch({"autograd.grad": copying}), grad_order=2)


def test_a_leaf_that_a_call_returns_may_be_a_copy_on_the_candidate():
    candidate = FaultyTorch({"atleast_1d": returning(lambda y: y.clone())})
    assert passes(lambda: torch.atleast_1d(random_tensor(shape=(3,))) * 2, candidate)


def test_the_second_order_of_a_linear_function():
    assert passes(lambda: random_tensor(shape=(3,)) * 2, grad_order=2)
    assert passes(lambda: torch.relu(random_tensor(shape=(3,), low=-1)), grad_order=2)
    assert passes(lambda: torch.nn.Linear(3, 2)(random_tensor(shape=(4, 3))), grad_order=2)


def dropped():
    return torch.exp(torch.nn.functional.dropout(random_tensor(shape=(4, 5), low=-1, high=1), 0.25))


@pytest.mark.parametrize("settings", [{}, {"grad_order": 2}, {"check_grad": "forward"}])
def test_behind_a_dropout_the_mask_that_was_drawn_is_an_input(settings):
    outcome = trial(dropped, **{"check_grad": "numeric", **settings})
    assert agrees(outcome)
    assert outcome.complaint == ""
    assert outcome.numeric_pairs >= 1


def test_a_dropout_whose_result_is_not_used_prevents_nothing():
    def body():
        torch.nn.functional.dropout(random_tensor(shape=(2,)), 0.5)
        return dropped()

    outcome = trial(body, check_grad="numeric")
    assert agrees(outcome)
    assert outcome.complaint == ""


def test_a_wrong_gradient_that_passes_a_dropout_on_both_sides_is_found_with_a_program_that_shows_it(tmp_path):
    fault = FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 1.01)})
    outcome = trial(dropped, fault, reference=fault, check_grad="numeric")
    assert [mismatch.what for mismatch in outcome.mismatches] == ["not the derivative of its own forward"]
    assert "dropout" not in str(outcome.program)
    assert not outcome.program.undefined
    with pytest.raises(Divergence, match="its gradient is not the derivative of its own forward"):
        trials(dropped, tmp_path, fault, check_grad="numeric", rtol=1e-1)


def test_random_numbers_that_no_mask_stands_for_are_said_where_a_gradient_passes():
    def body():
        return torch.sin(torch.nn.functional.rrelu(random_tensor(shape=(4,), low=-1, high=1), training=True))

    outcome = trial(body, check_grad="numeric")
    assert "cannot be done: it computes with unspecified contents" in outcome.complaint


def regular_only_in_single_precision():
    """Return the inverse of a matrix that is the identity in single precision, and all ones in double."""
    big = torch.ones(2, 2) * 2.0**24
    rounded_away = (big + 1) - big
    matrix = random_tensor(shape=(2, 2), low=-1, high=1, dtype="float32") * 0 + torch.eye(2)
    return torch.inverse(matrix + rounded_away * (1 - torch.eye(2)))


def test_a_trial_whose_matrix_is_singular_only_in_double_precision_is_rejected(tmp_path):
    outcome = trial(regular_only_in_single_precision, check_grad="numeric")
    assert not outcome.complaint
    assert outcome.rejection.target == "inverse"
    assert outcome.rejection.text.startswith("in double precision: linalg.inv: ")
    assert trial(regular_only_in_single_precision).rejection is None


def test_a_test_of_such_trials_only_says_why_none_was_accepted(tmp_path):
    with pytest.raises(TooFewAccepted, match=r"inverse: .*in double precision: "):
        trials(regular_only_in_single_precision, tmp_path, check_grad="numeric")


def test_a_numeric_mismatch_is_reported_with_its_table(tmp_path):
    fault = FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 1.001)})
    with pytest.raises(Divergence) as caught:
        trials(exp, tmp_path, fault, check_grad="numeric", rtol=1e-2)
    text = str(caught.value)
    assert "faulty is wrong: its gradient is not the derivative of its own forward" in text
    assert "Analytic" in text


@pytest.mark.parametrize(
    "arguments",
    [
        {"check_grad": "both"},
        {"grad_order": 3},
        {"grad_order": True},
        {"check_grad": "numeric", "auto_backward": False},
    ],
)
def test_arguments_that_make_no_sense(arguments):
    with pytest.raises(UsageError, match=next(iter(arguments))):
        autotest(**arguments)


def test_a_wrong_dtype_of_a_gradient_is_a_divergence():
    fault = FaultyTorch(gradient=lambda tensor: None if tensor.grad is None else tensor.grad.double())
    assert trial(exp, fault).mismatches[0].symptom == "dtype"


def test_a_missing_gradient_is_a_divergence():
    assert trial(exp, FaultyTorch(gradient=lambda tensor: None)).mismatches


@needs_oneflow
@pytest.mark.parametrize("grad_order", [1, 2])
def test_oneflow_is_held_against_numbers(grad_order):
    def body():
        return torch.tanh(torch.nn.Linear(4, 3)(random_tensor(shape=(5, 4))))

    outcome = trial(body, OneFlowFramework(), check_grad="numeric", grad_order=grad_order)
    assert agrees(outcome)
    assert not outcome.complaint
    assert outcome.numeric_pairs > 3


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"check_grad": "numeric"}, "check_grad='numeric'"),
        ({"check_grad": "intermediate"}, "check_grad='intermediate'"),
        ({"grad_order": 2}, "grad_order=2"),
    ],
)
def test_a_check_that_finds_no_gradient_in_any_trial_is_an_error(tmp_path, asked, said):
    def body():
        return torch.exp(random_tensor(shape=(3,), requires_grad=False))

    with pytest.raises(GradientNotCompared, match=rf"{said} checked nothing, because none of 2 trials had a gradient"):
        trials(body, tmp_path, n=2, **asked)
    assert trials(body, tmp_path, n=2, **asked, skip_grad="none is needed").accepted == 2
    sometimes = itertools.cycle([True, False])
    assert trials(lambda: exp() if next(sometimes) else body(), tmp_path, n=2, **asked).accepted == 2


def test_gates_and_numbers_together(tmp_path):
    with pytest.raises(GradientNotCompared):
        trials(lambda: exp().argmax(), tmp_path, check_grad="numeric")


def test_an_expanded_leaf_of_a_functional_candidate_is_varied_as_the_memory_that_its_elements_share():
    def body():
        return torch.tanh(random_tensor(shape=(3, 2, 2), layout="expanded", dtype="float64"))

    for seed in range(5):
        assert agrees(trial(body, block_framework.framework(), check_grad="numeric", seed=seed))
