"""Builds programs by hand, as a recorder would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autotest.program import Array, Call, Captured, Program, Ref
from tests.emission.toys import template


class Builder:
    """Appends calls; each method returns a reference for later calls."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.arrays: list[Array] = []

    def capture(self, values: Any, dtype: str = "float32") -> Captured:
        data = np.array(values, "float32" if dtype == "bfloat16" else dtype)
        self.arrays.append(Array(data, dtype))
        return Captured(len(self.arrays) - 1)

    def call(self, kind: Any, target: str, *args: Any, note: str = "", **kwargs: Any) -> Ref:
        self.calls.append(Call(kind, target, args, kwargs, len(self.calls), note))
        return Ref(len(self.calls) - 1)

    def tensor(self, values: Any, dtype: str = "float32", **kwargs: Any) -> Ref:
        return self.call("tensor", dtype, self.capture(values, dtype), **kwargs)

    def function(self, path: str, *args: Any, **kwargs: Any) -> Ref:
        return self.call("function", path, *args, **kwargs)

    def method(self, name: str, *args: Any, **kwargs: Any) -> Ref:
        return self.call("method", name, *args, **kwargs)

    def operator(self, name: str, *args: Any) -> Ref:
        return self.call("operator", name, *args)

    def program(self, undefined: tuple[Ref, ...] = ()) -> Program:
        return Program(tuple(self.calls), tuple(self.arrays), frozenset(ref.slot for ref in undefined))


@pytest.fixture
def build() -> Builder:
    return Builder()


@pytest.fixture
def relu_gradient(build: Builder) -> Program:
    x = build.tensor([[0.1, -2], [1, 0]], requires_grad=True)
    y = build.function("nn.functional.relu", x)
    build.method("backward", y, build.tensor([[1, 1], [1, 2]]))
    return build.program()


@pytest.fixture(scope="session", autouse=True)
def _closed() -> Iterator[None]:
    """Kill processes that these tests may have left."""
    yield
    template().close()
