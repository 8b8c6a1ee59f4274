"""A test that does not say `requires_grad` runs also with tensors that require none, if its body can do without."""

from __future__ import annotations

from typing import Any

import pytest

from autotest import AutotestError, Divergence, random_tensor, torch
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


def required(body: Any, folder: Any, **settings: Any) -> tuple[list[tuple[bool, ...]], Any]:
    """Return, for each run of `body`, which of its tensors required grad; and the tally."""
    found: list[tuple[bool, ...]] = []

    def watched() -> Any:
        tensors = [random_tensor(ndim=2, dim0=2, dim1=2, low=-1, high=1) for _ in range(2)]
        found.append(tuple(tensor._expected.requires_grad for tensor in tensors))
        return body(*tensors)

    return found, trials(watched, folder, **settings)


def test_some_trials_have_no_gradient_and_are_compared(tmp_path):
    found, tally = required(lambda x, y: x * y, tmp_path)
    assert {*found} == {(True, True), (False, True), (True, False), (False, False)}
    assert (tally.accepted, tally.rejections.total()) == (20, 0)


def refused_in_place(leaf: Any) -> None:
    with pytest.raises(RuntimeError):
        leaf.add_(1)


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y: (x * y).sum().backward(),
        lambda x, y: torch.autograd.grad((x * y).sum(), [x, y]),
        lambda x, y: ((x * y).sum().backward(), x.grad + y.grad)[1],
        lambda x, y: x * y * (1 // bool(x.requires_grad)),
        lambda x, y: (refused_in_place(y), x * y)[1],
    ],
    ids=["backward", "autograd.grad", "reads the gradient", "fails without", "expects a refusal"],
)
def test_a_body_that_needs_gradients_runs_again_with_all_of_them(tmp_path, body):
    found, tally = required(body, tmp_path)
    assert (tally.accepted, tally.rejections.total()) == (20, 0)
    assert (False, False) in found  # refused, or an error of the body


@pytest.mark.parametrize("settings", [{"check_grad": "numeric"}, {"grad_order": 2}, {"auto_backward": False}], ids=str)
def test_a_test_about_gradients_always_has_them(tmp_path, settings):
    found, tally = required(
        lambda x, y: (x * y).sum().backward() if settings.get("auto_backward") is False else x * y, tmp_path, **settings
    )
    assert {*found} == {(True, True)}
    assert tally.accepted == 20


def test_what_the_test_says_is_law(tmp_path):
    seen = set()

    def body():
        x = random_tensor(ndim=2, requires_grad=True)
        seen.add(x._expected.requires_grad)
        return torch.relu(x)

    trials(body, tmp_path)
    assert seen == {True}


@pytest.mark.parametrize(
    ("path", "replacement", "body"),
    [
        ("tanh", lambda f: lambda x: f(x) if x.requires_grad else x, lambda: torch.tanh(random_tensor(ndim=2))),
        (
            "nn.functional.linear",
            lambda f: lambda x, w: f(x, w if x.requires_grad else w * 2 - w.detach()),
            lambda: torch.nn.functional.linear(random_tensor(ndim=2, dim1=3), random_tensor(ndim=2, dim1=3)),
        ),
        (
            "nn.functional.linear",
            lambda f: lambda x, w: f(x if w.requires_grad else x * 2 - x.detach(), w),
            lambda: torch.nn.functional.linear(random_tensor(ndim=2, dim1=3), random_tensor(ndim=2, dim1=3)),
        ),
    ],
    ids=["a result without gradients", "a gradient of weights alone", "a gradient of the input alone"],
)
def test_faults_of_these_paths_are_found(tmp_path, path, replacement, body):
    trials(body, tmp_path)
    with pytest.raises(Divergence):
        trials(body, tmp_path, FaultyTorch({path: replacement}))


def test_a_body_that_is_refused_with_gradients_is_not_accepted_without(tmp_path):
    with pytest.raises(AutotestError, match="accepted 0 of"):
        trials(lambda: random_tensor(ndim=2).add_(1), tmp_path)


def test_a_trial_that_leaves_out_the_only_gradient_to_compare_is_no_complaint(tmp_path):
    def body():
        x, y = (random_tensor(ndim=2, dim0=2, dim1=2) for _ in range(2))
        torch.exp(x)
        return torch.tanh(y)

    assert trials(body, tmp_path).accepted == 20
