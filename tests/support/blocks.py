"""A framework whose API differs from torch's in every name: an extreme case of a candidate.

Its arrays (`Block`) are immutable and have no methods, operators or gradients. Its functions have ``axis`` instead of
torch's ``dim``. It computes with torch, which is not visible outside of this file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

__version__ = "1.0"


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
        if isinstance(value, torch.Tensor):
            return Block(value)
        return tuple(map(closed, value)) if isinstance(value, (list, tuple)) else value

    @functools.wraps(function)
    def on_blocks(*args: Any, **kwargs: Any) -> Any:
        return closed(function(*map(opened, args), **{key: opened(value) for key, value in kwargs.items()}))

    return on_blocks


@_over_torch
def total(block: Any, axis: Any = None, keep: bool = False) -> Any:
    return torch.sum(block) if axis is None else torch.sum(block, axis, keepdim=keep)


@_over_torch
def average(block: Any, axis: Any = None, keep: bool = False) -> Any:
    return torch.mean(block) if axis is None else torch.mean(block, axis, keepdim=keep)


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


def block(data: Any, kind: str) -> Block:
    return Block(torch.tensor(np.array(data)).to(getattr(torch, kind)))


def cells(block: Block) -> np.ndarray[Any, Any]:
    return block._inside.detach().numpy().copy()


def kind(block: Block) -> str:
    return str(block._inside.dtype).rpartition(".")[2]


def extent(block: Block) -> tuple[int, ...]:
    return tuple(block._inside.shape)


reorder = _over_torch(torch.permute)
reform = _over_torch(torch.reshape)
join = _over_torch(lambda blocks, axis: torch.cat(blocks, dim=axis))
spread = _over_torch(torch.broadcast_to)
pick = _over_torch(lambda block, places: block[torch.from_numpy(np.asarray(places))])
recast = _over_torch(lambda block, kind: block.to(getattr(torch, kind)))
product = _over_torch(torch.matmul)
choose = _over_torch(torch.where)
greatest = _over_torch(lambda block, axis, keep: torch.amax(block, axis, keepdim=keep))
larger = _over_torch(torch.maximum)
smaller = _over_torch(torch.minimum)
plus = _over_torch(torch.add)
minus = _over_torch(torch.sub)
times = _over_torch(torch.mul)
over = _over_torch(torch.div)
raised = _over_torch(torch.pow)
equals = _over_torch(torch.eq)
exceeds = _over_torch(torch.gt)
negated = _over_torch(torch.neg)
exponential = _over_torch(torch.exp)
logarithm = _over_torch(torch.log)
root = _over_torch(torch.sqrt)
hyperbolic_tangent = _over_torch(torch.tanh)
sine = _over_torch(torch.sin)
cosine = _over_torch(torch.cos)
magnitude = _over_torch(torch.abs)
