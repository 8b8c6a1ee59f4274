"""Calls in threads that a test starts, and modes of a framework that a test does not restore."""

from __future__ import annotations

import threading

import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.base.errors import NotDual
from autotest.recording.mistakes import called_back
from tests.support import faults
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, trial


def drawn_elsewhere():
    made = []
    thread = threading.Thread(target=lambda: made.append(torch.relu(random_tensor(shape=(2, 3)))))
    thread.start()
    thread.join()
    return made[0]


def test_what_is_made_in_another_thread_is_no_part_of_the_trial(monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")  # the thread has no trial, and uses a pair of its own
    with pytest.raises(NotDual, match=r"made outside of the trial \(in another thread, .* in its own thread"):
        trial(drawn_elsewhere, faults.none())


def test_a_call_of_another_thread_is_told_from_a_function_that_a_framework_calls():
    told = []
    thread = threading.Thread(target=lambda: told.append(str(called_back("relu", "exp"))))
    thread.start()
    thread.join()
    assert "exp was called in another thread of the test while relu was running" in told[0]
    assert "called a function of the test" in str(called_back("relu", "exp"))


def test_torchs_deterministic_algorithms_are_as_they_were_after_a_trial():
    def body():
        torch.use_deterministic_algorithms(True)
        return torch.relu(random_tensor(2))

    assert agrees(trial(body, faults.none()))
    assert not real.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: real.set_default_dtype(real.float64), "set_default_dtype: torch.float32 before, torch.float64 after"),
        (lambda: real.set_grad_enabled(False), "no_grad: True before, False after"),
    ],
    ids=["dtype", "grad"],
)
def test_a_candidate_that_changes_a_setting_of_the_reference_is_named_with_its_call(change, said):
    def spoilt(cos):
        def call(*args, **kwargs):
            made = cos(*args, **kwargs)
            change()
            return made

        return call

    with pytest.raises(NotDual, match=f"called cos, in which faulty changes a setting of torch .*{said}"):
        trial(lambda: torch.relu(torch.cos(random_tensor(2))), FaultyTorch({"cos": spoilt}))
    assert (real.get_default_dtype(), real.is_grad_enabled()) == (real.float32, True)
