"""Runs one model for some steps, and records the outputs and gradients of each of its modules."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.aligning.randomness import check_not_random
from autotest.aligning.returned import describe_structure, plain_values
from autotest.base.errors import UsageError
from autotest.comparison import TensorValue
from autotest.comparison.rejection import first_line
from autotest.frameworks import Framework
from autotest.frameworks.freezing import freeze, frozen_copies
from autotest.program import Array
from autotest.program.dtypes import is_differentiable
from autotest.replaying.module_alone import cotangent, flat, gradients_of, state_of


@dataclasses.dataclass(slots=True)
class ModuleCall:
    """One call of a module: its inputs and outputs, and the gradients of both, by position."""

    path: str
    kind: str
    inputs: list[Any]
    outputs: list[Any]
    input_gradients: list[Any] = dataclasses.field(default_factory=list)
    output_gradients: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class TrainingStep:
    """One step: the calls in the order in which they ended, and the parameters and buffers after the step.

    `before` contains the parameters and buffers at the beginning.
    """

    before: dict[str, TensorValue]
    calls: list[ModuleCall]
    gradients: dict[str, TensorValue | None]
    state: dict[str, TensorValue]
    input_gradients: list[TensorValue | None]
    #: Description of the model's output: ``"a tuple (a tensor, a tensor)"``.
    returned: str = ""
    #: The numbers, strings, NumPy arrays and sets in the model's output, by their place in it, such as ``['loss']``.
    plain: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: The loss, if the caller has a function for it.
    loss: TensorValue | None = None


class Training(NamedTuple):
    """How a model is trained: the number of steps, each a forward, a backward from a loss, and an optimizer step."""

    steps: int
    loss: Callable[..., Any] | None
    optimizer: Callable[..., Any] | None


def run(
    framework: Framework, side: str, model: Any, inputs: Sequence[Array], training: Training
) -> Iterator[TrainingStep]:
    """Train `model`, that of `side`, on `inputs`; yield each step as it ends."""
    _, loss, optimizer = training
    parameters = framework.parameters(model)
    stepping = None if optimizer is None else _optimizer(optimizer, framework, side, list(parameters.values()))
    for number in range(training.steps):
        for parameter in parameters.values():
            framework.forget_gradient(parameter)
        floating = [is_differentiable(array.dtype) for array in inputs]
        tensors = [framework.tensor(one, requires_grad=asks) for one, asks in zip(inputs, floating, strict=True)]
        recorder, before = _ModuleCallRecorder(framework), state_of(framework, model)
        drawn_from = framework.random_state()
        with _reporting(framework, side, model, recorder):
            try:
                output = framework.invoke("method", "__call__", [model, *tensors], {})
            except Exception as error:
                described = ", ".join(f"{array.dtype} of shape {array.data.shape}" for array in inputs) or "nothing"
                raise UsageError(
                    f"the {side} model raised {type(error).__name__} when it was called with {described}: "
                    f"{first_line(error)}"
                ) from error
        if number == 0 and framework.random_state() != drawn_from:
            check_not_random(framework, side, model, inputs)
        value = None if loss is None else _loss(framework, side, output, loss)
        _backward(framework, side, output, value)
        recorder.record_gradients()
        gradients = dict(zip(parameters, gradients_of(framework, list(parameters.values())), strict=True))
        if stepping is not None:
            framework.invoke("method", "step", [stepping], {})
        left, of_inputs = state_of(framework, model), gradients_of(framework, tensors)
        returned, plain = describe_structure(framework, output), dict(plain_values(framework, output))
        kept = None if value is None else frozen_copies(framework, [value])[0]
        del tensors, output, value  # frees the graph before the other side runs and both are compared
        yield TrainingStep(before, recorder.calls, gradients, left, of_inputs, returned, plain, kept)


@contextlib.contextmanager
def _reporting(framework: Framework, side: str, model: Any, recorder: _ModuleCallRecorder) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(framework.calls_of_modules(model, recorder.record_call))
        except NotImplementedError as error:
            raise UsageError(f"align: the {side} model: {error}") from error
        yield


class _ModuleCallRecorder:
    """Records the calls of modules in one forward, and keeps their live tensors until they have gradients.

    The output of one module is the input of the next, and the output of the module around it, so it is copied once.
    """

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self.calls: list[ModuleCall] = []
        self._live: list[tuple[list[Any], list[Any]]] = []
        #: id of a tensor -> its last copy. The tensor is alive, so its id is unique.
        self._kept: dict[int, Any] = {}

    def record_call(self, path: str, module: Any, given: Any, result: Any) -> None:
        framework = self._framework
        ends = flat(framework, given), flat(framework, result)
        frozen = [self._copies(end) for end in ends]
        for tensor in [*ends[0], *ends[1]]:
            if framework.can_backpropagate(tensor) and not framework.holds_gradient(tensor):
                framework.retain_gradient(tensor)
        self.calls.append(ModuleCall(path, type(module).__name__, frozen[0], frozen[1]))
        self._live.append(ends)

    def _copies(self, tensors: Sequence[Any]) -> list[Any]:
        """Return copies of `tensors`; a tensor that was written into since the last copy is copied again."""
        for tensor, value in zip(tensors, freeze(self._framework, tensors), strict=True):
            kept = self._kept.get(id(tensor))
            if kept is None or not np.array_equal(kept.data, value.data):
                self._kept[id(tensor)] = value.copied()
        return [self._kept[id(tensor)] for tensor in tensors]

    def record_gradients(self) -> None:
        """Set the gradients of the inputs and outputs of each call, and release the tensors."""
        live = {id(tensor): tensor for ends in self._live for end in ends for tensor in end}
        found = dict(zip(live, gradients_of(self._framework, [*live.values()]), strict=True))
        for call, (given, result) in zip(self.calls, self._live, strict=True):
            call.input_gradients = [found[id(tensor)] for tensor in given]
            call.output_gradients = [found[id(tensor)] for tensor in result]
        self._live.clear()


def _loss(framework: Framework, side: str, output: Any, loss: Callable[..., Any]) -> Any:
    value = _call_user_function("loss", loss, framework, side, output)
    if not isinstance(value, framework.tensor_types) or framework.numel([value]) != 1:
        shape = f" of shape {framework.shape(value)}" if isinstance(value, framework.tensor_types) else ""
        raise UsageError(
            f"align(loss=...): expected a tensor of one element, got a {type(value).__name__}{shape} for "
            f"{side}: end the function with .mean() or .sum()"
        )
    if not framework.can_backpropagate(value):
        raise UsageError(f"align(loss=...): the loss of the {side} model does not depend on any parameter or input")
    return value


def _backward(framework: Framework, side: str, output: Any, loss: Any) -> None:
    """Run the backward from `loss`, or with fixed cotangents from all of `output` if it is None."""
    try:
        if loss is not None:
            framework.invoke("method", "backward", [loss], {})
            return
        roots = [tensor for tensor in flat(framework, output) if framework.can_backpropagate(tensor)]
        if roots:
            cotangents = [framework.tensor(cotangent(framework, tensor)) for tensor in roots]
            framework.invoke("function", "autograd.backward", [roots, cotangents], {})
    except Exception as error:
        raise UsageError(
            f"the {side} model raised {type(error).__name__} in its backward: {first_line(error)}"
        ) from error


def _optimizer(optimizer: Callable[..., Any], framework: Framework, side: str, parameters: list[Any]) -> Any:
    made = _call_user_function("optimizer", optimizer, framework, side, parameters)
    if not framework.provides("method", "step", made):
        raise UsageError(
            f"align(optimizer=...): expected a function that returns an optimizer, got a {type(made).__name__} for "
            f"{side}, which has no step()"
        )
    held = {id(tensor) for tensor in framework.optimized(made)}
    if held and held.isdisjoint(map(id, parameters)):
        raise UsageError(
            f"align(optimizer=...): the optimizer for {side} has none of the parameters of its model: create it with "
            "the parameters that the function gets"
        )
    return made


def _call_user_function(what: str, function: Callable[..., Any], framework: Framework, side: str, value: Any) -> Any:
    """Call a function of the caller on `value`; if it takes two arguments, the first is the namespace."""
    given = "output" if what == "loss" else "parameters"
    if not callable(function):
        raise UsageError(f"align({what}=...): expected a function of the {given}, got {function!r:.60}")
    try:
        positional = [
            one
            for one in inspect.signature(function).parameters.values()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
        ]
    except (TypeError, ValueError):
        positional = []
    if len(positional) > 2:
        raise UsageError(
            f"align({what}=...): {function!r:.60} takes {len(positional)} arguments; expected ({given}) or "
            f"(namespace, {given})"
        )
    alone = len(positional) < 2
    try:
        return function(value) if alone else function(_TorchNamespace(framework), value)
    except Exception as error:
        example = "lib.nn.functional.relu(output).mean()" if what == "loss" else "lib.optim.SGD(parameters, lr=0.1)"
        hint = f": if it needs the framework, add a first argument for it, as in lambda lib, {given}: {example}"
        raise UsageError(
            f"align({what}=...): {function!r:.60} raised {type(error).__name__} for {side} ({first_line(error)})"
            + (hint if alone else "")
        ) from error


class _TorchNamespace:
    """The namespace of a framework, as passed to functions of the caller."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework

    def __getattr__(self, name: str) -> Any:
        return self._framework.resolve(name)
