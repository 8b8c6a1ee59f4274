"""NumPy as a library whose functions torch's are spelt in."""

from __future__ import annotations

from typing import Any

import numpy as np


class NumPyNames:
    """NumPy with the names that `numpy_translations` uses. As with JAX, the name of a dtype is its own value."""

    array: type = np.ndarray

    def softmax(self, given: Any, axis: Any) -> Any:
        return np.exp(given) / np.exp(given).sum(axis, keepdims=True)

    def stop_gradient(self, given: Any) -> Any:
        return given

    def argsort(self, given: Any, axis: int) -> Any:
        return np.argsort(given, axis, kind="stable")  # as JAX's is

    def __getattr__(self, name: str) -> Any:
        return name if name.startswith(("int", "bfloat")) else getattr(np, name, name)
