"""Finds arguments that torch accepts, for functions without a database, by trying small ones."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import torch

from autotest.frameworks.pair import warnings_ignored

#: Shapes of the tensors that are tried, the most common first. They are chosen to fit one another in some function.
_SHAPES: Final = ((2, 4), (2, 4, 8), (2, 4, 8, 8), (2, 4, 6, 6, 6), (4,), (4, 4), (2, 3, 4), (2, 4, 4))
#: Shapes that kernels and strides of 2 and 4 do not divide.
_ODD_SHAPES: Final = ((2, 4, 7), (2, 4, 7, 7), (2, 4, 5, 5, 5))

#: The arguments of a function, by position and by name.
CallArguments = tuple[Sequence[Any], Mapping[str, Any]]


class TensorDrawer:
    """Draws the tensors of one search; the same ones for the same seed and dtype."""

    def __init__(self, seed: int, dtype: str) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self._dtype: Any = getattr(torch, dtype)

    @property
    def dtype(self) -> Any:
        """The dtype of the search, a ``torch.dtype``."""
        return self._dtype

    def tensor(self, shape: Sequence[int]) -> Any:
        """Return a tensor of the search's dtype: between -2 and 2 if it is floating, integers from 0 to 3 otherwise."""
        if self._dtype.is_floating_point:
            drawn = torch.rand(*shape, generator=self._generator, dtype=torch.float64) * 4 - 2
            return drawn.to(self._dtype).requires_grad_()
        return torch.randint(0, 4, tuple(shape), generator=self._generator).to(self._dtype)

    def whole(self, shape: Sequence[int], high: int = 2) -> Any:
        """Return a tensor of indices below `high`."""
        return torch.randint(0, high, tuple(shape), generator=self._generator)


def accepted(function: Callable[..., Any], candidates: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the argument tuples that `function` accepts and returns a tensor or a number for."""
    found: list[tuple[Any, ...]] = []
    for arguments in candidates:
        with contextlib.suppress(Exception), warnings_ignored():
            if _is_informative(function(*_copies(arguments))):
                found.append(arguments)
    return found


def first_effect(
    changed: Callable[..., Any], plain: Callable[[int], Any], candidates: Sequence[CallArguments]
) -> tuple[int | None, bool]:
    """Return the index of the first candidate for which `changed` and `plain` differ, and True.

    If there is none, return the index of the first candidate that `changed` accepts, or None, and False. Several
    candidates are needed because the effect of an option shows on some inputs only.

    Args:
        changed: the function with the option.
        plain: returns, for the index of a candidate, the result of `given` without the option.
        candidates: the arguments to try.
    """
    first = None
    for index, arguments in enumerate(candidates):
        came = given(changed, arguments)
        if came is not None:
            first = index if first is None else first
            if not _alike(came, plain(index)):
                return index, True
    return first, False


def given(function: Callable[..., Any], arguments: CallArguments) -> Any:
    """Call `function` with copies of `arguments` and a fixed seed.

    Returns:
        The result, the gradients of the operands, and the operands after the call; or None if torch rejects the call,
        or if the result contains no tensor and no number.
    """
    torch.default_generator.manual_seed(0)
    leaves: list[Any] = []
    with contextlib.suppress(Exception), warnings_ignored():
        args, kwargs = _copied((tuple(arguments[0]), dict(arguments[1])), leaves)
        value = function(*args, **kwargs)
        return (value, _gradients(value, leaves), _tensors((args, kwargs))) if _is_informative(value) else None
    return None


def _copied(value: Any, leaves: list[Any]) -> Any:
    """Return `value` with copies of its tensors, which may be written into; append those that require grad to `leaves`.

    For each of them, the returned value contains a clone of the appended leaf: leaves must not be written into.
    """
    if isinstance(value, torch.Tensor):
        made = value.detach().clone().requires_grad_(value.requires_grad)
        if not value.requires_grad:
            return made
        leaves.append(made)
        return made.clone()
    if type(value) in (tuple, list):
        return type(value)(_copied(item, leaves) for item in value)
    return {name: _copied(item, leaves) for name, item in value.items()} if type(value) is dict else value


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    items = value.values() if type(value) is dict else value if type(value) in (tuple, list) else ()
    return [tensor for item in items for tensor in _tensors(item)]


def _gradients(value: Any, leaves: Sequence[Any]) -> Any:
    items = value if isinstance(value, (tuple, list)) else (value,)
    roots = [item for item in items if isinstance(item, torch.Tensor) and item.requires_grad]
    if not roots or not leaves:
        return ()
    pushed = [torch.arange(1, item.numel() + 1).reshape(item.shape).to(item.dtype) for item in roots]
    with contextlib.suppress(Exception):
        return torch.autograd.grad(roots, leaves, pushed, allow_unused=True)
    return ()


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if (one.shape, one.dtype, one.layout) != (other.shape, other.dtype, other.layout):
            return False
        if one.layout is not torch.strided:
            one, other = one.to_dense(), other.to_dense()
        return bool(((one == other) | (one.isnan() & other.isnan())).all())
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_alike, one, other))
    return type(one) is type(other) and bool(one == other)


def _is_informative(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_is_informative(item) for item in value)
    return isinstance(value, (torch.Tensor, bool, int, float))


def _copies(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arguments with copies of the tensors, which a call may write into."""
    for item in arguments:
        yield item.detach().clone() if isinstance(item, torch.Tensor) else item


def odd_inputs(drawer: TensorDrawer) -> list[tuple[Any, ...]]:
    """Return inputs of modules that show the effects of more options: of odd sizes, and too short for a target."""
    return [*((drawer.tensor(shape),) for shape in _ODD_SHAPES), _sequences(drawer, [2, 6])]


def module_inputs(drawer: TensorDrawer, other_sizes: Mapping[int, int] = MappingProxyType({})) -> list[tuple[Any, ...]]:
    """Return inputs of modules to try: one tensor, two as for losses, targets, three, indices, indices of maxima.

    With `other_sizes` (old size -> new size), return only inputs of one and of two tensors, with their sizes replaced.
    """
    shapes = [tuple(other_sizes.get(size, size) for size in shape) for shape in _SHAPES]
    alone = [(drawer.tensor(shape),) for shape in shapes]
    pairs = [(drawer.tensor(shape), drawer.tensor(shape)) for shape in shapes[:4]]
    if other_sizes:
        return [*alone, *pairs]
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
    log_probabilities = _sequences(drawer, [6, 6])
    spaces = ((4, 4), (2, 2, 2))
    # Indices of maxima: each index once, all of them inside of any output.
    places = [(drawer.tensor((2, 4, *space)), _counted(space).expand(2, 4, *space).clone()) for space in spaces]
    return [*alone, (drawer.whole((2, 3)),), *pairs, *probabilities, *classes, *triples, log_probabilities, *places]


def _sequences(drawer: TensorDrawer, lengths: Sequence[int]) -> tuple[Any, ...]:
    """Return log probabilities, targets of lengths 3 and 2, and the lengths of both."""
    return (
        torch.log_softmax(drawer.tensor((6, 2, 4)).detach(), 2).requires_grad_(),
        drawer.whole((2, 3)) + 1, torch.tensor(lengths), torch.tensor([3, 2]),
    )  # fmt: skip


def _counted(shape: Sequence[int]) -> Any:
    """Return a tensor of `shape` with the integers from 0 on."""
    return torch.arange(math.prod(shape)).reshape(*shape)
