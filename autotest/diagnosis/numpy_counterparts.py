"""What NumPy has to say about an operator: the third voter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]
Function = Callable[..., Any]


def vote(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of operator `name`, a tuple of arrays for several; None without an opinion."""
    plain = name.rpartition(".")[2]
    function = _COUNTERPARTS.get(_ALIASES.get(plain, plain))
    if function is None:
        return None
    with np.errstate(all="ignore"):
        try:
            return function(*args, **kwargs)
        except Exception:  # noqa: BLE001 - a form of the call that the counterpart does not know
            return None


def _axis(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, (list, tuple)) else dim


def _reduction(function: Function) -> Function:
    def reduced(x: Values, dim: Any = None, keepdim: bool = False) -> Any:
        return function(x, axis=_axis(dim), keepdims=keepdim)

    return reduced


def _exactly(function: Function, count: int) -> Function:
    """`function` of `count` operands and nothing else: any further argument means something unknown."""

    def called(*args: Any) -> Any:
        if len(args) != count:
            raise TypeError
        return function(*args)

    return called


def _scaled(function: Function) -> Function:
    return lambda x, y, *, alpha=1: function(x, y if alpha == 1 else y * alpha)


def _softmax(x: Values, dim: int, _stacklevel: int = 3, dtype: None = None) -> Values:
    shifted = np.exp(x - x.max(axis=dim, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=dim, keepdims=True))


def _log_softmax(x: Values, dim: int, _stacklevel: int = 3, dtype: None = None) -> Values:
    shifted = x - x.max(axis=dim, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True)))


def _logsumexp(x: Values, dim: Any, keepdim: bool = False) -> Values:
    top = x.max(axis=_axis(dim), keepdims=True)
    total = np.log(np.exp(x - top).sum(axis=_axis(dim), keepdims=True)) + top
    return np.asarray(total if keepdim else np.squeeze(total, axis=_axis(dim)))


