"""Signatures of calls differ if dtypes, ranks, flags or signs differ, and not if only numbers differ."""

from __future__ import annotations

import pytest

from autotest import constant, random_tensor, torch
from autotest.base.settings import Settings
from autotest.campaigns.signatures import signature
from autotest.recording.call_observer import notifying
from autotest.trials.trial import run_trial


class Noting:
    """Observes a recorder, and collects the signatures of its calls."""

    def __init__(self):
        self.noted = []

    def before_call(self, recorder, side, call):
        if side == "reference":
            self.noted.append(signature(recorder, call, refused=False))


@pytest.fixture
def signatures(against):
    """Return the signatures of the calls of one operator in a body."""

    def of(operator, body, seed=0):
        noting = Noting()
        with notifying(noting):
            run_trial(body, seed, Settings(), against())
        return [noted for noted in noting.noted if noted.startswith(f"{operator}(")]

    return of


def test_a_signature_tells_dtypes_ranks_emptiness_and_flags_and_no_numbers(signatures):
    def body():
        x = random_tensor(shape=(2, 3))
        torch.sum(x, dim=constant(1), keepdim=True)
        torch.sum(x, dim=constant(-1), keepdim=True)
        torch.matmul(x, random_tensor(shape=(3, 0)))
        return torch.cat([x, x], dim=constant(0))

    assert signatures("sum", body) == [
        "sum(float32 2-d, dim=number, keepdim=True)",
        "sum(float32 2-d, dim=negative, keepdim=True)",
    ]
    assert signatures("matmul", body) == ["matmul(float32 2-d, float32 empty)"]
    assert signatures("cat", body) == ["cat([float32 2-d, float32 2-d], dim=0)"]


def test_a_module_is_known_by_what_it_was_made_with(signatures):
    def body():
        return torch.nn.Conv1d(2, 3, kernel_size=1, bias=False)(random_tensor(shape=(1, 2, 4)))

    (found,) = [one for one in signatures("nn.Conv1d", body) if "float32" in one]
    assert found == "nn.Conv1d(nn.Conv1d(number, number, kernel_size=number, bias=False), float32 3-d)"


def test_other_numbers_have_the_same_signature(signatures):
    def body():
        return torch.relu(random_tensor(ndim=2))

    assert signatures("relu", body, seed=1) == signatures("relu", body, seed=2)
