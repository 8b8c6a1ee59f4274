"""One trial: what is backpropagated, what is compared, and what ends it."""

from __future__ import annotations

import collections
import unittest
from typing import NamedTuple

import pytest
import torch as real

from autotest import UsageError, random, random_tensor, torch
from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.recording.recorder import current
from autotest.replaying.agreement import agree
from tests.support.bodies import relu
from tests.support.faulty import FaultyTorch, plus, raising, returning, with_gradient
from tests.support.running import agrees, targets, trial

DOUBLED = FaultyTorch({"relu": with_gradient(lambda gradient: 2 * gradient)})


def symptoms(outcome):
    return [mismatch.symptom for mismatch in outcome.mismatches]


@pytest.mark.parametrize(
    "shape_of_result",
    [
        lambda y: y,
        lambda y: (y, torch.exp(random_tensor())),
        lambda y: [y],
        lambda y: {"one": (y, [random_tensor() + 1])},
        lambda y: (y, None),
        lambda y: torch.split(y, 1),
        lambda y: None,
        lambda y: y.sum().backward(),
    ],
    ids=["one", "several", "list", "nested", "with None", "tuple that came back", "None", "own backward"],
)
def test_a_wrong_gradient_is_found_whatever_is_returned(shape_of_result):
    def body():
        return shape_of_result(relu())

    assert agrees(trial(body))
    assert "gradient" in symptoms(trial(body, DOUBLED))


def test_without_backward_no_gradient_is_compared():
    outcome = trial(relu, DOUBLED, auto_backward=False)
    assert agrees(outcome)
    assert outcome.gradients == 0 or "backward" not in targets(outcome)


def test_cotangents_are_drawn_and_not_all_alike():
    outcome = trial(relu)
    cotangent = outcome.recorder.calls[-2]
    assert cotangent.note == "cotangent"
    drawn = outcome.recorder.arrays[cotangent.args[0].index].data
    assert drawn.size == 1 or len(set(drawn.ravel().tolist())) > 1


def test_what_is_returned_twice_is_pushed_back_once():
    def body():
        y = relu()
        return y, y

    outcome = trial(body)
    assert agrees(outcome)
    assert sum(call.note == "cotangent" for call in outcome.recorder.calls) == 1


@pytest.mark.parametrize("check_errors", [False, True])
def test_a_backward_that_the_reference_refuses_halfway_leaves_no_gradient(check_errors):
    def body():
        x, other = random_tensor(ndim=2, dim1=3, dtype="float32"), random_tensor(ndim=2)
        m = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
        before_the_step = m(x)
        m(x).sum().backward()
        torch.optim.SGD(m.parameters(), lr=0.1).step()
        return before_the_step, other * 2, other

    outcome = trial(body, check_errors=check_errors)
    assert agrees(outcome)
    x, other = (call.slot for call in outcome.recorder.calls if call.kind == "tensor" and call.note == "")
    assert outcome.recorder.expected[x].grad is not None
    assert outcome.recorder.expected[other].grad is None


def test_integers_and_detached_results_need_no_backward():
    outcome = trial(lambda: (torch.arange(3), relu().detach()))
    assert agrees(outcome)
    assert not {"backward", "autograd.backward"} & set(targets(outcome))


def test_in_place_calls_are_compared_through_every_alias():
    def body():
        x = random_tensor(ndim=2, dim0=3, requires_grad=False)
        row, same = x[0], x.view(-1)
        x.add_(1)
        return row, same

    assert agrees(trial(body))
    # The base is right on both sides. Only the view shows that it does not share memory with the base.
    found = trial(body, FaultyTorch(tensors={"view": returning(lambda view: view.clone())})).mismatches
    assert [mismatch.symptom for mismatch in found] == ["value"]


def test_an_input_that_a_call_changed_on_one_side_alone_is_found():
    def spoiling(relu):
        def spoiled(x):
            result = relu(x)
            x.detach().add_(1)
            return result

        return spoiled

    found = trial(
        lambda: torch.relu(random_tensor(low=1, high=2)), FaultyTorch({"relu": spoiling}), auto_backward=False
    )
    assert [(mismatch.name, mismatch.symptom) for mismatch in found.mismatches] == [("x0", "value")]


def test_every_mismatch_of_a_trial_is_found_in_program_order():
    def body():
        return torch.relu(random_tensor()), torch.exp(random_tensor()), torch.sin(random_tensor())

    outcome = trial(body, FaultyTorch({"relu": plus(1.0), "sin": plus(1.0)}))
    assert symptoms(outcome) == ["value", "value"]
    slots = [mismatch.slot for mismatch in outcome.mismatches]
    assert slots == sorted(slots)