def _layer_norm(x: Values, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Values:
    axes = tuple(range(x.ndim - len(tuple(normalized_shape)), x.ndim))
    centred = x - x.mean(axis=axes, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
    return np.asarray(scaled * (1 if weight is None else weight) + (0 if bias is None else bias))


def _linear(x: Values, weight: Values, bias: Any = None) -> Values:
    return np.asarray(x @ weight.T + (0 if bias is None else bias))


def _conv1d(x: Values, weight: Values, bias: Any = None) -> Values:
    width = weight.shape[2]
    windows = np.stack([x[..., at : x.shape[-1] - width + 1 + at] for at in range(width)])
    return np.asarray(np.einsum("kncl,ock->nol", windows, weight) + (0 if bias is None else bias[:, None]))


def _clamp(x: Values, min: Any = None, max: Any = None) -> Values:  # noqa: A002 - the operator's own names
    lower = x if min is None else np.maximum(x, min)
    return np.asarray(lower if max is None else np.minimum(lower, max))


def _variance(root: bool) -> Function:
    def variance(x: Values, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Any:
        if isinstance(dim, bool):
            raise TypeError
        return (np.std if root else np.var)(x, axis=_axis(dim), ddof=int(unbiased), keepdims=keepdim)

    return variance


def _spread_out(sizes: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else tuple(sizes)


def _gelu(x: Values, approximate: str = "none") -> Values:
    if approximate != "none":
        raise TypeError
    return np.asarray(x * 0.5 * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))))


def _pow(x: Any, y: Any) -> Any:
    return np.asarray(x, dtype=np.float64) ** np.asarray(y, dtype=np.float64)


def _flatten(x: Values, start_dim: int = 0, end_dim: int = -1) -> Values:
    end = end_dim % x.ndim
    return x.reshape(*x.shape[:start_dim], -1, *x.shape[end + 1 :])


_UNARY: dict[str, Function] = {
    **{name: getattr(np, name) for name in "exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh sqrt".split()},
    **{name: getattr(np, name) for name in "abs floor ceil trunc sign square negative reciprocal exp2".split()},
    **{name: getattr(np, name) for name in "logical_not isnan isinf isfinite arcsin arccos arctan".split()},
    **{name: getattr(np, name) for name in "arcsinh arccosh arctanh".split()},
    "round": np.round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": np.vectorize(math.erf, otypes=[float]),
    "erfc": np.vectorize(math.erfc, otypes=[float]),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "frac": lambda x: x - np.trunc(x),
}
_BINARY: dict[str, Function] = {
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
_DIVISIONS: dict[str | None, Function] = {None: np.true_divide, "floor": np.floor_divide}
_COUNTERPARTS: dict[str, Function] = {
    **{name: _exactly(function, 1) for name, function in _UNARY.items()},
    **{name: _exactly(function, 2) for name, function in _BINARY.items()},
    "add": _scaled(np.add),
    "sub": _scaled(np.subtract),
    "div": lambda x, y, *, rounding_mode=None: _DIVISIONS[rounding_mode](x, y),
    "addmm": lambda c, a, b, *, beta=1, alpha=1: beta * c + alpha * (a @ b),
    "relu": lambda x, inplace=False: np.maximum(x, 0),
    "relu6": lambda x, inplace=False: np.clip(x, 0, 6),
    "leaky_relu": lambda x, negative_slope=0.01, inplace=False: np.where(x > 0, x, x * negative_slope),
    "elu": lambda x, alpha=1.0, inplace=False: np.where(x > 0, x, alpha * np.expm1(x)),
    "silu": lambda x, inplace=False: x / (1 + np.exp(-x)),
    "softplus": lambda x, beta=1, threshold=20: np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta),
    "gelu": _gelu,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "conv1d": _exactly(_conv1d, 2),
    "mse_loss": _exactly(lambda x, y: ((x - y) ** 2).mean(), 2),
    "l1_loss": _exactly(lambda x, y: np.abs(x - y).mean(), 2),
    "sum": _reduction(np.sum),
    "mean": _reduction(np.mean),
    "amax": _reduction(np.max),
    "amin": _reduction(np.min),
    "prod": _reduction(np.prod),
    "any": _reduction(np.any),
    "all": _reduction(np.all),
    "var": _variance(root=False),
    "std": _variance(root=True),
    "max": _exactly(np.max, 1),
    "min": _exactly(np.min, 1),
    "norm": _exactly(lambda x: np.sqrt((x**2).sum()), 1),
    "argmax": lambda x, dim=None, keepdim=False: np.argmax(x, axis=dim, keepdims=keepdim),
    "argmin": lambda x, dim=None, keepdim=False: np.argmin(x, axis=dim, keepdims=keepdim),
    "cumsum": lambda x, dim: np.cumsum(x, axis=dim),
    "cumprod": lambda x, dim: np.cumprod(x, axis=dim),
    "clamp": _clamp,
    "clip": _clamp,
    "where": _exactly(np.where, 3),
    "lerp": _exactly(lambda a, b, w: a + w * (b - a), 3),
    "tril": lambda x, diagonal=0: np.tril(x, diagonal),
    "triu": lambda x, diagonal=0: np.triu(x, diagonal),
    "flip": lambda x, *dims: np.flip(x, _spread_out(dims)),
    "roll": lambda x, shifts, dims=None: np.roll(x, _axis(shifts), _axis(dims)),
    "transpose": lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1),  # noqa: PLW0108 - the keywords' names
    "permute": lambda x, *dims: np.transpose(x, _spread_out(dims)),
    "reshape": lambda x, *shape: np.reshape(x, _spread_out(shape)),
    "flatten": _flatten,
    "unsqueeze": lambda x, dim: np.expand_dims(x, dim),  # noqa: PLW0108 - the keyword's name
    "cat": lambda tensors, dim=0: np.concatenate(tensors, axis=dim),
    "stack": lambda tensors, dim=0: np.stack(tensors, axis=dim),
    "gather": lambda x, dim, index: np.take_along_axis(x, index, axis=dim),
    "index_select": lambda x, dim, index: np.take(x, index, axis=dim),
    "masked_fill": lambda x, mask, value: np.where(mask, value, x),
    "diag": lambda x, diagonal=0: np.diag(x, diagonal),
    "trace": _exactly(np.trace, 1),
    "repeat": lambda x, *sizes: np.tile(x, _spread_out(sizes)),
}
_ALIASES = {
    "view": "reshape", "absolute": "abs", "multiply": "mul", "divide": "div", "subtract": "sub", "concat": "cat",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "neg": "negative", "greater": "gt", "less": "lt", "swapaxes": "transpose", "arctan2": "atan2",
    "Sigmoid": "sigmoid", "ReLU": "relu", "Tanh": "tanh", "SiLU": "silu", "ReLU6": "relu6",
}  # fmt: skip
