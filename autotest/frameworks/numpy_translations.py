"""torch's functions in terms of NumPy's names: an entry of a table if only the names differ, else a function."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from autotest.frameworks.torch_arguments import operands_of, reduction_of, same_padding, sizes, softmax_dim, spread_of

#: torch's name -> NumPy's, for functions of one array, or of two arrays that broadcast.
_ALIKE: Final[Mapping[str, str]] = {
    **{name: name for name in "exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt rsqrt".split()},
    **{name: name for name in "abs sign floor ceil".split()},
    **{name: name for name in "square reciprocal erf erfinv isnan isinf isfinite sigmoid maximum minimum".split()},
    **{name: name for name in "logical_not logical_and logical_or logaddexp matmul outer inner real imag".split()},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "neg": "negative", "negative": "negative", "arctan2": "arctan2", "atan2": "arctan2", "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "bitwise_not": "bitwise_invert", "eq": "equal",
    "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "deg2rad": "radians",
    "rad2deg": "degrees",
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "inner", "mul": "multiply", "multiply": "multiply",
    "expit": "sigmoid", "absolute": "abs",
}  # fmt: skip
#: The functions of two arrays among them -> torch's name of the second one.
_SECOND: Final[Mapping[str, str]] = {
    **dict.fromkeys("maximum minimum logical_and logical_or logaddexp matmul inner arctan2 atan2".split(), "other"),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge mul multiply".split(), "other"),
    "mm": "mat2",
    "bmm": "mat2",
    "mv": "vec",
    "dot": "tensor",
    "outer": "vec2",
}
#: torch's name -> NumPy's, for reductions along `dim`.
_REDUCTIONS: Final[Mapping[str, str]] = {
    "sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min", "logsumexp": "logsumexp",
    "all": "all", "any": "any",
}  # fmt: skip


def _axes(dim: Any) -> Any:
    """Return NumPy's ``axis=`` for torch's ``dim=``: no dimensions mean all of them."""
    return tuple(dim) or None if isinstance(dim, (tuple, list)) else dim


def _is_all_of(input: Any, dim: Any) -> bool:
    """Whether `dim` is the dimension 0 that torch accepts for a tensor without dimensions, unlike NumPy."""
    return input.ndim == 0 and dim in (0, -1)


def _axes_of(input: Any, dim: Any) -> Any:
    return None if _is_all_of(input, dim) else _axes(dim)


def _of_torch(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with the parameters of torch's function `name`, whose operands may be given by keyword."""
    names = ("input", _SECOND[name]) if name in _SECOND else ("input",)
    signature = inspect.Signature([inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in names])

    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*signature.bind(*args, **kwargs).args)

    called.__signature__ = signature  # type: ignore[attr-defined]
    return called


