"""torch's graphs: tracing turns a recorded program into one function of its inputs, which a compiler then runs."""

from __future__ import annotations

import contextlib
import copy
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from autotest.frameworks.requests import Build, Given, Graphed, NotGraphed

#: Operators that write into their first operand. `torch.fx.Proxy` defines none of them: it would make a new tensor.
_IN_PLACE: Final = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()
#: Functions that make a tensor from no tensor.
_MAKERS: Final = "arange empty eye full linspace logspace ones tensor zeros".split()


class TracedProgram:
    """A program as a torch module whose forward is a linear list of calls.

    Attributes:
        module: takes inputs and leaves; returns outputs, then the roots of the backward pass, then their cotangents.
        outputs: the number of outputs; `pushed` is the number of roots.
        given: for each root, whether it has a cotangent.
    """

    def __init__(self, torch: Any, build: Build, first: Given) -> None:
        held = torch.nn.Module()
        for index, module in enumerate(first.modules):
            held.add_module(f"module{index}", module)
        tracer = _tracer(torch)
        count = len(first.inputs) + len(first.leaves)

        def forward(*given: Any) -> tuple[Any, ...]:
            inputs, leaves = list(given[: len(first.inputs)]), list(given[len(first.inputs) :])
            outputs, pushed = build(inputs, leaves, list(first.modules))
            self.outputs, self.pushed = len(outputs), len(pushed)
            self.given = [cotangent is not None for _, cotangent in pushed]
            roots = [root for root, _ in pushed]
            return (*outputs, *roots, *(cotangent for _, cotangent in pushed if cotangent is not None))

        graph = torch.fx.Graph(tracer_cls=type(tracer))
        tracer.graph, tracer.root, tracer.tensor_attrs = graph, held, {}
        tracer.submodule_paths = {module: name for name, module in held.named_modules()}
        proxies = [tracer.proxy(graph.placeholder(f"given{at}")) for at in range(count)]
        try:
            with tracer.patched(), _new_tensors(torch, tracer):
                made = forward(*proxies)
            graph.output(tracer.create_arg(made))
        except NotGraphed:
            raise
        except Exception as error:  # a failure of the tracing, not of the compiler
            raise NotGraphed(f"calls that cannot be traced ({type(error).__name__})") from error
        self.module = torch.fx.GraphModule(held, graph)


def _tracer(torch: Any) -> Any:
    """Return a tracer that records the call of a module as one call."""

    def in_place(name: str) -> Callable[[Any, Any], Any]:
        target = getattr(operator, name)
        return lambda proxy, other: proxy.tracer.create_proxy("call_function", target, (proxy, other), {})

    methods = {f"__{name}__": in_place(name) for name in _IN_PLACE}
    # As a tensor, it is no operand of NumPy's: `np.float32(2) * proxy` is a call of the proxy.
    proxies = type("Proxy", (torch.fx.Proxy,), {**methods, "__array_ufunc__": None})

    class Tracer(torch.fx.Tracer):  # type: ignore[misc]
        def proxy(self, node: Any) -> Any:
            return proxies(node, self)

        def create_arg(self, value: Any) -> Any:
            # A graph contains no scalars of NumPy. In a call of a tensor, torch takes them for the Python number.
            return super().create_arg(value.item() if isinstance(value, np.number) else value)

        def create_proxy(self, kind: Any, target: Any, args: Any, kwargs: Any, *rest: Any, **named: Any) -> Any:
            written = kwargs.get("out", args[0] if args and _is_in_place(target) else None)
            if isinstance(written, torch.Tensor) and not isinstance(written, torch.nn.Parameter):
                raise NotGraphed("calls in place, on tensors that tracing made")
            return super().create_proxy(kind, target, args, kwargs, *rest, **named)

        def is_leaf_module(self, module: Any, qualified: str) -> bool:
            return True

        def patched(self) -> Any:
            own = self

            class Patch:
                def __enter__(self) -> None:
                    self.before = torch.nn.Module.__call__, torch.nn.Module.__getattr__
                    held = {**dict(own.root.named_parameters()), **dict(own.root.named_buffers())}
                    names = {id(tensor): name for name, tensor in held.items()}

                    def call(module: Any, *args: Any, **kwargs: Any) -> Any:
                        forward = module.forward
                        return own.call_module(module, forward, args, kwargs)

                    def attribute(module: Any, name: str) -> Any:
                        found = self.before[1](module, name)
                        # If this returned the tensor itself, tracing would compute with it and record constants.
                        return own.create_proxy("get_attr", names[id(found)], (), {}) if id(found) in names else found

                    torch.nn.Module.__call__, torch.nn.Module.__getattr__ = call, attribute

                def __exit__(self, *details: object) -> None:
                    torch.nn.Module.__call__, torch.nn.Module.__getattr__ = self.before

            return Patch()

    return Tracer()


