"""Converts live torch objects to calls and captured arrays of a program.

A tensor that is not contiguous becomes a contiguous one and the views that give it its strides, because a captured
array contains values only.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.frameworks.failures import ABSENT
from autotest.frameworks.namespace import Namespace, repeats_elements
from autotest.program import Array, Call, CallKind, Captured, Operand, Program, Ref, Root
from generators import DTYPES

_PLAIN = (type(None), bool, int, float, complex, str, types.EllipsisType)


class Builder:
    """Builds a program call by call from operands that are live torch objects.

    Args:
        framework: the adapter for torch.
        gradients: whether leaves that require grad also require it in the program.
    """

    def __init__(self, framework: Namespace, *, gradients: bool = True) -> None:
        self._framework = framework
        self._torch: Any = framework.root
        self._gradients = gradients
        self.calls: list[Call] = []
        self.arrays: list[Array] = []
        self.undefined: set[int] = set()
        #: id of a live tensor -> the slot, and the path inside its result, that the tensor is from. `_held` keeps the
        #: tensors alive, so that no other object gets the same id.
        self._known: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._held: list[Any] = []

    def program(self) -> Program:
        """Return the program built so far."""
        return Program(tuple(self.calls), tuple(self.arrays), frozenset(self.undefined))

    def call(self, kind: CallKind, target: str, args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> int:
        """Append a call whose operands are lowered already; return its slot."""
        self.calls.append(Call(kind, target, args, kwargs, len(self.calls)))
        return len(self.calls) - 1

    def record_result(self, slot: int, value: Any) -> None:
        """Record the result `value` of call `slot`, so that later operands can refer to it."""
        self._note(value, slot, ())

    def _note(self, value: Any, slot: int, path: tuple[int, ...]) -> None:
        if isinstance(value, self._torch.Tensor):
            self._held.append(value)
            self._known[id(value)] = (slot, path)
        elif isinstance(value, (tuple, list)):
            for index, item in enumerate(value):
                self._note(item, slot, (*path, index))

    def operand(self, value: Any) -> Operand:
        """Return the operand that stands for `value` in a call.

        Raises:
            NotReplayable: if `value` is not data that a program can contain.
        """
        if isinstance(value, self._torch.Tensor):
            return self._tensor(value)
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) in _PLAIN:
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, np.ndarray):
            return self._capture(value.copy(), value.dtype.name)
        if isinstance(value, slice):
            return slice(*(self.operand(part) for part in (value.start, value.stop, value.step)))
        if isinstance(value, list):
            return [self.operand(item) for item in value]
        if isinstance(value, tuple):
            return tuple(self.operand(item) for item in value)
        if isinstance(value, dict):
            return {key: self.operand(item) for key, item in value.items()}
        if isinstance(value, self._torch.layout):
            return Root(str(value).rpartition(".")[2])
        neutral = self._framework.literal(value)
        if neutral is not ABSENT:
            return neutral
        raise NotReplayable(f"an argument of type {type(value).__name__}")

    def captured(self, tensor: Any) -> Captured:
        """Return the contents of `tensor` as a captured array, without a call that makes a tensor from it."""
        return self._capture(np.array(tensor.detach().numpy()), self._framework.dtype_name(tensor.dtype))

    def _capture(self, data: np.ndarray[Any, Any], dtype: str) -> Captured:
        self.arrays.append(Array(data, dtype))
        return Captured(len(self.arrays) - 1)

    def _tensor(self, tensor: Any) -> Ref:
        known = self._known.get(id(tensor))
        if known is not None:
            slot, path = known
            for index in path:
                slot = self.call("operator", "getitem", (Ref(slot), index), {})
            if path:
                self._known[id(tensor)] = (slot, ())
            return Ref(slot)
        slot = self._leaf(tensor)
        self._note(tensor, slot, ())
        return Ref(slot)

    def _leaf(self, tensor: Any) -> int:
        dtype = self._framework.dtype_name(tensor.dtype)
        if tensor.layout is not self._torch.strided:
            raise NotReplayable(f"a tensor of layout {str(tensor.layout).rpartition('.')[2]}")
        if dtype not in DTYPES or tensor.is_quantized:
            raise NotReplayable(f"a tensor of dtype {dtype}")
        if tensor.device.type != "cpu":
            raise NotReplayable(f"a tensor on device {tensor.device.type}")
        plain = tensor.detach().resolve_conj().resolve_neg()
        if dtype == "bfloat16":
            plain = _like(plain, plain.float())
        data, views = arranged(plain.numpy())
        captured = self._capture(np.array(data, order="C"), dtype)
        wanted = self._gradients and bool(tensor.requires_grad)
        slot = self.call("tensor", dtype, (captured,), {"requires_grad": wanted, "device": "cpu"})
        for kind, target, rest in views:
            slot = self.call(kind, target, (Ref(slot), *rest), {})
        return slot


#: A call that makes a view: kind, target, and the operands after the first.
ViewCall = tuple[CallKind, str, tuple[Operand, ...]]


def arranged(data: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], list[ViewCall]]:
    """Return a contiguous array, and the views that turn it into an array with the values and strides of `data`."""
    if data.flags.c_contiguous or data.size == 0:
        return data, []
    views: list[ViewCall] = []
    steps = _steps(data)
    if repeats_elements(data.shape, steps):
        views.append(("method", "expand", (data.shape,)))
        data = data[tuple(slice(0, 1) if step == 0 else slice(None) for step in steps)]
        if data.flags.c_contiguous:
            return data, views
        steps = _steps(data)
    order = sorted(range(data.ndim), key=lambda dim: (-steps[dim], dim))
    if order != list(range(data.ndim)):
        views.append(("method", "permute", tuple(order.index(dim) for dim in range(data.ndim))))
        data = data.transpose(order)
        steps = [steps[dim] for dim in order]
    if data.flags.c_contiguous:
        return data, views[::-1]
    padded = _padding(data.shape, steps)
    if padded is None:
        size = 1 + sum(step * (count - 1) for step, count in zip(steps, data.shape, strict=True))
        flat = np.lib.stride_tricks.as_strided(data, (size,), (data.itemsize,))
        views.append(("method", "as_strided", (data.shape, tuple(steps))))
        return flat, views[::-1]
    shape, strides = padded
    base = np.zeros(shape, data.dtype)
    index = tuple(slice(None, None, step if step > 1 else None) for step in strides)
    base[index] = data
    views.append(("operator", "getitem", (index,)))
    return base, views[::-1]


def _steps(data: np.ndarray[Any, Any]) -> list[int]:
    """Return the strides of `data` in elements; dimensions of size 1 get those of a contiguous array."""
    steps = [step // data.itemsize for step in data.strides]
    for dim in reversed(range(data.ndim)):
        if data.shape[dim] == 1:
            steps[dim] = max(1, steps[dim + 1] * data.shape[dim + 1]) if dim + 1 < data.ndim else 1
    return steps


def _padding(shape: tuple[int, ...], steps: list[int]) -> tuple[list[int], list[int]] | None:
    """Return the shape of a contiguous array that a tensor of `shape` and `steps` is a slice of, and the slice's steps.

    The result is None if the tensor is not such a slice, as with overlapping windows.

    Args:
        shape: the shape of the tensor, its dimensions sorted by descending stride.
        steps: the strides of the tensor in elements.
    """
    sizes: list[int] = []
    strides: list[int] = []
    unit = 1
    for dim in reversed(range(len(shape))):
        if steps[dim] % unit:
            return None
        stride = max(1, steps[dim] // unit)
        size = shape[dim] * stride
        if dim:
            if steps[dim - 1] % unit:
                return None
            outer = steps[dim - 1] // unit
            if outer < (shape[dim] - 1) * stride + 1:
                return None
            size = outer
        # A slice with this step must have the dimension's number of elements.
        if len(range(0, size, stride)) != shape[dim]:
            return None
        sizes.insert(0, size)
        strides.insert(0, stride)
        unit *= size
    return sizes, strides


def _like(tensor: Any, contiguous: Any) -> Any:
    """Return the values `contiguous` with the strides of `tensor`, whose dtype NumPy does not have."""
    if tensor.is_contiguous() or tensor.numel() == 0 or repeats_elements(tensor.size(), tensor.stride()):
        return contiguous
    return contiguous.new_empty_strided(tensor.size(), tensor.stride()).copy_(contiguous)
