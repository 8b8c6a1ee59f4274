"""Which memory torch's tensors share, for tensors of a functional framework, whose arrays share none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.frameworks.failures import Absent
from autotest.frameworks.tape import TapeTensor, listed

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any


def _places(framework: _Functional, tensor: TapeTensor) -> np.ndarray[Any, Any] | None:
    """Return where each element of a view is in its base; None if `tensor` is no view, or has no elements."""
    base = tensor.base
    if base is None or tensor.view is None or "int64" not in framework.dtypes or 0 in framework.shape(tensor):
        return None
    whole = framework.shape_of(base.array)
    numbers = framework.array(np.arange(math.prod(whole)).reshape(whole), "int64")
    return np.asarray(framework.numpy(tensor.view(numbers)))


def must_not_overlap(framework: _Functional, tensor: TapeTensor) -> None:
    """Raise `Absent` if elements of `tensor`, which is written, share memory, as those of an expanded tensor do.

    Views exist in the adapter only. Which calls torch refuses here, and what the others write, differs by its version.
    """
    places = _places(framework, tensor)
    if places is not None and len(np.unique(places)) < places.size:
        raise Absent(framework.name, "memory that several elements of a written tensor share")


def strides(framework: _Functional, tensor: TapeTensor) -> tuple[int, ...]:
    """Return strides as if `tensor` were contiguous, but 0 along a dimension whose elements are the same.

    Views exist in the adapter only and not in the framework. Who varies one of the same elements varies all.
    """
    shape, places = framework.shape(tensor), _places(framework, tensor)
    steps = [math.prod(shape[at + 1 :]) for at in range(len(shape))]
    if places is not None:
        steps = [0 if (places == places.take([0], at)).all() else step for at, step in enumerate(steps)]
    return tuple(steps)


def is_contiguous(framework: _Functional, tensor: TapeTensor) -> bool:
    """Return whether the elements of `tensor` are next to each other in its base, in their order."""
    places = _places(framework, tensor)
    return places is None or bool((np.diff(places.reshape(-1)) == 1).all())


def stays_when_reshaped(framework: _Functional, tensor: TapeTensor, shape: Sequence[int]) -> bool:
    """Return whether ``tensor.reshape(shape)`` is a view in torch, and not a copy, as of a transposed matrix."""
    places = _places(framework, tensor)
    if places is None:
        return True
    # NumPy has the same rule. Along a dimension of one element, the stride has no meaning.
    steps = [
        int((places.take(1, at) - places.take(0, at)).flat[0]) if n > 1 else 0 for at, n in enumerate(places.shape)
    ]
    memory = np.zeros(int(places.max()) + 1, np.int8)
    same = np.lib.stride_tricks.as_strided(memory[int(places.min()) :], places.shape, steps)
    return bool(np.may_share_memory(same.reshape(tuple(shape)), memory))


def mark_reordered(made: Any) -> None:
    """Note of the results of a call that torch may have their elements in another order in memory."""
    for tensor in listed(made):
        if isinstance(tensor, TapeTensor):
            tensor.reordered = True


def note_unsure(framework: _Functional, tensor: TapeTensor, shape: Sequence[int]) -> None:
    """Note that only torch knows whether `tensor`, given another shape or made contiguous, is a view or a copy.

    Its layout decides, which is not known of what was computed from a transposed tensor.
    """
    own = [size for size in framework.shape(tensor) if size != 1]
    if tensor.owner.reordered and len(own) > 1 and 0 not in own and own != [size for size in shape if size != 1]:
        tensor.owner.unsure = True
