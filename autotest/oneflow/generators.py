"""Generators under the names of OneFlow's harness: devices, placements, sbp signatures, torch tensors."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import generators as algebra
from autotest.base.errors import UsageError
from autotest.oneflow import switches
from autotest.oneflow.dtypes import dtype_of, random_pytorch_dtype
from autotest.oneflow.framework_pair import flow, style_pair
from autotest.program import Array
from generators import Generator, Nothing, constant, nothing, pack, random_bool, tuple

# Errors of generators that are built here name a line of the test.
__generators_hide__ = True

generator = Generator


def _devices() -> list[str]:
    """Return the device types that this process can use, CPU last, as OneFlow's harness lists them."""
    return ["cpu"] if switches.cpu_only() or not flow().cuda.is_available() else ["cuda", "cpu"]


class oneof(algebra.oneof):
    """One of the alternatives. OneFlow's tests use it as a condition: its truth value is that of the drawn one."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return bool(self.value())


class random(algebra.random):
    """The core's `random`, but several numbers, such as a kernel's size, are a list: tests check for that type."""

    __slots__ = ()

    def __init__(self, low: Any = 1, high: Any = 6) -> None:
        super().__init__(low, high)

    def _draw(self, source: algebra.Source, annotation: Any) -> Any:
        drawn = super()._draw(source, annotation)
        return [*drawn] if type(drawn) is builtins.tuple else drawn


def random_or_nothing(low: Any, high: Any) -> oneof:
    """Return a generator of ``random(low, high)`` with probability 2/3, and of nothing otherwise."""
    return oneof(random(low, high), nothing(), possibility=2 / 3)


class random_device(Generator):
    """``"cpu"``, or ``"cuda"`` if both frameworks have it."""

    __slots__ = ()

    def _draw(self, source: algebra.Source, annotation: Any) -> str:
        devices = [name for name in _devices() if name in style_pair().devices]
        return devices[source.index(len(devices))]


class cpu_device(Generator):
    """``"cpu"``."""

    __slots__ = ()

    def _draw(self, source: algebra.Source, annotation: Any) -> str:
        return "cpu"


class gpu_device(Generator):
    """``"cuda"``, even if there is none."""

    __slots__ = ()

    def _draw(self, source: algebra.Source, annotation: Any) -> str:
        return "cuda"


class _Listed(Generator):
    """A generator whose value may be a sequence; it can then be used as that sequence."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self.value())

    def __getitem__(self, key: Any) -> Any:
        return self.value()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __bool__(self) -> bool:
        return True


