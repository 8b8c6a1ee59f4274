"""How far undefined contents spread: what they reach is no false alarm, what defines them anew is compared again."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from tests.support.faulty import FaultyTorch, plus, with_gradient
from tests.support.running import agrees, trial


def rows(requires_grad=True):
    return random_tensor(ndim=2, dim0=4, dim1=3, requires_grad=requires_grad)


def dropped(x):
    return torch.nn.functional.dropout(x, 0.5)


def norm_of_dropped():
    return torch.nn.BatchNorm1d(3)(dropped(rows()))


def dropout_inside_of_a_network():
    return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(3))(rows())


def running_means_used_later():
    norm = torch.nn.BatchNorm1d(3)
    norm(dropped(rows()))
    norm.eval()
    return norm(rows())


def step_of_dropped_gradients():
    linear = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)
    dropped(linear(rows())).sum().backward()
    torch.nn.utils.clip_grad_norm_(linear.parameters(), 0.5)
    optimizer.step()
    return linear(rows(requires_grad=False))


def gradient_read_by_the_body():
    x = rows()
    dropped(x).sum().backward()
    return x.grad * 2


@pytest.mark.parametrize(
    "body",
    [
        norm_of_dropped,
        dropout_inside_of_a_network,
        running_means_used_later,
        step_of_dropped_gradients,
        gradient_read_by_the_body,
    ],
)
def test_what_a_drawn_mask_reaches_through_state_and_gradients_is_no_divergence(body):
    assert agrees(trial(body))


def test_state_that_no_mask_reaches_is_compared_beside_it():
    def body():
        norm = torch.nn.BatchNorm1d(3)
        dropped(rows())
        return norm(torch.relu(rows()))

    assert agrees(trial(body))
    names = {mismatch.name for mismatch in trial(body, FaultyTorch({"relu": plus(1.0)})).mismatches}
    assert any("running_mean" in name for name in names)


def written_by_out():
    out = torch.empty(4, 3)
    torch.exp(rows(requires_grad=False), out=out)
    return out


def assigned_whole():
    out = torch.empty(4, 3)
    out[:] = torch.exp(rows(requires_grad=False))
    return out * 2


@pytest.mark.parametrize("body", [written_by_out, assigned_whole])
def test_fresh_memory_that_is_filled_whole_is_compared(body):
    outcome = trial(body, auto_backward=False)
    assert agrees(outcome)
    assert not outcome.program.undefined
    assert trial(body, FaultyTorch({"exp": plus(1.0)}), auto_backward=False).mismatches


def test_fresh_memory_that_is_filled_in_part_is_not():
    def body():
        out = torch.empty(4, 3)
        out[0] = 1.0
        return out * 2

    assert agrees(trial(body, FaultyTorch({"empty": plus(1.0)})))


def test_what_is_written_of_undefined_contents_is_undefined():
    def body():
        out = torch.zeros(4, 3)
        out[:] = dropped(rows(requires_grad=False))
        torch.exp(torch.empty(2), out=torch.zeros(2))
        return out + 1

    assert agrees(trial(body))


def test_gradients_that_no_mask_reaches_are_compared_beside_those_that_one_does():
    def body():
        x, y = rows(), rows()
        return torch.exp(x), dropped(y)

    assert agrees(trial(body))
    wrong = trial(body, FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 2)}))
    assert [mismatch.name for mismatch in wrong.mismatches] == ["x0.grad"]


def test_gradients_that_are_multiplied_by_a_mask_are_not_compared():
    def body():
        x, y = rows(), rows()
        return torch.exp(x) * dropped(y)

    assert agrees(trial(body))
