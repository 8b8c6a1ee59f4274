"""The adapter for OneFlow, the candidate of the default pair. Written for OneFlow 0.9.0 on CPython 3.10."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks import global_tensors, oneflow_forking, oneflow_graph, oneflow_import
from autotest.frameworks.base import Made
from autotest.frameworks.failures import ABSENT
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.operations import StandIns
from autotest.frameworks.requests import Build, Given, Graphed
from autotest.program import Operand, Root
from autotest.program.values import names_of_items

#: The dtypes with which a tensor can share memory with an ndarray.
_SHARED = {
    name: np.dtype(name) for name in ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")
}


class OneFlowFramework(Namespace):
    """OneFlow, in eager mode, with local and global tensors."""

    #: About 30 of 275 operators crash the process with a signal on inputs without elements and similar edge cases.
    fragile = True
    asynchronous = True
    #: As measured with 0.9.0. Only graphs do not work in a forked child: they wait for threads that it does not have.
    forkable = True
    initialises_modules = True

    def __init__(self, name: str = "oneflow", alias: str = "oneflow") -> None:
        super().__init__(name, "oneflow", alias)

    def import_root(self) -> ModuleType:
        return oneflow_import.import_oneflow()

    def import_around(self, fork: Callable[[], None]) -> None:
        oneflow_forking.import_around(fork, lambda: self.version)

    def from_numpy(self, data: np.ndarray[Any, Any]) -> Any:
        # `from_numpy` shares the memory of the copy, which only this tensor uses. It rejects arrays without elements,
        # and negative strides, which a copy does not have.
        if data.size == 0:
            return self.root.tensor(data)
        return self.root.from_numpy(data.copy())

    def to_numpy(self, tensor: Any) -> np.ndarray[Any, Any]:
        detached = tensor.detach()
        if detached.is_global:
            whole = [self.root.sbp.broadcast] * len(detached.sbp)
            return super().to_numpy(detached.to_global(sbp=whole).to_local())
        return super().to_numpy(detached)

    def item_names(self, value: tuple[Any, ...]) -> tuple[str, ...]:
        return names_of_items(value)

    def synchronize(self) -> None:
        self.root._oneflow_internal.eager.Sync()

    def literal(self, value: Any) -> Operand:
        neutral = super().literal(value)
        if neutral is ABSENT and isinstance(value, self.root._oneflow_internal.TensorTuple):
            return tuple(value)
        if neutral is ABSENT and isinstance(value, self.root.nn.utils.rnn.PackedSequence):
            parts = "data", "batch_sizes", "sorted_indices", "unsorted_indices"
            return tuple(getattr(value, part, None) for part in parts)
        if neutral is ABSENT and isinstance(value, self.root.placement):
            return Made("placement", (value.type, value.ranks.tolist()))
        if neutral is ABSENT and isinstance(value, self.root.sbp.sbp):
            return _distribution(repr(value))
        return neutral

    @functools.cached_property
    def _read_modes(self) -> tuple[Callable[[], Any], Callable[[], bool]]:
        return self.root.get_default_dtype, self.root.is_grad_enabled  # cached: each trial reads the modes twice

    def modes(self) -> tuple[Any, bool]:
        default_dtype, records_gradients = self._read_modes
        return default_dtype(), records_gradients()

    def restore(self, modes: tuple[Any, bool]) -> None:
        if modes == self.modes():
            return
        dtype, gradients = modes
        self.root.set_default_dtype(dtype)
        if gradients != self.root.is_grad_enabled():
            # A guard sets its mode when it is made, and the mode that it found when it is destroyed: OneFlow 0.9.0 is
            # left without gradients for good if a body enters one no_grad twice. The inner guard finds what is wanted.
            guard = self.root._oneflow_internal.autograd.AutoGradMode
            outer, inner = guard(gradients), guard(not gradients)
            del outer, inner

    def told(self) -> Mapping[str, Any]:
        flow = self.root
        autocast = (flow.get_autocast_cpu_dtype(), flow.get_autocast_gpu_dtype())
        return {
            "autocast": autocast if flow.is_autocast_enabled() else None,
            "set_default_dtype": flow.get_default_dtype(),
            "no_grad": flow.is_grad_enabled(),
        }

    graph_mode = "nn.Graph"
    #: There OneFlow runs calls in the calling thread, and nobody waits for the threads of a graph: its results are read
    #: before they are computed, and the next graph ends the process.
    graph_works_in_forks = False

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        return oneflow_graph.run(self.root, build, calls)

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        autograd = self.root.autograd
        if not all(one.is_leaf for one in inputs):
            return list(autograd.grad(list(outputs), list(inputs), list(cotangents), create_graph=create_graph))
        # For an input that no output depends on, `autograd.grad` of OneFlow 0.9.0 raises or returns an uninitialised
        # scalar, and then it accumulates the gradients of the other inputs. `backward` leaves correct gradients in the
        # leaves.
        before = [one.grad for one in inputs]
        try:
            for one in inputs:
                one.grad = None
            autograd.backward(list(outputs), list(cotangents), retain_graph=create_graph, create_graph=create_graph)
            return [one.grad for one in inputs]
        finally:
            for one, kept in zip(inputs, before, strict=True):
                one.grad = kept

    def optimized(self, optimizer: Any) -> list[Any]:
        return [tensor for group in getattr(optimizer, "param_groups", ()) for tensor in group.parameters]

    def hyperparameters(self, optimizer: Any) -> list[Mapping[str, Any]]:
        return [group.options for group in getattr(optimizer, "param_groups", ())]

    def memories(self, optimizer: Any) -> list[Mapping[str, Any]]:
        states = getattr(optimizer, "_state", None) or {}
        return [states.get(tensor, {}) for tensor in self.optimized(optimizer)]

    def own_names(self) -> StandIns:
        return global_tensors.stand_ins()

    def placed_like(self, tensor: Any) -> tuple[str, dict[str, Any]] | None:
        # An operator of torch may be a class here, as `nn.functional.upsample` is, and return a module.
        if not isinstance(tensor, self.tensor_types) or not tensor.is_global:
            return None
        # OneFlow may return an output as partial or split; the cotangent is broadcast: complete on every rank.
        return "to_global", {"placement": tensor.placement, "sbp": [self.root.sbp.broadcast] * len(tensor.sbp)}

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        return self._begun(tensors)()

    def reading(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        # A subclass that overrides `values` must read in its own way here, too.
        own = type(self).values is OneFlowFramework.values
        return self._begun(tensors) if own else super().reading(tensors)

    def _begun(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        """Begin to read `tensors`; the returned function waits for OneFlow's threads once, not once per tensor.

        Each tensor is assigned, asynchronously, to a tensor that shares its memory with a new ndarray. On a busy
        two-core machine that takes 17 us per tensor, while `tensor.numpy()` takes up to a millisecond.
        """
        root, names, float32, empty = self.root, self._dtype_names, self.root.float32, np.empty
        assign, share = root._C.assign_local_tensor, root.from_numpy
        begun: list[tuple[Any, np.ndarray[Any, Any] | None, str | None]] = []
        for tensor in tensors:
            kind, shape, data = tensor.dtype, tensor.shape, None
            dtype = "float32" if kind is float32 else names.get(kind)  # float32 is most common; OneFlow's hash is slow
            carrier = _SHARED.get(dtype)  # type: ignore[arg-type]  # None is no key
            if not (carrier is None or tensor.is_cuda or tensor.is_global or 0 in shape):
                data = empty(tuple(shape), carrier)  # a tuple: NumPy would read each item of OneFlow's Size twice
                assign(share(data), tensor.detach())
            begun.append((tensor, data, dtype))

        def read() -> list[TensorValue]:
            self.synchronize()
            return [
                TensorValue(data, dtype or "", "cpu", tensor.requires_grad) if data is not None else self._value(tensor)
                for tensor, data, dtype in begun
            ]

        return read

    def _value(self, tensor: Any) -> TensorValue:
        place = tensor.placement if tensor.is_global else tensor.device
        return TensorValue(self.to_numpy(tensor), self.dtype_name(tensor.dtype), place.type, tensor.requires_grad)

    def script(self) -> Script:
        # No preload: the extra installs OneFlow's libraries in its site-packages, where a plain import finds them.
        lines: tuple[str, ...] = ("import oneflow",)
        ranks = self.root.env.get_world_size()
        if ranks > 1:
            launch = f"python -m oneflow.distributed.launch --nproc_per_node {ranks} FILE"
            lines = (f"# Run it on {ranks} ranks: {launch}", *lines)
        return Script(self.name, lines, "oneflow", oneflow_graph.SCRIPT, self.graph_mode)


def _distribution(written: str) -> Operand:
    """Return the operand for the repr of an sbp: ``oneflow.sbp.split(dim=1)``, ``oneflow.sbp.broadcast``."""
    path, _, details = written.removeprefix("oneflow.").partition("(")
    return Made(path, (int(details.removeprefix("dim=").rstrip(")")),)) if details else Root(path)


def framework() -> OneFlowFramework:
    """Return the adapter for OneFlow; entry point of the group ``autotest.frameworks``."""
    return OneFlowFramework()
