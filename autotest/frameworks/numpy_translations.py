"""torch's functions in terms of NumPy's names: an entry of a table if only the names differ, else a function."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from autotest.frameworks.numpy_algebra_translations import matrices, transforms
from autotest.frameworks.numpy_layer_translations import activations, layers
from autotest.frameworks.numpy_selection_translations import selections
from autotest.frameworks.torch_arguments import axes, axes_of, is_all_of, sizes, spread_of

#: torch's name -> NumPy's, for functions of one array, or of two arrays that broadcast.
_ALIKE: Final[Mapping[str, str]] = {
    **{name: name for name in "exp expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt rsqrt".split()},
    **{name: name for name in "abs sign floor ceil".split()},
    **{name: name for name in "square reciprocal erf erfinv isnan isinf isfinite sigmoid maximum minimum".split()},
    **{name: name for name in "logical_not logical_and logical_or logaddexp matmul outer inner real imag".split()},
    **{name: name for name in "trunc exp2 conj angle signbit isposinf isneginf trace".split()},
    **{name: name for name in "fmod hypot copysign heaviside fmax fmin logical_xor logaddexp2 gcd lcm kron".split()},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "neg": "negative", "negative": "negative", "arctan2": "arctan2", "atan2": "arctan2", "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "bitwise_not": "bitwise_invert", "eq": "equal",
    "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "deg2rad": "radians",
    "rad2deg": "degrees",
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "inner", "mul": "multiply", "multiply": "multiply",
    "expit": "sigmoid", "absolute": "abs", "conj_physical": "conj",
}  # fmt: skip
#: The functions of two arrays among them -> torch's name of the second one.
_SECOND: Final[Mapping[str, str]] = {
    **dict.fromkeys("maximum minimum logical_and logical_or logaddexp matmul inner arctan2 atan2".split(), "other"),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge mul multiply".split(), "other"),
    **dict.fromkeys("fmod hypot copysign fmax fmin logical_xor logaddexp2 gcd lcm kron".split(), "other"),
    "heaviside": "values",
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
    found = {name: getattr(mx, own, None) for name, own in _ALIKE.items()}
    return {
        **{name: _of_torch(name, own) for name, own in found.items() if own is not None},
        **_reductions(mx),
        **_arithmetic(mx),
        **arrangements(mx),
        **selections(mx),
        **transforms(mx),
        **matrices(mx),
        **activations(mx),
        **layers(mx),
    }


def _reductions(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return reductions along dimensions, by torch's names."""

    def whole(input: Any) -> Any:
        return input if mx.issubdtype(input.dtype, mx.inexact) else input.astype(mx.int64)  # as torch adds them up

    def reduction(name: str) -> Callable[..., Any]:
        reduce = getattr(mx, name)

        def reduced(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
            if name in ("all", "any") and dim is not None and axes(dim) is None:
                return (input != 0).astype(mx.uint8 if input.dtype == mx.uint8 else mx.bool_)  # over no dimension
            given = whole(input) if name in ("sum", "prod") else input
            made = reduce(given, axis=axes_of(input, dim), keepdims=keepdim)
            # torch's truth values of uint8 are of uint8.
            return made.astype(mx.uint8) if name in ("all", "any") and input.dtype == mx.uint8 else made

        return reduced

    def variance(
        input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        dim, ddof = spread_of(dim, unbiased, correction)
        return mx.var(input, axis=axes_of(input, dim), keepdims=keepdim, ddof=ddof)

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
            if isinstance(dim, mx.array):
                return pairwise(input, dim)
            if is_all_of(input, dim):
                return value(input), mx.zeros_like(input).astype(mx.int64)
            places = index_function(mx.stop_gradient(input), axis=dim, keepdims=True).astype(mx.int64)
            found = mx.take_along_axis(input, mx.stop_gradient(places), axis=dim)
            return (found, places) if keepdim else (mx.squeeze(found, dim), mx.squeeze(places, dim))

        return extremes

    def index_function(found: Callable[..., Any]) -> Callable[..., Any]:
        def places(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
            return found(input, axis=axes_of(input, dim), keepdims=keepdim).astype(mx.int64)

        return places

    def cumulative(along: Callable[..., Any]) -> Callable[..., Any]:
        return lambda input, dim: whole(input) if is_all_of(input, dim) else along(whole(input), axis=dim)

    return {
        **{name: reduction(own) for name, own in _REDUCTIONS.items()},
        "max": extreme(mx.max, mx.argmax, mx.maximum),
        "min": extreme(mx.min, mx.argmin, mx.minimum),
        "argmax": index_function(mx.argmax),
        "argmin": index_function(mx.argmin),
        "var": variance,
        "std": std,
        "cumsum": cumulative(mx.cumsum),
        "cumprod": cumulative(mx.cumprod),
    }


def _arithmetic(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return functions of each element, by torch's names."""

    def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
        return mx.add(input, other if alpha == 1 else mx.multiply(other, alpha))

    def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
        return mx.subtract(input, other if alpha == 1 else mx.multiply(other, alpha))

    def is_whole(value: Any) -> bool:
        if not isinstance(value, mx.array):
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

    def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
        return mx.clip(input, min, max)

    def where(condition: Any, input: Any, other: Any) -> Any:
        return mx.where(condition, input, other)

    def filled(like: Callable[..., Any]) -> Callable[..., Any]:
        def made(input: Any, *, dtype: Any = None) -> Any:
            found = like(input)
            return found if dtype is None else found.astype(getattr(mx, "bool_" if dtype == "bool" else str(dtype)))

        return made

    return {
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
        "clamp": clamp,
        "clip": clamp,
        "where": where,
        "frac": lambda input: input - mx.trunc(input),
        "round": lambda input, *, decimals=0: mx.round(input, decimals),
        "sinc": lambda input: mx.where(
            input == 0, 1, mx.sin(math.pi * input) / mx.where(input == 0, 1, math.pi * input)
        ),
    }


def arrangements(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return functions that move or select elements, by torch's names."""

    def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
        return mx.flatten(input, start_dim, end_dim) if input.ndim else input.reshape((1,))

    def transpose(input: Any, dim0: int, dim1: int) -> Any:
        if is_all_of(input, dim0) and is_all_of(input, dim1):
            return mx.transpose(input)
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
        return mx.squeeze(input, tuple(at for at in dims if not is_all_of(input, at) and input.shape[at] == 1))

    def index_select(input: Any, dim: int, index: Any) -> Any:
        if is_all_of(input, dim):  # torch's result has no dimensions either
            return mx.take(input.reshape((1,)), index.reshape(()), axis=0)
        return mx.take(input, index if index.ndim else index.reshape((1,)), axis=dim)

    def gather(input: Any, dim: int, index: Any) -> Any:
        if is_all_of(input, dim):
            return mx.take(input.reshape((1,)), index, axis=0)
        # torch's index may be shorter than the input in each dimension but `dim`.
        ends = (None if at == dim % input.ndim else index.shape[at] for at in range(input.ndim))
        return mx.take_along_axis(input[tuple(map(slice, ends))], index, axis=dim)

    def cat(tensors: Any, dim: int = 0) -> Any:
        # torch leaves tensors of shape (0,) out, whatever the dimension is.
        kept = [tensor for tensor in tensors if tuple(tensor.shape) != (0,)]
        return mx.concatenate(kept, axis=dim) if kept else tensors[0]

    return {
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
        "cat": cat,
        "concat": cat,
        "stack": lambda tensors, dim=0: mx.stack(tensors, axis=dim),
        "tile": lambda input, *dims: mx.tile(input, sizes(dims)),
        "roll": lambda input, shifts, dims=None: mx.roll(input, shifts, axes(dims)),
        "tril": lambda input, diagonal=0: mx.tril(input, diagonal),
        "triu": lambda input, diagonal=0: mx.triu(input, diagonal),
        "diagonal": lambda input, offset=0, dim1=0, dim2=1: mx.diagonal(input, offset, dim1, dim2),
        "gather": gather,
        "index_select": index_select,
    }
