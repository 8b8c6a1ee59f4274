"""Tests may create tensors of a shape although a library of kernels has no functions that do."""

from __future__ import annotations

import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.frameworks.created_arrays import created
from tests.support import running
from tests.support.array_kernels import framework

CALLS = {
    "zeros": [((2, 3), {}), (((2, 3),), {}), ((), {"size": (2, 3)}), ((4,), {"dtype": real.int64})],
    "ones": [((2, 3), {"dtype": real.float64})],
    "empty": [((2, 3), {})],
    "full": [(((2, 3), 1.5), {}), (((2,), True), {}), (((2,), 3), {}), (((2,), 3), {"dtype": real.float32})],
}


@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in CALLS.items() for call in calls])
def test_a_created_array_is_torchs(name, call):
    args, kwargs = call
    expected = getattr(real, name)(*args, **kwargs)
    named = {key: str(item).removeprefix("torch.") if key == "dtype" else item for key, item in kwargs.items()}
    array, dtype = created(name)(*args, **named)
    assert (array.shape, dtype) == (tuple(expected.shape), str(expected.dtype).removeprefix("torch."))
    assert name == "empty" or array.tolist() == expected.tolist()


def test_a_trial_that_creates_tensors_beside_the_kernels_is_compared():
    def body():
        return torch.softmax(random_tensor(shape=(2, 3), dtype="float32"), 1), torch.relu(torch.full((2, 2), -1.5))

    adapter = framework()
    assert running.agrees(running.trial(body, adapter, special_values=False))
    assert adapter.own_calls >= 2


def test_to_create_a_tensor_is_no_call_of_the_library():
    adapter = framework()
    outcome = running.trial(lambda: torch.ones(2), adapter, special_values=False)
    assert not outcome.mismatches
    assert adapter.own_calls == 0
