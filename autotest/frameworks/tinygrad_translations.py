"""torch's functions in terms of tinygrad: methods of its tensors, or functions if more than the name differs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from autotest.frameworks.torch_arguments import (
    operands_of,
    reduction_of,
    same_padding,
    single_or_each,
    sizes,
    softmax_dim,
    spread_of,
)

#: Methods that are called like torch's functions, except for names of parameters -> torch's names of these parameters.
_METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        "exp exp2 log log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sqrt rsqrt abs sign floor "
        "ceil round trunc square reciprocal erf sigmoid neg isnan isinf isfinite logical_not relu relu6 silu mish "
        "softsign logsigmoid hardsigmoid hardswish selu bitwise_not".split(),
        (),
    ),
    **dict.fromkeys(
        "maximum minimum mul eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor matmul logaddexp fmod".split(),
        ("other",),
    ),
    "pow": ("exponent",),
    "dot": ("tensor",),
    "masked_fill": ("mask", "value"),
    "lerp": ("end", "weight"),
    "sum": ("dim", "keepdim"),
    "mean": ("dim", "keepdim"),
    "prod": ("dim", "keepdim"),
    "all": ("dim", "keepdim"),
    "any": ("dim", "keepdim"),
    "argmax": ("dim", "keepdim"),
    "argmin": ("dim", "keepdim"),
    "cumsum": ("dim",),
    "cumprod": ("dim",),
    "leaky_relu": ("negative_slope",),
    "elu": ("alpha",),
    "celu": ("alpha",),
    "transpose": ("dim0", "dim1"),
    "squeeze": ("dim",),
    "unsqueeze": ("dim",),
    "flatten": ("start_dim", "end_dim"),
    "roll": ("shifts", "dims"),
    "tril": ("diagonal",),
    "triu": ("diagonal",),
    "unflatten": ("dim", "sizes"),
    "repeat_interleave": ("repeats", "dim"),
}
#: Operators whose first operand may be a number, which has no methods: ``2.0 * x``, ``2 ** x``.
_OF_NUMBERS: Final[Mapping[str, Callable[..., Any]]] = {"mul": operator.mul, "pow": operator.pow}
_OTHERWISE: Final[Mapping[str, str]] = {
    "absolute": "abs", "negative": "neg", "multiply": "mul",
    "logit": "logit", "swapaxes": "transpose", "swapdims": "transpose", "amax": "max", "amin": "min",
}  # fmt: skip


def tinygrad_translations(tensor: Any, cast: Callable[[Any, str], Any]) -> dict[str, Callable[..., Any]]:
    """Return a mapping from torch's names to functions of tensors.

    Args:
        tensor: tinygrad's tensor class.
        cast: converts a tensor to a dtype, given by its name.
    """
    table: dict[str, Callable[..., Any]] = {name: _method(name, names) for name, names in _METHODS.items()}
    table |= {name: _method(own, _METHODS.get(own, ("dim", "keepdim"))) for name, own in _OTHERWISE.items()}

    table |= {name: _method("matmul", (second,)) for name, second in (("mm", "mat2"), ("bmm", "mat2"), ("mv", "vec"))}

    def extreme(name: str, pairwise: str) -> Callable[..., Any]:
        def extremes(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
            if dim is None:
                return getattr(input, name)()
            if not isinstance(dim, int):
                return getattr(input, pairwise)(dim)
            places = getattr(input, f"arg{name}")(dim, keepdim)
            return getattr(input, name)(dim, keepdim), cast(places, "int64")

        return extremes

    def index_function(name: str) -> Callable[..., Any]:
        return lambda input, dim=None, keepdim=False: cast(getattr(input, name)(dim, keepdim), "int64")

    def ordered(input: Any, dim: int = -1, descending: bool = False) -> Any:
        values, places = input.sort(dim, descending)
        return values, cast(places, "int64")

    def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        values, places = input.topk(k, dim, largest)
        return values, cast(places, "int64")

    table |= {
        "softmax": _normalised("softmax"),
        "log_softmax": _normalised("log_softmax"),
        "chunk": _several("chunk"),
        "split": _several("split"),
        "logsumexp": _logsumexp,
        "sort": ordered,
        "topk": topk,
        **{sign: _compared(sign) for sign in ("lt", "le", "gt", "ge")},
        "expm1": lambda input: input.exp() - 1,
        "log1p": lambda input: (input + 1).log(),
        "remainder": lambda input, other: input % other,
        "floor_divide": lambda input, other: input // other,
        "gelu": lambda input, approximate="none": (
            input.gelu() if approximate == "tanh" else input * (1 + (input / math.sqrt(2)).erf()) / 2
        ),
        "diagonal": lambda input, offset=0, dim1=0, dim2=1: input.diagonal(offset, dim1, dim2),
        "nn.functional.embedding": lambda input, weight: weight[input],
        "index_select": _index_select,
    }
    table |= {
        "add": _scaled("add"), "sub": _scaled("sub"), "div": _div, "true_divide": _div,
        "var": _spread("var"), "std": _spread("std"), "max": extreme("max", "maximum"),
        "min": extreme("min", "minimum"),
        "argmax": index_function("argmax"), "argmin": index_function("argmin"),
        "cat": _joined("cat"), "stack": _joined("stack"),
        "reshape": lambda input, *shape: input.reshape(sizes(shape)),
        "view": lambda input, *shape: input.reshape(sizes(shape)),
        "permute": lambda input, *dims: input.permute(sizes(dims)),
        "expand": lambda input, *size: input.expand(sizes(size)),
        "broadcast_to": lambda input, *size: input.expand(sizes(size)),
        "tile": lambda input, *dims: input.repeat((1,) * (input.ndim - len(sizes(dims))) + sizes(dims)),
        "repeat": lambda input, *dims: input.repeat(sizes(dims)),
        "flip": lambda input, *dims: input.flip(sizes(dims)),
        "t": lambda input: input.transpose(0, 1) if input.ndim == 2 else input,
        "where": lambda condition, input, other: condition.where(input, other),
        "clamp": lambda input, min=None, max=None: input.clamp(min, max),
        "clip": lambda input, min=None, max=None: input.clamp(min, max),
        "gather": lambda input, dim, index: input.gather(dim, index),
        "hardtanh": lambda input, min_val=-1.0, max_val=1.0: input.hardtanh(min_val, max_val),
        "softplus": _softplus,
        "zeros_like": lambda input: input.zeros_like(), "ones_like": lambda input: input.ones_like(),
        "outer": lambda input, vec2: input.unsqueeze(1) * vec2.unsqueeze(0),
        "einsum": lambda equation, *operands: tensor.einsum(equation, *operands_of(operands)),
        "addmm": _addmm,
        "conv1d": _conv2d, "conv2d": _conv2d, "linear": _linear, "layer_norm": _layer_norm,
        "mse_loss": _loss(lambda apart: apart.square()), "l1_loss": _loss(lambda apart: apart.abs()),
    }  # fmt: skip
    return table


def _method(name: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function that calls the method `name`; `names` are torch's names of its parameters, in their order."""

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        given = list(args)
        for key in names[len(args) :]:
            if key not in kwargs:
                break
            given.append(kwargs.pop(key))
        renamed = {
            {"dim": "axis"}.get(key, key) if key not in names or key == "dim" else key: it for key, it in kwargs.items()
        }
        if name in _OF_NUMBERS and isinstance(input, (bool, int, float)):
            return _OF_NUMBERS[name](input, *given, **renamed)
        return getattr(input, name)(*given, **renamed)

    return call


