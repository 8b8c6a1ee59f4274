"""Finds arguments that torch accepts where no database has any: it tries small ones, and torch's refusals choose."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import torch

#: Shapes of the tensors that are tried, from the commonest on; all of them fit one another somewhere.
_SHAPES: Final = ((2, 4), (2, 4, 8), (2, 4, 8, 8), (2, 4, 6, 6, 6), (4,), (4, 4), (2, 3, 4), (2, 4, 4))


class Drawer:
    """Draws the tensors of one search, always the same ones for a seed and dtype."""

    def __init__(self, seed: int, dtype: str) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self._dtype: Any = getattr(torch, dtype)

    @property
    def dtype(self) -> Any:
        """The search's own dtype, as torch has it."""
        return self._dtype

    def tensor(self, shape: Sequence[int]) -> Any:
        """Of the search's own dtype: between -2 and 2 if it is floating, from 0 to 3 if it is whole."""
        if self._dtype.is_floating_point:
            drawn = torch.rand(*shape, generator=self._generator, dtype=torch.float64) * 4 - 2
            return drawn.to(self._dtype).requires_grad_()
        return torch.randint(0, 4, tuple(shape), generator=self._generator).to(self._dtype)

    def whole(self, shape: Sequence[int], high: int = 2) -> Any:
        """Indices."""
        return torch.randint(0, high, tuple(shape), generator=self._generator)


def accepted(function: Callable[..., Any], candidates: Sequence[tuple[Any, ...]], most: int) -> list[tuple[Any, ...]]:
    """The first `most` of the argument tuples that `function` accepts and gives a tensor for."""
    found: list[tuple[Any, ...]] = []
    for arguments in candidates:
        if len(found) >= most:
            break
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if _says_something(function(*_copies(arguments))):
                found.append(arguments)
    return found


def _says_something(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_says_something(item) for item in value)
    return isinstance(value, (torch.Tensor, bool, int, float))


def _copies(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Copies that a call may write into."""
    for item in arguments:
        yield item.detach().clone() if isinstance(item, torch.Tensor) else item


def module_inputs(drawer: Drawer) -> list[tuple[Any, ...]]:
    """Inputs of modules to try: one tensor, two as losses take, targets, three, indices."""
    alone = [(drawer.tensor(shape),) for shape in _SHAPES]
    pairs = [(drawer.tensor(shape), drawer.tensor(shape)) for shape in _SHAPES[:4]]
    classes = [(drawer.tensor((2, 4)), drawer.whole((2,), 4)), (drawer.tensor((2, 4)), drawer.whole((2, 4)))]
    signs = drawer.whole((2,)) * 2 - 1
    triples = [
        (drawer.tensor((2, 4)), drawer.tensor((2, 4)), drawer.tensor((2, 4))),
        (drawer.tensor((2,)), drawer.tensor((2,)), signs.to(torch.float32)),
        (drawer.tensor((2, 4)), drawer.tensor((2, 4)), signs.to(torch.float32)),
    ]
    probabilities = [
        tuple(torch.sigmoid(item.detach()).requires_grad_(index == 0) for index, item in enumerate(pair))
        for pair in pairs[:2]
    ]
    log_probabilities = (
        torch.log_softmax(drawer.tensor((6, 2, 4)).detach(), 2).requires_grad_(),
        drawer.whole((2, 3)) + 1, torch.tensor([6, 6]), torch.tensor([3, 2]),
    )  # fmt: skip
    return [*alone, (drawer.whole((2, 3)),), *pairs, *probabilities, *classes, *triples, log_probabilities]
