"""A context manager that raises when it is left, on the candidate alone, is a mismatch and no error of the test."""

from __future__ import annotations

import pytest
import torch as real

from autotest import Divergence, random_tensor, torch
from tests.support.faulty import FaultyTorch
from tests.support.running import trial


class BadExit:
    """A `no_grad` that restores the mode and then raises."""

    def __init__(self):
        self._mode = real.no_grad()

    def __enter__(self):
        return self._mode.__enter__()

    def __exit__(self, *details):
        self._mode.__exit__(*details)
        raise RuntimeError("exit is broken")


def broken():
    return FaultyTorch({"no_grad": lambda no_grad: BadExit})


def body():
    x = random_tensor(shape=(3,), low=-1, high=1)
    with torch.no_grad():
        return torch.exp(x)


def test_a_candidate_that_refuses_to_be_left_differs():
    (mismatch,) = trial(body, broken()).mismatches
    assert mismatch.symptom == "exception"
    assert "no_grad: torch accepts, faulty raised RuntimeError: exit is broken" in mismatch.message


def test_it_is_raised_at_once_outside_of_trials(against):
    against(broken())
    with pytest.raises(Divergence, match="exit is broken"):
        body()
    assert real.is_grad_enabled()


def test_an_exception_of_the_body_is_not_hidden_by_it():
    def failing():
        with torch.no_grad():
            raise LookupError("the body's own")

    with pytest.raises(LookupError, match="the body's own"):
        trial(failing, broken())
    assert real.is_grad_enabled()
