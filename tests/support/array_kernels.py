"""The adapter of `plain_kernels`, as someone who has only such functions writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tests.support.kernel_operators  # noqa: F401 - registers an operator
from autotest.frameworks.hand_written import Backward
from autotest.frameworks.numpy_kernels import NumpyKernels


class ArrayKernels(NumpyKernels):
    """The kernels. `replace` maps names of kernels to those of others that take their places."""

    module = "tests.support.plain_kernels"
    short = "kernels"

    def __init__(self, replace: Mapping[str, str] | None = None, made_by: str = "framework") -> None:
        super().__init__("plain", f"tests.support.array_kernels:{made_by}")
        self._replace = replace or {}

    def kernel(self, name: str) -> Any:
        return getattr(self.root, self._replace.get(name, name))

    @property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        return {
            "softmax": lambda input, dim: self.kernel("softmax_forward")(input, axis=dim),
            "relu": lambda input: self.kernel("relu_forward")(input)[0],
            "ops.kernels.dish": self.kernel("dish"),
        }

    @property
    def backward(self) -> Mapping[str, Backward]:
        def relu(gradient: Any, result: Any, input: Any) -> Any:
            return self.kernel("relu_backward")(gradient, self.kernel("relu_forward")(input)[1])

        known: dict[str, Backward] = {
            "relu": relu,
            "softmax": lambda gradient, result, input, dim: self.kernel("softmax_backward")(gradient, result, dim),
            "ops.kernels.dish": lambda gradient, result, x: self.kernel("dish_backward")(gradient, x),
        }
        return {name: function for name, function in known.items() if name not in self._replace}


def framework() -> ArrayKernels:
    """Return the kernels without faults."""
    return ArrayKernels()


def with_wrong_axis() -> ArrayKernels:
    """Return the kernels with a gradient of softmax along another axis."""
    return ArrayKernels({"softmax_backward": "last_softmax_backward"}, "with_wrong_axis")


def with_wrong_dish() -> ArrayKernels:
    """Return the kernels with the gradient of another function as that of `dish`."""
    return ArrayKernels({"dish_backward": "relu_backward"}, "with_wrong_dish")


def with_packed_relu() -> ArrayKernels:
    """Return the kernels with a relu that ignores strides."""
    return ArrayKernels({"relu_forward": "packed_relu_forward"}, "with_packed_relu")


def with_deadly_kernels() -> ArrayKernels:
    """Return the kernels with a relu and a gradient of softmax that kill the process."""
    replace = {"relu_forward": "deadly_relu_forward", "softmax_backward": "deadly_softmax_backward"}
    return ArrayKernels(replace, "with_deadly_kernels")
