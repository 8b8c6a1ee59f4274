"""The names of a result's items are part of its structure, in torch and in OneFlow."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from autotest.frameworks.oneflow import OneFlowFramework
from tests.support.faulty import FaultyTorch, returning
from tests.support.running import agrees, trial


def extremes():
    return torch.max(random_tensor(shape=(2, 3), dtype="float32"), 1)


def packed():
    rows = random_tensor(shape=(3, 2, 4), dtype="float32")
    return torch.nn.utils.rnn.pack_padded_sequence(rows, torch.tensor([3, 2])).data


def test_a_plain_tuple_where_a_named_one_is_expected_differs():
    (found,) = trial(extremes, FaultyTorch({"max": returning(tuple)})).mismatches
    assert "expected a tuple named (values, indices), actual a tuple of 2." in found.message


@pytest.mark.parametrize("body", [extremes, packed])
@pytest.mark.oneflow
def test_the_named_results_of_the_frameworks_agree(body):
    assert agrees(trial(body, OneFlowFramework(), special_values=False))
