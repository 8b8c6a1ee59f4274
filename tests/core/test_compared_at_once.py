"""Trials of an asynchronous candidate are compared together and reported as if each had been compared alone."""

from __future__ import annotations

import itertools

import pytest

from autotest import Divergence, TooFewAccepted, random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from autotest.trials.comparing import COMPARED_AT_ONCE
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


class Late(FaultyTorch):
    """torch that claims to be asynchronous; its results are read by `values`, as those of OneFlow are."""

    asynchronous = True
    readings = 0

    def values(self, tensors):
        self.readings += 1
        return super().values(tensors)


def third_is_wrong():
    """torch whose relu is wrong in its third call."""
    calls = itertools.count(1)
    return {"relu": lambda relu: lambda x: relu(x) + (next(calls) == 3)}


def test_results_are_read_once_for_many_trials(tmp_path):
    candidate = Late({})
    tally = trials(lambda: torch.relu(random_tensor()), tmp_path, candidate, n=2 * COMPARED_AT_ONCE + 1)
    assert tally.accepted == 2 * COMPARED_AT_ONCE + 1
    assert candidate.readings == 3


def test_a_synchronous_candidate_is_compared_after_each_trial(tmp_path):
    ran = itertools.count()

    def body():
        next(ran)
        return torch.relu(random_tensor())

    with pytest.raises(Divergence):
        trials(body, tmp_path, FaultyTorch(third_is_wrong()), n=10)
    assert next(ran) == 4  # run again to look for settings of one side only, because no replay shows the mismatch


def test_the_trial_that_differs_is_the_one_that_is_told_of(tmp_path):
    with pytest.raises(Divergence) as caught:
        trials(lambda: torch.relu(random_tensor()), tmp_path, Late(third_is_wrong()), n=10)
    assert caught.value.finding.index == 2


@pytest.mark.parametrize(
    "raised",
    [AssertionError("the body's own"), pytest.skip.Exception("skipped"), SystemExit(0)],
    ids=["error", "pytest skips", "exits"],
)
def test_what_an_earlier_trial_found_comes_before_what_a_body_raises(raised, tmp_path):
    ran = itertools.count(1)

    def body():
        if next(ran) == 5:
            raise raised
        return torch.relu(random_tensor())

    with pytest.raises(Divergence):
        trials(body, tmp_path, Late(third_is_wrong()), n=10)


def test_an_error_of_the_body_is_raised_when_nothing_was_found_before(tmp_path):
    def body():
        raise ValueError("the body's own")

    with pytest.raises(ValueError, match="the body's own"):
        trials(body, tmp_path, Late({}), n=10)


def test_large_tensors_do_not_wait(tmp_path):
    candidate = Late({})
    trials(lambda: torch.relu(random_tensor(shape=(600, 600))), tmp_path, candidate, n=4)
    assert candidate.readings == 4


def test_what_trials_share_is_compared_before_the_next_one_changes_it(tmp_path):
    shared = torch.nn.BatchNorm1d(3)
    candidate = Late({})
    trials(lambda: shared(random_tensor(shape=(4, 3))), tmp_path, candidate, n=4)
    assert candidate.readings >= 4


def test_rejected_trials_do_not_count_among_those_that_wait(tmp_path):
    turns = itertools.count()

    def body():
        x = random_tensor(shape=(2, 3), requires_grad=True)  # else a refused trial may run again with gradients
        return x.view(5) if next(turns) % 2 else torch.relu(x)

    tally = trials(body, tmp_path, Late({}), n=5)
    assert tally.accepted == 5
    assert sum(tally.rejections.values()) == 4
    with pytest.raises(TooFewAccepted):
        trials(lambda: random_tensor(shape=(2, 3)).view(5), tmp_path, Late({}), n=5)


@pytest.mark.parametrize("kind", [Late, FaultyTorch])
def test_trials_that_need_what_the_candidate_lacks_count_among_those_that_wait(tmp_path, kind):
    lacking = kind(missing=("exp",))
    lacking.translates = True
    turns = itertools.cycle((torch.relu, lambda x: x.view(5), torch.exp))
    tally = trials(lambda: next(turns)(random_tensor(shape=(2, 3), requires_grad=True)), tmp_path, lacking, n=6)
    assert (tally.accepted, tally.absent.total(), tally.rejections.total()) == (3, 3, 6)


def test_a_failure_that_is_reported_only_once_is_not_lost(tmp_path):
    class Fails(Late):
        def values(self, tensors):
            if self.readings == 0:
                self.readings += 1
                raise RuntimeError("something went wrong a while ago")
            return super().values(tensors)

    with pytest.raises(Divergence, match="something went wrong a while ago"):
        trials(lambda: torch.relu(random_tensor()), tmp_path, Fails({}), n=4)


def test_torch_is_not_asynchronous_on_the_cpu():
    assert not TorchFramework().asynchronous
