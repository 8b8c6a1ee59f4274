"""A replay of a recorded program on one framework gives the results of the trial."""

from __future__ import annotations

import pytest
import torch as real

from autotest import Divergence, autotest, random, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.replaying.replay import replay
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import agrees, trial


def sides(body, seed=0):
    """Return the recorder of a trial, and the replay of its program."""
    outcome = trial(body, seed=seed)
    assert agrees(outcome)
    replayed = replay(outcome.program, TorchFramework())
    assert replayed.error is None
    return outcome.recorder, replayed.values


def same(expected, actual):
    if isinstance(expected, real.Tensor):
        assert expected.dtype == actual.dtype
        assert real.equal(expected, actual)
        if expected.is_leaf and expected.requires_grad:
            assert (expected.grad is None) == (actual.grad is None)
            assert expected.grad is None or real.equal(expected.grad, actual.grad)
    elif isinstance(expected, real.nn.Module):
        for one, other in zip(expected.parameters(), actual.parameters(), strict=True):
            same(one, other)
    elif isinstance(expected, (tuple, list)):
        for one, other in zip(expected, actual, strict=True):
            same(one, other)
    elif isinstance(expected, (bool, int, float, str, real.dtype)):
        assert expected == actual


def operators():
    x = random_tensor(ndim=2, dim0=3)
    x2 = x.clone()
    x2 += 1
    x2[0] = 5
    return (x2[1:, None] * 2 - 1 / (x.abs() + 1)), x.T @ x


def modules_and_optimizer():
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        network(random_tensor(shape=(5, 3))).square().mean().backward()
        optimizer.step()


def contexts_and_plain_values():
    x = random_tensor(ndim=2)
    with torch.no_grad():
        y = x * 2
    first, *_ = torch.split(x, 1)
    return first * y.shape[0] + float(y.sum())


def random_numbers():
    x = torch.randn(3)
    torch.nn.init.uniform_(x)
    return torch.where(x > 0.5, x, torch.zeros(1, dtype=x.dtype))


def attributes():
    layer = torch.nn.Linear(3, 2)
    layer.weight.data = torch.ones(2, 3)
    x = random_tensor(shape=(1, 3), layout="transposed")
    return layer(x), {"a": [x.T, (x.detach(), None)]}


@pytest.mark.parametrize(
    "body", [operators, modules_and_optimizer, contexts_and_plain_values, random_numbers, attributes]
)
@pytest.mark.parametrize("seed", range(3))
def test_a_replay_gives_what_the_trial_gave_on_each_side(body, seed):
    recorder, values = sides(body, seed)
    for call, expected, actual in zip(recorder.calls, recorder.expected, values, strict=True):
        if call.kind not in ("enter", "exit"):
            same(expected, actual)


def test_a_module_of_setup_is_replayed_with_the_state_of_its_trial(against):
    against()
    layer = torch.nn.Linear(3, 4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def body():
        optimizer.zero_grad()
        layer(random_tensor(shape=(2, 3))).sum().backward()
        optimizer.step()

    for seed in range(3):
        outcome = trial(body, seed=seed)
        assert agrees(outcome)
        before = [array.data.copy() for array in outcome.program.arrays]
        replayed = replay(outcome.program, TorchFramework())
        assert replayed.error is None
        made = next(slot for slot, value in enumerate(replayed.values) if isinstance(value, real.nn.Module))
        same(layer.reference, replayed.values[made])
        assert all((one == array.data).all() for one, array in zip(before, outcome.program.arrays, strict=True))


def test_replaying_twice_gives_the_same_and_changes_no_captured_array():
    outcome = trial(operators)
    one, two = (replay(outcome.program, TorchFramework()).values for _ in range(2))
    for left, right in zip(one, two, strict=True):
        same(left, right)


def test_a_replay_on_another_framework_gives_that_ones_answer():
    outcome = trial(lambda: torch.relu(torch.full((2,), 3.0)))
    assert replay(outcome.program, FaultyTorch({"relu": plus(1.0)})).values[-1].tolist() == [4, 4]


def test_a_replay_can_stop_early_and_tells_of_each_call():
    program = trial(operators).program
    told = []
    between_calls = lambda count, values: told.append((count, len(values)))  # noqa: E731
    assert len(replay(program, TorchFramework(), between_calls=between_calls, upto=3).values) == 3
    assert told == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_a_failure_ends_the_replay_and_is_returned():
    program = trial(lambda: torch.exp(torch.relu(torch.ones(2)))).program
    replayed = replay(program, FaultyTorch(missing=("exp",)))
    assert isinstance(replayed.error, AttributeError)
    assert program.calls[replayed.failed_at].target == "exp"
    assert len(replayed.values) == replayed.failed_at


def test_a_replay_needs_no_generator():
    size = random(2, 5)
    recorder, values = sides(lambda: torch.ones(size, size))
    assert values[-1].shape == recorder.expected[-1].shape


def inside_of_a_context():
    with torch.no_grad():
        x = torch.relu(random_tensor())
        return torch.exp(x)


def test_a_replay_that_ends_inside_of_a_context_leaves_it():
    program = trial(inside_of_a_context).program
    entered = next(call.slot for call in program.calls if call.kind == "enter")
    replay(program, TorchFramework(), upto=entered + 1)
    assert real.is_grad_enabled()
    assert replay(program, FaultyTorch(missing=("exp",))).error is not None
    assert real.is_grad_enabled()


def test_looking_for_the_first_divergent_call_inside_of_a_context_leaves_it(against):
    against(FaultyTorch({"exp": plus(1.0)}))
    with pytest.raises(Divergence):
        autotest(n=1)(inside_of_a_context)()
    assert real.is_grad_enabled()


def test_zeros_without_memory_are_read_as_zeros():
    x = real.ones(64, requires_grad=True)
    (once,) = real.autograd.grad(real.abs(x), x, real.ones(64), create_graph=True)
    once.backward(real.ones(64))
    (read,) = TorchFramework().values([x.grad])
    assert not read.data.any()
