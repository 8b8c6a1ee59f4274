"""A pair from the registry can be created again in another process by its names."""

from __future__ import annotations

import sys

import pytest

from autotest import UsageError
from autotest.frameworks import Pair, registry
from autotest.frameworks.torch import TorchFramework


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
