"""Finds arguments that torch accepts where no database has any: it tries small ones, and torch's refusals choose."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import torch

#: Shapes of the tensors that are tried, from the commonest on; all of them fit one another somewhere.
_SHAPES: Final = ((2, 4), (2, 4, 8), (2, 4, 8, 8), (2, 4, 6, 6, 6), (4,), (4, 4), (2, 3, 4), (2, 4, 4))
#: Shapes in which kernels and strides of 2 and 4 leave something over.
_ODD_SHAPES: Final = ((2, 4, 7), (2, 4, 7, 7), (2, 4, 5, 5, 5))

#: What a function is given, by position and by name.
CallArguments = tuple[Sequence[Any], Mapping[str, Any]]


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


def accepted(function: Callable[..., Any], candidates: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The argument tuples that `function` accepts and gives a tensor or a number for."""
    found: list[tuple[Any, ...]] = []
    for arguments in candidates:
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if _says_something(function(*_copies(arguments))):
                found.append(arguments)
    return found


def telling(
    changed: Callable[..., Any], plain: Callable[[int], Any], candidates: Sequence[CallArguments]
) -> tuple[int | None, bool]:
    """Which of the candidates is the first for which `changed` gives something else than `plain`, and that it does.

    Where none is, the first that `changed` accepts, or None: what an option does shows on some inputs only. `plain` is
    asked with the index of a candidate for what `given` came to.
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
    """What `function` gives, the gradients of its operands, and what it leaves in these.

    The random numbers are always the same. None where torch refuses, or where there is no tensor and no number.
    """
    torch.default_generator.manual_seed(0)
    leaves: list[Any] = []
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, kwargs = _copied((tuple(arguments[0]), dict(arguments[1])), leaves)
        value = function(*args, **kwargs)
        return (value, _gradients(value, leaves), _tensors((args, kwargs))) if _says_something(value) else None
    return None


def _copied(value: Any, leaves: list[Any]) -> Any:
    """`value` with new tensors in place of its own, which may be written into; `leaves` gets those with gradients."""
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
    roots = [item for item in (value if isinstance(value, (tuple, list)) else (value,)) if _carries_gradient(item)]
    if not roots or not leaves:
        return ()
    pushed = [torch.arange(1, item.numel() + 1).reshape(item.shape).to(item.dtype) for item in roots]
    with contextlib.suppress(Exception):
        return torch.autograd.grad(roots, leaves, pushed, allow_unused=True)
    return ()


def _carries_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


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


def _says_something(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_says_something(item) for item in value)
    return isinstance(value, (torch.Tensor, bool, int, float))


def _copies(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Copies that a call may write into."""
    for item in arguments:
        yield item.detach().clone() if isinstance(item, torch.Tensor) else item


def odd_inputs(drawer: Drawer) -> list[tuple[Any, ...]]:
    """Inputs of modules on which some options show that do not otherwise: of odd sizes, and too short for a target."""
    return [*((drawer.tensor(shape),) for shape in _ODD_SHAPES), _sequences(drawer, [2, 6])]


def module_inputs(drawer: Drawer, other_sizes: Mapping[int, int] = MappingProxyType({})) -> list[tuple[Any, ...]]:
    """Inputs of modules to try: one tensor, two as losses take, targets, three, indices, places of maxima.

    With `other_sizes` only those of one tensor and of two, with these sizes in place of those that they have.
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
    # Where maxima came from: each place once, all of them within any output.
    places = [(drawer.tensor((2, 4, *space)), _counted(space).expand(2, 4, *space).clone()) for space in spaces]
    return [*alone, (drawer.whole((2, 3)),), *pairs, *probabilities, *classes, *triples, log_probabilities, *places]


def _sequences(drawer: Drawer, lengths: Sequence[int]) -> tuple[Any, ...]:
    """Logarithms of probabilities, targets of three and of two places, and how long both are."""
    return (
        torch.log_softmax(drawer.tensor((6, 2, 4)).detach(), 2).requires_grad_(),
        drawer.whole((2, 3)) + 1, torch.tensor(lengths), torch.tensor([3, 2]),
    )  # fmt: skip


def _counted(shape: Sequence[int]) -> Any:
    """The whole numbers from 0 on."""
    return torch.arange(math.prod(shape)).reshape(*shape)