def _scaled(name: str) -> Callable[..., Any]:
    """Return ``add`` or ``sub``, whose second operand may be scaled."""

    def combined(input: Any, other: Any, *, alpha: Any = 1) -> Any:
        second = other if alpha == 1 else other * alpha
        return input + second if name == "add" else input - second

    return combined


def _div(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    if isinstance(input, (bool, int, float)):  # a number has no methods
        return input / other if rounding_mode is None else (input + 0 * other).div(other, rounding_mode)
    return input.div(other, rounding_mode=rounding_mode)  # whole numbers stay whole if it rounds


def _spread(name: str) -> Callable[..., Any]:
    """Return ``var`` or ``std``, with either of torch's ways to give the correction."""

    def spread_out(
        input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        dim, correction = spread_of(dim, unbiased, correction)
        return getattr(input, name)(dim, keepdim, correction)

    return spread_out


def _normalised(name: str) -> Callable[..., Any]:
    """Return a softmax along the dimension that torch would choose."""
    return lambda input, dim=None: getattr(input, name)(softmax_dim(dim, input.ndim))


def _several(name: str) -> Callable[..., Any]:
    """Return a function that divides a tensor into a tuple of parts."""
    return lambda input, size, dim=0: tuple(getattr(input, name)(size, dim))


def _softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    great = input * beta > threshold  # tinygrad's has no threshold, and its gradient of a great number is NaN
    return great.where(input, great.where(0, input).softplus(beta))


def _compared(sign: str) -> Callable[..., Any]:
    """Return a comparison whose operands may be numbers, which have no methods."""
    plain = getattr(operator, sign)
    return lambda input, other: plain(input, other)


def _joined(name: str) -> Callable[..., Any]:
    """Return ``cat`` or ``stack``: torch's take a list, those of tinygrad are methods of the first tensor."""
    return lambda tensors, dim=0: getattr(tensors[0], name)(*tensors[1:], dim=dim)


def _layer_norm(input: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    if weight is not None and weight.dtype != input.dtype and input.dtype.itemsize > 2:
        raise TypeError(f"layer_norm: expected weight of {input.dtype}, got {weight.dtype}")
    made = input.layernorm(tuple(range(-len(shape), 0)), eps)
    made = made if weight is None else made * weight
    return made if bias is None else made + bias


def _logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    for at in sorted((dim,) if isinstance(dim, int) else (one % input.ndim for one in dim), reverse=True):
        input = input.logsumexp(at, keepdim)  # tinygrad's takes one dimension
    return input


def _index_select(input: Any, dim: int, index: Any) -> Any:
    return input[(slice(None),) * (dim % input.ndim) + (index if index.ndim else index.reshape((1,)),)]


def _addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    # As in torch, `input` only has to broadcast if `beta` is 0: the product would keep its NaN and infinities.
    return (input.zeros_like() if beta == 0 else input * beta) + mat1.matmul(mat2) * alpha


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    made = input.matmul(weight.transpose(0, 1))
    return made if bias is None else made + bias


def _loss(of: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a loss that reduces what `of` makes of each difference between input and target."""

    def lost(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
        made, reduced = of(input - target), reduction_of(size_average, reduce, reduction)
        return made.mean() if reduced == "mean" else made.sum() if reduced == "sum" else made

    return lost


def _conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    batched = input if input.ndim == weight.ndim else input.unsqueeze(0)
    if isinstance(padding, str):
        both = same_padding(weight.shape[2:], dilation) if padding == "same" else []
        padding = [end for ends in reversed(both) for end in ends] or 0  # last dimension first
    else:
        padding = single_or_each(padding)
    steps = {"stride": single_or_each(stride), "dilation": single_or_each(dilation)}
    made = batched.conv2d(weight, bias, groups=groups, padding=padding, **steps)
    return made if batched is input else made.squeeze(0)
