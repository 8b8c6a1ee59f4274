"""A framework whose API differs from torch's in every name, and its adapter: an extreme case of a candidate.

Its arrays (`Block`) are immutable and have no methods, operators or gradients. Its functions have ``axis`` instead of
torch's ``dim``. It computes with torch, which is not visible outside of this file.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.frameworks.functional import Functional


class Block:
    """An array. It can only be passed to a function."""

    __slots__ = ("_inside",)

    def __init__(self, inside: Any) -> None:
        self._inside = inside


def _over_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, which takes torch's tensors, as a function of blocks."""

    def opened(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(opened, value))
        return value._inside if isinstance(value, Block) else value

    def closed(value: Any) -> Any:
        import torch

        if isinstance(value, torch.Tensor):
            return Block(value)
        return tuple(map(closed, value)) if isinstance(value, (list, tuple)) else value

    @functools.wraps(function)
    def on_blocks(*args: Any, **kwargs: Any) -> Any:
        return closed(function(*map(opened, args), **{key: opened(value) for key, value in kwargs.items()}))

    return on_blocks


def _namespace() -> types.SimpleNamespace:
    """Return the framework: a namespace of functions of blocks."""
    import torch

    def total(block: Any, axis: Any = None, keep: bool = False) -> Any:
        return torch.sum(block) if axis is None else torch.sum(block, axis, keepdim=keep)

    def average(block: Any, axis: Any = None, keep: bool = False) -> Any:
        return torch.mean(block) if axis is None else torch.mean(block, axis, keepdim=keep)

    functions = {
        "total": total,
        "average": average,
        "reorder": torch.permute,
        "reform": torch.reshape,
        "join": lambda blocks, axis: torch.cat(blocks, dim=axis),
        "spread": torch.broadcast_to,
        "pick": lambda block, places: block[torch.from_numpy(np.asarray(places))],
        "recast": lambda block, kind: block.to(getattr(torch, kind)),
        "product": torch.matmul,
        "choose": torch.where,
        "greatest": lambda block, axis, keep: torch.amax(block, axis, keepdim=keep),
        "larger": torch.maximum,
        "smaller": torch.minimum,
        "plus": torch.add,
        "minus": torch.sub,
        "times": torch.mul,
        "over": torch.div,
        "raised": torch.pow,
        "equals": torch.eq,
        "exceeds": torch.gt,
        "negated": torch.neg,
        "exponential": torch.exp,
        "logarithm": torch.log,
        "root": torch.sqrt,
        "hyperbolic_tangent": torch.tanh,
        "sine": torch.sin,
        "cosine": torch.cos,
        "magnitude": torch.abs,
    }

    def pullback(function: Callable[..., Any], blocks: Sequence[Block], cotangents: Sequence[Block]) -> list[Block]:
        """Return the gradients of `blocks` for the `cotangents` of the blocks that `function` returns."""
        leaves = [block._inside.detach().requires_grad_() for block in blocks]
        with torch.enable_grad():
            made = [block._inside for block in function(*map(Block, leaves))]
        pairs = zip(made, cotangents, strict=True)
        pushed = [(one, cotangent._inside) for one, cotangent in pairs if one.requires_grad]
        if not pushed:
            return [Block(torch.zeros_like(leaf)) for leaf in leaves]
        outputs, given = zip(*pushed, strict=True)
        found = torch.autograd.grad(outputs, leaves, given, allow_unused=True)
        return [
            Block(torch.zeros_like(leaf) if gradient is None else gradient)
            for gradient, leaf in zip(found, leaves, strict=True)
        ]

    return types.SimpleNamespace(
        **{name: _over_torch(function) for name, function in functions.items()},
        pullback=pullback,
        block=lambda data, kind: Block(torch.tensor(np.array(data)).to(getattr(torch, kind))),
        cells=lambda block: block._inside.detach().numpy().copy(),
        kind=lambda block: str(block._inside.dtype).rpartition(".")[2],
        extent=lambda block: tuple(block._inside.shape),
    )


class BlockFramework(Functional):
    """The adapter.

    `replace` maps names to functions that turn the framework's original function into another one. `lacks` are names of
    torch for which the adapter has no function.
    """

    module = "torch"
    short = "other"
    gradient_lines = ("({gradients}) = other.pullback(lambda *given: [forward(*given)], [{leaves}], [{cotangents}])",)
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
        made = _namespace()
        for name, replacement in self._replace.items():
            setattr(made, name, replacement(getattr(made, name)))
        return made

    def array_types(self) -> tuple[type, ...]:
        return (Block,)

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> Block:
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
            return value if isinstance(value, Block) else constant(like, value)

        def binary(function: Callable[..., Any]) -> Callable[..., Any]:
            def spelt(input: Any, other: Any) -> Any:
                like = input if isinstance(input, Block) else other
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
    return BlockFramework({"sine": lambda sine: lambda block: Block(sine(block)._inside * 1.01)}, "with_wrong_sine")
