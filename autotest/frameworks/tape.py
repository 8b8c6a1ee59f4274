"""torch's tensors on top of immutable arrays: writable variables, views of them, and a tape for gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from autotest.base.errors import AdapterWrong

#: An array of a framework; immutable.
ArrayLike: TypeAlias = Any
#: A pure function of arrays, which returns one array or a tuple or list of arrays.
Pure: TypeAlias = Callable[..., Any]


class Arrays(Protocol):
    """The operations on arrays that a tape needs from a framework."""

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        """Return the gradients of `arrays`, given `cotangents` of the list of arrays that `function` returns."""

    def is_floating(self, array: ArrayLike) -> bool:
        """Return whether `array` can have a gradient."""

    def zeros_like(self, array: ArrayLike) -> ArrayLike:
        """Return zeros of the shape and dtype of `array`."""

    def add(self, one: ArrayLike, other: ArrayLike) -> ArrayLike:
        """Return the sum of two gradients."""


class TapeTensor:
    """A variable that contains an array; it stands for a torch tensor.

    Attributes:
        array: its current contents.
        edge: the node, and the index of its output, that the contents are; None for a leaf or a constant.
        base: the tensor that this one is a view of; `view` is the function from the base's contents to its own.
        version: the number of writes; `seen` is the base's version when a view was last read.
        detached: whether gradients stop here, also if the base requires grad.
        reordered: whether torch may have its elements in another order in memory, as those of a transposed matrix and
            of what is computed from it.
        unsure: of a base, whether a tensor was made of which only torch knows whether it is a view or a copy.
    """

    __slots__ = (
        *("__weakref__", "array", "base", "detached", "edge", "grad", "reordered", "requires_grad", "retains", "seen"),
        *("unsure", "version", "view"),
    )

    def __init__(self, array: ArrayLike, edge: tuple[Node, int] | None = None, *, requires_grad: bool = False) -> None:
        self.array = array
        self.edge = edge
        self.requires_grad = requires_grad or edge is not None
        self.grad: TapeTensor | None = None
        self.retains = False
        self.detached = False
        self.reordered = self.unsure = False
        self.base: TapeTensor | None = None
        self.view: Pure | None = None
        self.version = 0
        self.seen = 0

    @property
    def is_leaf(self) -> bool:
        return self.edge is None

    @property
    def owner(self) -> TapeTensor:
        """The tensor whose memory this one has: its base, or itself."""
        return self if self.base is None else self.base

    def move_to(self, edge: tuple[Node, int] | None) -> None:
        """Make the contents the output `edge` of a node; if its gradient is retained, that of the new contents is."""
        if (
            self.retains
            and self.edge is not None
            and edge is not None
            and self.edge[0].retained.get(self.edge[1]) is self
        ):
            del self.edge[0].retained[self.edge[1]]
            edge[0].retained[edge[1]] = self
        self.edge = edge

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        stale = self.base is not None and self.view is not None and self.seen != self.base.version
        array = self.view(self.base.array) if stale else self.array  # type: ignore[misc, union-attr]
        return f"TapeTensor({array!r}{', requires_grad=True' if self.requires_grad else ''})"


@dataclasses.dataclass(eq=False, slots=True)
class Node:
    """One call on the tape: `function` of `arrays`. The gradient of array i goes to `parents[i]`, unless it is None."""

    function: Pure
    arrays: list[ArrayLike]
    parents: list[TapeTensor | tuple[Node, int] | None]
    outputs: list[ArrayLike]
    #: Index of an output -> non-leaf tensor whose `grad` is retained.
    retained: dict[int, TapeTensor] = dataclasses.field(default_factory=dict)
    freed: bool = False


def parent_of(tensor: TapeTensor) -> TapeTensor | tuple[Node, int] | None:
    """Return where a gradient of the current contents of `tensor` goes: an output of a node, a leaf, or None."""
    return tensor.edge or (tensor if tensor.requires_grad else None)


#: Roots of a backward pass: tensors with their cotangents, None for the default cotangent of a scalar.
Roots: TypeAlias = Iterable[tuple[TapeTensor, TapeTensor | None]]


def backpropagate(
    framework: Arrays, roots: Iterable[tuple[TapeTensor, ArrayLike]], *, keep: bool
) -> Iterator[tuple[TapeTensor | tuple[Node, int], ArrayLike]]:
    """Backpropagate from `roots`; yield each leaf, and each output of a node, with its complete gradient.

    Args:
        framework: the operations on arrays.
        roots: tensors with their cotangents.
        keep: whether to keep the tape for another backward pass.

    Raises:
        RuntimeError: if a root does not require grad, or if an earlier backward pass freed the tape, as in torch.
    """
    leaves: dict[TapeTensor, ArrayLike] = {}
    pending: dict[Node, list[ArrayLike | None]] = {}

    def give(target: TapeTensor | tuple[Node, int], gradient: ArrayLike) -> None:
        if isinstance(target, TapeTensor):
            leaves[target] = framework.add(leaves[target], gradient) if target in leaves else gradient
            return
        node, at = target
        held = pending.setdefault(node, [None] * len(node.outputs))
        held[at] = gradient if held[at] is None else framework.add(held[at], gradient)

    starts: list[Node] = []
    for root, cotangent in roots:
        target = parent_of(root)
        if target is None:
            raise RuntimeError("a tensor that does not require grad has nothing to push back")
        give(target, cotangent)
        if isinstance(target, tuple):
            starts.append(target[0])
    for node in ordered(starts):
        held = pending.get(node)
        if held is None:
            continue
        yield from (((node, at), gradient) for at, gradient in enumerate(held) if gradient is not None)
        if node.freed:
            raise RuntimeError("Trying to backward through the graph a second time")
        node.freed = not keep
        for parent, gradient in zip(*_gradients(framework, node, held), strict=True):
            if gradient is not None:
                give(parent, gradient)
    yield from leaves.items()


def _gradients(
    framework: Arrays, node: Node, held: Sequence[ArrayLike | None]
) -> tuple[list[TapeTensor | tuple[Node, int]], Sequence[ArrayLike | None]]:
    """Return the parents of a node that take gradients, and their gradients."""
    # An operand that occurs twice is varied as one: a framework may identify arrays by their identity.
    wanted: dict[tuple[int, TapeTensor | tuple[Node, int]], list[int]] = {}
    for at, parent in enumerate(node.parents):
        if parent is not None:
            wanted.setdefault((id(node.arrays[at]), parent), []).append(at)
    floating = [at for at, output in enumerate(node.outputs) if framework.is_floating(output)]

    def function(*varied: ArrayLike) -> list[ArrayLike]:
        arrays = list(node.arrays)
        for places, array in zip(wanted.values(), varied, strict=True):
            for at in places:
                arrays[at] = array
        made = node.function(*arrays)
        if len(listed(made)) != len(node.outputs):
            raise AdapterWrong(
                f"the adapter's function for this call returned {len(node.outputs)} results, and where it is "
                f"differentiated a single {type(made).__name__}: let it return a tuple of arrays"
            )
        return [listed(made)[at] for at in floating]

    cotangents = [framework.zeros_like(node.outputs[at]) if held[at] is None else held[at] for at in floating]
    arrays = [node.arrays[places[0]] for places in wanted.values()]
    found = framework.vjp(function, arrays, cotangents)
    if len(found) != len(arrays):
        raise ValueError(f"the adapter's `vjp` returned {len(found)} gradients for {len(arrays)} arrays")
    return [parent for _, parent in wanted], found


def ordered(starts: Iterable[Node]) -> list[Node]:
    """Return `starts` and all nodes that they were computed from, each node before those that it was computed from."""
    found: list[Node] = []
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node in starts]
    while stack:
        node, left = stack.pop()
        if left:
            found.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((parent[0], False) for parent in node.parents if isinstance(parent, tuple))
    return found[::-1]


def listed(made: Any) -> list[Any]:
    """Return what a function returned, an array or tensor or a sequence of them, as a list."""
    return list(made) if isinstance(made, (tuple, list)) else [made]


def written(shape: Sequence[int], places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return indices into a flat array followed by a flat part, which select the array with the part written into it.

    Args:
        shape: the shape of the array.
        places: for each element of the part, its flat index in the array.
    """
    size = int(np.prod(shape, dtype=np.int64))
    chosen = np.arange(size)
    chosen[places.reshape(-1)] = size + np.arange(places.size)
    return chosen
