"""NumPy counterparts of layers, attention, recurrent cells and sampling, written from the documentation of torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.losses import reduced
from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values, of_finite, reduction_of, sigmoid


def _attention(
    query: Values, key: Values, value: Values, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
) -> Values:  # fmt: skip
    if dropout_p:
        raise Unsupported
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    greatest = scores.max(axis=-1, keepdims=True)
    if np.isneginf(greatest).any():
        raise Unsupported  # for a row that is masked wholly, torch returned NaN before it returned zeros
    weights = np.exp(scores - greatest)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True) @ value)


def _grid(size: int, align_corners: bool) -> Values:
    ends = 1.0 if align_corners else (size - 1) / size
    return np.linspace(-ends, ends, size) if size > 1 else np.zeros(1)


def _affine_grid(theta: Values, size: Any, align_corners: Any = None) -> Values:
    if len(size) != 4:
        raise Unsupported
    y, x = np.meshgrid(*(_grid(int(extent), bool(align_corners)) for extent in size[2:]), indexing="ij")
    return np.asarray(np.einsum("nij,hwj->nhwi", theta, np.stack([x, y, np.ones_like(x)], -1)))


def _grid_sample(
    x: Values, grid: Values, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Any = None
) -> Values:
    if x.ndim != 4 or mode != "bilinear" or padding_mode not in ("zeros", "border"):
        raise Unsupported
    sizes = np.array([x.shape[3], x.shape[2]], float)
    at = (grid + 1) / 2 * (sizes - 1) if align_corners else ((grid + 1) * sizes - 1) / 2
    if padding_mode == "border":
        at = np.clip(at, 0, sizes - 1)
    low = np.floor(at)
    result = np.zeros((*x.shape[:2], *grid.shape[1:3]), x.dtype)
    for step in ((0, 0), (0, 1), (1, 0), (1, 1)):
        corner = low + step
        weight = np.prod(1 - np.abs(at - corner), axis=-1) * ((corner >= 0) & (corner < sizes)).all(axis=-1)
        column, row = np.moveaxis(np.clip(corner, 0, sizes - 1).astype(int), -1, 0)
        for one in range(x.shape[0]):
            result[one] += x[one][:, row[one], column[one]] * weight[one]
    return result


def _embedding_bag(
    x: Values, weight: Values, offsets: Any = None, max_norm: Any = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: Any = None,
) -> Values:  # fmt: skip
    if max_norm is not None or padding_idx is not None or (x.ndim == 1) == (offsets is None):
        raise Unsupported
    scales = np.ones(x.shape) if per_sample_weights is None else per_sample_weights
    if x.ndim == 1:
        ends = offsets[1:] if include_last_offset else np.append(offsets[1:], len(x))
        bags = [slice(int(a), int(b)) for a, b in zip(offsets, ends, strict=False)]
    else:
        bags = list(range(len(x)))  # type: ignore[arg-type]
    rows = [weight[x[bag]] * scales[bag][:, None] for bag in bags]
    empty = np.zeros(weight.shape[1])
    reductions: dict[str, NumpyFunction] = {"sum": np.sum, "mean": np.mean, "max": np.max}
    reduce = reductions[mode]
    return np.array([reduce(row, axis=0) if len(row) else empty for row in rows]).reshape(len(rows), weight.shape[1])


def _shuffled_pixels(x: Values, upscale_factor: int) -> Values:
    factor = upscale_factor
    *more, channels, height, width = x.shape
    parts = x.reshape(-1, channels // factor**2, factor, factor, height, width)
    return parts.transpose(0, 1, 4, 2, 5, 3).reshape(*more, channels // factor**2, height * factor, width * factor)


def _unshuffled_pixels(x: Values, downscale_factor: int) -> Values:
    factor = downscale_factor
    *more, channels, height, width = x.shape
    parts = x.reshape(-1, channels, height // factor, factor, width // factor, factor)
    return parts.transpose(0, 1, 3, 5, 2, 4).reshape(*more, channels * factor**2, height // factor, width // factor)


def _shuffled_channels(x: Values, groups: int) -> Values:
    parts = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    return parts.swapaxes(1, 2).reshape(x.shape)


def _local_response_norm(x: Values, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Values:
    if x.dtype.kind != "f":
        raise Unsupported  # the mean of integers is rounded to an integer
    squares = np.pad(x * x, [(0, 0), (size // 2, (size - 1) // 2), *[(0, 0)] * (x.ndim - 2)])
    sums = sum(squares[:, at : at + x.shape[1]] for at in range(size))
    return np.asarray(x / (k + alpha * sums / size) ** beta)


# -- cells --------------------------------------------------------------------------------------------------


def _gates(x: Values, h: Values, w: Values, u: Values, b: Any, c: Any) -> tuple[Values, Values]:
    """Return the contributions of the input and of the state to all gates."""
    return np.asarray(x @ w.T + (0 if b is None else b)), np.asarray(h @ u.T + (0 if c is None else c))


def _gru_cell(x: Values, h: Values, w: Values, u: Values, b: Any = None, c: Any = None) -> Values:
    inner, state = (np.split(part, 3, axis=-1) for part in _gates(x, h, w, u, b, c))
    reset, update = (sigmoid(inner[at] + state[at]) for at in (0, 1))
    new = np.tanh(inner[2] + reset * state[2])
    return np.asarray((1 - update) * new + update * h)


def _lstm_cell(x: Values, hx: Any, w: Values, u: Values, b: Any = None, c: Any = None) -> tuple[Values, Values]:
    hidden, cell = hx
    inner, state = _gates(x, hidden, w, u, b, c)
    entering, forgetting, new, leaving = np.split(inner + state, 4, axis=-1)
    cell = sigmoid(forgetting) * cell + sigmoid(entering) * np.tanh(new)
    return np.asarray(sigmoid(leaving) * np.tanh(cell)), np.asarray(cell)


def _plain_cell(activation: Callable[[Values], Values]) -> Callable[..., Values]:
    def cell(x: Values, h: Values, w: Values, u: Values, b: Any = None, c: Any = None) -> Values:
        return activation(sum(_gates(x, h, w, u, b, c)))  # type: ignore[arg-type]

    return cell


# -- losses -------------------------------------------------------------------------------------------------


def _gaussian(
    x: Values, target: Values, var: Values, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Values:
    if var.shape != x.shape or target.shape != x.shape:
        raise Unsupported
    var = np.maximum(var, eps)
    each = 0.5 * (np.log(var) + (x - target) ** 2 / var) + (0.5 * np.log(2 * np.pi) if full else 0)
    return reduced(each, reduction)


def _soft_margin(x: Values, y: Values, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Values:
    return reduced(np.log1p(np.exp(-y * x)), reduction_of(reduction, size_average, reduce))


def _several_soft_margins(
    x: Values, y: Values, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Values:
    positive, negative = -np.log1p(np.exp(-x)), -np.log1p(np.exp(x))
    each = -(y * positive + (1 - y) * negative) * (1 if weight is None else weight)
    return reduced(np.asarray(each.mean(axis=-1)), reduction_of(reduction, size_average, reduce))


def _cosine_embedding(
    x: Values, y: Values, target: Values, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Values:  # fmt: skip
    if x.dtype.kind != "f" or y.dtype.kind != "f":
        raise Unsupported  # products of small integers wrap around
    dim = x.ndim - 1
    sizes = np.sqrt(((x * x).sum(dim) + 1e-12) * ((y * y).sum(dim) + 1e-12))
    likeness = (x * y).sum(dim) / sizes
    each = np.where(target == 1, 1 - likeness, np.where(target == -1, np.maximum(0, likeness - margin), 0))
    return reduced(each, reduction_of(reduction, size_average, reduce))


def _multi_margin(
    x: Values, y: Values, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Values:  # fmt: skip
    rows, at = np.atleast_2d(x), np.atleast_1d(y)
    chosen = np.take_along_axis(rows, at[:, None], axis=1)
    each = np.maximum(0, margin - chosen + rows) ** p * (1 if weight is None else weight[at][:, None])
    each[np.arange(len(at)), at] = 0
    losses = each.sum(axis=1) / rows.shape[1]
    return reduced(losses if x.ndim == 2 else losses[0], reduction_of(reduction, size_average, reduce))


LAYERS: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "scaled_dot_product_attention": of_finite(_attention),
        "affine_grid": _affine_grid,
        "grid_sample": of_finite(_grid_sample),
        "embedding_bag": _embedding_bag,
        "pixel_shuffle": _shuffled_pixels,
        "pixel_unshuffle": _unshuffled_pixels,
        "channel_shuffle": _shuffled_channels,
        "local_response_norm": _local_response_norm,
        "gru_cell": _gru_cell,
        "lstm_cell": _lstm_cell,
        "rnn_tanh_cell": _plain_cell(np.tanh),
        "rnn_relu_cell": _plain_cell(lambda x: np.maximum(x, 0)),
        "gaussian_nll_loss": _gaussian,
        "soft_margin_loss": _soft_margin,
        "multilabel_soft_margin_loss": _several_soft_margins,
        "cosine_embedding_loss": _cosine_embedding,
        "multi_margin_loss": _multi_margin,
    }
)
