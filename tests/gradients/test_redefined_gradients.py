"""A gradient that is documented not to be the derivative is no mismatch; any other wrong gradient is."""

from __future__ import annotations

import pytest

from autotest import random_tensor, torch
from autotest.frameworks.torch import TorchFramework
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import agrees, trial


def nnf():
    return torch.nn.functional  # looked up inside of a test, where a candidate is chosen


def doubles(*shape, low=-2, high=2):
    return random_tensor(shape=shape, low=low, high=high, dtype="float64")


def bags(**options):
    return nnf().embedding_bag(rows(2, 3), doubles(2, 3), mode="sum", **options)


def rows(*shape):
    return random_tensor(shape=shape, low=0, high=2, dtype="int64")


def symmetric():
    x = doubles(3, 3)
    return x @ x.t() + torch.eye(3, dtype=torch.float64)


LABELS = ([[1, 1, 2], [2, 3, 1]], [6, 5], [3, 2])


def targets():
    return [torch.tensor(label) for label in LABELS]


#: Each with its documented gradient, and the number of input/output pairs that are still checked.
DEFINED = {
    "padding": (lambda: nnf().embedding(rows(6), doubles(2, 3), padding_idx=1), 0),
    "padding by position": (lambda: nnf().embedding(rows(6), doubles(2, 3), 1), 0),
    "padding of what was computed": (lambda: nnf().embedding(rows(6), torch.exp(doubles(2, 3)), padding_idx=1), 0),
    "padding of a module": (lambda: torch.nn.Embedding(2, 3, padding_idx=1)(rows(6)), 0),
    "padding beside another input": (lambda: nnf().embedding(rows(6), doubles(2, 3), padding_idx=1) * doubles(6, 3), 1),
    "by frequency": (lambda: nnf().embedding(rows(6), doubles(2, 3), scale_grad_by_freq=True), 0),
    "by frequency in bags": (
        lambda: nnf().embedding_bag(rows(2, 3), doubles(2, 3), scale_grad_by_freq=True, mode="sum"),
        0,
    ),
    "norms that are cut": (lambda: nnf().embedding(rows(6), doubles(2, 3) * 1, max_norm=0.5), 0),
    "norms that a module cuts": (lambda: torch.nn.Embedding(2, 3, max_norm=0.5)(rows(6)), 0),
    "no probabilities": (lambda: nnf().ctc_loss(doubles(6, 2, 4), *targets()), 0),
    "no probabilities for a module": (lambda: torch.nn.CTCLoss()(doubles(6, 2, 4), *targets()), 0),
    "straight through": (
        lambda: torch.fake_quantize_per_tensor_affine(doubles(3).float(), 0.1, 0, -9, 9),
        0,
    ),
    "what is stored": (lambda: torch.relu(doubles(9)).to_sparse().to_dense(), 0),
    "one triangle": (lambda: torch.linalg.eigvalsh(doubles(3, 3)), 0),
    "one triangle of strided memory": (
        lambda: torch.linalg.eigvalsh(random_tensor(shape=(3, 3), low=-2, high=2, layout="strided")),
        0,
    ),
    "written twice": (lambda: torch.scatter(doubles(3, 3), 0, torch.tensor([[0, 1], [0, 2]]), doubles(2, 2)), 1),
    "rows written twice": (lambda: torch.index_copy(doubles(3, 3), 0, torch.tensor([0, 0]), doubles(2, 3)), 1),
    "places written twice": (lambda: torch.index_put(doubles(3), (torch.tensor([0, 0]),), doubles(2)), 1),
    "flat places written twice": (lambda: torch.put(doubles(2, 2), torch.tensor([3, 3]), doubles(2)), 1),
    "by keyword": (lambda: torch.put(input=doubles(2, 2), index=torch.tensor([3, 3]), source=doubles(2)), 1),
    "clamped without saying so": (
        lambda: nnf().gaussian_nll_loss(doubles(3), doubles(3), doubles(3, low=0.1, high=0.2), eps=0.5),
        2,
    ),
}


@pytest.mark.parametrize("name", DEFINED)
def test_what_is_documented_is_no_mismatch(name):
    body, pairs = DEFINED[name]
    for seed in range(3):
        outcome = trial(body, TorchFramework(), check_grad="numeric", seed=seed)
        assert agrees(outcome)
        assert not outcome.complaint
        assert outcome.numeric_pairs == pairs


#: Similar functions whose gradient is the derivative.
ORDINARY = {
    "embedding": lambda: nnf().embedding(rows(6), doubles(2, 3)),
    "embedding, nothing asked": lambda: nnf().embedding(rows(6), doubles(2, 3), padding_idx=None,
                                                        scale_grad_by_freq=False),
    "embedding_bag": lambda: bags(padding_idx=1),
    "ctc_loss": lambda: nnf().ctc_loss(nnf().log_softmax(doubles(6, 2, 4), -1), *targets()),
    "ctc_loss of infinity": lambda: nnf().ctc_loss(nnf().log_softmax(doubles(2, 2, 4), -1), *targets()[:1],
                                               *([2, 2], [3, 2]), zero_infinity=True),
    "cholesky": lambda: torch.linalg.cholesky(symmetric()),
    "scatter": lambda: torch.scatter(doubles(3, 3), 0, torch.tensor([[0, 1], [1, 2]]), doubles(2, 2)),
    "index_put": lambda: torch.index_put(doubles(3), (torch.tensor([0, 0]),), doubles(2), accumulate=True),
    "gaussian_nll_loss": lambda: nnf().gaussian_nll_loss(doubles(3), doubles(3), doubles(3, low=1, high=2)),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_what_has_its_derivative_is_held_against_differences(name):
    outcome = trial(ORDINARY[name], TorchFramework(), check_grad="numeric")
    assert agrees(outcome)
    assert outcome.numeric_pairs > 0


def test_a_wrong_gradient_beside_such_a_call_is_found():
    def body():
        return nnf().embedding(rows(6), doubles(2, 3), padding_idx=1) * torch.exp(doubles(6, 3))

    wrong = FaultyTorch({"exp": with_gradient(lambda gradient: 2 * gradient)})
    outcome = trial(body, wrong, reference=wrong, check_grad="numeric")
    assert [mismatch.name for mismatch in outcome.mismatches] == ["x2.grad"]
    assert "not its derivative" in outcome.mismatches[0].message


def test_a_wrong_gradient_of_padding_is_a_difference_of_the_two_sides():
    unpadded = FaultyTorch({"nn.functional.embedding": lambda f: lambda x, weight, padding_idx: f(x, weight)})
    outcome = trial(DEFINED["padding"][0], unpadded, check_grad="numeric")
    assert [mismatch.symptom for mismatch in outcome.mismatches] == ["gradient"]
