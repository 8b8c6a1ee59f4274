"""OneFlow's graph mode: builds one ``oneflow.nn.Graph`` out of a function of tensors, and calls it."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.frameworks.namespace import repeats_elements
from autotest.frameworks.requests import Build, Given, Graphed

#: How a reproducer runs its program in a graph; TRAIN says whether anything is pushed back.
SCRIPT = """\
class Replay(oneflow.nn.Graph):
    def __init__(self):
        super().__init__()
        for index, module in enumerate(modules):
            setattr(self, f"module{index}", module)
        self.config._train(TRAIN)  # as adding an optimizer does: without, a graph pushes nothing back

    def build(self, *given):
        inside = [getattr(self, f"module{index}") for index in range(len(modules))]
        results = [*program(*given, *inside), *gradients(*given, *modules)]
        given_back[:] = [result is not None for result in results]
        return [result for result in results if result is not None]
"""


def run(flow: Any, build: Build, calls: Sequence[Given]) -> list[Graphed]:
    """What each of `calls` gives; see `Framework.run_in_graph`."""
    first = calls[0]
    #: Which gradients the graph gives at all, leaves before parameters; known when it is built.
    present: list[bool] = []

    class Replay(flow.nn.Graph):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for index, module in enumerate(first.modules):
                setattr(self, f"module{index}", module)
            # What adding an optimizer does; without it, a graph refuses to push anything back.
            self.config._train(bool(first.leaves or first.trained))

        def build(self, *given: Any) -> list[Any]:
            leaves = [leaf.requires_grad_() for leaf in given[: len(first.leaves)]]
            rest = iter(given[len(leaves) :])
            held = [getattr(self, f"module{index}") for index in range(len(first.modules))]
            inputs = [item if _empty(item) else next(rest) for item in first.inputs]
            # In a graph, a `to_global` that changes nothing makes the leaf itself a result, whose gradient is lost.
            moved = [flow._C.identity(leaf) if leaf.is_global else leaf for leaf in leaves]
            outputs, pushed = build(inputs, moved, held)
            if not self.config.training:
                return outputs
            _push_back(flow, pushed)
            gradients = [tensor.grad for tensor in (*leaves, *first.trained)]
            present.extend(gradient is not None for gradient in gradients)
            return [*outputs, *(gradient for gradient in gradients if gradient is not None)]

    with warnings.catch_warnings():
        # Modules that make zeros of their own are warned of ("not registered into a nn.Graph"); they are compared.
        warnings.simplefilter("ignore")
        _unhurried_threads()
        graph = Replay()
        results = [_listed(graph(*_arguments(first)))]
    for parameter in first.trained:
        parameter.grad = None  # a tensor of the graph, which is worth nothing outside of it
    for call in calls[1:]:
        flow._oneflow_internal.eager.Sync()  # what the graph's own threads still read is not to be written
        _hold_alike(flow, first.modules, call.modules)
        results.append(_listed(graph(*_arguments(call))))
    return [_divided(made, present, len(first.leaves)) for made in results]


def _unhurried_threads() -> None:
    """Keep OneFlow's threads from taking the processor from the one that wakes them.

    OneFlow 0.9.0 hands a graph to the threads that run it before it notes that the graph is under way; when they are
    done by then, it takes from an empty queue, and the process dies (or waits for ever). Threads that are scheduled as
    a batch do not interrupt who wakes them, which leaves next to no chance of that. New threads inherit it.
    """
    with contextlib.suppress(OSError, AttributeError):  # where there is no such policy, nothing can be done
        for thread in Path("/proc/self/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setscheduler(int(thread.name), os.SCHED_BATCH, os.sched_param(0))


def _push_back(flow: Any, pushed: Sequence[tuple[Any, Any]]) -> None:
    """What ``output.backward(cotangent)`` does in a graph, for all of `pushed` at once: more than one it refuses."""
    cotangents: dict[int, Any] = {}
    outputs = {id(output): output for output, _ in pushed}
    for output, cotangent in pushed:
        # Without elements, a cotangent is none of the graph's arguments, but has to be of the graph.
        own = flow.ones_like(output) if cotangent is None or _empty(cotangent) else cotangent
        cotangents[id(output)] = cotangents[id(output)] + own if id(output) in cotangents else own
    flow._oneflow_internal.nn.graph.AddTensorAsGraphLoss(pushed[0][0])
    flow.autograd.backward([*outputs.values()], [*cotangents.values()])


def _arguments(given: Given) -> list[Any]:
    # As an argument of a graph, a tensor without elements makes the process abort; met inside of it, it does not.
    filled = (item for item in given.inputs if not _empty(item))
    return [_with_memory_of_its_own(item) for item in (*(leaf.detach() for leaf in given.leaves), *filled)]


def _with_memory_of_its_own(tensor: Any) -> Any:
    """`tensor`, or a copy where its elements share memory: OneFlow 0.9.0 reads and writes an argument of a graph as if
    each had its own, beyond what an expanded tensor holds, and the process dies of that some time later."""
    return tensor.contiguous() if repeats_elements(tensor.shape, tensor.stride()) else tensor


def _hold_alike(flow: Any, modules: Sequence[Any], others: Sequence[Any]) -> None:
    """Put what `others` hold into `modules`, whose memory is the graph's."""
    with flow.no_grad():
        for module, other in zip(modules, others, strict=True):
            for own, given in zip(_state(module), _state(other), strict=True):
                own.copy_(given)


def _state(module: Any) -> list[Any]:
    return [*module.parameters(), *module.buffers()]


def _empty(tensor: Any) -> bool:
    return 0 in tensor.shape


def _listed(made: Any) -> list[Any]:
    return [*made] if isinstance(made, (list, tuple)) else [made]


def _divided(made: list[Any], present: Sequence[bool], leaves: int) -> Graphed:
    """The results of one call as outputs, gradients of leaves, gradients of parameters."""
    outputs = made[: len(made) - sum(present)]
    rest = iter(made[len(outputs) :])
    gradients = [next(rest) if there else None for there in present]
    return Graphed(outputs, gradients[:leaves], gradients[leaves:])
