"""A pair from the registry can be created again in another process by its names."""

from __future__ import annotations

from autotest.frameworks import Pair, registry
from autotest.frameworks.torch import TorchFramework


def test_a_pair_knows_what_the_registry_made_it_of():
    assert registry.pair("torch", "torch").names == ("torch", "torch")
    assert Pair(TorchFramework(), TorchFramework()).names is None


def test_another_process_chooses_the_same_pair():
    assert registry.variables(("a", "b")) == {"AUTOTEST_REFERENCE": "a", "AUTOTEST_CANDIDATE": "b"}
