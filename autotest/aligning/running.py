"""Runs one model for some steps and writes down what each of its modules gave, with gradients."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.comparison import TensorValue
from autotest.comparison.rejection import first_line
from autotest.frameworks import Framework
from autotest.frameworks.freezing import freeze
from autotest.program import Array
from autotest.program.dtypes import is_differentiable


@dataclasses.dataclass(slots=True)
class ModuleCall:
    """One call of a module: what it was given and gave, and the gradients of both, by position."""

    path: str
    kind: str
    inputs: list[Any]
    outputs: list[Any]
    input_gradients: list[Any] = dataclasses.field(default_factory=list)
    output_gradients: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class Step:
    """One step: the calls in the order in which they ended, and what parameters and buffers were left with.

    `before` is what these held when it began.
    """

    before: dict[str, TensorValue]
    calls: list[ModuleCall]
    gradients: dict[str, TensorValue | None]
    state: dict[str, TensorValue]
    input_gradients: list[TensorValue | None]


def run(
    framework: Framework,
    model: Any,
    inputs: Sequence[Array],
    steps: int,
    loss: Callable[..., Any] | None,
    optimizer: Callable[..., Any] | None,
) -> Iterator[Step]:
    """Call `model` on `inputs`, push back, and step, `steps` times."""
    parameters = framework.parameters(model)
    stepping = None if optimizer is None else _given(optimizer, framework, list(parameters.values()))
    for _ in range(steps):
        for parameter in parameters.values():
            framework.forget_gradient(parameter)
        floating = [is_differentiable(array.dtype) for array in inputs]
        tensors = [framework.tensor(one, requires_grad=asks) for one, asks in zip(inputs, floating, strict=True)]
        watched, before = _Watched(framework), state_of(framework, model)
        with framework.calls_of_modules(model, watched.seen):
            try:
                output = framework.invoke("method", "__call__", [model, *tensors], {})
            except Exception as error:
                described = ", ".join(f"{array.dtype} of shape {array.data.shape}" for array in inputs)
                raise UsageError(
                    f"the {framework.name} model raised {type(error).__name__} when it was called with {described}: "
                    f"{first_line(error)}"
                ) from error
        _push_back(framework, output, loss)
        for call, (given, result) in zip(watched.calls, watched.live, strict=True):
            call.input_gradients = gradients_of(framework, given)
            call.output_gradients = gradients_of(framework, result)
        gradients = dict(zip(parameters, gradients_of(framework, list(parameters.values())), strict=True))
        if stepping is not None:
            framework.invoke("method", "step", [stepping], {})
        yield Step(before, watched.calls, gradients, state_of(framework, model), gradients_of(framework, tensors))


def state_of(framework: Framework, model: Any) -> dict[str, TensorValue]:
    """Copies of the parameters and buffers of `model`, by name."""
    own = framework.state(model)
    return dict(zip(own, map(_copied, freeze(framework, list(own.values()))), strict=True))


class _Watched:
    """The calls of modules in one forward, with the live tensors of each."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self.calls: list[ModuleCall] = []
        self.live: list[tuple[list[Any], list[Any]]] = []

    def seen(self, path: str, module: Any, given: Any, result: Any) -> None:
        framework = self._framework
        ends = flat(framework, given), flat(framework, result)
        frozen = [[_copied(value) for value in freeze(framework, end)] for end in ends]
        for tensor in [*ends[0], *ends[1]]:
            if framework.can_backpropagate(tensor) and not framework.holds_gradient(tensor):
                framework.retain_gradient(tensor)
        self.calls.append(ModuleCall(path, type(module).__name__, frozen[0], frozen[1]))
        self.live.append(ends)


def _push_back(framework: Framework, output: Any, loss: Callable[..., Any] | None) -> None:
    if loss is not None:
        value = _given(loss, framework, output)
        if not isinstance(value, framework.tensor_types) or framework.numel([value]) != 1:
            shape = f" of shape {framework.shape(value)}" if isinstance(value, framework.tensor_types) else ""
            raise UsageError(
                f"align(loss=...): expected a tensor of one element, got a {type(value).__name__}{shape} for "
                f"{framework.name}: let it end with .mean() or .sum()"
            )
        framework.invoke("method", "backward", [value], {})
        return
    roots = [tensor for tensor in flat(framework, output) if framework.can_backpropagate(tensor)]
    if roots:
        cotangents = [framework.tensor(_cotangent(framework, tensor)) for tensor in roots]
        framework.invoke("function", "autograd.backward", [roots, cotangents], {})


def _given(function: Callable[..., Any], framework: Framework, value: Any) -> Any:
    """What a function of the caller makes of `value`; one that takes two arguments is given the namespace first."""
    try:
        positional = [
            one
            for one in inspect.signature(function).parameters.values()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
        ]
    except (TypeError, ValueError):
        positional = []
    if len(positional) > 2:
        raise UsageError(f"{function!r} takes {len(positional)} arguments; expected (value) or (namespace, value)")
    if len(positional) == 2:
        return function(_Names(framework), value)
    try:
        return function(value)
    except Exception as error:
        raise UsageError(
            f"align: {function!r} raised {type(error).__name__} for {framework.name} ({first_line(error)}): where it "
            "needs the framework, let it take that first, as lambda lib, parameters: lib.optim.SGD(parameters, lr=0.1)"
        ) from error


class _Names:
    """The namespace of a framework, as functions of the caller see it."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework

    def __getattr__(self, name: str) -> Any:
        return self._framework.resolve(name)


def _cotangent(framework: Framework, tensor: Any) -> Array:
    """Different numbers for different elements, so that a permuted gradient shows; exact in half precision."""
    shape = framework.shape(tensor)
    steps = np.arange(int(np.prod(shape))) * 7 % 15 - 7.5
    dtype = framework.dtype_of(tensor)
    return Array((steps / 8).reshape(shape).astype("float32" if dtype == "bfloat16" else dtype), dtype)


def flat(framework: Framework, value: Any) -> list[Any]:
    """The tensors in `value`, at any depth."""
    if isinstance(value, framework.tensor_types):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in flat(framework, item)]
    return []


def gradients_of(framework: Framework, tensors: Sequence[Any]) -> list[TensorValue | None]:
    """Copies of the gradients that `tensors` hold; None for one that holds none."""
    held = [framework.gradient(tensor) if framework.can_backpropagate(tensor) else None for tensor in tensors]
    frozen = iter(freeze(framework, [gradient for gradient in held if gradient is not None]))
    return [None if gradient is None else _copied(next(frozen)) for gradient in held]


def _copied(value: TensorValue) -> TensorValue:
    return dataclasses.replace(value, data=value.data.copy())
