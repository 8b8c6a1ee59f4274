"""OneFlow's adapter, the candidate of the default pair, written for OneFlow 0.9.0 on CPython 3.10."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks import global_tensors, oneflow_forking, oneflow_graph, preload
from autotest.frameworks.base import ABSENT, Made
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.operations import StandIns
from autotest.frameworks.requests import Build, Given, Graphed
from autotest.program import Operand, Root

#: dtypes of which a tensor can share its memory with an ndarray.
_SHARED = {
    name: np.dtype(name) for name in ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")
}


class OneFlowFramework(Namespace):
    """OneFlow, in eager mode, with local and global tensors."""

    #: About 30 of 275 operators end in a signal on inputs without elements and the like.
    fragile = True
    asynchronous = True
    #: As measured with 0.9.0. What a child lacks is graphs: they wait for threads that are not there.
    forkable = True

    def __init__(self, name: str = "oneflow", alias: str = "oneflow") -> None:
        super().__init__(name, "oneflow", alias)

    def import_root(self) -> ModuleType:
        return preload.import_oneflow()

    def import_around(self, fork: Callable[[], None]) -> None:
        oneflow_forking.import_around(fork, lambda: self.version)

    def from_numpy(self, data: np.ndarray[Any, Any]) -> Any:
        # from_numpy shares the array's memory, which then belongs to this tensor alone. It refuses a
        # zero-size array and negative strides; the copy made here has neither of the latter.
        if data.size == 0:
            return self.root.tensor(data)
        return self.root.from_numpy(data.copy())

    def to_numpy(self, tensor: Any) -> np.ndarray[Any, Any]:
        detached = tensor.detach()
        if detached.is_global:
            whole = [self.root.sbp.broadcast] * len(detached.sbp)
            return super().to_numpy(detached.to_global(sbp=whole).to_local())
        return super().to_numpy(detached)

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

    def modes(self) -> Any:
        return self.root.get_default_dtype()  # whether gradients are on is an object's, which the trial lets go of

    def restore(self, modes: Any) -> None:
        if modes != self.modes():
            self.root.set_default_dtype(modes)

    def told(self) -> Mapping[str, Any]:
        flow = self.root
        autocast = (flow.get_autocast_cpu_dtype(), flow.get_autocast_gpu_dtype())
        return {
            "autocast": autocast if flow.is_autocast_enabled() else None,
            "set_default_dtype": flow.get_default_dtype(),
            "no_grad": flow.is_grad_enabled(),
        }

    graph_mode = "nn.Graph"

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        return oneflow_graph.run(self.root, build, calls)

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        autograd = self.root.autograd
        if not all(one.is_leaf for one in inputs):
            return list(autograd.grad(list(outputs), list(inputs), list(cotangents), create_graph=create_graph))
        # OneFlow 0.9.0 refuses an input that nothing depends on, or gives an uninitialised scalar for it, and then adds
        # up what it computed for the others. What it leaves in the leaves is clean.
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

    def own_names(self) -> StandIns:
        return global_tensors.stand_ins()

    def placed_like(self, tensor: Any) -> tuple[str, dict[str, Any]] | None:
        if not tensor.is_global:
            return None
        # What comes back is partial or split as OneFlow likes; what is pushed in is whole on every rank.
        return "to_global", {"placement": tensor.placement, "sbp": [self.root.sbp.broadcast] * len(tensor.sbp)}

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        return self._begun(tensors)()

    def reading(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        # A subclass that reads in another way does so here, too.
        own = type(self).values is OneFlowFramework.values
        return self._begun(tensors) if own else super().reading(tensors)

    def _begun(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        """Have `tensors` read, waiting for OneFlow's threads once at the end and not once a tensor.

        Each tensor is assigned, asynchronously, to one that shares its memory with a new ndarray. On a busy
        two-core machine that takes 17 us a tensor, where `tensor.numpy()` takes up to a millisecond.
        """
        root, names, float32, empty = self.root, self._dtype_names, self.root.float32, np.empty
        assign, share = root._C.assign_local_tensor, root.from_numpy
        begun: list[tuple[Any, np.ndarray[Any, Any] | None, str | None]] = []
        for tensor in tensors:
            kind, shape, data = tensor.dtype, tensor.shape, None
            dtype = "float32" if kind is float32 else names.get(kind)  # the commonest, and OneFlow's hash is slow
            carrier = _SHARED.get(dtype)  # type: ignore[arg-type]  # None is no key
            if not (carrier is None or tensor.is_cuda or tensor.is_global or 0 in shape):
                data = empty(tuple(shape), carrier)  # of OneFlow's own Size it would ask each item twice
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
        # Its libraries lie in its own site-packages, as the extra installs them, where a plain import finds them.
        lines: tuple[str, ...] = ("import oneflow",)
        ranks = self.root.env.get_world_size()
        if ranks > 1:
            launch = f"python -m oneflow.distributed.launch --nproc_per_node {ranks} FILE"
            lines = (f"# Run it on {ranks} ranks: {launch}", *lines)
        return Script(self.name, lines, "oneflow", oneflow_graph.SCRIPT, self.graph_mode)


def _distribution(written: str) -> Operand:
    """``oneflow.sbp.split(dim=1)`` and ``oneflow.sbp.broadcast`` as operands."""
    path, _, details = written.removeprefix("oneflow.").partition("(")
    return Made(path, (int(details.removeprefix("dim=").rstrip(")")),)) if details else Root(path)


def framework() -> OneFlowFramework:
    """Entry point of the group ``autotest.frameworks``."""
    return OneFlowFramework()