def test_an_exception_of_the_candidate_alone_is_a_divergence():
    outcome = trial(relu, FaultyTorch({"relu": raising(RuntimeError("out of order"))}))
    assert symptoms(outcome) == ["exception"]
    assert "out of order" in outcome.mismatches[0].message


def test_what_was_right_before_the_candidate_raised_is_still_compared():
    def body():
        return torch.relu(torch.exp(random_tensor()))

    outcome = trial(body, FaultyTorch({"exp": plus(1.0), "relu": raising(RuntimeError("late"))}))
    assert sorted(symptoms(outcome)) == ["exception", "value"]


@pytest.mark.parametrize("name", ["mul_", "__setitem__"])
def test_what_a_failed_call_did_not_write_through_a_view_is_no_finding_beside_the_failure(name):
    def body():
        x = random_tensor(shape=(5, 6), requires_grad=False)
        row = x[2]
        row.mul_(3)
        row[1:] = 9
        return x * 2

    outcome = trial(body, FaultyTorch(tensors={name: raising(RuntimeError("no"))}))
    assert symptoms(outcome) == ["exception"]


def test_a_refusal_of_the_reference_rejects_the_trial_with_its_reason():
    def body():
        return torch.cat([torch.ones(2, 3), torch.ones(3, 2)])

    outcome = trial(body)
    assert outcome.mismatches == []
    assert outcome.rejection.target == "cat"
    assert "Sizes of tensors must match" in outcome.rejection.text


def test_results_are_compared_where_the_reference_refuses_only_their_backward():
    def body():
        return torch.vander(random_tensor(shape=(3,), low=1, high=2))  # its backward is refused for two columns or more

    refused = trial(body)
    assert refused.rejection.target == "backward"
    increasing = FaultyTorch({"vander": lambda vander: lambda x: vander(x, increasing=True)})
    assert symptoms(trial(body, increasing)) == ["value"]


def test_a_backward_that_is_refused_halfway_leaves_no_gradients():
    def body():
        x = random_tensor(shape=(3,), low=1, high=2)
        return torch.vander(x), torch.exp(random_tensor(shape=(3,)))

    refused = trial(body)
    assert refused.mismatches == []
    assert refused.rejection.target == "autograd.backward"


def test_the_body_cannot_swallow_the_end_of_its_trial():
    def body():
        try:
            torch.ones(2) @ torch.ones(3)
        except Exception:  # noqa: BLE001 - what a careless test body does
            pytest.fail("a refusal is not for the body to see")
        return torch.ones(1)

    assert trial(body).rejection is not None


@pytest.mark.parametrize(
    "raised",
    [
        AttributeError("'NoneType' object has no attribute 'sum'"),
        unittest.SkipTest("unsupported"),
        pytest.skip.Exception("unsupported"),
        UsageError("returned 3.0"),
    ],
    ids=["error", "unittest skips", "pytest skips", "misuse"],
)
def test_what_a_body_raises_after_it_swallowed_the_end_of_its_trial_hides_nothing(raised):
    def body():
        try:
            return torch.relu(random_tensor())
        except:  # noqa: E722 - what a careless test body does
            raise raised from None

    assert symptoms(trial(body, FaultyTorch({"relu": raising(RuntimeError("no relu"))}))) == ["exception"]
    assert trial(body, reference=FaultyTorch({"relu": raising(RuntimeError("no relu"))})).rejection is not None


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        (lambda: torch.reluu(random_tensor()), AttributeError, "reluu"),
        (lambda: random_tensor().summ(), AttributeError, "summ"),
        (lambda: torch.nn.Linear(3, 4, biass=True), TypeError, "biass"),
        (lambda: undefined_name, NameError, "undefined_name"),  # noqa: F821
        (lambda: 1 / 0, ZeroDivisionError, "division"),
        (lambda: next(iter(())), StopIteration, None),
        (lambda: random(5, 1), ValueError, "random"),
        (lambda: torch.ones(random(0, 3).to(int).filter(lambda n: n > 7)), ValueError, "filter"),
    ],
)
def test_a_mistake_in_the_body_is_raised_at_once_as_it_is(body, error, says):
    with pytest.raises(error, match=says):
        trial(body)
    assert current() is None


@pytest.mark.parametrize("foreign", [3, "text", real.ones(2), object()], ids=["int", "str", "tensor", "object"])
def test_returning_what_is_not_dual_says_what_to_return(foreign):
    with pytest.raises(UsageError, match="return the dual tensors"):
        trial(lambda: foreign)


def test_a_tensor_of_one_side_is_not_dual():
    with pytest.raises(UsageError, match="return the dual tensors"):
        trial(lambda: random_tensor(ndim=2).reference + 1)


class Doubled(NamedTuple):
    double: object
    triple: object


