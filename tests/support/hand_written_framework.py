"""An adapter of NumPy as a candidate whose gradients are written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autotest.frameworks.hand_written import Backward, HandWritten
from tests.support.numpy_arrays import NumpyArrays


class HandWrittenFramework(HandWritten, NumpyArrays):
    """NumPy. `replace` maps names of torch to other backward functions, or to None where there is none."""

    def __init__(self, replace: Mapping[str, Backward | None] | None = None, made_by: str = "framework") -> None:
        super().__init__("by_hand", f"tests.support.hand_written_framework:{made_by}")
        self._replace = dict(replace or {})

    @property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        def sizes(given: tuple[Any, ...]) -> Any:
            return given[0] if len(given) == 1 else given

        def softmax(input: Any, dim: int) -> Any:
            powers = np.exp(input - input.max(dim, keepdims=True))
            return powers / powers.sum(dim, keepdims=True)

        return {
            "tanh": np.tanh,
            "add": lambda input, other: np.add(input, other, dtype=_dtype(input, other)),
            "mul": lambda input, other: np.multiply(input, other, dtype=_dtype(input, other)),
            "softmax": softmax,
            "cat": lambda tensors, dim=0: np.concatenate(tensors, dim),
            "chunk": lambda input, chunks, dim=0: tuple(np.array_split(input, chunks, dim)),
            "transpose": np.swapaxes,
            "reshape": lambda input, *shape: np.reshape(input, sizes(shape)),
            "view": lambda input, *shape: np.reshape(input, sizes(shape)),
            "expand": lambda input, *size: np.broadcast_to(input, sizes(size)),
            "broadcast_to": np.broadcast_to,
        }

    @property
    def backward(self) -> Mapping[str, Backward]:
        known: dict[str, Backward | None] = {
            "tanh": lambda gradient, result, input: gradient * (1 - result * result),
            "add": lambda gradient, result, input, other: (_of(gradient, input), _of(gradient, other)),
            "mul": lambda gradient, result, input, other: (
                _of(gradient * other, input),
                _of(gradient * input, other),
            ),
            "softmax": lambda gradient, result, input, dim: (
                result * (gradient - (gradient * result).sum(dim, keepdims=True))
            ),
        }
        return {name: function for name, function in {**known, **self._replace}.items() if function is not None}


def _dtype(*operands: Any) -> Any:
    return next(one.dtype for one in operands if hasattr(one, "dtype"))


def _of(gradient: Any, operand: Any) -> Any:
    """Return `gradient` summed to the shape of `operand`."""
    shape = np.shape(operand)
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    return gradient.sum(tuple(at for at, size in enumerate(shape) if size == 1), keepdims=True)


def framework() -> HandWrittenFramework:
    """Return the framework without faults."""
    return HandWrittenFramework()


def with_wrong_tanh() -> HandWrittenFramework:
    """Return the framework with a wrong gradient of tanh."""
    return HandWrittenFramework({"tanh": lambda gradient, result, input: gradient * (1 - result)}, "with_wrong_tanh")
