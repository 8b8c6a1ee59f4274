"""OneFlow's graph mode: builds one ``oneflow.nn.Graph`` from a function of tensors, and calls it."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.frameworks.namespace import repeats_elements
from autotest.frameworks.requests import Build, Given, Graphed
from autotest.frameworks.tape import listed

#: Source by which a reproducer runs its program in a graph; TRAIN is replaced by whether gradients are computed.
SCRIPT = """\
class Replay(oneflow.nn.Graph):
    def __init__(self):
        super().__init__()
        for index, module in enumerate(modules):
            setattr(self, f"module{index}", module)
        self.config._train(TRAIN)  # as add_optimizer does; otherwise the graph runs no backward

    def build(self, *given):
        inside = [getattr(self, f"module{index}") for index in range(len(modules))]
        results = [*program(*given, *inside), *gradients(*given, *modules)]
        given_back[:] = [result is not None for result in results]
        return [result for result in results if result is not None]
"""


def run(flow: Any, build: Build, calls: Sequence[Given]) -> list[Graphed]:
    """Build a graph and return the results of each of `calls`; see `Framework.run_in_graph`."""
    first = calls[0]
    #: Which gradients the graph returns, leaves before parameters; filled when the graph is built.
    present: list[bool] = []

    class Replay(flow.nn.Graph):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for index, module in enumerate(first.modules):
                setattr(self, f"module{index}", module)
            # Adding an optimizer would also set this; without it, a graph refuses to backpropagate.
            self.config._train(bool(first.leaves or first.trained))

        def build(self, *given: Any) -> list[Any]:
            leaves = [leaf.requires_grad_() for leaf in given[: len(first.leaves)]]
            rest = iter(given[len(leaves) :])
            held = [getattr(self, f"module{index}") for index in range(len(first.modules))]
            inputs = [item if _empty(item) else next(rest) for item in first.inputs]
            # In a graph, a `to_global` that changes nothing returns the leaf itself, and its gradient is lost.
            moved = [flow._C.identity(leaf) if leaf.is_global else leaf for leaf in leaves]
            outputs, pushed = build(inputs, moved, held)
            if not self.config.training:
                return outputs
            _backpropagate(flow, pushed)
            gradients = [tensor.grad for tensor in (*leaves, *first.trained)]
            present.extend(gradient is not None for gradient in gradients)
            return [*outputs, *(gradient for gradient in gradients if gradient is not None)]

    with warnings.catch_warnings():
        # OneFlow warns of modules that make their own zeros ("not registered into a nn.Graph"); these work and are
        # compared.
        warnings.simplefilter("ignore")
        _unhurried_threads()
        graph = Replay()
        results = [listed(graph(*_arguments(first)))]
    for parameter in first.trained:
        parameter.grad = None  # it is a tensor of the graph, and invalid outside it
    for call in calls[1:]:
        flow._oneflow_internal.eager.Sync()  # the graph's threads may still read the memory that is written next
        _hold_alike(flow, first.modules, call.modules)
        results.append(listed(graph(*_arguments(call))))
    return [_divided(made, present, len(first.leaves)) for made in results]


def _unhurried_threads() -> None:
    """Keep OneFlow's threads from preempting the thread that wakes them, to avoid a race in OneFlow 0.9.0.

    OneFlow passes a graph to the threads that run it before it records that the graph is running. If they finish before
    that, it reads from an empty queue, and the process crashes or hangs. Threads with the policy SCHED_BATCH do not
    preempt the thread that wakes them, which makes the race very unlikely. New threads inherit the policy.
    """
    with contextlib.suppress(OSError, AttributeError):  # a system without the policy keeps the race
        for thread in Path("/proc/self/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setscheduler(int(thread.name), os.SCHED_BATCH, os.sched_param(0))


def _backpropagate(flow: Any, pushed: Sequence[tuple[Any, Any]]) -> None:
    """Backpropagate all of `pushed` at once: in a graph, ``output.backward(cotangent)`` can be called only once."""
    cotangents: dict[int, Any] = {}
    outputs = {id(output): output for output, _ in pushed}
    for output, cotangent in pushed:
        # A cotangent without elements is not an argument of the graph (see `_arguments`), but must be a graph tensor.
        own = flow.ones_like(output) if cotangent is None or _empty(cotangent) else cotangent
        cotangents[id(output)] = cotangents[id(output)] + own if id(output) in cotangents else own
    flow._oneflow_internal.nn.graph.AddTensorAsGraphLoss(pushed[0][0])
    flow.autograd.backward([*outputs.values()], [*cotangents.values()])


def _arguments(given: Given) -> list[Any]:
    # A tensor without elements makes the process abort if it is an argument of a graph, but not if `build` uses it.
    filled = (item for item in given.inputs if not _empty(item))
    return [_with_memory_of_its_own(item) for item in (*(leaf.detach() for leaf in given.leaves), *filled)]


def _with_memory_of_its_own(tensor: Any) -> Any:
    """Return `tensor`, or a contiguous copy if its elements share memory.

    OneFlow 0.9.0 reads and writes an argument of a graph as if each element had its own memory. For an expanded tensor
    that is out of bounds, and the process crashes some time later.
    """
    return tensor.contiguous() if repeats_elements(tensor.shape, tensor.stride()) else tensor


def _hold_alike(flow: Any, modules: Sequence[Any], others: Sequence[Any]) -> None:
    """Copy the states of `others` into `modules`, whose memory the graph uses."""
    with flow.no_grad():
        for module, other in zip(modules, others, strict=True):
            for own, given in zip(_state(module), _state(other), strict=True):
                own.copy_(given)


def _state(module: Any) -> list[Any]:
    return [*module.parameters(), *module.buffers()]


def _empty(tensor: Any) -> bool:
    return 0 in tensor.shape


def _divided(made: list[Any], present: Sequence[bool], leaves: int) -> Graphed:
    """Split the results of one call into outputs, gradients of leaves and gradients of parameters."""
    outputs = made[: len(made) - sum(present)]
    rest = iter(made[len(outputs) :])
    gradients = [next(rest) if there else None for there in present]
    return Graphed(outputs, gradients[:leaves], gradients[leaves:])
