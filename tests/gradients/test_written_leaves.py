"""``check_grad="numeric"`` of programs that write into leaves, copy and load modules, and keep a state between calls.

The check runs a program many times. What the program does once in a trial must be done once there, too.
"""

from __future__ import annotations

import copy

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import agrees, trial


def doubles(*shape, **asked):
    return random_tensor(shape=shape, low=-2, high=2, dtype="float64", **asked)


def of_single(*shape):
    return random_tensor(shape=shape, low=-2, high=2, dtype="float32")


def scaled_before():
    x = doubles(3, 2)
    with torch.no_grad():
        x.mul_(2)
    return torch.exp(x)


def added_to_itself():
    x = doubles(3, 2)
    with torch.no_grad():
        x += 1
    return torch.exp(x)


def assigned_to():
    x = doubles(3, 2)
    with torch.no_grad():
        x[0] = 0.5
    return torch.exp(x)


def through_data():
    x = doubles(3, 2)
    x.data.add_(1)
    return torch.exp(x)


def filled_layer():
    layer = torch.nn.Linear(2, 3)
    torch.nn.init.constant_(layer.weight, 0.5)
    layer.bias.data.fill_(0.25)
    return torch.exp(layer(of_single(3, 2)))


def loaded_from_another():
    one, other = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
    other.load_state_dict(one.state_dict())
    return torch.exp(other(of_single(3, 2)))


def copied():
    layer = copy.deepcopy(torch.nn.Linear(2, 3))
    return torch.exp(layer(of_single(3, 2)))


def in_an_optimizer():
    x = doubles(3, 2)
    torch.optim.SGD([x], lr=0.1)
    return torch.exp(x)


def seen_before():
    layer = torch.nn.BatchNorm1d(2)
    x = of_single(3, 2)
    layer(x)
    layer.eval()
    return torch.exp(layer(x))


def detached_and_a_leaf_of_its_own():
    x = doubles(3, 2)
    leaf = x.detach().requires_grad_()
    return torch.exp(leaf), x


def in_a_list_of_parameters():
    x = doubles(3, 2, requires_grad=False)
    held = torch.nn.ParameterList([torch.nn.Parameter(torch.full((2,), 0.5)), torch.nn.Parameter(torch.zeros(1))])
    return torch.exp(x * held[0] + held[1])


BODIES = (
    scaled_before,
    added_to_itself,
    assigned_to,
    through_data,
    filled_layer,
    loaded_from_another,
    copied,
    in_an_optimizer,
    seen_before,
    detached_and_a_leaf_of_its_own,
    in_a_list_of_parameters,
)


@pytest.mark.parametrize("kind", ["numeric", "forward"])
@pytest.mark.parametrize("body", BODIES)
def test_right_gradients_are_no_mismatch(body, kind):
    for seed in range(2):
        outcome = trial(body, TorchFramework(), check_grad=kind, seed=seed)
        assert agrees(outcome)
        assert not outcome.complaint
        assert outcome.numeric_pairs > 0


@pytest.mark.parametrize("body", BODIES)
def test_wrong_ones_are_found(body):
    wrong = FaultyTorch({"exp": with_gradient(lambda gradient: 1.5 * gradient)})
    outcome = trial(body, wrong, reference=wrong, check_grad="numeric")
    assert outcome.mismatches
    assert "not its derivative" in outcome.mismatches[0].message


