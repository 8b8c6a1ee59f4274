"""Losses, as modules and as functions, with all reductions; distances and similarities."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch

REDUCTION = ("mean", "sum", "none")


def reduction():
    return oneof(*REDUCTION) | nothing()


def pair(low=-1, high=1):
    """Return two tensors of the same shape."""
    shape = (random(1, 5).to(int).value(), random(1, 6).to(int).value())
    return random_tensor(shape=shape, low=low, high=high), random_tensor(shape=shape, low=low, high=high)


def logits_and_classes(rank=2):
    classes = random(2, 6).to(int).value()
    sizes = [random(1, 4).to(int).value() for _ in range(rank - 1)]
    shape = (sizes[0], classes, *sizes[1:])
    return random_tensor(shape=shape, low=-3, high=3), random_tensor(shape=sizes, high=classes, dtype=int), classes


@pytest.mark.parametrize("name", ["L1Loss", "MSELoss", "SmoothL1Loss"])
@autotest()
def test_difference(name):
    x, y = pair(-3, 3)
    return getattr(torch.nn, name)(reduction=reduction())(x, y)


@pytest.mark.parametrize("name", ["l1_loss", "mse_loss", "smooth_l1_loss"])
@autotest()
def test_functional_difference(name):
    x, y = pair(-3, 3)
    return getattr(torch.nn.functional, name)(x, y, reduction=reduction())


@pytest.mark.parametrize("rank", [2, 3, 4])
@autotest()
def test_cross_entropy(rank):
    x, target, classes = logits_and_classes(rank)
    m = torch.nn.CrossEntropyLoss(reduction=reduction(), ignore_index=random(0, classes).to(int) | nothing())
    return m(x, target)


@pytest.mark.parametrize("rank", [2, 3, 4])
@autotest()
def test_negative_log_likelihood(rank):
    x, target, _ = logits_and_classes(rank)
    return torch.nn.NLLLoss(reduction=reduction())(torch.nn.functional.log_softmax(x, dim=1), target)


@pytest.mark.parametrize("weighted", [False, True])
@autotest()
def test_binary_cross_entropy(weighted):
    x, weight = pair(0.05, 0.95)
    target = torch.ones_like(x) * random(0.0, 1.0).value()
    weight = weight.detach() if weighted else None
    return torch.nn.BCELoss(weight=weight, reduction=reduction())(x, target)


@pytest.mark.parametrize("weighted", [False, True])
@autotest()
def test_binary_cross_entropy_with_logits(weighted):
    x, _ = pair(-4, 4)
    target = random_tensor(shape=tuple(x.shape), low=0, high=1, requires_grad=False)
    weights = random_tensor(shape=(x.shape[1],), low=0.5, high=2, requires_grad=False) if weighted else None
    return torch.nn.BCEWithLogitsLoss(pos_weight=weights, reduction=reduction())(x, target)


class TestClassification(unittest.TestCase):
    @autotest()
    def test_binary_cross_entropy_with_weights_of_positives(self):
        x, _ = pair(-4, 4)
        target = random_tensor(shape=tuple(x.shape), low=0, high=1, requires_grad=False)
        weight = random_tensor(shape=(x.shape[1],), low=0.5, high=2, requires_grad=False)
        return torch.nn.functional.binary_cross_entropy_with_logits(x, target, pos_weight=weight)

    @autotest()
    def test_binary_cross_entropy_with_weights_that_broadcast(self):
        x, _ = pair(-4, 4)
        target = random_tensor(shape=tuple(x.shape), low=0, high=1, requires_grad=False)
        weight = random_tensor(shape=(x.shape[1],), low=0.5, high=2, requires_grad=False)
        return torch.nn.functional.binary_cross_entropy_with_logits(x, target, weight=weight)

    @autotest()
    def test_cross_entropy_with_weights(self):
        x, target, classes = logits_and_classes()
        weight = random_tensor(shape=(classes,), low=0.5, high=2, requires_grad=False)
        return torch.nn.CrossEntropyLoss(weight=weight, reduction=reduction())(x, target)

    @autotest()
    def test_cross_entropy_with_label_smoothing(self):
        x, target, _ = logits_and_classes()
        return torch.nn.CrossEntropyLoss(label_smoothing=random(0.1, 0.9))(x, target)

    @autotest()
    def test_cross_entropy_with_probabilities(self):
        x, y = pair(-3, 3)
        return torch.nn.functional.cross_entropy(x, torch.softmax(y, dim=1))

    @autotest()
    def test_cross_entropy_when_everything_is_ignored(self):
        x = random_tensor(shape=(3, 2), low=-3, high=3)
        target = random_tensor(shape=(3,), high=2, dtype=int)
        return torch.nn.CrossEntropyLoss(ignore_index=oneof(0, 1))(x, target)

    @autotest()
    def test_triplets(self):
        x, y = pair()
        z = random_tensor(shape=tuple(x.shape), low=-1)
        return torch.nn.TripletMarginLoss(margin=random(0.5, 2.0), p=oneof(1.0, 2.0), reduction=reduction())(x, y, z)

    @autotest()
    def test_margin_ranking(self):
        x, y = pair()
        target = random_tensor(shape=tuple(x.shape), low=-1, requires_grad=False).sign()
        return torch.nn.MarginRankingLoss(margin=random(0.0, 1.0), reduction=reduction())(x, y, target)

    @autotest(n=10)
    def test_ctc(self):
        steps, batch, classes, length = 8, 2, 5, 3
        x = torch.nn.functional.log_softmax(random_tensor(shape=(steps, batch, classes), low=-2, high=2), dim=2)
        targets = random_tensor(shape=(batch, length), low=1, high=classes, dtype=int)
        input_lengths = torch.tensor([steps, steps - 1])
        target_lengths = torch.tensor([length, length - 1])
        return torch.nn.CTCLoss(reduction=oneof("mean", "sum", "none"))(x, targets, input_lengths, target_lengths)


class TestDistances(unittest.TestCase):
    @autotest()
    def test_kl_divergence(self):
        x, y = pair(0.1, 1)
        return torch.nn.KLDivLoss(reduction=reduction(), log_target=random_bool())(torch.log(x), y)

    @autotest(n=10, rtol=1e-10, atol=1e-12)
    def test_kl_divergence_in_double_precision(self):
        x, y = (random_tensor(shape=(4, 5), low=0.1, dtype="float64") for _ in range(2))
        return torch.nn.functional.kl_div(x, y, reduction="none")

    @autotest(n=5)
    def test_kl_divergence_of_negative_targets(self):
        x = random_tensor(shape=(3, 4), low=-3, high=0)
        target = random_tensor(shape=(3, 4), low=-1, high=1, requires_grad=False)
        return torch.nn.functional.kl_div(x, target, reduction="none")

    @autotest()
    def test_smooth_l1_by_beta(self):
        x, y = pair(-3, 3)
        return torch.nn.SmoothL1Loss(beta=oneof(0.0, 0.5, 1.0, 2.0))(x, y)

    @autotest()
    def test_gradient_of_l1_at_zero(self):
        x = random_tensor(shape=(4, 5), low=-2, high=2, contents="integers")
        y = random_tensor(shape=(4, 5), low=-2, high=2, contents="integers")
        return torch.nn.L1Loss(reduction="none")(x, y), torch.nn.SmoothL1Loss(reduction="none")(x, y)

    @autotest()
    def test_cosine_similarity(self):
        x, y = pair(0.2, 2)
        return torch.nn.functional.cosine_similarity(x, y, dim=oneof(0, 1))

    @autotest()
    def test_pairwise_distance(self):
        x, y = pair(-2, 2)
        return torch.nn.PairwiseDistance(p=oneof(1.0, 2.0, 3.0), keepdim=random_bool())(x, y)

    @autotest()
    def test_mse_of_a_tensor_with_itself(self):
        x = random_tensor(shape=(3, 4), low=-1)
        return torch.nn.functional.mse_loss(x, x), torch.nn.functional.mse_loss(x, x.detach() * 2)
