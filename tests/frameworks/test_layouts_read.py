"""A tensor of another layout differs, and quantized tensors are read as the numbers that they stand for."""

from __future__ import annotations

import pytest
import torch as real

from autotest import random_tensor, torch
from tests.support import running
from tests.support.faulty import FaultyTorch, returning

#: Warnings of torch 2.0 about CSR, and of torch 2.13 about the functions that create quantized tensors.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta"),
    pytest.mark.filterwarnings("ignore:.*quantized tensor creation functions"),
]


def drawn():
    return random_tensor(shape=(2, 3), low=1, high=2, dtype="float32", requires_grad=False)


@pytest.mark.parametrize("method", ["to_sparse", "to_sparse_csr"])
def test_a_sparse_result_where_a_dense_one_is_expected_differs(method):
    sparse = FaultyTorch({"exp": returning(lambda result: getattr(result, method)())})
    (found,) = running.trial(lambda: torch.exp(drawn()), sparse).mismatches
    assert (found.symptom, found.detail) == ("structure", "layout")
    assert found.message.startswith("v1: expected layout strided, actual sparse_c")


def test_a_dense_result_where_a_sparse_one_is_expected_differs():
    dense = FaultyTorch(tensors={"to_sparse": lambda own: lambda x: x.clone()})
    (found,) = running.trial(lambda: drawn().to_sparse(), dense).mismatches
    assert found.message.startswith("v1: expected layout sparse_coo, actual strided.")


def quantized():
    return torch.quantize_per_tensor(drawn(), 0.1, 3, torch.quint8)


def per_channel():
    return torch.quantize_per_channel(drawn(), torch.tensor([0.1, 0.2]), torch.tensor([0, 0]), 0, torch.qint8)


@pytest.mark.parametrize("body", [quantized, per_channel])
def test_quantized_tensors_agree_with_themselves(body):
    assert running.agrees(running.trial(body, FaultyTorch()))


def test_a_quantized_tensor_of_other_numbers_differs():
    coarser = FaultyTorch({"quantize_per_tensor": lambda own: lambda x, scale, *more: own(x, 3 * scale, *more)})
    assert [found.symptom for found in running.trial(quantized, coarser).mismatches] == ["value"]


def test_a_quantized_tensor_where_a_dense_one_is_expected_differs_in_dtype():
    def rounded(result):
        return real.quantize_per_tensor(result, 0.1, 3, real.quint8)

    found = running.trial(lambda: torch.exp(drawn()), FaultyTorch({"exp": returning(rounded)})).mismatches
    assert [item.symptom for item in found] == ["dtype", "value"]