def numpy_translations(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return a mapping from torch's names to functions of the arrays of `mx`.

    Args:
        mx: a namespace with NumPy's names and a few more. Its convolutions are called with channels last.
    """

    def is_array(value: Any) -> bool:
        return isinstance(value, mx.array)

    def whole(input: Any) -> Any:
        return input if mx.issubdtype(input.dtype, mx.inexact) else input.astype(mx.int64)  # as torch adds them up

    def reduction(name: str) -> Callable[..., Any]:
        reduce = getattr(mx, name)

        def reduced(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
            given = whole(input) if name in ("sum", "prod") else input
            made = reduce(given, axis=_axes_of(input, dim), keepdims=keepdim)
            # torch's truth values of uint8 are of uint8.
            return made.astype(mx.uint8) if name in ("all", "any") and input.dtype == mx.uint8 else made

        return reduced

    def variance(
        input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        dim, ddof = spread_of(dim, unbiased, correction)
        return mx.var(input, axis=_axes_of(input, dim), keepdims=keepdim, ddof=ddof)

    def std(
        input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        spread = variance(input, dim, unbiased, keepdim, correction=correction)
        # As in torch, the gradient is zero where the variance is zero. That of the square root would be infinite.
        return mx.where(spread == 0, 0, mx.sqrt(mx.where(spread == 0, 1, spread)))

    def extreme(
        value: Callable[..., Any], index_function: Callable[..., Any], pairwise: Callable[..., Any]
    ) -> Callable[..., Any]:
        def extremes(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
            if dim is None:
                return value(input)
            if is_array(dim):
                return pairwise(input, dim)
            if _is_all_of(input, dim):
                return value(input), mx.zeros_like(input).astype(mx.int64)
            places = index_function(mx.stop_gradient(input), axis=dim, keepdims=True).astype(mx.int64)
            found = mx.take_along_axis(input, mx.stop_gradient(places), axis=dim)
            return (found, places) if keepdim else (mx.squeeze(found, dim), mx.squeeze(places, dim))

        return extremes

    def index_function(found: Callable[..., Any]) -> Callable[..., Any]:
        def places(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
            return found(input, axis=_axes_of(input, dim), keepdims=keepdim).astype(mx.int64)

        return places

    def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
        return mx.add(input, other if alpha == 1 else mx.multiply(other, alpha))

    def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
        return mx.subtract(input, other if alpha == 1 else mx.multiply(other, alpha))

    def is_whole(value: Any) -> bool:
        if not is_array(value):
            return type(value) is int
        return not mx.issubdtype(value.dtype, mx.inexact) and value.dtype != mx.bool_

    def div(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
        if rounding_mode is not None and is_whole(input) and is_whole(other):
            down = mx.floor_divide(input, other)  # whole numbers stay whole
            return down if rounding_mode == "floor" else down + ((down < 0) & (down * other != input))
        made = mx.divide(input, other)
        if rounding_mode is None:
            return made
        return mx.floor(made) if rounding_mode == "floor" else mx.where(made < 0, mx.ceil(made), mx.floor(made))

    def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
        return mx.where(input > 0, input, input * negative_slope)

    def elu(input: Any, alpha: float = 1.0, scale: float = 1) -> Any:
        # As in torch, the gradient of NaN is that of the positive side. It passes no exponential that overflows.
        return mx.where(input <= 0, alpha * mx.expm1(mx.where(input <= 0, input, 0) / scale), input)

    def gelu(input: Any, approximate: str = "none") -> Any:
        if approximate == "tanh":
            return 0.5 * input * (1 + mx.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)))
        return 0.5 * input * (1 + mx.erf(input / math.sqrt(2)))  # halved first: twice the largest number overflows

    def cut_off(input: Any, low: float, high: float) -> Any:
        return mx.where(input <= low, low, mx.where(input >= high, high, input))

    def hardsigmoid(input: Any) -> Any:
        inside = (input > -3) & (input < 3)  # the gradient is zero elsewhere, also at NaN
        return mx.where(inside, (input + 3) / 6, mx.stop_gradient(cut_off(input + 3, 0, 6) / 6))

    def hardswish(input: Any) -> Any:
        inside = mx.where((input > -3) & (input < 3), input, 0)  # zero times infinity would be a gradient of NaN
        above = mx.where(input < 3, inside * (inside + 3) / 6, input * 6 / 6)  # torch's product overflows, too
        return mx.where(input <= -3, mx.stop_gradient(input * 0), above)

    def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
        return mx.where(input * beta > threshold, input, mx.logaddexp(input * beta, 0) / beta)

    def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
        return mx.clip(input, min, max)

    def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
        return mx.flatten(input, start_dim, end_dim) if input.ndim else input.reshape((1,))

    def transpose(input: Any, dim0: int, dim1: int) -> Any:
        return mx.swapaxes(input, dim0, dim1)

    def expand(input: Any, *size: Any) -> Any:
        wanted = sizes(size)
        own = (1,) * (len(wanted) - input.ndim) + tuple(input.shape)
        return mx.broadcast_to(
            input, tuple(one if given == -1 else given for one, given in zip(own, wanted, strict=True))
        )

    def squeeze(input: Any, dim: Any = None) -> Any:
        if dim is None:
            return mx.squeeze(input)
        dims = [dim] if isinstance(dim, int) else dim
        return mx.squeeze(input, tuple(at for at in dims if not _is_all_of(input, at) and input.shape[at] == 1))

    def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        # As in torch, `input` only has to broadcast if `beta` is 0: the product would keep its NaN and infinities.
        return (mx.zeros_like(input) if beta == 0 else beta * input) + alpha * (mat1 @ mat2)

    def linear(input: Any, weight: Any, bias: Any = None) -> Any:
        made = mx.matmul(input, weight.T)
        return made if bias is None else made + bias

    def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
        # torch's parameters may have a wider dtype than the input, not a narrower one.
        if weight is not None and weight.dtype != input.dtype and input.dtype not in (mx.float16, mx.bfloat16):
            raise TypeError(f"layer_norm: expected weight of {input.dtype}, got {weight.dtype}")
        axes = tuple(range(-len(normalized_shape), 0))
        centred = input - mx.mean(input, axis=axes, keepdims=True)
        made = centred * mx.rsqrt(mx.mean(mx.square(centred), axis=axes, keepdims=True) + eps)
        made = made if weight is None else made * weight
        return made if bias is None else made + bias

    def loss(of: Callable[[Any], Any]) -> Callable[..., Any]:
        def lost(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
            made, reduced = of(input - target), reduction_of(size_average, reduce, reduction)
            return mx.mean(made) if reduced == "mean" else mx.sum(made) if reduced == "sum" else made

        return lost

    def softmax(input: Any, dim: Any = None) -> Any:
        return mx.softmax(input, axis=_axes_of(input, softmax_dim(dim, input.ndim)))

    def log_softmax(input: Any, dim: Any = None) -> Any:
        axis = _axes_of(input, softmax_dim(dim, input.ndim))
        if 0 in input.shape:
            return input  # which has no maximum
        below = input - mx.max(mx.stop_gradient(input), axis=axis, keepdims=True)  # NaN if the maximum is inf
        return below - mx.log(mx.sum(mx.exp(below), axis=axis, keepdims=True))

    def where(condition: Any, input: Any, other: Any) -> Any:
        return mx.where(condition, input, other)

    def index_select(input: Any, dim: int, index: Any) -> Any:
        return mx.take(input, index if index.ndim else index.reshape((1,)), axis=dim)

    def embedding(input: Any, weight: Any) -> Any:
        return mx.take(weight, input, axis=0)

    def conv(rank: int) -> Callable[..., Any]:
        def convolved(
            input: Any,
            weight: Any,
            bias: Any = None,
            stride: Any = 1,
            padding: Any = 0,
            dilation: Any = 1,
            groups: int = 1,
        ) -> Any:
            last = (0, *range(2, rank + 2), 1)  # channels last
            batched = input if input.ndim == rank + 2 else mx.expand_dims(input, 0)
            x, w = mx.transpose(batched, last), mx.transpose(weight, last)
            if padding == "same":
                x = mx.pad(x, [(0, 0), *same_padding(weight.shape[2:], dilation), (0, 0)])
            if isinstance(padding, str):
                padding = 0
            plain = getattr(mx, f"conv{rank}d")
            settings = [
                one[0] if rank == 1 and isinstance(one, (tuple, list)) else one for one in (stride, padding, dilation)
            ]
            settings = [tuple(one) if isinstance(one, list) else one for one in settings]
            made = mx.transpose(plain(x, w, *settings, groups), (0, rank + 1, *range(1, rank + 1)))
            made = made if bias is None else made + bias.reshape((1, -1, *[1] * rank))
            return made if input.ndim == rank + 2 else mx.squeeze(made, 0)

        return convolved

    def gather(input: Any, dim: int, index: Any) -> Any:
        if input.ndim:  # torch's index may be shorter than the input in each dimension but `dim`
            axes = range(input.ndim)
            input = input[tuple(slice(None if at == dim % input.ndim else index.shape[at]) for at in axes)]
        return mx.take_along_axis(input, index, axis=dim)

    def filled(like: Callable[..., Any]) -> Callable[..., Any]:
        def made(input: Any, *, dtype: Any = None) -> Any:
            found = like(input)
            return found if dtype is None else found.astype(getattr(mx, "bool_" if dtype == "bool" else str(dtype)))

        return made

    def cumulative(along: Callable[..., Any]) -> Callable[..., Any]:
        return lambda input, dim: along(whole(input), axis=dim)

    found = {name: getattr(mx, own, None) for name, own in _ALIKE.items()}
    table: dict[str, Callable[..., Any]] = {
        name: _of_torch(name, own) for name, own in found.items() if own is not None
    }
    table |= {name: reduction(own) for name, own in _REDUCTIONS.items()}
    table |= {
        "max": extreme(mx.max, mx.argmax, mx.maximum),
        "min": extreme(mx.min, mx.argmin, mx.minimum),
        "argmax": index_function(mx.argmax),
        "argmin": index_function(mx.argmin),
        "var": variance,
        "std": std,
        "add": add,
        "sub": sub,
        "div": div,
        # By torch's names: a compiled function has no signature, by which another name would count as absent.
        "true_divide": lambda input, other: mx.divide(input, other),
        "floor_divide": lambda input, other: mx.floor_divide(input, other),
        "remainder": lambda input, other: mx.remainder(input, other),
        "pow": lambda input, exponent: mx.power(input, exponent),
        "zeros_like": filled(mx.zeros_like),
        "ones_like": filled(mx.ones_like),
        "relu": lambda input: mx.where(input <= 0, 0, input),  # the gradient at 0 is 0, unlike a maximum's
        "relu6": lambda input: cut_off(input, 0, 6),
        "leaky_relu": leaky_relu,
        "elu": lambda input, alpha=1.0: elu(input, alpha),
        "celu": lambda input, alpha=1.0: elu(input, alpha, alpha),
        "selu": lambda input: 1.0507009873554805 * elu(input, 1.6732632423543772),
        "gelu": gelu,
        "silu": lambda input: input * mx.sigmoid(input),
        "mish": lambda input: input * mx.tanh(softplus(input)),
        "softplus": softplus,
        "softsign": lambda input: input / (1 + mx.abs(input)),
        "logsigmoid": lambda input: -mx.logaddexp(-input, 0),
        "hardtanh": lambda input, min_val=-1.0, max_val=1.0: cut_off(input, min_val, max_val),
        "hardsigmoid": hardsigmoid,
        "hardswish": hardswish,
        "softmax": softmax,
        "log_softmax": log_softmax,
        "clamp": clamp,
        "clip": clamp,
        "where": where,
        "reshape": lambda input, *shape: mx.reshape(input, sizes(shape)),
        "view": lambda input, *shape: mx.reshape(input, sizes(shape)),
        "flatten": flatten,
        "transpose": transpose,
        "swapaxes": transpose,
        "swapdims": transpose,
        "t": mx.transpose,
        "permute": lambda input, *dims: mx.transpose(input, sizes(dims)),
        "movedim": lambda input, source, destination: mx.moveaxis(input, source, destination),
        "squeeze": squeeze,
        "unsqueeze": lambda input, dim: mx.expand_dims(input, dim),
        "expand": expand,
        "broadcast_to": expand,
        "cat": lambda tensors, dim=0: mx.concatenate(tensors, axis=dim),
        "concat": lambda tensors, dim=0: mx.concatenate(tensors, axis=dim),
        "stack": lambda tensors, dim=0: mx.stack(tensors, axis=dim),
        "tile": lambda input, *dims: mx.tile(input, sizes(dims)),
        "roll": lambda input, shifts, dims=None: mx.roll(input, shifts, _axes(dims)),
        "tril": lambda input, diagonal=0: mx.tril(input, diagonal),
        "triu": lambda input, diagonal=0: mx.triu(input, diagonal),
        "diagonal": lambda input, offset=0, dim1=0, dim2=1: mx.diagonal(input, offset, dim1, dim2),
        "cumsum": cumulative(mx.cumsum),
        "cumprod": cumulative(mx.cumprod),
        "gather": gather,
        "index_select": index_select,
        "einsum": lambda equation, *operands: mx.einsum(equation, *operands_of(operands)),
        "addmm": addmm,
        "linear": linear,
        "layer_norm": layer_norm,
        "mse_loss": loss(mx.square),
        "l1_loss": loss(mx.abs),
        "embedding": embedding,
        "conv1d": conv(1),
        "conv2d": conv(2),
        "sinc": lambda input: mx.where(
            input == 0, 1, mx.sin(math.pi * input) / mx.where(input == 0, 1, math.pi * input)
        ),
    }
    return table
