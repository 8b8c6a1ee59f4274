"""torch's activations, layers and losses in terms of NumPy's names; see `numpy_translations`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autotest.frameworks.torch_arguments import (
    axes_of,
    operands_of,
    reduction_of,
    same_padding,
    single_or_each,
    softmax_dim,
)


def activations(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return activations, by torch's names."""

    def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
        # A gradient of NaN or infinity times zero would come from the other side of a `where` of two products.
        return input * mx.where(input > 0, mx.ones_like(input), negative_slope)

    def elu(input: Any, alpha: float = 1.0, scale: float = 1) -> Any:
        # As in torch, the gradient of NaN is that of the positive side. It passes no exponential that overflows.
        return mx.where(input <= 0, alpha * mx.expm1(mx.where(input <= 0, input, 0) / scale), input)

    def gelu(input: Any, approximate: str = "none") -> Any:
        if approximate == "tanh":
            return 0.5 * input * (1 + mx.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)))
        if approximate != "none":
            raise ValueError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
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

    def softmax(input: Any, dim: Any = None) -> Any:
        return mx.softmax(input, axis=axes_of(input, softmax_dim(dim, input.ndim)))

    def log_softmax(input: Any, dim: Any = None) -> Any:
        axis = axes_of(input, softmax_dim(dim, input.ndim))
        if 0 in input.shape:
            return input  # which has no maximum
        below = input - mx.max(mx.stop_gradient(input), axis=axis, keepdims=True)  # NaN if the maximum is inf
        return below - mx.log(mx.sum(mx.exp(below), axis=axis, keepdims=True))

    return {
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
    }


def layers(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return products of matrices, layers and losses, by torch's names."""

    def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        # As in torch, `input` only has to broadcast if `beta` is 0: the product would keep its NaN and infinities.
        return (mx.zeros_like(input) if beta == 0 else beta * input) + alpha * (mat1 @ mat2)

    def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        return addmm(input, batch1, batch2, beta=beta, alpha=alpha)

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
            settings = [single_or_each(one) for one in (stride, padding, dilation)]
            made = mx.transpose(plain(x, w, *settings, groups), (0, rank + 1, *range(1, rank + 1)))
            made = made if bias is None else made + bias.reshape((1, -1, *[1] * rank))
            return made if input.ndim == rank + 2 else mx.squeeze(made, 0)

        return convolved

    return {
        "einsum": lambda equation, *operands: mx.einsum(equation, *operands_of(operands)),
        "addmm": addmm,
        "baddbmm": baddbmm,
        "tensordot": lambda a, b, dims=2: mx.tensordot(a, b, dims),
        "linear": linear,
        "layer_norm": layer_norm,
        "mse_loss": loss(mx.square),
        "l1_loss": loss(mx.abs),
        "nn.functional.embedding": embedding,
        "conv1d": conv(1),
        "conv2d": conv(2),
    }
