"""torch's autograd functions and methods, for tensors of a functional framework."""

from __future__ import annotations

from typing import Any, TypeAlias

from autotest.frameworks.failures import Absent
from autotest.frameworks.functional_modules import FunctionalModule
from autotest.frameworks.tape import TapeTensor, listed, parent_of

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any


def backward(
    framework: _Functional,
    tensor: TapeTensor,
    gradient: TapeTensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    autograd_backward(framework, [tensor], [gradient], retain_graph, create_graph)


def autograd_backward(
    framework: _Functional,
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    if create_graph:
        raise Absent(framework.name, "backward(create_graph=True)")
    found = _pulled_back(framework, tensors, grad_tensors, retain_graph)
    for target, gradient in found.items():
        holder = target if isinstance(target, TapeTensor) else target[0].retained.get(target[1])
        if holder is not None:
            before = holder.grad
            made = TapeTensor(gradient if before is None else framework.add(framework.read(before), gradient))
            if before is None or not holder.is_leaf:
                holder.grad = made
            else:  # in place, as in torch: another reference to the gradient of a leaf also gets the sum
                framework.write(before, made)


def autograd_grad(
    framework: _Functional,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,  # torch accepts it and ignores it
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    if create_graph:
        raise Absent(framework.name, "autograd.grad(create_graph=True)")
    found = _pulled_back(framework, outputs, grad_outputs, retain_graph)
    gradients = [found.get(parent_of(item)) for item in listed(inputs)]
    if any(gradient is None for gradient in gradients) and not allow_unused:
        raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph.")
    return tuple(None if gradient is None else TapeTensor(gradient) for gradient in gradients)


def _pulled_back(framework: _Functional, outputs: Any, cotangents: Any, retain_graph: bool | None) -> Any:
    """Return the gradients of `outputs`, each with its cotangent; one cotangent alone, or None, is that of all."""
    roots = listed(outputs)
    given = list(cotangents) if isinstance(cotangents, (tuple, list)) else [cotangents] * len(roots)
    return framework.backpropagate(zip(roots, given, strict=True), keep=bool(retain_graph))


class GradMode:
    """A context manager that sets whether calls are recorded on the tape."""

    def __init__(self, framework: _Functional, recording: bool) -> None:
        self._framework, self._recording, self._before = framework, recording, framework.recording

    def __enter__(self) -> GradMode:
        self._before, self._framework.recording = self._framework.recording, self._recording
        return self

    def __exit__(self, *details: object) -> None:
        self._framework.recording = self._before


class SetGradMode(GradMode):
    """`set_grad_enabled`: sets the mode when it is called; the end of a ``with`` restores the previous one."""

    def __init__(self, framework: _Functional, mode: bool) -> None:
        super().__init__(framework, mode)
        framework.recording = mode

    def __enter__(self) -> SetGradMode:
        self._framework.recording = self._recording
        return self


def set_requires_grad(framework: _Functional, owner: Any, requires_grad: bool = True) -> Any:
    for tensor in owner.parameters() if isinstance(owner, FunctionalModule) else [owner]:
        tensor.requires_grad = requires_grad
    return owner


def retain_grad(framework: _Functional, tensor: TapeTensor) -> None:
    if tensor.edge is not None:
        tensor.retains = True
        tensor.edge[0].retained[tensor.edge[1]] = tensor


def detach(framework: _Functional, tensor: TapeTensor) -> TapeTensor:
    array = framework.read(tensor)
    made = TapeTensor(array if parent_of(tensor) is None else framework.constant(array))
    framework.alias_of(made, tensor, lambda array: array)
    made.detached = True
    return made