def _is_in_place(target: Any) -> bool:
    """Return whether a call of `target`, a function or the name of a method, writes into its first argument."""
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))


def _new_tensors(torch: Any, tracer: Any) -> Any:
    """Return a context in which `tracer` records the calls that make tensors from no tensor, such as ``zeros``.

    Tracing would make these tensors, and calls that write into them would change what later runs of the graph read.
    """
    makers = {getattr(torch, name) for name in _MAKERS}

    class Recording(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            # Nothing can write into a leaf of the program, and a graph contains no array.
            made = function in makers and not named.get("requires_grad")
            if made and not any(isinstance(item, np.ndarray) for item in args):
                return tracer.create_proxy("call_function", function, tuple(args), dict(named))
            return function(*args, **named)

    return Recording()


def run(
    torch: Any, build: Build, calls: Sequence[Given], compiled: Callable[[Any], Callable[..., Any]]
) -> list[Graphed]:
    """Return the results of `calls` in one graph; see `Framework.run_in_graph`.

    Args:
        torch: the torch module.
        build: the program.
        calls: the arguments of each call of the graph.
        compiled: compiles the traced module into a function.
    """
    first = calls[0]
    traced = TracedProgram(torch, build, first)
    function = compiled(traced.module)
    results: list[Graphed] = []
    live: list[list[Any]] = []
    for call in calls:
        if call is not first:
            with torch.no_grad():
                for module, other in zip(first.modules, call.modules, strict=True):
                    module.load_state_dict(other.state_dict())
        for parameter in first.trained:
            parameter.grad = None
        leaves = [leaf.detach().requires_grad_() for leaf in call.leaves]
        made = list(function(*call.inputs, *leaves))
        outputs, rest = made[: traced.outputs], made[traced.outputs :]
        # What the call gave, whatever later calls write into its memory.
        live.append([one.detach() for one in outputs])
        kept = [one.clone() for one in live[-1]]
        roots, cotangents = rest[: traced.pushed], iter(rest[traced.pushed :])
        if call.leaves or call.trained:
            given = [next(cotangents) if there else None for there in traced.given]
            torch.autograd.backward(roots, given)
        trained = [None if one.grad is None else one.grad.clone() for one in first.trained]
        results.append(Graphed(kept, [leaf.grad for leaf in leaves], trained))
    _call_once_more(torch, function, calls[-1])
    held = {_place(tensor) for module in first.modules for tensor in (*module.parameters(), *module.buffers())}
    return [
        one._replace(overwritten=frozenset(_changed(torch, outputs, one.outputs, held)))
        for outputs, one in zip(live, results, strict=True)
    ]


def _call_once_more(torch: Any, function: Callable[..., Any], call: Given) -> None:
    """Call a graph with half of the numbers of `call`, so that it would overwrite memory that results share with it.

    Halves lie in the domains of nearly all functions. An exception is no result: these numbers are not the test's.
    """
    with contextlib.suppress(Exception):
        inputs, leaves = ([_halved(torch, one) for one in given] for given in (call.inputs, call.leaves))
        function(*inputs, *(leaf.requires_grad_() for leaf in leaves))


def _halved(torch: Any, tensor: Any) -> Any:
    """Return a copy of `tensor` with the same strides, and half of its numbers if they are floating."""
    copied = copy.deepcopy(tensor.detach())
    if copied.is_floating_point():
        with torch.no_grad():
            # All of the memory, once: in an expanded tensor several elements share a place.
            copied.new_empty(0).set_(copied.untyped_storage()).mul_(0.5)
    return copied


def _changed(torch: Any, live: Sequence[Any], kept: Sequence[Any], held: set[int]) -> Iterator[int]:
    """Yield the indices of the tensors that are no longer what was kept of them, except for those of modules."""
    for index, (now, before) in enumerate(zip(live, kept, strict=True)):
        if now.layout != torch.strided or torch.equal(_bits(torch, now), _bits(torch, before)):
            continue
        if _place(now) not in held:
            yield index


def _bits(torch: Any, tensor: Any) -> Any:
    """Return what a tensor holds as bytes, of which two that are NaN are equal."""
    # A dimension of one element may have any stride, and then cannot be viewed as bytes before it is copied.
    copied = tensor.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return copied.reshape(-1).view(torch.uint8)


def _place(tensor: Any) -> int:
    """Return where the memory of a tensor begins. Views of it have the same place."""
    place: int = tensor.untyped_storage().data_ptr()
    return place
