"""Everything that a test body does to a dual object is done on both sides and recorded."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import pytest
import torch as real

from autotest import Divergence, DualObject, UsageError, autotest, constant, nothing, random, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.program import Ref
from autotest.replaying.replay import replay
from generators import NOTHING
from tests.support.faulty import FaultyTorch, plus, returning
from tests.support.running import agrees, targets, trial


def twos(*shape):
    return torch.full(shape, 2.0)


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x: x + 1, 3),
        (lambda x: 1 + x, 3),
        (lambda x: x - 3, -1),
        (lambda x: 3 - x, 1),
        (lambda x: x * x, 4),
        (lambda x: 1 / x, 0.5),
        (lambda x: x // 3, 0),
        (lambda x: x % 2, 0),
        (lambda x: x**3, 8),
        (lambda x: 3**x, 9),
        (lambda x: -x, -2),
        (lambda x: abs(-x), 2),
        (lambda x: x == 2, True),
        (lambda x: x != 2, False),
        (lambda x: x < 3, True),
        (lambda x: x <= 1, False),
        (lambda x: ~(x > 1), False),
        (lambda x: (x > 1) & (x > 3), False),
        (lambda x: (x > 1) | (x > 3), True),
        (lambda x: (x > 1) ^ (x > 3), True),
    ],
)
def test_operators_give_what_torch_gives_on_both_sides(write, expected):
    def body():
        result = write(twos(3))
        assert result.reference.tolist() == [expected] * 3
        assert result.candidate.tolist() == [expected] * 3
        return result

    assert agrees(trial(body))


def test_an_operator_that_is_wrong_on_one_side_is_found():
    assert trial(lambda: twos(3) + 1, FaultyTorch(tensors={"add": plus(1.0)})).mismatches == []  # created by torch.full
    found = trial(lambda: random_tensor() + 1, FaultyTorch(tensors={"add": plus(1.0)})).mismatches
    assert [mismatch.symptom for mismatch in found] == ["value"]


def test_matrix_product_and_shifts():
    def body():
        x = torch.arange(3)
        return (x << 1) >> 1, random_tensor(2, 3, 4) @ random_tensor(2, 4, 3)

    outcome = trial(body)
    assert agrees(outcome)
    assert {"lshift", "rshift", "matmul"} <= set(targets(outcome))


def test_in_place_operators_change_both_sides_and_keep_the_object():
    def body():
        x = torch.ones(2)
        same = x
        x += 1
        x *= 3
        assert x.candidate is same.candidate
        assert x.candidate.tolist() == [6, 6]
        return x

    outcome = trial(body)
    assert agrees(outcome)
    assert {"iadd", "imul"} <= set(targets(outcome))


def test_indexing_and_assignment_of_items_with_dual_indices():
    def body():
        x = torch.zeros(3, 4)
        x[0] = 1
        x[1:, ::2] = torch.ones(2, 2)
        x[x > 5] = 0
        index = torch.arange(2)
        assert x[index].candidate.shape == (2, 4)
        assert x[..., None].shape == (3, 4, 1)
        return x[1]

    assert agrees(trial(body))


def test_plain_values_are_plain_and_the_references():
    def body():
        x = random_tensor(ndim=2, dim0=3, dim1=4)
        assert x.shape == (3, 4)
        assert type(x.dim()) is int
        assert x.size(1) == 4
        assert len(x) == 3
        assert type(x.sum().item()) is float
        assert int(torch.tensor(3)) == 3
        assert [10, 20, 30][torch.tensor(1)] == 20
        assert complex(torch.tensor(2.0)) == 2
        assert float(torch.tensor(0.5)) == 0.5

    assert agrees(trial(body))


def test_a_fraction_is_refused_as_an_index_as_torch_refuses_it():
    def body():
        with pytest.raises(TypeError, match="only integer tensors"):
            operator.index(torch.tensor(2.5))
        return torch.ones(1)

    assert agrees(trial(body))
    refused = trial(lambda: torch.ones(3) * [10, 20, 30][torch.tensor(1.0)])
    assert refused.rejection is not None
    assert "only integer tensors" in refused.rejection.text


def test_a_plain_value_that_the_sides_disagree_in_is_a_divergence_and_no_silent_choice():
    def body():
        if bool(torch.relu(torch.zeros(1))):
            return torch.ones(1)
        return torch.zeros(1)

    outcome = trial(body, FaultyTorch({"relu": plus(1.0)}))
    decided = next(call.slot for call in outcome.recorder.calls if call.target == "bool")
    assert decided in {mismatch.slot for mismatch in outcome.mismatches}


def test_contents_membership_iteration_and_unpacking():
    def body():
        x = torch.arange(3)
        assert 2 in x
        assert 7 not in x
        first, *rest = x
        assert isinstance(first, DualObject)
        assert len(rest) == 2
        values, indices = torch.max(random_tensor(2, 3, 4), dim=1)
        assert indices.reference.dtype == real.int64
        return values

    assert agrees(trial(body))


def test_tuples_lists_and_dicts_are_unwrapped_at_any_depth():
    def body():
        x, y = torch.ones(2), torch.zeros(2)
        both = torch.stack([x, torch.cat((x[:1], y[:1]))])
        padded = torch.nn.functional.pad(input=both, pad=(1, random(0, 2).to(int)))
        network = torch.nn.Sequential(torch.nn.Linear(2, 2))
        network.load_state_dict({"0.weight": torch.ones(2, 2), "0.bias": y})
        assert network(x).candidate.tolist() == [2, 2]
        return both, padded

    assert agrees(trial(body))


def test_a_dict_that_comes_back_can_be_read_by_key():
    def body():
        state = torch.nn.Linear(2, 3).state_dict()
        assert "weight" in state
        assert state["weight"].shape == (3, 2)
        return {"bias": state["bias"]}

    assert agrees(trial(body))


def test_a_tensor_or_nothing_is_a_choice(against):
    against()
    given = set()

    @autotest(n=20)
    def body():
        x = random_tensor(ndim=2, dim0=6, dim1=4)
        target = random_tensor(ndim=1, dim0=6, dtype="int64", low=0, high=4)
        weight = random_tensor(ndim=1, dim0=4, low=0, high=2, requires_grad=False) | nothing()
        given.add(weight.value() is not NOTHING)
        return torch.nn.functional.cross_entropy(x, target, weight=weight)

    body()
    assert given == {True, False}


def test_named_tuples_can_be_read_by_name():
    assert agrees(trial(lambda: torch.max(random_tensor(2, 3, 4), dim=1).values))


def test_nothing_leaves_its_argument_out_by_position_and_by_name():
    def body():
        x = random_tensor(ndim=2)
        torch.sum(x, nothing())
        torch.sum(x, dim=nothing(), keepdim=nothing())
        torch.cat([x, nothing()])

    outcome = trial(body)
    assert agrees(outcome)
    calls = [call for call in outcome.recorder.calls if call.target in ("sum", "cat")]
    assert [(len(call.args), call.kwargs) for call in calls] == [(1, {}), (1, {}), (1, {})]
    assert calls[2].args == ([Ref(0)],)


def test_one_generator_has_one_value_throughout_a_call():
    def body():
        size = random(1, 50)
        x = torch.ones(size, size)
        assert x.shape[0] == x.shape[1]
        return x

    assert agrees(trial(body))


def test_a_dtype_is_one_object_however_it_was_come_by():
    def body():
        x = torch.ones(2, dtype=torch.int64)
        assert x.dtype is torch.int64
        assert x.dtype is torch.long
        assert x.dtype is not torch.int32
        assert x.half().dtype is torch.float16
        return x + 1

    outcome = trial(body)
    assert agrees(outcome)
    assert targets(outcome) == ["ones", "dtype", "dtype", "dtype", "half", "dtype", "add"]


def test_another_name_of_a_dtype_that_the_candidate_lacks_or_has_otherwise_is_its_own():
    def body():
        assert torch.long is not torch.int64
        return torch.ones(2, dtype=torch.long)

    lacking = trial(body, FaultyTorch(missing=["long"]))
    assert [item.symptom for item in lacking.mismatches] == ["exception"]
    other = trial(body, FaultyTorch({"long": lambda _: real.int32}))
    assert [item.symptom for item in other.mismatches] == ["dtype"]
    assert agrees(trial(lambda: torch.ones(2, dtype=torch.long)))


def test_another_name_of_a_dtype_is_the_dtype_again_for_the_next_pair():
    alike = []

    def body():
        alike.append(torch.short is torch.int16)
        assert torch.short is torch.short
        return torch.ones(2, dtype=torch.int16)

    for candidate in (FaultyTorch(missing=["short"]), FaultyTorch()):
        assert agrees(trial(body, candidate))
    assert alike == [False, True]


def test_a_number_of_the_namespace_is_that_of_the_reference_at_hand():
    seen = []

    def body():
        seen.append(torch.pi)
        return torch.ones(2)

    for reference in (FaultyTorch({"pi": lambda _: 3.0}), FaultyTorch()):
        assert agrees(trial(body, FaultyTorch(), reference=reference))
    assert seen == [3.0, math.pi]


def test_the_namespace_of_one_side_is_that_of_the_pair_at_hand():
    seen = []

    def body():
        seen.append(torch.candidate)
        return torch.ones(2)

    sides = [FaultyTorch(), FaultyTorch()]
    for side in sides:
        assert agrees(trial(body, side))
    assert seen == [side.root for side in sides]


def test_dtypes_and_devices_are_translated():
    def body():
        x = torch.ones(2, dtype=torch.float64, device="cpu")
        assert x.dtype == torch.float64
        assert x.dtype != torch.float32
        assert x.to(constant("cpu")).to(torch.device("cpu")).device.type == "cpu"
        return x.to(torch.float16), x.type(torch.int32)

    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.recorder.actual[-1].dtype == real.int32


def test_isinstance_against_dual_types():
    def body():
        x, layer = torch.ones(2), torch.nn.Linear(1, 1)
        assert isinstance(x, torch.Tensor)
        assert isinstance(layer, torch.nn.Module)
        assert not isinstance(x, torch.nn.Module)
        assert not isinstance(3, torch.Tensor)
        return x

    assert agrees(trial(body))


def test_attributes_are_assigned_on_both_sides():
    def body():
        x = random_tensor(requires_grad=True)
        x.requires_grad = False
        assert not x.reference.requires_grad
        assert not x.candidate.requires_grad
        layer = torch.nn.Dropout(0.5)
        layer.training = False
        assert not layer.candidate.training
        y = random_tensor(requires_grad=False)
        y.data = torch.zeros(2)
        assert y.candidate.tolist() == [0, 0]
        return layer(x)

    outcome = trial(body)
    assert agrees(outcome)
    assert [call.target for call in outcome.recorder.calls if call.kind == "setattr"] == [
        "requires_grad",
        "training",
        "data",
    ]


def test_attributes_are_deleted_on_both_sides():
    def body():
        linear = torch.nn.Linear(3, 4)
        del linear.bias
        linear.bias = None
        return linear(torch.ones(2, 3))

    outcome = trial(body)
    assert agrees(outcome)
    assert replay(outcome.program, TorchFramework()).error is None
    with pytest.raises(AttributeError, match="weights"):
        trial(lambda: delattr(torch.nn.Linear(3, 4), "weights"))


def test_no_grad_holds_inside_of_the_block_only():
    def body():
        x = random_tensor()
        with torch.no_grad():
            assert not (x * 2).candidate.requires_grad
        assert (x * 2).candidate.requires_grad
        return x * 3

    assert agrees(trial(body))
    assert real.is_grad_enabled()


def test_a_context_is_left_when_the_body_raises_inside_of_it():
    def body():
        with torch.no_grad():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        trial(body)
    assert real.is_grad_enabled()


def test_a_context_that_the_candidate_cannot_enter_does_not_stay_entered_on_the_reference():
    class Broken(real.no_grad):
        def __enter__(self):
            raise RuntimeError("no")

    def body():
        with torch.no_grad():
            return torch.ones(1)

    found = trial(body, FaultyTorch({"no_grad": lambda original: Broken})).mismatches
    assert [mismatch.symptom for mismatch in found] == ["exception"]
    assert real.is_grad_enabled()


def test_sides_are_reached_by_their_names():
    def body():
        x = torch.ones(1)
        assert x.reference is x.pytorch
        assert x.candidate is x.faulty
        assert x.reference is not x.candidate
        assert torch.pytorch is real
        return x

    assert agrees(trial(body, FaultyTorch()))


def test_equal_operations_have_no_class_of_their_own():
    def body():
        x = torch.ones(2)
        y = x + 1
        assert type(x) is type(y) is type(torch.nn.Linear(1, 1).weight)
        assert len({x, y, x}) == 2
        return y

    assert agrees(trial(body))


@pytest.mark.parametrize("use", [copy.copy, pickle.dumps])
def test_what_cannot_be_done_to_a_dual_object_says_so(use, against):
    against()
    with pytest.raises(TypeError, match="dual object cannot be"):
        use(torch.ones(2))


def test_a_copied_leaf_is_a_leaf_of_its_own():
    def body():
        x = random_tensor(2, 2, 3)
        y = copy.deepcopy(x)
        y.requires_grad_(False).add_(1)
        return x * y

    outcome = trial(body, FaultyTorch())
    assert agrees(outcome)
    assert "deepcopy" in targets(outcome)


def test_a_class_over_what_is_no_module_says_what_to_do_instead(against):
    against()
    with pytest.raises(UsageError, match="Store the object in an attribute"):

        class Optimizer(torch.optim.SGD):
            pass


def test_the_frameworks_themselves_are_not_assigned_to():
    with pytest.raises(UsageError, match=r"torch\.nn\.Linear = "):
        torch.nn.Linear = 3


def test_outside_of_a_trial_duals_work_and_disagreement_is_raised_at_once(against):
    against(FaultyTorch({"relu": plus(1.0), "ones": returning(lambda x: x[:-1])}))
    x = torch.zeros(2)
    assert len(x) == 2
    with pytest.raises(Divergence):
        len(torch.ones(3))
    with pytest.raises(RuntimeError, match="size of tensor"):
        torch.zeros(2) + torch.zeros(3)


def test_a_dual_object_shows_both_sides():
    def body():
        shown = repr(torch.full((1,), 7.0))
        assert "torch:\ntensor([7.])" in shown
        assert "faulty:\ntensor([7.])" in shown
        return torch.ones(1)

    assert agrees(trial(body, FaultyTorch()))
