"""NumPy counterparts of elementwise operators, reductions, normalizations and changes of shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.losses import reduced
from autotest.diagnosis.counterparts.values import (
    NumpyFunction,
    OrderDependent,
    Unsupported,
    Values,
    axis_of,
    exactly,
    log_softmax,
    log_sum,
    none_missing,
    of_finite,
    p_norm,
    reduction_of,
    sigmoid,
    sum_with_product,
)
from autotest.frameworks.torch_arguments import sizes


def _reduction(function: NumpyFunction) -> NumpyFunction:
    def reduced(x: Values, dim: Any = None, keepdim: bool = False) -> Any:
        return function(x, axis=axis_of(dim), keepdims=keepdim)

    return reduced


def _quantified(function: NumpyFunction) -> NumpyFunction:
    """Return torch's `all` or `any`. Given ``dim=()`` they reduce no dimension, as NumPy's; torch's sums reduce all."""

    def reduced(x: Values, dim: Any = None, keepdim: bool = False) -> Any:
        return function(x, axis=tuple(dim) if isinstance(dim, list) else dim, keepdims=keepdim)

    return reduced


def _scaled(function: NumpyFunction) -> NumpyFunction:
    return lambda x, y, *, alpha=1: function(x, y if alpha == 1 else y * alpha)


