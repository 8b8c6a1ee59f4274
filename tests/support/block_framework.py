"""The adapter for `tests.support.blocks`, a framework whose API differs from torch's in every name."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.frameworks.functional import Functional


class BlockFramework(Functional):
    """The adapter.

    `replace` maps names to functions that turn the framework's original function into another one. `lacks` are names of
    torch for which the adapter has no function.
    """

    module = "tests.support.blocks"
    short = "other"
    gradient_lines = ("({gradients}) = other.pullback(lambda *given: [forward(*given)], [{leaves}], [{cotangents}])",)
    list_text = "other.cells({}).tolist()"
    dtype_text = "other.kind({})"
    dtypes = ("float32", "float64", "int64", "bool")

    def __init__(
        self,
        replace: Mapping[str, Callable[[Any], Any]] | None = None,
        made_by: str = "framework",
        lacks: Collection[str] = (),
    ) -> None:
        super().__init__("otherwise", f"tests.support.block_framework:{made_by}")
        self._replace = dict(replace or {})
        self._lacks = lacks

    @functools.cached_property
    def root(self) -> Any:
        made = types.SimpleNamespace(**vars(self.import_root()))
        for name, replacement in self._replace.items():
            setattr(made, name, replacement(getattr(made, name)))
        return made

    def array_types(self) -> tuple[type, ...]:
        return (self.root.Block,)

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> Any:
        return self.root.block(data, dtype)

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        return self.root.cells(array)

    def dtype_of_array(self, array: Any) -> str:
        return self.root.kind(array)

    def shape_of(self, array: Any) -> tuple[int, ...]:
        return self.root.extent(array)

    def cast(self, array: Any, dtype: str) -> Any:
        return self.root.recast(array, dtype)

    def take(self, flat: Any, places: np.ndarray[Any, Any]) -> Any:
        return self.root.pick(flat, places)

    def vjp(self, function: Any, arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        return self.root.pullback(function, arrays, cotangents)

    @functools.cached_property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        o = self.root
        extent = self.shape_of

        def constant(like: Any, value: float) -> Any:
            return self.array(np.asarray(value), self.dtype_of_array(like))

        def number(like: Any, value: Any) -> Any:
            return value if isinstance(value, o.Block) else constant(like, value)

        def binary(function: Callable[..., Any]) -> Callable[..., Any]:
            def spelt(input: Any, other: Any) -> Any:
                like = input if isinstance(input, o.Block) else other
                return function(number(like, input), number(like, other))

            return spelt

        def relu(input: Any) -> Any:
            zero = constant(input, 0)
            kept = o.choose(o.equals(input, input), zero, input)  # keeps NaN
            return o.choose(o.exceeds(input, zero), input, kept)

        def sigmoid(input: Any) -> Any:
            one = constant(input, 1)
            return o.over(one, o.plus(one, o.exponential(o.negated(input))))

        def softmax(input: Any, dim: int) -> Any:
            powers = o.exponential(o.minus(input, o.greatest(input, axis=dim, keep=True)))
            return o.over(powers, o.total(powers, axis=dim, keep=True))

        def transpose(input: Any, dim0: int, dim1: int) -> Any:
            axes = list(range(len(extent(input))))
            axes[dim0], axes[dim1] = axes[dim1], axes[dim0]
            return o.reorder(input, tuple(axes))

        def linear(input: Any, weight: Any, bias: Any = None) -> Any:
            made = o.product(input, transpose(weight, 0, 1))
            return made if bias is None else o.plus(made, bias)

        known = {
            "relu": relu,
            "sigmoid": sigmoid,
            "softmax": softmax,
            "linear": linear,
            "transpose": transpose,
            "tanh": o.hyperbolic_tangent,
            "exp": o.exponential,
            "log": o.logarithm,
            "sqrt": o.root,
            "sin": o.sine,
            "cos": o.cosine,
            "abs": o.magnitude,
            "neg": o.negated,
            "matmul": o.product,
            "add": binary(o.plus),
            "sub": binary(o.minus),
            "mul": binary(o.times),
            "div": binary(o.over),
            "pow": binary(o.raised),
            "gt": binary(o.exceeds),
            "eq": binary(o.equals),
            "maximum": o.larger,
            "minimum": o.smaller,
            "where": lambda condition, input, other: o.choose(condition, number(other, input), number(input, other)),
            "sum": lambda input, dim=None, keepdim=False: o.total(input, axis=dim, keep=keepdim),
            "mean": lambda input, dim=None, keepdim=False: o.average(input, axis=dim, keep=keepdim),
            "cat": lambda tensors, dim=0: o.join(tensors, axis=dim),
            "permute": lambda input, *dims: o.reorder(input, _sizes(dims)),
            "reshape": lambda input, *shape: o.reform(input, _sizes(shape)),
            "view": lambda input, *shape: o.reform(input, _sizes(shape)),
            "broadcast_to": lambda input, *size: o.spread(input, _sizes(size)),
            "expand": lambda input, *size: o.spread(input, _sizes(size)),
            "unsqueeze": lambda input, dim: o.reform(input, _with_one(extent(input), dim)),
        }
        return {name: function for name, function in known.items() if name not in self._lacks}


def _sizes(given: Sequence[Any]) -> tuple[int, ...]:
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


def _with_one(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    at = dim if dim >= 0 else dim + len(shape) + 1
    return (*shape[:at], 1, *shape[at:])


def framework() -> BlockFramework:
    """Return the framework without faults."""
    return BlockFramework()


def with_wrong_sine() -> BlockFramework:
    """Return the framework with a sine that is 1 % too large."""

    def too_large(sine: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda block: type(block)(sine(block)._inside * 1.01)

    return BlockFramework({"sine": too_large}, "with_wrong_sine")


class _WrongScripts(BlockFramework):
    """Its gradients are twice too large. The lines of its scripts compute zeros instead."""

    gradient_lines = ("({gradients}) = [other.times(one, other.block(0, other.kind(one))) for one in [{leaves}]]",)

    def vjp(self, function: Callable[..., Any], arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        return [self.root.plus(one, one) for one in super().vjp(function, arrays, cotangents)]


def with_wrong_scripts() -> BlockFramework:
    """Return the framework with faults in its adapter."""
    return _WrongScripts(made_by="with_wrong_scripts")
