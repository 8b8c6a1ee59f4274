"""Kernels that take and return NumPy's arrays, each with a backward function. Their adapter is `array_kernels`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

__version__ = "3.1"


def softmax_forward(x: Any, axis: int) -> Any:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def softmax_backward(gradient: Any, result: Any, axis: int) -> Any:
    return result * (gradient - (gradient * result).sum(axis, keepdims=True))


class Backend:
    """The same kernels as methods."""

    def softmax(self, x: Any, axis: int) -> Any:
        return softmax_forward(x, axis)

    def softmax_backward(self, gradient: Any, result: Any, axis: int) -> Any:
        return softmax_backward(gradient, result, axis)


def last_softmax_backward(gradient: Any, result: Any, axis: int) -> Any:
    """Sums along the last axis, whatever `axis` is."""
    return softmax_backward(gradient, result, -1)


def relu_forward(x: Any) -> tuple[Any, Any]:
    """Return the result, and which elements are kept."""
    kept = ~(x <= 0)
    return np.where(kept, x, 0 * x), kept


def relu_backward(gradient: Any, kept: Any) -> Any:
    return gradient * kept


def dish(x: Any) -> Any:
    """Return ``x * (x / sqrt(1 + x ** 2) + 1) / 2``, which torch does not have."""
    return x * (0.5 * (x / np.sqrt(1 + x * x) + 1))


def dish_backward(gradient: Any, x: Any) -> Any:
    square = 1 + x * x
    return gradient * 0.5 * (x / np.sqrt(square) + 1 + x / square**1.5)


def packed_relu_forward(x: Any) -> tuple[Any, Any]:
    """Reads `x` as if its elements were next to each other in memory."""
    steps = [int(np.prod(x.shape[at + 1 :])) * x.itemsize for at in range(x.ndim)]
    room = np.lib.stride_tricks.as_strided(x, x.shape, steps) if x.base is None else x.base.reshape(-1)[: x.size]
    return relu_forward(room.reshape(x.shape))


def listing_relu_forward(x: Any) -> tuple[Any, Any]:
    return [x.tolist()], None


def overwriting_relu_forward(x: Any) -> tuple[Any, Any]:
    kept = ~(x <= 0)
    return np.multiply(x, kept, out=x), kept


def relu_in_place(x: Any) -> None:
    np.multiply(x, ~(x <= 0), out=x)


def copying_relu_in_place(x: Any) -> Any:
    """Returns the right result, and writes it nowhere."""
    return relu_forward(x)[0]


def packed_relu_in_place(x: Any) -> None:
    """Writes as if the elements of `x` were next to each other in memory."""
    steps = [int(np.prod(x.shape[at + 1 :])) * x.itemsize for at in range(x.ndim)]
    relu_in_place(np.lib.stride_tricks.as_strided(x, x.shape, steps))


def add_in_place(x: Any, y: Any) -> None:
    x += y


def deadly_softmax_backward(gradient: Any, result: Any, axis: int) -> Any:
    os.abort()


def deadly_relu_forward(x: Any) -> Any:
    os.abort()
