"""NumPy counterparts of losses, written from the documentation of torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values, log_softmax, reduction_of


def reduced(each: Values, reduction: str, batch: int = 0) -> Values:
    """Apply ``reduction=`` to the losses of all elements.

    Args:
        each: the loss of each element.
        reduction: "none", "mean", "sum" or "batchmean".
        batch: the batch size, for "batchmean".
    """
    if reduction == "batchmean":
        return np.asarray(each.sum() / batch)
    if reduction == "none":
        return each
    if reduction not in ("mean", "sum"):
        raise Unsupported
    return np.asarray(each.mean() if reduction == "mean" else each.sum())


def _loss(each: Callable[..., Values]) -> Callable[..., Values]:
    """Return a loss of two tensors from `each`, which computes its elements and may take further keyword arguments."""

    def loss(
        x: Values, y: Values, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **more: Any
    ) -> Values:
        if x.shape != y.shape:
            raise Unsupported
        return reduced(each(x, y, **more), reduction_of(reduction, size_average, reduce))

    return loss


def _smooth_l1(x: Values, y: Values, beta: float = 1.0) -> Values:
    gap = np.abs(x - y)
    if not beta:
        return np.asarray(gap)
    return np.asarray(np.where(gap < beta, 0.5 * gap**2 / beta, gap - 0.5 * beta))


def _huber(x: Values, y: Values, reduction: str = "mean", delta: float = 1.0) -> Values:
    if x.shape != y.shape:
        raise Unsupported
    gap = np.abs(x - y)
    return reduced(np.asarray(np.where(gap < delta, 0.5 * gap**2, delta * (gap - 0.5 * delta))), reduction)


def _negative_log_likelihood(
    x: Values, target: Values, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Values:  # fmt: skip
    reduction = reduction_of(reduction, size_average, reduce)
    if target.dtype.kind != "i":
        raise Unsupported
    classes = np.moveaxis(x[None] if x.ndim == 1 else x, 1, -1)
    chosen = np.atleast_1d(target)
    kept = chosen != ignore_index
    picked = np.where(kept, chosen, 0)
    weights = (np.ones(classes.shape[-1]) if weight is None else weight)[picked] * kept
    each = np.where(kept, -weights * np.take_along_axis(classes, picked[..., None], -1)[..., 0], 0.0)
    if reduction == "mean":
        return np.asarray(each.sum() / weights.sum())
    return np.asarray(each.reshape(target.shape)) if reduction == "none" else reduced(each, reduction)


def _cross_entropy(
    x: Values, target: Values, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Values:  # fmt: skip
    if label_smoothing:
        raise Unsupported
    logarithms = log_softmax(x, 0 if x.ndim == 1 else 1)
    return _negative_log_likelihood(logarithms, target, weight, size_average, ignore_index, reduce, reduction)


def _weighed(each: Callable[..., Values]) -> Callable[..., Values]:
    def loss(
        x: Values, y: Values, weight: Any = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean", **more: Any,
    ) -> Values:  # fmt: skip
        if x.shape != y.shape:
            raise Unsupported
        losses = each(x, y, **more) * (1 if weight is None else weight)
        return reduced(losses, reduction_of(reduction, size_average, reduce))

    return loss


def _binary(x: Values, y: Values) -> Values:
    return np.asarray(-(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log(1 - x), -100)))


def _binary_of_logits(x: Values, y: Values, pos_weight: Any = None) -> Values:
    more = 1 if pos_weight is None else 1 + (pos_weight - 1) * y
    return np.asarray((1 - y) * x + more * (np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)))


def _normalized(x: Values, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None) -> Values:
    if out is not None or p <= 0 or np.isinf(p):
        raise Unsupported
    size = (np.abs(x) ** p).sum(axis=dim, keepdims=True) ** (1 / p)
    return np.asarray(x / np.maximum(size, eps))


def _alignments(
    x: Values, targets: Values, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Values:  # fmt: skip
    """Return the CTC loss of Graves et al., 2006, for log probabilities `x` of shape (T, N, C).

    It sums over all alignments of each target.
    """
    if x.ndim != 3 or np.ndim(targets) != 2:
        raise Unsupported
    lengths = np.asarray(target_lengths)
    losses = np.array([
        _alignment(x[: int(steps), at], targets[at][: int(size)], blank)
        for at, (steps, size) in enumerate(zip(np.asarray(input_lengths), lengths, strict=True))
    ])  # fmt: skip
    if not np.isfinite(losses).all():
        raise Unsupported  # a target has no alignment
    return np.asarray((losses / np.maximum(lengths, 1)).mean() if reduction == "mean" else reduced(losses, reduction))


def _alignment(x: Values, target: Values, blank: int) -> float:
    labels = np.full(2 * len(target) + 1, blank)
    labels[1::2] = target
    # A blank may be skipped between two different labels.
    skips = (labels != blank) & (labels != np.roll(labels, 2))
    skips[:2] = False
    reached = np.full(len(labels), -np.inf)
    reached[:2] = x[0, labels[:2]]
    for row in x[1:]:
        before = np.concatenate([[-np.inf, -np.inf], reached])
        ways = [reached, before[1:-1], np.where(skips, before[:-2], -np.inf)]
        reached = np.logaddexp.reduce(ways) + row[labels]
    return -float(np.logaddexp.reduce(reached[-2:]))


LOSSES: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "mse_loss": _loss(lambda x, y: np.asarray((x - y) ** 2)),
        "l1_loss": _loss(lambda x, y: np.abs(x - y)),
        "smooth_l1_loss": _loss(_smooth_l1),
        "huber_loss": _huber,
        "nll_loss": _negative_log_likelihood,
        "cross_entropy": _cross_entropy,
        "binary_cross_entropy": _weighed(_binary),
        "binary_cross_entropy_with_logits": _weighed(_binary_of_logits),
        "normalize": _normalized,
        "ctc_loss": _alignments,
    }
)
