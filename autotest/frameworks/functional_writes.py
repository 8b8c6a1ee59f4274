"""What torch accepts in calls that write into tensors, for tensors of a functional framework, which has no writes."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from autotest.frameworks.failures import Absent
from autotest.frameworks.tape import TapeTensor

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any
#: Beginnings of the names of dtypes, by category: torch converts no result to a dtype of a lower category.
_CATEGORIES: Final = ("bool", ("int", "uint"), ("float", "bfloat"), "complex")


def fitting(framework: _Functional, given: TapeTensor, shape: tuple[int, ...]) -> TapeTensor:
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
    _must_be_castable(framework, made, tensor)
    written: TapeTensor = framework.write(tensor, made, made)
    return written


def written_out(framework: _Functional, out: Any, made: Any) -> Any:
    """Write the results `made` of a call into the tensors that it was given as ``out=``, and return these."""
    if isinstance(out, (tuple, list)) and isinstance(made, (tuple, list)) and len(out) == len(made):
        return tuple([written_out(framework, one, result) for one, result in zip(out, made, strict=True)])
    if not isinstance(out, TapeTensor):
        raise Absent(framework.name, f"out= of a {type(out).__name__}")
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


__all__ = ["fitting", "without_leading_ones", "written_in_place", "written_out"]
