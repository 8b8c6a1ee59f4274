"""A function of tensors as a function of real numbers, with its derivative by autograd and by differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.frameworks import Framework
from autotest.program import Array
from autotest.program.dtypes import is_differentiable

Real = np.ndarray[Any, Any]


#: Where a framework has derivatives along a direction.
FORWARD_MODE = "autograd.forward_ad"


class FunctionOfInputs:
    """`function` of `inputs`, those of which that require grad are varied.

    Args:
        framework: whose tensors these are.
        function: called with all of `inputs`; returns a tensor or a sequence of tensors.
        inputs: what to call it with.
    """

    def __init__(self, framework: Framework, function: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self.framework = framework
        self._function = function
        self.inputs = list(inputs)
        tensors = framework.tensor_types
        self.varied = [i for i, x in enumerate(inputs) if isinstance(x, tensors) and framework.can_backpropagate(x)]
        frozen = framework.values([self.inputs[i] for i in self.varied])
        self.arrays = [value.as_array() for value in frozen]
        self._chosen: list[int] | None = None

    def outputs(self, inputs: Sequence[Any] | None = None) -> list[Any]:
        """The differentiable tensors that the function returns now, or for other `inputs`.

        These are, as for torch, the floating ones that require grad where they were first computed (a batch norm
        returns statistics beside them, which do not). Where none does, all floating ones: their derivative must be 0.
        """
        returned = self._function(*(self.inputs if inputs is None else inputs))
        flat = [returned] if not isinstance(returned, (tuple, list)) else list(returned)
        flat = [item for item in flat if isinstance(item, self.framework.tensor_types)]
        if self._chosen is None:
            dtypes = [value.dtype for value in self.framework.values(flat)]
            if "complex32" in dtypes:  # which NumPy lacks, and differences of it in complex64 mean nothing
                raise TypeError(
                    f"a result is of complex32, whose derivative only {self.framework.name} itself can judge"
                )
            floating = [at for at, name in enumerate(dtypes) if is_differentiable(name)]
            self._chosen = [at for at in floating if self.framework.can_backpropagate(flat[at])] or floating
        return [flat[at] for at in self._chosen]

    def tangents(self, position: int, tangent: Any) -> list[TensorValue | None]:
        """The tangents of all outputs where the input at `position` has `tangent`; None for one that has none."""
        invoke, duals = self.framework.invoke, list(self.inputs)
        level = invoke("function", f"{FORWARD_MODE}.dual_level", (), {})
        invoke("enter", "", (level,), {})
        try:
            duals[position] = invoke("function", f"{FORWARD_MODE}.make_dual", (duals[position], tangent), {})
            pairs = [invoke("function", f"{FORWARD_MODE}.unpack_dual", (one,), {}) for one in self.outputs(duals)]
            tangents = [invoke("getattr", "tangent", (pair,), {}) for pair in pairs]
            return [None if one is None else self.framework.values([one])[0] for one in tangents]
        finally:
            invoke("exit", "", (level,), {})

    def values(self) -> list[Real]:
        """What it returns now, as flat arrays of real numbers."""
        return [reals(value.data) for value in self.framework.values(self.outputs())]

    def at(self, which: int, data: Real) -> list[Real]:
        """`values` with the varied input `which` holding the real numbers `data`."""
        self.put(which, data)
        try:
            return self.values()
        finally:
            self.put(which, reals(self.arrays[which].data))

    def around(self, which: int, k: int, step: float, shift: float = 0.0) -> tuple[list[Real], list[Real]]:
        """`values` with element `k` of an input `step` higher and `step` lower, having been shifted first."""
        centre = reals(self.arrays[which].data)
        centre[k] += shift
        above, below = centre.copy(), centre.copy()
        above[k] += step
        below[k] -= step
        return self.at(which, above), self.at(which, below)

    def put(self, which: int, data: Real) -> None:
        """Let the varied input `which` hold the real numbers `data`."""
        array = self.arrays[which]
        self.framework.overwrite(self.inputs[self.varied[which]], Array(from_reals(data, array.data), array.dtype))

    def derivative(self, which: int, direction: Real, eps: float) -> list[Real]:
        """Central difference along `direction`, for each output."""
        centre = reals(self.arrays[which].data)
        above, below = self.at(which, centre + eps * direction), self.at(which, centre - eps * direction)
        with np.errstate(all="ignore"):
            return [slope(one, other, 2 * eps) for one, other in zip(above, below, strict=True)]

    def pushed_back(self, which: int, cotangent: Real, *, strided: bool = False) -> list[Any]:
        """What autograd gives each varied input for `cotangent`, in real numbers, of output `which`; None for nothing.

        The function is called anew, since no input may have been changed between its call and this. `strided` lays the
        cotangent out with gaps.
        """
        output = self.outputs()[which]
        (frozen,) = self.framework.values([output])
        data = from_reals(cotangent, frozen.data)
        if strided:
            wide = Array(np.stack([data, np.zeros_like(data)], axis=-1), frozen.dtype)
            laid_out = self.framework.tensor(wide, device=frozen.device)
            tensor = self.framework.invoke("operator", "getitem", (laid_out, (..., 0)), {})
        else:
            tensor = self.framework.tensor(Array(data, frozen.dtype), device=frozen.device)
        if not self.framework.can_backpropagate(output):
            return [None] * len(self.varied)
        return self.framework.gradients([output], [self.inputs[i] for i in self.varied], [tensor])


def slope(above: Real, below: Real, distance: float) -> Real:
    """The difference quotient; zero where both are the same infinity."""
    with np.errstate(all="ignore"):
        found: Real = np.where(above == below, 0.0, (above - below) / distance)
    return found


def reals(data: Real) -> Real:
    """A copy of the real numbers in `data`, flat: a complex one counts as two.

    A copy, since what a framework shows of a view is the memory of the input that is about to be varied.
    """
    if data.dtype.kind == "c":
        return np.array(data, dtype=np.complex128).reshape(-1).view(np.float64)
    return np.asarray(data, dtype=np.float64).reshape(-1).copy()


def from_reals(flat: Real, like: Real) -> Real:
    """The inverse of `reals`, of `like`'s shape and dtype."""
    if like.dtype.kind == "c":
        return np.ascontiguousarray(flat).view(np.complex128).reshape(like.shape).astype(like.dtype)
    return np.asarray(flat.reshape(like.shape), dtype=like.dtype)


def real_shape(data: Real) -> tuple[int, ...]:
    """The shape that `reals` flattened; a complex array's ends in an axis of 2."""
    return (*data.shape, 2) if data.dtype.kind == "c" else tuple(data.shape)


def second_order(framework: Framework, function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The gradients of `function`'s first `count` arguments, as a function of these and of cotangents behind them."""

    def first(*arguments: Any) -> list[Any]:
        inputs, cotangents = arguments[:count], arguments[count:]
        returned = function(*inputs)
        flat = [returned] if not isinstance(returned, (tuple, list)) else list(returned)

        def differentiable(item: Any) -> bool:
            return isinstance(item, framework.tensor_types) and framework.can_backpropagate(item)

        outputs, varied = list(filter(differentiable, flat)), list(filter(differentiable, inputs))
        if not outputs:
            return []
        found = framework.gradients(outputs, varied, cotangents[: len(outputs)], create_graph=True)
        return [item for item in found if item is not None]

    return first


def overlaps(framework: Framework, tensor: Any) -> bool:
    """Whether two indices of `tensor` may reach one place in memory."""
    reach = 0
    for stride, size in sorted(zip(framework.strides(tensor), framework.shape(tensor), strict=True)):
        if size > 1:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False