def _implicit(x: Values, dim: int | None) -> int:
    """Return `dim`, or torch's default for softmax, see `torch.nn.functional._get_softmax_dim`."""
    return (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim


def _log_softmax(x: Values, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Values:
    if dtype is not None:
        raise Unsupported
    return log_softmax(x, _implicit(x, dim))


def _softmax(x: Values, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Values:
    return np.asarray(np.exp(_log_softmax(x, dim, dtype=dtype)))


def _logsumexp(x: Values, dim: Any, keepdim: bool = False) -> Values:
    return log_sum(x, axis_of(dim), keepdim)


def _layer_norm(x: Values, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Values:
    axes = tuple(range(x.ndim - len(tuple(normalized_shape)), x.ndim))
    centred = x - x.mean(axis=axes, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
    return np.asarray(scaled * (1 if weight is None else weight) + (0 if bias is None else bias))


def _linear(x: Values, weight: Values, bias: Any = None) -> Values:
    return np.asarray(x @ weight.T + (0 if bias is None else bias))


def _clamp(x: Values, min: Any = None, max: Any = None) -> Values:  # noqa: A002 - the operator's own names
    lower = x if min is None else np.maximum(x, min)
    return np.asarray(lower if max is None else np.minimum(lower, max))


def _variance(root: bool) -> NumpyFunction:
    def variance(x: Values, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Any:
        if isinstance(dim, bool):  # var(x, unbiased)
            dim, unbiased = None, dim
        return (np.std if root else np.var)(x, axis=axis_of(dim), ddof=int(unbiased), keepdims=keepdim)

    return variance


def _gelu(x: Values, approximate: str = "none") -> Values:
    if approximate != "none":
        raise Unsupported
    return np.asarray(x * 0.5 * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))))


def _pow(x: Any, y: Any) -> Any:
    kinds = {np.asarray(side).dtype.kind for side in (x, y)}
    if "c" in kinds:
        if not all(np.isfinite(side).all() for side in (x, y)) or not np.all(x):
            raise Unsupported  # infinite complex numbers, and powers of zero, are left to the implementation
        return np.power(np.asarray(x, dtype=np.complex128), np.asarray(y, dtype=np.complex128))
    # The exponents are an array, because NumPy replaces a scalar 0.5 by a square root, which differs from C's pow at
    # -infinity.
    exponents = np.broadcast_to(np.asarray(y, dtype=np.float64), np.broadcast_shapes(np.shape(x), np.shape(y)))
    powers = np.asarray(np.power(np.asarray(x, dtype=np.float64), np.array(exponents)))
    return powers if "f" in kinds else _integer_power(x, y, powers)


def _integer_power(x: Any, y: Any, about: Values) -> Values:
    """Return the exact power of integers, which is `about`. Raise `Unsupported` if it is no integer of their dtype."""
    tensors = [side.dtype for side in (x, y) if isinstance(side, np.ndarray)]
    large = [side.dtype for side in (x, y) if isinstance(side, np.ndarray) and side.ndim]
    dtype = np.result_type(*(large or tensors or [np.int64]))
    if dtype.kind == "b" or np.any(np.asarray(y) < 0) or np.any(np.abs(about) >= np.iinfo(dtype).max):
        raise Unsupported
    return np.asarray(np.power(np.asarray(x, dtype=np.int64), np.asarray(y, dtype=np.int64))).astype(dtype)


def _roll(x: Values, shifts: Any, dims: Any = None) -> Values:
    places = shifts if isinstance(shifts, int) else tuple(shifts)
    return np.roll(x, places, axis_of(dims))


def _flatten(x: Values, start_dim: int = 0, end_dim: int = -1) -> Values:
    end = end_dim % x.ndim
    return x.reshape(*x.shape[:start_dim], -1, *x.shape[end + 1 :])


def _norm(x: Values, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Values:
    """Return the vector norm along `dim`, as ``torch.norm`` does. Raise `Unsupported` for matrix norms like "nuc"."""
    if dtype is not None or (isinstance(p, str) and p != "fro"):
        raise Unsupported
    return p_norm(x, 2.0 if isinstance(p, str) else float(p), axis_of(dim), keepdims=keepdim)


def _kl_div(
    x: Values, target: Values, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Values:  # fmt: skip
    if log_target:
        each = np.exp(target) * (target - x)
    else:
        each = np.where(target == 0, 0.0, target * np.log(np.where(target == 0, 1.0, target))) - target * x
    return reduced(each, reduction_of(reduction, size_average, reduce), x.shape[0] if x.ndim else 1)


def _cosine_similarity(x: Values, y: Values, dim: int = 1, eps: float = 1e-8) -> Values:
    x, y = np.broadcast_arrays(x, y)
    sizes = [np.maximum(np.sqrt((side * side).sum(axis=dim)), eps) for side in (x, y)]
    return np.asarray((x * y).sum(axis=dim) / (sizes[0] * sizes[1]))


def _normalized(x: Values, mean: Values, variance: Values, weight: Any, bias: Any, eps: float) -> Values:
    """Normalize `x`, whose channels are its second dimension, by `mean` and `variance`, which broadcast with it."""
    if x.ndim < 2:
        raise Unsupported
    if not all(one is None or np.isfinite(one).all() for one in (weight, bias)):
        raise OrderDependent  # the weight multiplies the difference, or else `x` and the mean separately
    channels = (1, -1) + (1,) * (x.ndim - 2)
    scaled = (x - mean) / np.sqrt(variance + eps)
    scaled = scaled if weight is None else scaled * weight.reshape(channels)
    return np.asarray(scaled if bias is None else scaled + bias.reshape(channels))


def _statistics(x: Values, axes: tuple[int, ...], running_mean: Any, running_var: Any) -> tuple[Values, Values]:
    """Return the running mean and variance of each channel; if there are none, those of `x` over `axes`."""
    if running_mean is None:
        return x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    if not (np.isfinite(running_mean).all() and np.isfinite(running_var).all()):
        raise OrderDependent
    channels = (1, -1) + (1,) * (x.ndim - 2)
    return running_mean.reshape(channels), running_var.reshape(channels)


def _instance_norm(
    x: Values, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Values:  # fmt: skip
    if x.ndim < 3:
        raise Unsupported
    mean, variance = _statistics(x, tuple(range(2, x.ndim)), None if use_input_stats else running_mean, running_var)
    return _normalized(x, mean, variance, weight, bias, eps)


def _batch_norm(
    x: Values, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: Any = 0.1, eps: float = 1e-5,
) -> Values:  # fmt: skip
    mean, variance = _statistics(x, (0, *range(2, x.ndim)), None if training else running_mean, running_var)
    return _normalized(x, mean, variance, weight, bias, eps)


def _group_norm(x: Values, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Values:
    grouped = x.reshape(x.shape[0], num_groups, -1)
    mean, variance = grouped.mean(axis=2, keepdims=True), grouped.var(axis=2, keepdims=True)
    if (variance < 1e-12 * mean**2).any():
        raise Unsupported  # for equal numbers only rounding errors are left, which eps makes hundreds of times greater
    scaled = ((grouped - mean) / np.sqrt(variance + eps)).reshape(x.shape)
    return _normalized(scaled, np.zeros(()), np.ones(()), weight, bias, 0.0)


def _hardswish(x: Values) -> Values:
    inner = x * ((np.clip(x, -3, 3) + 3) / 6)
    return np.asarray(np.where(x <= -3, 0.0, np.where(x >= 3, x, inner)))


def _log_sigmoid(x: Values) -> Values:
    return np.asarray(np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))))


def _mish(x: Values) -> Values:
    return np.asarray(x * np.tanh(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))))


def _selu(x: Values) -> Values:
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return np.asarray(scale * np.where(x > 0, x, alpha * np.expm1(x)))


def _chunks(x: Values, size: Any, dim: int = 0) -> tuple[Values, ...]:
    sizes = list(size) if isinstance(size, (list, tuple)) else [size] * -(-x.shape[dim] // size)
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis=dim))


def _index_select(x: Values, dim: int, index: Values) -> Values:
    # A 0-d index selects like one of length 1 and keeps the dimension, which numpy.take removes.
    taken = np.take(x if x.ndim else x.reshape(1), np.atleast_1d(index), axis=dim)
    return np.asarray(taken if x.ndim else taken.reshape(()))


def _bitwise(function: NumpyFunction) -> NumpyFunction:
    def combined(x: Any, y: Any) -> Any:
        if any(np.asarray(side).dtype.kind == "f" for side in (x, y)):
            raise Unsupported
        return function(x, y)

    return combined


def _added_to(c: Values, a: Values, b: Values, *, beta: float = 1, alpha: float = 1) -> Values:
    return sum_with_product(c, a @ b, beta, alpha)


_UNARY: dict[str, NumpyFunction] = {
    **{name: getattr(np, name) for name in "exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh sqrt".split()},
    **{name: getattr(np, name) for name in "abs floor ceil trunc square negative exp2".split()},
    **{name: getattr(np, name) for name in "logical_not isnan isinf isfinite arcsin arccos arctan".split()},
    **{name: getattr(np, name) for name in "arcsinh arccosh arctanh".split()},
    "sign": lambda x: np.sign(none_missing(x)),
    "reciprocal": lambda x: np.true_divide(1, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": np.vectorize(math.erf, otypes=[float]),
    "erfc": np.vectorize(math.erfc, otypes=[float]),
    "sigmoid": sigmoid,
    "frac": lambda x: x - np.trunc(x),
}
_BINARY: dict[str, NumpyFunction] = {
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "atan2": np.arctan2,
    "pow": _pow,
    **{name: getattr(np, name) for name in "matmul fmod remainder logical_and logical_or logical_xor".split()},
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "mm": np.matmul, "bmm": np.matmul, "mv": np.matmul, "dot": np.dot, "outer": np.outer,
    "truediv": np.true_divide,
}  # fmt: skip
_DIVISIONS: dict[str | None, NumpyFunction] = {
    None: np.true_divide,
    "floor": np.floor_divide,
    "trunc": lambda x, y: np.trunc(np.true_divide(x, y)),
}
COUNTERPARTS: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        **{name: exactly(function, 1) for name, function in _UNARY.items()},
        **{name: exactly(function, 2) for name, function in _BINARY.items()},
        "add": _scaled(np.add),
        "sub": _scaled(np.subtract),
        "div": lambda x, y, *, rounding_mode=None: _DIVISIONS[rounding_mode](x, y),
        "addmm": _added_to,
        "baddbmm": _added_to,
        "relu": lambda x, inplace=False: np.maximum(x, 0),
        "relu6": lambda x, inplace=False: np.clip(x, 0, 6),
        "leaky_relu": lambda x, negative_slope=0.01, inplace=False: np.where(x > 0, x, x * negative_slope),
        "elu": lambda x, alpha=1.0, inplace=False: np.where(x > 0, x, alpha * np.expm1(x)),
        "silu": lambda x, inplace=False: x / (1 + np.exp(-x)),
        "softplus": lambda x, beta=1, threshold=20: np.where(
            x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta
        ),
        "gelu": _gelu,
        "softmax": _softmax,
        "log_softmax": _log_softmax,
        "logsumexp": _logsumexp,
        "layer_norm": _layer_norm,
        "linear": _linear,
        "sum": _reduction(np.sum),
        "mean": _reduction(np.mean),
        "amax": _reduction(np.max),
        "amin": _reduction(np.min),
        "prod": _reduction(np.prod),
        "any": _quantified(np.any),
        "all": _quantified(np.all),
        "var": _variance(root=False),
        "std": _variance(root=True),
        "norm": _norm,
        "kl_div": _kl_div,
        "cosine_similarity": _cosine_similarity,
        "instance_norm": _instance_norm,
        "batch_norm": _batch_norm,
        "group_norm": _group_norm,
        "hardtanh": lambda x, min_val=-1.0, max_val=1.0, inplace=False: np.clip(x, min_val, max_val),
        "hardsigmoid": lambda x, inplace=False: np.clip(x + 3, 0, 6) / 6,
        "hardswish": lambda x, inplace=False: _hardswish(x),
        "celu": lambda x, alpha=1.0, inplace=False: np.maximum(x, 0) + np.minimum(alpha * np.expm1(x / alpha), 0),
        "selu": lambda x, inplace=False: _selu(x),
        "mish": lambda x, inplace=False: _mish(x),
        "logsigmoid": exactly(_log_sigmoid, 1),
        "softsign": exactly(lambda x: x / (1 + np.abs(x)), 1),
        "tanhshrink": exactly(lambda x: x - np.tanh(x), 1),
        "round": lambda x, *, decimals=0: np.round(x, decimals),
        "split": _chunks,
        "unbind": lambda x, dim=0: tuple(np.moveaxis(x, dim, 0)),
        "zero": exactly(np.zeros_like, 1),
        "fill": np.full_like,
        "floor_divide": exactly(np.floor_divide, 2),
        "bitwise_and": _bitwise(np.bitwise_and),
        "bitwise_or": _bitwise(np.bitwise_or),
        "bitwise_xor": _bitwise(np.bitwise_xor),
        "bitwise_not": exactly(np.invert, 1),
        "cumsum": lambda x, dim: np.cumsum(np.atleast_1d(x), axis=dim).reshape(x.shape),
        "cumprod": lambda x, dim: np.cumprod(np.atleast_1d(x), axis=dim).reshape(x.shape),
        "clamp": _clamp,
        "clip": _clamp,
        "where": exactly(np.where, 3),
        "lerp": of_finite(exactly(lambda a, b, w: a + w * (b - a), 3)),
        "tril": lambda x, diagonal=0: np.tril(x, diagonal),
        "triu": lambda x, diagonal=0: np.triu(x, diagonal),
        "flip": lambda x, *dims: np.flip(x, sizes(dims)),
        "roll": _roll,
        "transpose": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),  # noqa: PLW0108 - the keywords' names
        "permute": lambda x, *dims: np.transpose(x, sizes(dims)),
        "reshape": lambda x, *shape: np.reshape(x, sizes(shape)),
        "flatten": _flatten,
        "unsqueeze": lambda x, dim: np.expand_dims(x, dim),  # noqa: PLW0108 - the keyword's name
        "cat": lambda tensors, dim=0: np.concatenate(tensors, axis=dim),
        "stack": lambda tensors, dim=0: np.stack(tensors, axis=dim),
        "index_select": _index_select,
        "masked_fill": lambda x, mask, value: np.where(mask, value, x).astype(x.dtype),
        "diag": lambda x, diagonal=0: np.diag(x, diagonal),
        "trace": exactly(np.trace, 1),
        "repeat": lambda x, *dims: np.tile(x, sizes(dims)),
    }
)
