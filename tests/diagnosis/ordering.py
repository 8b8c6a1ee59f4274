"""Six operators that are evaluated in two correct orders, with sizes from 1 to 4,096, and their rounding error."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autotest.frameworks import Pair
from autotest.program import Array, Call, Captured, Program, Ref
from tests.support.faulty import FaultyTorch

OPERATORS = ("matmul", "conv1d", "sum", "softmax", "layer_norm", "exp")
ROUNDOFF = {"float32": 2.0**-24, "float16": 2.0**-11}


@dataclasses.dataclass(frozen=True)
class Case:
    program: Program
    operator: str
    dtype: str
    #: The greatest rounding error of each element, in units of the result.
    rounding: np.ndarray[Any, Any]

    def pair(self, planted: Callable[[Any], Any] = lambda result: result) -> Pair:
        """The two orders. The candidate's result is passed through `planted`."""
        path = _path(self.operator)
        other = _rounding(_OTHER[self.operator])
        candidate = FaultyTorch({path: lambda original: lambda *a: planted(other(*a))}, name="other")
        return Pair(_straight(path), candidate)


def _path(operator: str) -> str:
    return {"conv1d": "nn.functional.conv1d", "layer_norm": "nn.functional.layer_norm"}.get(operator, operator)


@functools.cache
def _straight(path: str) -> FaultyTorch:
    return FaultyTorch({path: _rounding}, name="straight")


def _rounding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, computed in at least single precision and rounded to the dtype of its first operand."""

    def rounded(x: Any, *rest: Any) -> Any:
        import torch

        wide = [item.float() if isinstance(item, torch.Tensor) and item.dtype == torch.half else item for item in rest]
        return function(x.float() if x.dtype == torch.half else x, *wide).to(x.dtype)

    return rounded


def _sum(x: Any) -> Any:
    return x.flip(0).cumsum(0)[-1]


def _matmul(a: Any, b: Any) -> Any:
    half = a.shape[1] // 2
    return a[:, half:] @ b[half:] + (a[:, :half].flip(1) @ b[:half].flip(0))


def _conv(x: Any, w: Any) -> Any:
    taps = range(w.shape[2] - 1, -1, -1)
    length = x.shape[2] - w.shape[2] + 1
    import torch

    return sum(torch.einsum("ncl,oc->nol", x[:, :, at : at + length], w[:, :, at]) for at in taps)


def _softmax(x: Any, dim: int) -> Any:
    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.flip(dim).cumsum(dim).narrow(dim, x.shape[dim] - 1, 1)


def _layer_norm(x: Any, shape: Any) -> Any:
    n = x.shape[-1]
    centred = x - x.flip(-1).cumsum(-1)[..., -1:] / n
    return centred / ((centred.flip(-1) ** 2).cumsum(-1)[..., -1:] / n + 1e-5).sqrt()


def _exp(x: Any) -> Any:
    return (x / 2).exp() ** 2


_OTHER: dict[str, Callable[..., Any]] = {
    "matmul": _matmul, "conv1d": _conv, "sum": _sum, "softmax": _softmax, "layer_norm": _layer_norm, "exp": _exp,
}  # fmt: skip


def case(seed: int) -> Case:
    """Return the case of a seed."""
    random = np.random.Generator(np.random.SFC64(seed))
    operator = OPERATORS[seed % len(OPERATORS)]
    dtype = ("float32", "float16")[seed // len(OPERATORS) % 2]
    n = int(2 ** random.uniform(0, 12))
    scale = 10.0 ** random.uniform(-2, 3) if dtype == "float32" else 10.0 ** random.uniform(-2, 0)
    if operator == "exp":
        scale = min(scale, 10.0 if dtype == "float16" else 80.0)

    def data(*shape: int) -> Array:
        # Badly scaled: both signs, and magnitudes over several powers of ten.
        values = random.uniform(-1, 1, shape) * scale * 10.0 ** random.uniform(-3, 0, shape)
        return Array(values.astype(dtype), dtype)

    arrays, args = _INPUTS[operator](data, n)
    calls = [
        Call("tensor", dtype, (Captured(at),), {"requires_grad": False, "device": "cpu"}, at)
        for at in range(len(arrays))
    ]
    path = _path(operator)
    refs = tuple(Ref(at) for at in range(len(arrays)))
    calls.append(Call("function", path, (*refs, *args), {}, len(arrays)))
    wide = [array.data.astype(np.float64) for array in arrays]
    rounding = ROUNDOFF[dtype] * np.asarray(_BOUNDS[operator](*wide))
    return Case(Program(tuple(calls), tuple(arrays)), operator, dtype, rounding)


_INPUTS: dict[str, Callable[[Callable[..., Array], int], tuple[list[Array], tuple[Any, ...]]]] = {
    "matmul": lambda data, n: ([data(2, n), data(n, 3)], ()),
    "conv1d": lambda data, n: ([data(1, max(1, n // 8), 12), data(2, max(1, n // 8), 3)], ()),
    "sum": lambda data, n: ([data(n)], ()),
    "softmax": lambda data, n: ([data(2, n)], (1,)),
    "layer_norm": lambda data, n: ([data(2, n + 1)], ((n + 1,),)),
    "exp": lambda data, n: ([data(n)], ()),
}


def _added(terms: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    return np.asarray(np.sqrt(terms.shape[axis]) * np.abs(terms).sum(axis=axis))


def _conv_bound(x: Any, w: Any) -> Any:
    windows = np.stack([x[..., at : x.shape[-1] - w.shape[2] + 1 + at] for at in range(w.shape[2])])
    return np.sqrt(w[0].size) * np.einsum("kncl,ock->nol", np.abs(windows), np.abs(w))


def _softmax_bound(x: Any) -> Any:
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True) * (1 + np.abs(x).max()) * np.sqrt(x.shape[1])


def _layer_norm_bound(x: Any) -> Any:
    deviation = np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return np.sqrt(x.shape[1]) * (1 + np.abs(x).max(axis=1, keepdims=True) / deviation) * np.ones_like(x) * 2


_BOUNDS: dict[str, Callable[..., Any]] = {
    "matmul": lambda a, b: _added(a[:, :, None] * b[None], 1),
    "conv1d": _conv_bound,
    "sum": lambda x: _added(x, 0),
    "softmax": _softmax_bound,
    "layer_norm": _layer_norm_bound,
    "exp": lambda x: np.exp(x) * (1 + np.abs(x)),
}
