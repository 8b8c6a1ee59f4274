"""Planted bugs with names: the fault, a test body that shows it, and the smallest case that does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import autotest as at
from autotest import torch as dual
from tests.support.faulty import FaultyTorch, Replacement, with_gradient


@dataclasses.dataclass(frozen=True)
class Bug:
    name: str
    body: Callable[[], Any]
    replace: Mapping[str, Replacement]
    #: Calls and input elements of the smallest case.
    calls: int
    elements: int
    tensors: bool = False
    missing: tuple[str, ...] = ()

    def faulty(self) -> FaultyTorch:
        if self.tensors:
            return FaultyTorch(tensors=self.replace, name="faulty")
        return FaultyTorch(self.replace, missing=self.missing, name="faulty")


def when(condition: Callable[..., bool], change: Callable[[Any], Any]) -> Replacement:
    """Return a replacement that changes the result if `condition` is true for the arguments."""

    def replacement(original: Any) -> Any:
        def faulty(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            return change(result) if condition(*args, **kwargs) else result

        return faulty

    return replacement


def gradient_when(condition: Callable[..., bool], change: Callable[[Any], Any]) -> Replacement:
    def replacement(original: Any) -> Any:
        wrong = with_gradient(change)(original)
        return lambda *a, **k: wrong(*a, **k) if condition(*a, **k) else original(*a, **k)

    return replacement


def raising_when(condition: Callable[..., bool]) -> Replacement:
    def replacement(original: Any) -> Any:
        def faulty(*args: Any, **kwargs: Any) -> Any:
            if condition(*args, **kwargs):
                raise RuntimeError("planted: this case is not supported")
            return original(*args, **kwargs)

        return faulty

    return replacement


def twice(gradient: Any) -> Any:
    return gradient * 2


def more(result: Any) -> Any:
    return result + 1


def x(ndim: int = 2, **kwargs: Any) -> Any:
    return at.random_tensor(ndim, **{"dim0": at.random(2, 6), "dim1": at.random(2, 6), "low": -2, "high": 2, **kwargs})


def function(name: str, *args: Any, ndim: int = 2, **kwargs: Any) -> Callable[[], Any]:
    def body() -> Any:
        target: Any = dual
        for part in name.split("."):
            target = getattr(target, part)
        return target(x(ndim), *args, **kwargs)

    return body


def _rows(t: Any, *_: Any, **__: Any) -> bool:
    return t.dim() > 0 and t.shape[0] >= 2


def _chain() -> Any:
    v = x()
    v = dual.tanh(v)
    v = dual.sigmoid(v)
    v = dual.exp(v)
    return dual.sin(v).sum()


def _second_of_three() -> Any:
    v = dual.tanh(x())
    return dual.exp(dual.relu(v))


def _two_inputs() -> Any:
    a = at.random_tensor(2, 3, 4, low=-2, high=2)
    b = at.random_tensor(2, 3, 4, low=-2, high=2)
    return dual.maximum(dual.tanh(a), b)


def _long(low: int, high: int) -> Any:
    return at.random_tensor(1, dim0=at.random(60, 90), low=low, high=high)


def _matmul() -> Any:
    m, k, n = at.random(2, 5), at.random(2, 5), at.random(2, 5)
    return dual.matmul(at.random_tensor(2, m, k, low=-1), at.random_tensor(2, k, n, low=-1))


def _cat() -> Any:
    a = at.random_tensor(2, 3, 4, low=-1)
    return dual.cat([a, dual.exp(a)], dim=at.oneof(0, 1, -1))


def _clamp() -> Any:
    return dual.clamp(x(), min=-0.5, max=0.5)


def _strided() -> Any:
    return dual.exp(x().t())


def _linear() -> Any:
    return dual.nn.functional.linear(
        at.random_tensor(2, 3, 4, low=-1), at.random_tensor(2, 2, 4, low=-1), at.random_tensor(1, 2, low=-1)
    )


def _module() -> Any:
    m = dual.nn.ReLU()
    return m(dual.exp(x()) - 1)


def _in_place() -> Any:
    v = x() * 2
    v.mul_(3)
    return v + 1


def _one_wrong(result: Any) -> Any:
    result = result.clone()
    result.reshape(-1)[-1] += 1
    return result


def _negative_dim(t: Any, dim: Any = None, *_: Any, **__: Any) -> bool:
    return isinstance(dim, int) and dim < 0


def _any(*_: Any, **__: Any) -> bool:
    return True


BUGS: tuple[Bug, ...] = (
    Bug("always", function("exp"), {"exp": when(_any, more)}, 1, 1),
    Bug("rank 2 only", function("exp"), {"exp": when(lambda t: t.dim() == 2, more)}, 1, 1),
    Bug("rank 3 only", function("sin", ndim=3), {"sin": when(lambda t: t.dim() == 3, more)}, 1, 1),
    Bug("two rows", function("tanh"), {"tanh": when(_rows, more)}, 1, 2),
    Bug("last dimension of two", function("cos"), {"cos": when(lambda t: t.dim() and t.shape[-1] >= 2, more)}, 1, 2),
    Bug("four elements", function("exp"), {"exp": when(lambda t: t.numel() >= 4, more)}, 1, 4),
    Bug("last element", function("exp"), {"exp": when(_any, _one_wrong)}, 1, 1),
    Bug("negative values", function("abs"), {"abs": when(lambda t: bool((t < 0).any()), more)}, 1, 1),
    Bug("large values", function("exp"), {"exp": when(lambda t: bool((t > 1).any()), more)}, 1, 1),
    Bug("a negative dimension", function("softmax", -1), {"softmax": when(_negative_dim, more)}, 1, 1),
    Bug("a keyword", function("sum", dim=1, keepdim=True),
        {"sum": when(lambda *a, **k: bool(k.get("keepdim")), more)}, 1, 1),
    Bug("two keywords meet", function("std", dim=1, unbiased=False, keepdim=True),
        {"std": when(lambda *a, **k: k.get("unbiased") is False and bool(k.get("keepdim")), more)}, 1, 1),
    Bug("end of a chain", _chain, {"sin": when(_any, more)}, 1, 1),
    Bug("start of a chain", _chain, {"tanh": when(_any, more)}, 1, 1),
    Bug("second of three", _second_of_three, {"relu": when(_any, more)}, 1, 1),
    Bug("gradient", function("exp"), {"exp": with_gradient(twice)}, 1, 1),
    Bug("gradient of rank 2", function("sin"), {"sin": gradient_when(lambda t: t.dim() == 2, twice)}, 1, 1),
    Bug("gradient of two rows", function("tanh"), {"tanh": gradient_when(_rows, twice)}, 1, 2),
    Bug("gradient in a chain", _chain, {"sigmoid": with_gradient(twice)}, 1, 1),
    Bug("gradient, second of three", _second_of_three, {"relu": with_gradient(twice)}, 1, 1),
    Bug("one of two inputs", _two_inputs, {"maximum": when(_any, more)}, 1, 2),
    Bug("matmul", _matmul, {"matmul": when(_any, more)}, 1, 2),
    Bug("matmul, inner of two", _matmul, {"matmul": when(lambda a, b: a.shape[-1] >= 2, more)}, 1, 4),
    Bug("cat", _cat, {"cat": when(_any, more)}, 1, 1),
    Bug("two bounds meet", _clamp, {"clamp": when(lambda t, **k: len(k) == 2, more)}, 1, 1),
    Bug("one bound", _clamp, {"clamp": when(lambda t, **k: k.get("max") is not None, more)}, 1, 1),
    Bug("strides", _strided, {"exp": when(lambda t: not t.is_contiguous(), more)}, 2, 4),
    Bug("bias", _linear, {"nn.functional.linear": when(lambda a, w, b=None: b is not None, more)}, 1, 3),
    Bug("shape", function("exp"), {"exp": when(_any, lambda r: r.reshape(-1, 1, 1))}, 1, 1),
    Bug("dtype", function("exp"), {"exp": when(_any, lambda r: r.double())}, 1, 1),
    Bug("raises", function("exp"), {"exp": raising_when(_any)}, 1, 1),
    Bug("raises for two rows", function("exp"), {"exp": raising_when(_rows)}, 1, 2),
    Bug("missing", _second_of_three, {}, 1, 1, missing=("relu",)),
    Bug("a large sum", lambda: dual.sum(_long(1, 2)),
        {"sum": when(lambda t: float(t.sum()) > 80, lambda r: r * 2)}, 1, 1),
    Bug("a large product", lambda: dual.prod(_long(2, 3)),
        {"prod": when(lambda t: float(t.prod()) > 1e15, lambda r: r * 2)}, 1, 1),
    Bug("in place", _in_place, {"mul_": when(_any, lambda r: r.data.add_(1) is None or r)}, 1, 1, tensors=True),
)  # fmt: skip
