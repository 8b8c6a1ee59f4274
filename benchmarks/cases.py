"""The test bodies that are timed, written with the API that this library and OneFlow's own autotest share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

#: A function of a library and a size that returns the result of the test.
Body = Callable[[Any, "int | None"], Any]


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    body: Body
    backward: bool = True


#: The bounds of OneFlow's own factory, so that all contenders compute with numbers of the same magnitude.
RANGE: Mapping[str, float] = MappingProxyType({"low": 0, "high": 1})


def _dim(lib: Any, size: int | None) -> Any:
    return size or lib.random(1, 6).to(int)


def _matrix(lib: Any, size: int | None) -> Any:
    return lib.random_tensor(ndim=2, dim0=_dim(lib, size), dim1=_dim(lib, size), **RANGE)


def relu(lib: Any, size: int | None) -> Any:
    return lib.torch.relu(_matrix(lib, size))


def matmul(lib: Any, size: int | None) -> Any:
    inner = _dim(lib, size)
    x = lib.random_tensor(ndim=2, dim0=_dim(lib, size), dim1=inner, **RANGE)
    y = lib.random_tensor(ndim=2, dim0=inner, dim1=_dim(lib, size), **RANGE)
    return lib.torch.matmul(x, y)


def add_broadcasting(lib: Any, size: int | None) -> Any:
    columns = _dim(lib, size)
    x = lib.random_tensor(ndim=2, dim0=_dim(lib, size), dim1=columns, **RANGE)
    y = lib.random_tensor(ndim=2, dim0=1, dim1=columns, **RANGE)
    return x + y


def conv2d_module(lib: Any, size: int | None) -> Any:
    channels = lib.random(1, 5).to(int)
    m = lib.torch.nn.Conv2d(
        channels,
        lib.random(1, 5).to(int),
        kernel_size=lib.random(1, 4).to(int),
        padding=lib.random(0, 3).to(int),
    )
    side = size or lib.random(4, 8).to(int)
    x = lib.random_tensor(ndim=4, dim0=1, dim1=channels, dim2=side, dim3=side, **RANGE)
    return m(x)


def layer_norm(lib: Any, size: int | None) -> Any:
    # With few columns or equal numbers, the variance may be tiny: rounding would fail the test with the default eps.
    columns = size or lib.random(8, 13).to(int)
    x = lib.random_tensor(ndim=2, dim0=_dim(lib, size), dim1=columns, **RANGE)
    return lib.torch.nn.functional.layer_norm(x, (columns if size else columns.value(),), eps=0.01)


def chain(lib: Any, size: int | None) -> Any:
    torch = lib.torch
    x = _matrix(lib, size)
    y = torch.tanh(x)
    y = y * x
    y = torch.sigmoid(y)
    y = y + x
    y = torch.exp(-y)
    y = torch.nn.functional.softplus(y)
    y = torch.sin(y)
    y = y / 3.0
    return torch.square(y)


def cross_entropy(lib: Any, size: int | None) -> Any:
    rows, classes = _dim(lib, size), size or lib.random(2, 6).to(int)
    x = lib.random_tensor(ndim=2, dim0=rows, dim1=classes, **RANGE)
    target = lib.random_tensor(ndim=1, dim0=rows, low=0, high=classes, dtype=int)
    return lib.torch.nn.functional.cross_entropy(x, target)


def flatten(lib: Any, size: int | None) -> Any:
    first, rest = _dim(lib, size and 1), (_dim(lib, size), _dim(lib, size))
    x = lib.random_tensor(ndim=3, dim0=first, dim1=rest[0], dim2=rest[1], requires_grad=False, **RANGE)
    return lib.torch.flatten(x, start_dim=lib.random(0, 2).to(int))


def lstm_cell(lib: Any, size: int | None) -> Any:
    rows, inputs, hidden = _dim(lib, size), _dim(lib, size), _dim(lib, size)
    m = lib.torch.nn.LSTMCell(inputs, hidden)
    x = lib.random_tensor(ndim=2, dim0=rows, dim1=inputs, **RANGE)
    # OneFlow 0.9.0 cannot create the state itself.
    state = tuple([lib.random_tensor(ndim=2, dim0=rows, dim1=hidden, **RANGE) for _ in range(2)])
    return m(x, state)[0]


CASES = (
    Case("relu", relu),
    Case("matmul", matmul),
    Case("add with broadcasting", add_broadcasting),
    Case("Conv2d module", conv2d_module),
    Case("layer_norm", layer_norm),
    Case("chain of 10 calls", chain),
    Case("cross_entropy", cross_entropy),
    Case("flatten, no backward", flatten, backward=False),
    Case("LSTMCell module", lstm_cell),
)
