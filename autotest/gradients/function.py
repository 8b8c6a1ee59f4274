"""A function of tensors as a function of real numbers, with its derivatives by autograd and by differences."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.frameworks import Framework
from autotest.program import Array
from autotest.program.dtypes import is_differentiable

Real = np.ndarray[Any, Any]


#: Path of a framework's namespace for forward mode.
FORWARD_MODE = "autograd.forward_ad"


class FunctionOfInputs:
    """A function of its inputs that require grad, which are varied in place.

    Args:
        framework: the framework of the inputs.
        function: called with all of `inputs`; returns a tensor or a sequence of tensors.
        inputs: the arguments of the function.
        between: returns the differentiable intermediate results of the function's last call, if they are known.
    """

    def __init__(
        self,
        framework: Framework,
        function: Callable[..., Any],
        inputs: Sequence[Any],
        between: Callable[[], Sequence[Any]] = tuple,
    ) -> None:
        self.framework = framework
        self._function, self._between = function, between
        self.inputs = list(inputs)
        self.varied = [i for i, item in enumerate(inputs) if is_varied(framework, item)]
        frozen = framework.values([self.inputs[i] for i in self.varied])
        self.arrays = [value.as_array() for value in frozen]
        self._chosen: list[int] | None = None

    def outputs(self, inputs: Sequence[Any] | None = None) -> list[Any]:
        """Return the differentiable outputs for the current inputs, or for other `inputs`.

        As in torch, these are the floating outputs that required grad in the first call. (A batch norm also returns
        statistics, which do not require it.) If none did, these are all floating outputs: their derivatives must be 0.

        Raises:
            TypeError: if an output is of complex32, which NumPy does not have.
        """
        returned = self._function(*(self.inputs if inputs is None else inputs))
        flat = [item for item in as_tuple(returned) if isinstance(item, self.framework.tensor_types)]
        if self._chosen is None:
            dtypes = [value.dtype for value in self.framework.values(flat)]
            if "complex32" in dtypes:  # NumPy lacks it, and differences in complex64 are too inexact
                raise TypeError(
                    f"a result is complex32, and only {self.framework.name} itself can check its derivative"
                )
            floating = [at for at, name in enumerate(dtypes) if is_differentiable(name)]
            self._chosen = [at for at in floating if self.framework.can_backpropagate(flat[at])] or floating
        return [flat[at] for at in self._chosen]

    def tangents(self, position: int, tangent: Any) -> list[TensorValue | None]:
        """Return the tangents of all outputs, None for one without, if the input at `position` has `tangent`."""
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
        """Return the outputs for the current inputs as flat arrays of real numbers."""
        return reals_of(self.framework, self.outputs())

    def at(self, which: int, data: Real) -> list[Real]:
        """Return `values` with the real numbers `data` in the varied input number `which`; restore the input."""
        return self.at_each(which, [data])[0]

    def at_each(self, which: int, points: Iterable[Real]) -> list[list[Real]]:
        """Return `at` for each of `points`."""
        found = []
        with self._restored(which):
            for data in points:
                self.put(which, data)
                found.append(self.values())
        return found

    def between(self, which: int, data: Real, output: int) -> list[Real]:
        """Return the known intermediate results, without output number `output`; see `at`."""
        with self._restored(which):
            self.put(which, data)
            judged = self.outputs()[output]
            return reals_of(self.framework, [item for item in self._between() if item is not judged])

    def around(self, which: int, k: int, step: float, shift: float = 0.0) -> tuple[list[Real], list[Real]]:
        """Return `values` with element `k` of an input increased, and decreased, by `step`, after adding `shift`."""
        centre = moved(reals(self.arrays[which].data), k, shift)
        above, below = self.at_each(which, (moved(centre, k, step), moved(centre, k, -step)))
        return above, below

    def gradient_at(self, which: int, data: Real, output: int, cotangent: Real) -> Real:
        """Return the gradient of an output by the varied input number `which`, see `at`; zeros if there is none."""
        with self._restored(which):
            self.put(which, data)
            found = self.vjp(output, cotangent)[which]
            return np.zeros(data.size) if found is None else reals_of(self.framework, [found])[0]

    @contextlib.contextmanager
    def _restored(self, which: int) -> Iterator[None]:
        """Restore the varied input number `which` at the end of the block.

        Once for several points, because writing large inputs takes much of the time of a check.
        """
        try:
            yield
        finally:
            self.put(which, reals(self.arrays[which].data))

    def put(self, which: int, data: Real) -> None:
        """Write the real numbers `data` into the varied input number `which`."""
        array = self.arrays[which]
        self.framework.overwrite(self.inputs[self.varied[which]], Array(from_reals(data, array.data), array.dtype))

    @np.errstate(all="ignore")
    def differences(self, which: int, step: float) -> list[list[Real]]:
        """Return the central difference by each element of an input, for each output."""
        centre, found = reals(self.arrays[which].data), []
        with self._restored(which):
            for k in range(centre.size):
                sides = []
                for length in (step, -step):
                    self.put(which, moved(centre, k, length))
                    sides.append(self.values())
                found.append([_slope(above, below, 2 * step) for above, below in zip(*sides, strict=True)])
        return found

    def derivative(self, which: int, direction: Real, eps: float) -> list[Real]:
        """Return the central difference along `direction` for each output."""
        centre = reals(self.arrays[which].data)
        above, below = self.at_each(which, (centre + eps * direction, centre - eps * direction))
        with np.errstate(all="ignore"):
            return [slope(one, other, 2 * eps) for one, other in zip(above, below, strict=True)]

    def vjp(self, which: int, cotangent: Real, *, strided: bool = False) -> list[Any]:
        """Return the gradient of each varied input by autograd, or None where there is none.

        The function is called again, because inputs must not change between its call and the backward pass.

        Args:
            which: the number of the output.
            cotangent: the output's cotangent, as real numbers.
            strided: whether the cotangent's elements have gaps between them in memory.
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
    """Return the difference quotient; zero where both values are the same infinity."""
    with np.errstate(all="ignore"):
        return _slope(above, below, distance)


