"""A pair from the registry can be created again in another process by its names."""

from __future__ import annotations

import sys

import pytest

from autotest import UsageError, random_tensor, torch
from autotest.frameworks import Pair, registry
from autotest.frameworks.torch import TorchFramework
from tests.support import running
from tests.support.faulty import FaultyTorch


def test_a_pair_knows_what_the_registry_made_it_of():
    assert registry.pair("torch", "torch").names == ("torch", "torch")
    assert Pair(TorchFramework(), TorchFramework()).names is None


def test_another_process_chooses_the_same_pair():
    assert registry.variables(("a", "b")) == {"AUTOTEST_REFERENCE": "a", "AUTOTEST_CANDIDATE": "b"}


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (f"python:{sys.executable}", "only the candidate may be in another interpreter"),
        ("torch+compile=eager", "only the candidate may run whole programs"),
    ],
)
def test_a_framework_that_can_only_be_a_candidate_is_no_reference(reference, said):
    """In another interpreter, diagnosis found nothing; and of whole programs, only the candidate's are run as such."""
    for make in (lambda: registry.pair(reference, "torch"), lambda: registry.pairs(reference, ("torch", "oneflow"))):
        with pytest.raises(UsageError, match=r"reference .*expected a framework") as raised:
            make()
        assert said in str(raised.value)


@pytest.mark.parametrize("name", ["sub", "fft", "data", "special"])
def test_a_candidate_whose_name_is_one_of_torchs_hides_nothing_of_torch(name):
    candidate = FaultyTorch({}, name=name)
    candidate.alias = name

    def body():
        x = random_tensor(shape=(3,), dtype="float32", low=1, high=2)
        return torch.sub(x, x.data), torch.fft.fft(x).real, torch.special.expit(x)

    assert running.agrees(running.trial(body, candidate))
    assert running.pair_with(candidate).side(name) is None


def test_a_candidate_is_reached_by_its_own_name():
    candidate = FaultyTorch({}, name="faulty")
    candidate.alias = "own"
    pair = running.pair_with(candidate)
    assert [pair.side(name) for name in ("own", "faulty", "candidate", "pytorch", "reference")] == [1, 1, 1, 0, 0]
