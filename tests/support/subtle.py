"""Faults that real frameworks have and that a test harness easily misses, each with a body that shows it.

Each is a factory that returns a `FaultyTorch`, so that a reproducer in another process can use the same fault. `CASES`
lists the expected findings. For the opposite direction (the reference at fault), the same pair is swapped.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch as real

from autotest import random_tensor, torch
from tests.support.bodies import relu
from tests.support.faulty import FaultyTorch, Replacement, raising, returning, with_gradient


def none() -> FaultyTorch:
    """Return torch without a fault."""
    return FaultyTorch(origin=f"{__name__}:none")


def _planted(name: str, replace: dict[str, Replacement] | None = None, **others: Any) -> FaultyTorch:
    return FaultyTorch(replace, origin=f"{__name__}:{name}", **others)


# -- modules ------------------------------------------------------------------------------------------------


class _Renamed(real.nn.Linear):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kernel = self.weight
        del self.weight

    def forward(self, x: Any) -> Any:
        return real.nn.functional.linear(x, self.kernel, self.bias)


class _OfAnotherShape(real.nn.Linear):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bias = real.nn.Parameter(real.zeros(1))


class _WithABufferLater(real.nn.Linear):
    def forward(self, x: Any) -> Any:
        self.register_buffer("calls", real.ones(1))
        return super().forward(x)


class _ForgetsAfterEval(real.nn.BatchNorm1d):
    def forward(self, x: Any) -> Any:
        training, self.training = self.training, True
        try:
            y = super().forward(x)
        finally:
            self.training = training
        return y if training else real.nn.functional.batch_norm(x, *self._before, self.weight, self.bias)

    def eval(self) -> Any:
        self._before = (self.running_mean.clone(), self.running_var.clone())
        return super().eval()


class _StateTheOtherWayRound(real.nn.Linear):
    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return collections.OrderedDict(reversed(super().state_dict(*args, **kwargs).items()))


def renamed_parameter() -> FaultyTorch:
    return _planted("renamed_parameter", {"nn.Linear": lambda linear: _Renamed})


def parameter_of_another_shape() -> FaultyTorch:
    return _planted("parameter_of_another_shape", {"nn.Linear": lambda linear: _OfAnotherShape})


def buffer_later() -> FaultyTorch:
    return _planted("buffer_later", {"nn.Linear": lambda linear: _WithABufferLater})


def buffer_after_eval() -> FaultyTorch:
    return _planted("buffer_after_eval", {"nn.BatchNorm1d": lambda norm: _ForgetsAfterEval})


def state_reversed() -> FaultyTorch:
    return _planted("state_reversed", {"nn.Linear": lambda linear: _StateTheOtherWayRound})


def linear() -> Any:
    return torch.nn.Linear(3, 2)(random_tensor(shape=(2, 3)))


def norm_in_eval() -> Any:
    m = torch.nn.BatchNorm1d(3)
    m.eval()
    return m(random_tensor(shape=(4, 3))), m(random_tensor(shape=(4, 3)))


def state_of_linear() -> Any:
    m = torch.nn.Linear(3, 2)
    state = m.state_dict()
    return state["weight"] * 2


# -- aliases ------------------------------------------------------------------------------------------------


def view_that_is_a_copy() -> FaultyTorch:
    return _planted("view_that_is_a_copy", tensors={"view": returning(lambda y: y.clone())})


def copy_that_is_a_view() -> FaultyTorch:
    return _planted("copy_that_is_a_view", tensors={"clone": lambda clone: lambda x: x.view_as(x)})


def wrong_strides() -> FaultyTorch:
    return _planted("wrong_strides", {"relu": returning(lambda y: y.t().contiguous().t())})


def same_tensor_twice() -> FaultyTorch:
    return _planted("same_tensor_twice", {"chunk": returning(lambda parts: (parts[0],) * len(parts))})


def _mutating(relu: Any) -> Any:
    def mutates(x: Any) -> Any:
        y = relu(x)
        with real.no_grad():
            x.neg_()
        return y

    return mutates


def mutated_input() -> FaultyTorch:
    return _planted("mutated_input", {"relu": _mutating})


def in_place_on_a_copy() -> FaultyTorch:
    return _planted("in_place_on_a_copy", tensors={"add_": lambda add: lambda x, *y: x + y[0]})


def plain(**options: Any) -> Any:
    return random_tensor(**{"shape": (2, 3), "low": 1, "high": 2, "requires_grad": False, **options})


def write_through_view() -> Any:
    x = plain()
    y = x.view(6)
    y[0] = 7.0
    return x


def write_into_clone() -> Any:
    x = plain()
    y = x.clone()
    y[0] = 7.0
    return x


def strides() -> Any:
    return torch.relu(random_tensor(shape=(2, 3))).stride()


def contiguous() -> Any:
    y = torch.relu(plain())
    return y.is_contiguous(), y


def chunks() -> Any:
    return torch.chunk(random_tensor(shape=(4, 2)), 2)


def relu_of_plain() -> Any:
    return torch.relu(plain())


def add_in_place() -> Any:
    x = plain()
    x.add_(1.0)
    return x


# -- results ------------------------------------------------------------------------------------------------


def _after_the_first(abs_: Any) -> Any:
    called = []

    def later(x: Any) -> Any:
        called.append(x)
        return abs_(x) + (1.0 if len(called) > 1 else 0.0)

    return later


def wrong_after_the_first_call() -> FaultyTorch:
    """Return torch whose abs is right only in the first call of a process, and so in a program of one call."""
    return _planted("wrong_after_the_first_call", {"abs": _after_the_first})


def gradient_wrong_after_the_first() -> FaultyTorch:
    """Return torch whose gradient of exp is right only in the first backward of a process."""
    called = []

    def change(gradient: Any) -> Any:
        called.append(gradient)
        return gradient + (1.0 if len(called) > 1 else 0.0)

    return _planted("gradient_wrong_after_the_first", {"exp": with_gradient(change)})


def list_for_tuple() -> FaultyTorch:
    return _planted("list_for_tuple", {"split": returning(list)})


def swapped_outputs() -> FaultyTorch:
    return _planted("swapped_outputs", {"max": returning(lambda pair: type(pair)((pair[1], pair[0])))})


def index_off_by_one() -> FaultyTorch:
    return _planted("index_off_by_one", {"argmax": returning(lambda at: at + 1)})


def wrong_device() -> FaultyTorch:
    return _planted("wrong_device", {"relu": returning(lambda y: y.to("meta"))})


def no_grad_afterwards() -> FaultyTorch:
    return _planted("no_grad_afterwards", {"relu": returning(lambda y: y.detach())})


def gradient_not_retained() -> FaultyTorch:
    return _planted("gradient_not_retained", tensors={"retain_grad": lambda retain: lambda x: None})


def wrong_item() -> FaultyTorch:
    return _planted("wrong_item", tensors={"item": returning(lambda value: value + 1)})


def item_of_another_type() -> FaultyTorch:
    return _planted("item_of_another_type", tensors={"item": returning(float)})


def zero_without_sign() -> FaultyTorch:
    return _planted("zero_without_sign", {"neg": returning(lambda y: y + 0.0)})


def saturating() -> FaultyTorch:
    return _planted("saturating", {"add": lambda add: lambda x, y: (x.int() + y.int()).clamp(max=255).to(real.uint8)})


def half_in_half() -> FaultyTorch:
    """Return torch whose sum is rounded to the dtype after each step."""

    class Summed(real.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.shape = x.shape
            # NumPy's running totals are of the dtype. Adding tensors gives the same, a hundred times slower.
            return real.from_numpy(np.add.accumulate(np.append(x.new_zeros(1), x.detach().reshape(-1))))[-1].clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient.expand(ctx.shape)

    return _planted("half_in_half", {"sum": lambda original: lambda x: Summed.apply(x)})  # noqa: PLW0108 - as in `sum`


def raises_another() -> FaultyTorch:
    return _planted("raises_another", {"relu": raising(IndexError("out of range"))})


def transposed_gradient() -> FaultyTorch:
    return _planted("transposed_gradient", {"relu": with_gradient(lambda g: g.t().contiguous().reshape(g.shape))})


def integer_mean() -> FaultyTorch:
    return _planted("integer_mean", {"floor_divide": lambda f: lambda x, y: (x / y).trunc().to(x.dtype)})


def promoted() -> FaultyTorch:
    return _planted("promoted", {"add": returning(lambda y: y.double())})


def squeezed() -> FaultyTorch:
    return _planted("squeezed", {"sum": returning(lambda y: y.squeeze())})


def last_of_many() -> FaultyTorch:
    def wrong(y: Any) -> Any:
        y = y.clone()
        y.view(-1)[-1] += 0.01
        return y

    return _planted("last_of_many", {"sigmoid": returning(wrong)})


def retained() -> Any:
    x = random_tensor(shape=(2, 3), low=1, high=2)
    y = x * 2
    y.retain_grad()
    return torch.relu(y)


@dataclasses.dataclass(frozen=True)
class Case:
    """A fault, a body that shows it, and the expected finding."""

    fault: Callable[[], FaultyTorch]
    body: Callable[[], Any]
    symptom: str
    operator: str = ""
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    blames: tuple[str, ...] = ("candidate",)


#: The verdicts if no other oracle decides, so that torch is the specification: for structure, and for values.
_OPEN = ("semantic difference",)
_UNDECIDED = ("semantic difference",)
_FREE: dict[str, Any] = {"auto_backward": False}

CASES = (
    Case(renamed_parameter, linear, "structure", "nn.Linear", {}, _OPEN),
    Case(parameter_of_another_shape, linear, "structure", "nn.Linear", {}, _OPEN),
    Case(buffer_later, linear, "structure", "nn.Linear", {}, _OPEN),
    Case(buffer_after_eval, norm_in_eval, "value", "nn.BatchNorm1d", {}, _UNDECIDED),
    Case(state_reversed, state_of_linear, "structure", "state_dict", {}, _OPEN),
    Case(view_that_is_a_copy, write_through_view, "value", "", _FREE, _UNDECIDED),
    Case(copy_that_is_a_view, write_into_clone, "value", "", _FREE, _UNDECIDED),
    Case(wrong_strides, strides, "value", "stride", _FREE, _UNDECIDED),
    Case(wrong_strides, contiguous, "value", "is_contiguous", _FREE, _UNDECIDED),
    Case(same_tensor_twice, chunks, "value", "chunk", {}),
    Case(mutated_input, relu_of_plain, "value", "relu", _FREE),
    Case(in_place_on_a_copy, add_in_place, "value", "add_", _FREE),
    Case(list_for_tuple, lambda: torch.split(random_tensor(shape=(4, 2)), 2), "structure", "split", {}, _OPEN),
    Case(swapped_outputs, lambda: torch.max(plain(), 1), "dtype", "max", _FREE),
    Case(index_off_by_one, lambda: torch.argmax(plain(), 1), "value", "argmax", _FREE),
    Case(wrong_device, relu_of_plain, "exception", "relu", _FREE),
    Case(no_grad_afterwards, relu, "requires_grad", "relu", _FREE, _OPEN),
    Case(gradient_not_retained, retained, "gradient", "retain_grad", {}, _OPEN),
    Case(wrong_item, lambda: (plain().sum().item(), plain())[1], "value", "item", _FREE, _UNDECIDED),
    Case(item_of_another_type, lambda: (torch.argmax(plain()).item(), plain())[1], "structure", "item", _FREE, _OPEN),
    Case(
        saturating, lambda: torch.add(*[plain(dtype="uint8", low=200, high=250) for _ in "xy"]), "value", "add", _FREE
    ),
    Case(half_in_half, lambda: torch.sum(plain(shape=(5000,), dtype="float16")), "value", "sum", _FREE),
    Case(raises_another, relu, "exception", "relu"),
    Case(transposed_gradient, relu, "gradient", "relu"),
    Case(
        integer_mean,
        lambda: torch.floor_divide(plain(dtype="int64", low=-9, high=-1), 2),
        "value",
        "floor_divide",
        _FREE,
    ),
    Case(promoted, lambda: torch.add(plain(), 1.0), "dtype", "add", _FREE, ("candidate", *_OPEN)),
    Case(squeezed, lambda: torch.sum(plain(), 1, keepdim=True), "shape", "sum", _FREE),
    Case(last_of_many, lambda: torch.sigmoid(plain(shape=(40, 50))), "value", "sigmoid", _FREE),
)