@pytest.mark.parametrize(
    "returned",
    [
        lambda x: Doubled(torch.relu(x), x * 3),
        lambda x: collections.OrderedDict(double=torch.relu(x), triple=x * 3),
        lambda x: (torch.relu(x), x.shape[0], x.shape),
    ],
)
def test_named_tuples_dicts_of_any_kind_and_parts_of_sizes_can_be_returned(returned):
    def body():
        return returned(random_tensor(ndim=2, low=-1))

    assert agrees(trial(body))
    assert symptoms(trial(body, DOUBLED)) == ["gradient"]


def test_nothing_called_is_nothing_compared():
    assert trial(lambda: None).compared == 0
    assert trial(random_tensor).compared == 0


def test_the_same_seed_gives_the_same_program_and_another_seed_another():
    def body():
        return torch.relu(random_tensor(low=-1))

    one, two, other = (trial(body, seed=seed) for seed in (7, 7, 8))
    assert one.recorder.calls == two.recorder.calls
    assert [array.data.tobytes() for array in one.recorder.arrays] == [
        array.data.tobytes() for array in two.recorder.arrays
    ]
    assert one.choices != other.choices


def test_random_numbers_that_are_data_are_the_same_on_both_sides():
    def body():
        x = torch.randn(3, 4)
        y = torch.empty(3).uniform_(0, 1)
        assert x.reference.tolist() == x.candidate.tolist()
        assert y.reference.tolist() == y.candidate.tolist()
        return x + torch.rand_like(x)

    assert agrees(trial(body))


def test_a_fault_after_random_numbers_is_found():
    assert symptoms(trial(lambda: torch.exp(torch.randn(3)), FaultyTorch({"exp": plus(1.0)}))) == ["value"]


def test_undefined_contents_are_compared_by_everything_but_value():
    def body():
        return torch.empty(3, 4) + 1

    assert agrees(trial(body, FaultyTorch({"empty": lambda empty: lambda *size: real.full(size, 3.0)})))
    short = FaultyTorch({"empty": lambda empty: lambda *size: real.full(size[:1], 3.0)})
    assert symptoms(trial(body, short)) == ["shape", "shape"]


def test_an_argument_that_is_not_data_makes_the_program_not_replayable():
    body = trial(lambda: torch.ones(2).apply_(lambda value: value + 1))
    assert agrees(body)
    with pytest.raises(NotReplayable, match="function"):
        assert body.program


def test_error_parity_finds_a_candidate_that_accepts_what_the_reference_refuses():
    def body():
        return torch.cholesky_solve(torch.ones(2), torch.ones(2))

    accepting = FaultyTorch({"cholesky_solve": lambda original: lambda *args: real.ones(1)})
    assert trial(body, accepting).rejection is not None
    found = trial(body, accepting, check_errors=True)
    assert symptoms(found) == ["accepted"]
    refusing = trial(body, check_errors=True)
    assert refusing.rejection is not None
    assert refusing.mismatches == []


def test_a_lazy_candidate_that_refuses_when_its_result_is_read_refuses():
    def read(value):
        if value.data.shape == (1,):
            raise RuntimeError("computed only now, and of singular numbers")
        return value

    def body():
        return torch.cholesky_solve(torch.ones(2), torch.ones(2))

    accepting = {"cholesky_solve": lambda original: lambda *args: real.ones(1)}
    eager, lazy = FaultyTorch(accepting), FaultyTorch(accepting, value=read)
    found = trial(body, lazy, check_errors=True)
    assert found.rejection is not None
    assert found.mismatches == []
    program, settings = trial(body, eager, check_errors=True).program, Settings(check_errors=True)
    assert symptoms(agree(program, Pair(TorchFramework(), eager), settings)) == ["accepted"]
    assert symptoms(agree(program, Pair(TorchFramework(), lazy), settings)) == []


def test_a_module_whose_call_the_candidate_alone_accepts_is_told_by_its_class():
    def body():
        return torch.nn.Softmax(dim=5)(torch.ones(2))

    accepting = type("Softmax", (real.nn.Softmax,), {"forward": lambda self, x: x})
    found = trial(body, FaultyTorch({"nn.Softmax": lambda original: accepting}), check_errors=True)
    assert symptoms(found) == ["accepted"]
    assert found.mismatches[0].name == "nn.Softmax"
    assert found.mismatches[0].message.startswith("nn.Softmax: torch refuses (IndexError: ")


def test_a_backward_that_the_candidate_cannot_do_is_told_once_and_not_as_missing_gradients():
    def refuse(gradient):
        raise RuntimeError("no way back")

    found = trial(relu, FaultyTorch({"relu": with_gradient(refuse)})).mismatches
    assert [(mismatch.symptom, mismatch.stage) for mismatch in found] == [("exception", "backward")]
