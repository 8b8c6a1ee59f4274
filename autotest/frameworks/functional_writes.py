"""Writes into tensors of a functional framework, which has none, and what torch accepts in calls that write."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from autotest.frameworks.failures import Absent
from autotest.frameworks.functional_autograd import GradMode
from autotest.frameworks.functional_memory import must_not_overlap
from autotest.frameworks.tape import ArrayLike, TapeTensor, parent_of, written

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any
#: Beginnings of the names of dtypes, by category: torch converts no result to a dtype of a lower category.
_CATEGORIES: Final = ("bool", ("int", "uint"), ("float", "bfloat"), "complex")


def write(framework: _Functional, tensor: TapeTensor, made: Any, computed: Any = None) -> TapeTensor:
    """Write `made` into `tensor` and everything that shares its memory, broadcast and cast as torch does.

    Outside of recording, only the contents change; gradients then flow as before the write.

    Args:
        framework: the framework of the tensors.
        tensor: the tensor to write into.
        made: a tensor, or plain data.
        computed: `made` itself if it was computed from `tensor`, as by an in-place operation; gradients then flow
            on to the old contents of `tensor`. Otherwise the old contents get a gradient of zeros.

    Returns:
        `tensor`.

    Raises:
        RuntimeError: if `tensor` is a leaf that requires grad and calls are recorded.
        Absent: if `tensor` is detached, and `made` requires a gradient, or if only torch knows what shares memory
            with `tensor`.
    """
    if tensor.owner.unsure:
        raise Absent(framework.name, "order of elements in memory, which decides what this write changes")
    if framework.recording and tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if tensor.detached and framework.recording:
        if isinstance(made, TapeTensor) and parent_of(made) is not None:
            raise Absent(framework.name, "writing a tensor that requires grad into a detached tensor")
        with GradMode(framework, False):
            return write(framework, tensor, made, computed)
    if not isinstance(made, TapeTensor):
        made = TapeTensor(framework.array(np.asarray(made), framework.dtype_of_array(tensor.array)))
    shape, dtype = framework.shape_of(framework.read(tensor)), framework.dtype_of_array(tensor.array)
    made = _fitting(framework, made, shape)
    if framework.dtype_of_array(made.array) != dtype:
        made = framework.apply(framework.cast, (made, dtype), {})
    if computed is not made:  # the overwritten contents get a gradient of zeros, as in torch
        made = framework.apply(lambda own, new: new, (tensor, made), {})
    target = tensor
    if tensor.base is not None and tensor.view is not None:
        target = tensor.base
        whole = framework.shape_of(target.array)
        numbers = framework.array(np.arange(int(np.prod(whole, dtype=np.int64))).reshape(whole), "int64")
        selected = written(whole, framework.numpy(tensor.view(numbers)))
        made = framework.apply(lambda own, part: _put(framework, own, part, selected), (target, made), {})
    target.array = made.array
    if framework.recording:
        target.move_to(made.edge)
        target.requires_grad = target.requires_grad or made.requires_grad
    target.version += 1
    framework.read(tensor)
    return tensor


def _put(framework: _Functional, whole: ArrayLike, part: ArrayLike, selected: np.ndarray[Any, Any]) -> ArrayLike:
    reshape, cat = framework.translated("reshape"), framework.translated("cat")
    both = cat([reshape(whole, (-1,)), reshape(part, (-1,))], 0)
    return reshape(framework.take(both, selected), framework.shape_of(whole))


def _fitting(framework: _Functional, given: TapeTensor, shape: tuple[int, ...]) -> TapeTensor:
    """Return `given`, broadcast to the `shape` of what it is written into.

    Raises:
        RuntimeError: if it has more dimensions.
    """
    own = framework.shape(given)
    if own == shape:
        return given
    if len(own) > len(shape):
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(own)}")
    made: TapeTensor = framework.apply(framework.translated("broadcast_to"), (given, shape), {})
    return made


def without_leading_ones(framework: _Functional, value: Any, rank: int) -> Any:
    """Return the tensor `value` without leading dimensions of one element if it has more than `rank` dimensions.

    An assignment to items accepts such a value, unlike other calls that write.
    """
    shape = framework.shape(value) if isinstance(value, TapeTensor) else ()
    more = len(shape) - rank
    if more <= 0 or any(size != 1 for size in shape[:more]):
        return value
    return framework.apply(framework.translated("reshape"), (value, shape[more:]), {})


def written_in_place(framework: _Functional, tensor: TapeTensor, made: Any) -> TapeTensor:
    """Write the result `made` of an in-place call into its operand `tensor`, and return that."""
    must_not_overlap(framework, tensor)
    _must_be_castable(framework, made, tensor)
    target: TapeTensor = framework.write(tensor, made, made)
    return target


def written_out(framework: _Functional, out: Any, made: Any) -> Any:
    """Write the results `made` of a call into the tensors that it was given as ``out=``, and return these."""
    if isinstance(out, (tuple, list)) and isinstance(made, (tuple, list)) and len(out) == len(made):
        return tuple([written_out(framework, one, result) for one, result in zip(out, made, strict=True)])
    if not isinstance(out, TapeTensor):
        raise Absent(framework.name, f"out= of a {type(out).__name__}")
    must_not_overlap(framework, out)
    if isinstance(made, TapeTensor):
        shapes = framework.shape(made), framework.shape(out)
        if shapes[0] != shapes[1]:  # torch gives `out` another shape, which no immutable array has
            raise Absent(framework.name, f"out= of another shape than the result's ({shapes[1]}, not {shapes[0]})")
        _must_be_castable(framework, made, out)
    return framework.write(out, made)


def _must_be_castable(framework: _Functional, made: Any, into: TapeTensor) -> None:
    """Raise `RuntimeError`, as torch does, if a result has a dtype that does not fit into that of `into`."""
    if not isinstance(made, TapeTensor):
        return
    dtypes = framework.dtype_of(made), framework.dtype_of(into)
    one, other = (
        next((at for at, names in enumerate(_CATEGORIES) if dtype.startswith(names)), None) for dtype in dtypes
    )
    if one is not None and other is not None and one > other:
        raise RuntimeError(f"result type {dtypes[0]} can't be cast to the desired output type {dtypes[1]}")