def test_a_weight_that_moves_its_own_singular_vectors_is_left_out_and_its_input_is_not():
    def body():
        layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
        return layer(torch.exp(of_single(3, 2)))

    outcome = trial(body, TorchFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs == 1
    wrong = FaultyTorch({"exp": with_gradient(lambda gradient: 1.5 * gradient)})
    outcome = trial(body, wrong, reference=wrong, check_grad="numeric")
    assert [mismatch.name for mismatch in outcome.mismatches] == ["x0.grad"]


def test_a_weight_whose_singular_vectors_stay_is_held_against_differences():
    def body():
        layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3)).eval()
        return layer(of_single(3, 2))

    outcome = trial(body, TorchFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs == 3


def test_what_has_no_forward_mode_is_no_tangent_of_zero():
    # grid_sample refuses tangents; its result without a tangent has a derivative.
    def body():
        return torch.nn.functional.grid_sample(
            random_tensor(shape=(1, 1, 3, 3), low=-2, high=2, dtype="float64"),
            random_tensor(shape=(1, 2, 2, 2), low=-0.6, high=0.6, dtype="float64"),
            align_corners=False,
        )

    outcome = trial(body, TorchFramework(), check_grad="forward")
    assert agrees(outcome)
    assert not outcome.complaint
    assert outcome.numeric_pairs == 2


def test_asking_twice_for_gradients_makes_no_leaf():
    def body():
        x = doubles(3, 2)
        return torch.exp(torch.sin(x).requires_grad_())

    assert agrees(trial(body, TorchFramework(), check_grad="numeric"))


INDICES = {
    "expanded": lambda: torch.tensor([[0], [1], [0]]).expand(3, 2),
    "computed": lambda: torch.tensor([[0, 2], [1, 2], [3, 4]]) // 2,
    "strided": lambda: torch.tensor([[0, 1, 0], [1, 2, 0]]).t(),
}


@pytest.mark.parametrize("name", INDICES)
def test_an_index_that_a_call_made_is_read(name):
    outcome = trial(
        lambda: torch.scatter(doubles(4, 2), 0, INDICES[name](), doubles(3, 2)),
        TorchFramework(),
        check_grad="numeric",
    )
    assert agrees(outcome)
    assert outcome.numeric_pairs == 1


def assigned(index):
    x = doubles(3) * 1
    x[torch.tensor(index)] = doubles(2)
    return x


@pytest.mark.parametrize(("index", "pairs"), [([0, 0], 1), ([-1, 2], 1), ([0, 2], 2)])
def test_an_assignment_to_one_place_twice_is_left_open_and_another_is_not(index, pairs):
    outcome = trial(lambda: assigned(index), TorchFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs == pairs


def test_a_mask_names_no_place_twice():
    def body():
        mask = torch.tensor([True, False, True, False])
        return torch.index_put(doubles(4), (mask,), doubles(2))

    outcome = trial(body, TorchFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs == 2


@pytest.mark.usefixtures("quick")
def test_a_script_is_about_the_leaf_that_is_wrong_and_not_about_one_that_is_written_into(against, monkeypatch):
    monkeypatch.setenv("AUTOTEST_SHRINK", "5")
    wrong = FaultyTorch({"exp": with_gradient(lambda gradient: 1.5 * gradient)})
    against(wrong, wrong)

    def body():
        x, y = doubles(3, 2), doubles(3, 2)
        with torch.no_grad():
            x.mul_(2)
        return x * x + torch.exp(y)

    with pytest.raises(Divergence) as caught:
        autotest(n=3, check_grad="numeric")(body)()
    finding = caught.value.finding
    assert [call.target for call in finding.program.calls if call.target == "exp"] == ["exp"]
    assert "Lacking" not in str(finding.verified)
    assert finding.script


def test_a_distribution_of_what_is_varied_is_made_anew():
    def body():
        return torch.distributions.Normal(doubles(3), 1.5).log_prob(doubles(3))

    outcome = trial(body, TorchFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs == 2


def test_a_part_of_a_network_may_be_loaded():
    def body():
        net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2))
        net[1].load_state_dict(torch.nn.Linear(2, 2).state_dict())
        return net(of_single(3, 2))

    assert agrees(trial(body, TorchFramework(), check_grad="numeric"))


def parameter_of_an_input():
    x = doubles(3, 2)
    return torch.nn.Parameter(x) * x


def parameter_of_a_result():
    return torch.nn.Parameter(doubles(3, 2) * 2) * 3


def parameter_put_into_a_layer():
    layer = torch.nn.Linear(2, 3)
    layer.weight = torch.nn.Parameter(of_single(3, 2))
    return layer(of_single(2, 2))


@pytest.mark.parametrize("check", ["numeric", "forward"])
@pytest.mark.parametrize("body", [parameter_of_an_input, parameter_of_a_result, parameter_put_into_a_layer])
def test_a_parameter_is_a_leaf_of_its_own_whatever_it_is_made_of(body, check):
    outcome = trial(body, TorchFramework(), check_grad=check)
    assert agrees(outcome)
    assert outcome.numeric_pairs
