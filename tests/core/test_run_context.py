"""A run passes its context down: only entry points read the framework from the environment."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest

from autotest import align, random_tensor, torch
from autotest.base.errors import UsageError
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.campaigns.isolated_runner import IsolatedRunner
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.processes.client import Server
from autotest.results.divergence import Divergence
from autotest.running.runner import run_test
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from tests.support import faults
from tests.support.running import pair_with


def body():
    return torch.relu(torch.exp(random_tensor(2, low=-1, high=1)) - 1)


@pytest.fixture
def no_such_candidate(monkeypatch):
    """Name a candidate in the environment that cannot be created."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "no_such_framework")


@pytest.mark.usefixtures("no_such_candidate")
def test_a_pair_that_was_handed_in_is_diagnosed_and_shrunk_whatever_the_environment_names(tmp_path):
    candidate = faults.wrong_relu()
    candidate.fragile = True  # so that its programs are tried in another process first
    context = RunContext(pair_with(candidate), Options(directory=tmp_path, verify=False))
    with pytest.raises(Divergence) as caught:
        run_test(ATest("test_it.py::test_it", body, Settings(n=3)), context)
    finding = caught.value.finding
    assert (finding.operator, finding.sides[1]) == ("relu", candidate.name)
    assert len(finding.program.calls) < 6


def candidates_name(connection, server):
    """Run in a child: send the name of the candidate in its environment."""
    connection.send(os.environ["AUTOTEST_CANDIDATE"])


@pytest.mark.usefixtures("no_such_candidate", "importable_elsewhere", "warm")
def test_children_choose_the_pair_that_their_server_was_given():
    with contextlib.closing(Server(frameworks=("torch", "torch"))) as server:
        process = server.process(candidates_name)
        assert process.connection.poll(120)
        assert process.connection.recv() == "torch"
        process.close()


@pytest.mark.usefixtures("no_such_candidate")
def test_a_pair_made_by_hand_cannot_go_to_a_worker_which_would_take_the_one_that_the_environment_names(tmp_path):
    test = ATest("test_it.py::test_it", body, Settings(n=3), file=Path(__file__))
    context = RunContext(Pair(TorchFramework(), faults.wrong_relu()), Options(directory=tmp_path, verify=False))
    with pytest.raises(UsageError, match="expected candidate=NAME"):
        IsolatedRunner()(test, context)


@pytest.mark.usefixtures("no_such_candidate")
def test_models_are_aligned_by_the_pair_that_was_handed_in():
    pair = pair_with(faults.none())
    resolved = pair.reference.resolve("nn.Linear")
    assert align(resolved(3, 2), resolved(3, 2), np.ones((1, 3), np.float32), pair=pair).passed


def test_a_candidate_is_as_patient_as_a_test_asks_for_as_long_as_its_trials_run(tmp_path):
    pair, seen = pair_with(faults.none()), []

    def noting():
        seen.append(pair.candidate.patience)
        return body()

    for deadline in (3.0, None):
        options = Options(directory=tmp_path, deadline=deadline or 20.0)
        run_test(ATest("test_it.py::test_it", noting, Settings(n=1, deadline=deadline)), RunContext(pair, options))
    assert set(seen[:1]) == {3.0}
    assert seen[-1] is None
    assert pair.candidate.patience is None