class all_placement(_Listed):
    """Every placement over all ranks: each device type, as one row of ranks and as nodes by ranks."""

    __slots__ = ()

    def _device_types(self) -> list[str]:
        return _devices()

    def _all(self) -> list[Any]:
        env = flow().env
        world, nodes = env.get_world_size(), env.get_node_size()
        shapes = ((world,), (nodes, world // nodes))
        pairs = itertools.product(self._device_types(), shapes)
        return [flow().placement(device, np.arange(world).reshape(shape)) for device, shape in pairs]

    def _draw(self, source: algebra.Source, annotation: Any) -> Any:
        return self._all()


class random_placement(all_placement):
    """One of the placements of this process."""

    __slots__ = ()

    def _draw(self, source: algebra.Source, annotation: Any) -> Any:
        placements = self._all()
        return placements[source.index(len(placements))]


class all_cpu_placement(all_placement):
    """The placements on CPU."""

    __slots__ = ()

    def _device_types(self) -> list[str]:
        return ["cpu"]


class all_cuda_placement(all_placement):
    """The placements on CUDA devices."""

    __slots__ = ()

    def _device_types(self) -> list[str]:
        return ["cuda"]


class random_cpu_placement(random_placement, all_cpu_placement):
    """One of the placements on CPU."""

    __slots__ = ()


class random_gpu_placement(random_placement, all_cuda_placement):
    """One of the placements on CUDA devices."""

    __slots__ = ()


class all_sbp(_Listed):
    """Every way to distribute a tensor of `max_dim` dimensions over a placement, with one choice for each of its axes.

    Args:
        placement: an OneFlow placement or a generator of one; only its number of axes is used.
        dim: that number, if no placement is given.
        max_dim: rank of the tensor; 0 leaves only broadcast.
        except_split, except_broadcast, except_partial_sum: the kinds to leave out.
        valid_split_axis: the only axes that may be split; by default all below `max_dim`.
    """

    __slots__ = ("_dim", "_max_dim", "_split_axes", "_whole")

    def __init__(
        self,
        placement: Any = None,
        dim: int = 1,
        max_dim: Any = 0,
        except_split: bool = False,
        except_broadcast: bool = False,
        except_partial_sum: bool = False,
        valid_split_axis: int | Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        if isinstance(placement, random_placement):
            placement = placement.value()
        if placement is not None and not isinstance(placement, flow().placement):
            raise UsageError(f"sbp(placement={placement!r}): expected a random_placement or an oneflow.placement")
        self._dim = dim if placement is None else len(placement.ranks.shape)
        self._max_dim = max_dim.value() if isinstance(max_dim, Generator) else max_dim
        axes = [valid_split_axis] if isinstance(valid_split_axis, int) else valid_split_axis
        self._split_axes = [
            axis for axis in range(self._max_dim) if not except_split and (axes is None or axis in axes)
        ]
        self._whole = (not except_broadcast, not except_partial_sum)

    def _all(self) -> list[Any]:
        sbp = flow().sbp
        if self._max_dim == 0:
            return [[sbp.broadcast] * self._dim]
        choices = [sbp.split(axis) for axis in self._split_axes]
        choices += itertools.compress((sbp.broadcast, sbp.partial_sum), self._whole)
        return [*itertools.product(choices, repeat=self._dim)]

    def _draw(self, source: algebra.Source, annotation: Any) -> Any:
        return self._all()


class random_sbp(all_sbp):
    """One of the sbp signatures of `all_sbp`."""

    __slots__ = ()

    def _draw(self, source: algebra.Source, annotation: Any) -> Any:
        ways = self._all()
        if not ways:
            raise UsageError("random_sbp: expected at least one allowed kind; allow split, broadcast or partial_sum")
        return ways[source.index(len(ways))]


class _torch_tensor(Generator):
    """A torch tensor with the contents of a drawn array."""

    __slots__ = ()

    def _draw(self, source: algebra.Source, annotation: Any) -> Any:
        drawn = self.children[0].draw_in(source)
        return style_pair().reference.tensor(Array(drawn.data, drawn.dtype))


class random_pytorch_tensor(_torch_tensor):
    """A plain torch tensor, float32 or int64; the arguments are those of `random_tensor`."""

    __slots__ = ()

    def __init__(
        self,
        ndim: Any = None,
        dim0: Any = 1,
        dim1: Any = None,
        dim2: Any = None,
        dim3: Any = None,
        dim4: Any = None,
        low: Any = 0,
        high: Any = 1,
        dtype: Any = float,
        pin_memory: bool = False,
    ) -> None:
        super().__init__((drawn_array(ndim, (dim0, dim1, dim2, dim3, dim4), low, high, dtype),))


class choice_pytorch_tensor(_torch_tensor):
    """A plain torch tensor drawn from `a` as by ``numpy.random.choice``."""

    __slots__ = ()

    def __init__(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, dtype: Any = int) -> None:
        super().__init__((algebra.choice_array(a, size=size, replace=replace, p=p, dtype=dtype_of(dtype)),))


def drawn_array(
    ndim: Any, dims: Sequence[Any], low: Any, high: Any, dtype: Any, **further: Any
) -> algebra.random_array:
    """Return the core's array generator. The bounds may be equal or reversed, as in NumPy's legacy generators."""
    dtype, low, high = dtype_of(algebra.as_generator(dtype)), algebra.as_generator(low), algebra.as_generator(high)
    drawn_later = any(isinstance(item, Generator) for item in (dtype, low, high))
    if not drawn_later and str(dtype).startswith(("float", "bfloat", "complex")):
        low, high = (high, low) if high < low else (low, high)
        if high == low:
            nearest = np.float32(low)
            high = float(np.nextafter(nearest, np.float32(np.inf)))
            # Where float32 rounds 0.7 down, 0.7 is above the only number to draw. Doubles have others.
            low = low if str(dtype) in ("float64", "complex128") else min(low, float(nearest))
    return algebra.random_array(ndim=ndim, dims=[*dims], low=low, high=high, dtype=dtype, **further)


__all__ = [
    "Nothing",
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "choice_pytorch_tensor",
    "constant",
    "cpu_device",
    "generator",
    "gpu_device",
    "nothing",
    "oneof",
    "pack",
    "random",
    "random_bool",
    "random_cpu_placement",
    "random_device",
    "random_gpu_placement",
    "random_or_nothing",
    "random_placement",
    "random_pytorch_dtype",
    "random_pytorch_tensor",
    "random_sbp",
    "tuple",
]
