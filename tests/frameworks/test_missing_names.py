"""A framework with torch's names, of which it lacks some, is a candidate of those that it has."""

from __future__ import annotations

import types

import numpy as np
import pytest

from autotest import random_tensor, torch
from autotest.frameworks import ABSENT, Namespace
from autotest.program import Array
from autotest.running.conformance import conformance
from tests.support import running


class Small(Namespace):
    """torch without the names in `lacks`, with the adapter that `autotest adapter new` writes."""

    translates = True

    def __init__(self, *lacks: str) -> None:
        super().__init__("small", module="torch")
        self._lacks = lacks

    def import_root(self):
        whole = super().import_root()
        return types.SimpleNamespace(
            **{name: getattr(whole, name) for name in dir(whole) if not (name in self._lacks or name.startswith("__"))}
        )


@pytest.mark.parametrize("name", ["bfloat16", "cuda", "nn", "no_grad", "manual_seed", "dtype", "device", "Size"])
def test_a_name_that_it_lacks_takes_nothing_else_away(name):
    candidate, data = Small(name, "relu"), Array(np.ones(2, "float32"), "float32")
    outcome = running.trial(lambda: torch.exp(random_tensor(ndim=2)).sum(dim=1), candidate)
    assert running.agrees(outcome)
    outcome = running.trial(lambda: torch.relu(random_tensor(ndim=2)), candidate)
    assert (outcome.mismatches, outcome.rejection.text) == ([], "small has no relu")
    candidate.seed(1)
    candidate.overwrite(candidate.tensor(data), data)
    assert candidate.devices()[0] == "cpu"
    assert candidate.literal(object()) is ABSENT
    assert not isinstance(candidate.tensor(data), candidate.module_types)


def test_an_adapter_is_right_although_its_framework_lacks_names():
    lacking = Small("bfloat16", "cuda", "device", "memory_format", "nn")
    assert [checked for checked in conformance(lacking) if checked.outcome == "WRONG"] == []
