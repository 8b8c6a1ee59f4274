"""Base class of ``class F(torch.autograd.Function)``: its forward and backward consist of dual calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from autotest.base.errors import UsageError
from autotest.base.plural import several
from autotest.recording.dual import Value, torch
from autotest.recording.gradient_hooks import GradientHook, cut_at, gradient_hooks_of, unhooked
from autotest.recording.push import Push, PushedGradient
from autotest.recording.recorder import Recorder, current

PATH = "autograd.Function"


class Context:
    """The ``ctx`` of a custom function, by which its forward passes values to its backward."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self._materialize = value

    def mark_dirty(self, *tensors: Any) -> NoReturn:
        raise UsageError(
            "ctx.mark_dirty in a torch.autograd.Function over the dual torch: return a new tensor instead of changing "
            "an input in place"
        )


class Function:
    """The dual ``torch.autograd.Function``. ``apply`` calls `forward`, and each backward calls `backward`."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("write `def forward(ctx, ...)` as a static method of the function")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError("write `def setup_context(ctx, inputs, output)` as a static method of the function")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("write `def backward(ctx, gradient)` as a static method of the function")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        recorder = current() or next((one._recorder for one in args if isinstance(one, Value)), None)
        if recorder is None:
            raise UsageError(f"{cls.__name__}.apply(...): expected a dual tensor among the arguments")
        needs = tuple(isinstance(one, Value) and _differentiable(recorder, one) for one in args)
        recording = any(needs) and recorder.records_gradients()
        context = Context(needs)
        with torch.no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(context, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(context, args, result)
        if not recording:
            return result
        hooks, made, several = gradient_hooks_of(recorder), [], isinstance(result, tuple)
        for one in result if several else (result,):
            floating = isinstance(one, Value) and one.is_floating_point()
            if floating and not any(one is other for other in context._constant):
                # The part of the graph before the result is replaced by this function's backward.
                made.append(cut_at(recorder, one))
            else:
                made.append(one)
        results = tuple(unhooked(recorder, one) for one in made)
        outputs = [one for one in results if isinstance(one, Value) and id(one._expected) in hooks.cut]
        if outputs:
            inputs = [unhooked(recorder, one) for one in args]
            hooks.all.append(_Application(cls, context, inputs, results, outputs))
        return tuple(made) if several else made[0]


def _differentiable(recorder: Recorder, value: Value) -> bool:
    value._lower(recorder)
    return bool(recorder.pair.reference.can_backpropagate(value._expected))


@dataclasses.dataclass(slots=True)
class _Application(GradientHook):
    """One application of a custom function. Each backward that reaches it runs its `backward`."""

    function: type[Function]
    context: Context
    inputs: Sequence[Any]
    results: tuple[Any, ...]
    outputs: Sequence[Value]

    @property
    def tensors(self) -> Sequence[Any]:
        return self.outputs

    @property
    def order_key(self) -> tuple[int, int]:
        # After the hooks of every output.
        return min(one._slot for one in self.outputs), 0

    def run(self, push: Push) -> Iterable[PushedGradient]:
        given = push.gradients(self.results)
        if all(one is None for one in given):
            return []
        with push.quietly():
            if self.context._materialize:
                results = zip(given, self.results, strict=True)
                given = [
                    torch.zeros_like(result) if one is None and isinstance(result, Value) else one
                    for one, result in results
                ]
            found = self.function.backward(self.context, *given)
        gradients = found if isinstance(found, tuple) else (found,)
        if len(gradients) != len(self.inputs):
            raise UsageError(
                f"{self.function.__name__}.backward: expected {several(len(self.inputs), 'gradient')}, one for each "
                f"argument of forward, got {len(gradients)}; return None for an argument without a gradient"
            )
        rows = zip(self.inputs, gradients, self.context.needs_input_grad, strict=True)
        return [(one, gradient) for one, gradient, needed in rows if needed and gradient is not None]

    def carried(self, recorder: Recorder, slots: Mapping[int, int]) -> None:
        return None