def _slope(above: Real, below: Real, distance: float) -> Real:
    found: Real = np.where(above == below, 0.0, (above - below) / distance)
    return found


def as_tuple(tensors: Any) -> tuple[Any, ...]:
    """Return one tensor, or a sequence, as a tuple."""
    return tuple(tensors) if isinstance(tensors, (tuple, list)) else (tensors,)


def is_varied(framework: Framework, item: Any) -> bool:
    """Return whether `item` is a tensor that requires grad."""
    return isinstance(item, framework.tensor_types) and framework.can_backpropagate(item)


def moved(numbers: Real, k: int, step: float) -> Real:
    """Return a copy of `numbers` with `step` added to element `k`."""
    copy = numbers.copy()
    copy[k] += step
    return copy


def reals_of(framework: Framework, tensors: Sequence[Any]) -> list[Real]:
    """Return the contents of each tensor as `reals`."""
    return [reals(value.data) for value in framework.values(tensors)]


def reals(data: Real) -> Real:
    """Return a flat copy of `data` as real numbers; a complex number becomes two.

    A copy is needed because `data` may be a view of the memory of an input that is about to be varied.
    """
    if data.dtype.kind == "c":
        return np.array(data, dtype=np.complex128).reshape(-1).view(np.float64)
    return np.asarray(data, dtype=np.float64).reshape(-1).copy()


def from_reals(flat: Real, like: Real) -> Real:
    """Return the inverse of `reals`: an array of the shape and dtype of `like`."""
    if like.dtype.kind == "c":
        return np.ascontiguousarray(flat).view(np.complex128).reshape(like.shape).astype(like.dtype)
    return np.asarray(flat.reshape(like.shape), dtype=like.dtype)


def real_shape(data: Real) -> tuple[int, ...]:
    """Return the shape of `data` as real numbers; for a complex array it ends in an axis of size 2."""
    return (*data.shape, 2) if data.dtype.kind == "c" else tuple(data.shape)


def second_order(framework: Framework, function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return the function of `count` inputs, followed by cotangents, that returns the gradients of the inputs."""

    def first(*arguments: Any) -> list[Any]:
        inputs, cotangents = arguments[:count], arguments[count:]
        outputs = [item for item in as_tuple(function(*inputs)) if is_varied(framework, item)]
        varied = [item for item in inputs if is_varied(framework, item)]
        if not outputs:
            return []
        found = framework.gradients(outputs, varied, cotangents[: len(outputs)], create_graph=True)
        return [item for item in found if item is not None]

    return first


def overlaps(framework: Framework, tensor: Any) -> bool:
    """Return whether two elements of `tensor` may share memory."""
    reach, shape = 0, framework.shape(tensor)
    if 0 in shape:
        return False
    for stride, size in sorted(zip(framework.strides(tensor), shape, strict=True)):
        if size > 1:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False
