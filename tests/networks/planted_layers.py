"""Faults that are planted in one layer of a network of the candidate, and stay in it wherever it is called again.

A layer is known by the sum of its parameters, or of what it is called with where it has none, as the healthy reference
shows them: it is then the same layer in every replay of the program, and in a program of that call alone.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.frameworks import Framework
from autotest.frameworks.torch import TorchFramework
from autotest.trials.trial import run_trial
from tests.networks.bodies import ALL_MODELS, distinct, inputs
from tests.support.faulty import FaultyTorch
from tests.support.faulty_oneflow import FaultyOneFlow
from tests.support.running import pair_with


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """One call of a layer: the framework's namespace, the module, its healthy call, and what it is called with."""

    torch: Any
    module: Any
    call: Callable[[Any], Any]
    x: Any

    def on_result(self, change: Callable[[Any], Any]) -> Any:
        """The call, with what `change` makes of its result, or of the first of several."""
        result = self.call(self.x)
        return (change(result[0]), *result[1:]) if isinstance(result, tuple) else change(result)

    def with_parameter(self, name: str, change: Callable[[Any], Any]) -> Any:
        """The call, with one parameter replaced by what `change` makes of it."""
        own = self.module._parameters.pop(name)
        object.__setattr__(self.module, name, change(own))
        try:
            return self.call(self.x)
        finally:
            object.__delattr__(self.module, name)
            self.module._parameters[name] = own

    def with_gradient(self, factor: float) -> Callable[[Any], Any]:
        """What leaves a tensor as it is, and makes its gradient so many times what it was."""

        class Through(self.torch.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 1

            @staticmethod
            def backward(ctx: Any, gradient: Any) -> Any:
                return gradient * factor

        through: Callable[[Any], Any] = Through.apply
        return through


Fault = Callable[[Layer], Any]
Make: TypeAlias = type[FaultyTorch] | type[FaultyOneFlow]


def _last_element(layer: Layer) -> Any:
    def change(y: Any) -> Any:
        added = np.zeros(tuple(y.shape), "float32")
        added.reshape(-1)[-1] = 0.05
        return y + layer.torch.tensor(added)

    return layer.on_result(change)


def _input_gradient(layer: Layer) -> Any:
    return layer.call(layer.with_gradient(0.5)(layer.x))


def _transposed_weight(layer: Layer) -> Any:
    def change(weight: Any) -> Any:
        return weight.transpose(0, 1).reshape(*weight.shape)

    return layer.with_parameter("weight", change)


def _epsilon(layer: Layer) -> Any:
    name = "eps" if hasattr(layer.module, "eps") else "epsilon"
    usual = getattr(layer.module, name)
    setattr(layer.module, name, 1e-2)
    try:
        return layer.call(layer.x)
    finally:
        setattr(layer.module, name, usual)


def _not_updated(layer: Layer) -> Any:
    before = layer.module.running_mean.clone()
    result = layer.call(layer.x)
    with layer.torch.no_grad():
        layer.module.running_mean.copy_(before)
    return result


def _swapped_activation(layer: Layer) -> Any:
    functional = layer.torch.nn.functional
    return functional.relu(layer.x) if type(layer.module).__mro__[1].__name__ != "ReLU" else functional.gelu(layer.x)


FAULTS: dict[str, Fault] = {
    "scaled": lambda layer: layer.on_result(lambda y: y * 1.02 + 0.01),
    "last element": _last_element,
    "gradient": lambda layer: layer.on_result(layer.with_gradient(1.5)),
    "input gradient": _input_gradient,
    "weight gradient": lambda layer: layer.with_parameter("weight", layer.with_gradient(1.1)),
    "flipped weight": lambda layer: layer.with_parameter("weight", lambda weight: weight.flip([0])),
    "transposed weight": _transposed_weight,
    "no bias gradient": lambda layer: layer.with_parameter("bias", lambda bias: bias.detach()),
    "no bias": lambda layer: layer.with_parameter("bias", lambda bias: bias * 0),
    "epsilon": _epsilon,
    "buffer not updated": _not_updated,
    "swapped activation": _swapped_activation,
}
_ANY = ("scaled", "last element", "gradient", "input gradient")
_ACTIVATIONS = "ReLU GELU Tanh SiLU Sigmoid LeakyReLU ELU ReLU6 Hardswish Hardsigmoid".split()
_CLASSES = (
    "Linear Conv2d ConvTranspose2d LayerNorm BatchNorm1d BatchNorm2d GroupNorm AvgPool2d MaxPool2d AdaptiveAvgPool2d "
    "Embedding LSTM GRU GRUCell Conv1d"
).split() + _ACTIVATIONS


@dataclasses.dataclass(frozen=True)
class Planted:
    """One fault in one layer of one model, in training or not."""

    model: str
    training: bool
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.model}-{'train' if self.training else 'eval'}-{self.path}-{self.what}".replace(" ", "_")

    def body(self) -> Any:
        network = distinct(ALL_MODELS[self.model](dual))
        network.train(self.training)
        return network(*inputs(self.model))

    def candidate(self, make: Make = FaultyTorch) -> Framework:
        """torch, or OneFlow, with that fault in that layer."""
        mark, fault = _marks(self.model, training=self.training, make=make)[self.path], FAULTS[self.what]

        def replacement(original: Any) -> Any:
            class Faulty(original):  # type: ignore[misc]
                def forward(self, x: Any, *rest: Any) -> Any:
                    usual = super().forward
                    if _is_marked(self, x, mark):
                        return fault(Layer(candidate.root, self, lambda y: usual(y, *rest), x))
                    return usual(x, *rest)

            return Faulty

        candidate = make({f"nn.{name}": replacement for name in _CLASSES})
        return candidate


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """What tells a layer of a class from any other: shapes, a sum, and how much of it rounding may change."""

    #: Told first, and no part of what makes two marks alike: a layer is no other one for being called with a view.
    shapes: tuple[tuple[int, ...], ...] = dataclasses.field(compare=False)
    total: float
    rounding: float


def _marking(layer: Any, x: Any) -> list[Any]:
    return [*layer.parameters()] or [x]


def _shapes(tensors: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(one.shape) for one in tensors)


def _mark(layer: Any, x: Any) -> Mark:
    whole = _marking(layer, x)
    arrays = [one.detach().numpy().astype("float64").reshape(-1) for one in whole]
    weighed = [one * (np.cos(np.arange(one.size)) + 1.5) for one in arrays]
    total = sum(float(one.sum()) for one in weighed) + len(type(layer).__mro__[1].__name__)
    return Mark(_shapes(whole), total, 1e-5 * max(1.0, sum(float(np.abs(one).sum()) for one in weighed)))


def _is_marked(layer: Any, x: Any, mark: Mark) -> bool:
    # Shapes first: to read values waits for all that the framework was asked before.
    return _shapes(_marking(layer, x)) == mark.shapes and abs(_mark(layer, x).total - mark.total) <= mark.rounding


@functools.cache
def _marks(model: str, *, training: bool, make: Make = FaultyTorch) -> dict[str, Mark]:
    """The mark of each layer of the model that is called, as a healthy trial of the same seed shows them.

    Of layers with the same mark, such as copies, and of those outside of any gradient, none is told.
    """
    found: dict[str, Mark] = {}

    def noting(original: Any) -> Any:
        class Noting(original):  # type: ignore[misc]
            def forward(self, x: Any, *rest: Any) -> Any:
                made.append((self, _mark(self, x), candidate.records_gradients()))
                return super().forward(x, *rest)

        return Noting

    made: list[tuple[Any, Mark, bool]] = []
    # What torch draws next depends on whether the candidate draws of it, too.
    candidate = make({f"nn.{name}": noting for name in _CLASSES})
    network: list[Any] = []

    def body() -> Any:
        one = distinct(ALL_MODELS[model](dual))
        network.append(one)
        one.train(training)
        return one(*inputs(model))

    outcome = run_trial(body, 0, Settings(n=1), pair_with(candidate))
    assert not outcome.rejection
    paths = {id(module._actual): path for path, module in network[0].named_modules()}
    for module, mark, _ in made:
        found.setdefault(paths[id(module)], mark)
    told = {paths[id(module)] for module, _, recorded in made if recorded}
    alike = [path for path in found for other in found if other != path and found[other] == found[path]]
    return {path: mark for path, mark in found.items() if path in told and path not in alike}


def possible(model: str, *, training: bool) -> Iterator[Planted]:
    """Every fault that may be planted in a layer of `model`."""
    network = ALL_MODELS[model](TorchFramework().root)
    for path, layer in network.named_modules():
        name = type(layer).__name__
        if name not in _CLASSES or path not in _marks(model, training=training):
            continue
        kinds = [*_ANY]
        weight = layer._parameters.get("weight")  # a normalised one is computed anew in each call
        if name == "Embedding":
            kinds = ["scaled", "last element", "gradient", "weight gradient", "flipped weight"]
        elif "Norm" in name:
            kinds += ["epsilon", "no bias gradient", *(["buffer not updated"] if "Batch" in name and training else [])]
        elif weight is not None:
            kinds += ["weight gradient"] if weight.requires_grad else []
            kinds += ["flipped weight"] if weight.shape[0] > 1 else []
            kinds += ["transposed weight"] if weight.shape[0] > 1 and weight.shape[1] > 1 else []
            kinds += ["no bias"] if layer.bias is not None else []
            kinds += ["no bias gradient"] if layer.bias is not None and layer.bias.requires_grad else []
        elif name in _ACTIVATIONS:
            kinds += ["swapped activation"]
        yield from (Planted(model, training, path, kind) for kind in kinds)


def spread(model: str, *, training: bool, count: int) -> Sequence[Planted]:
    """`count` of the possible faults, spread over layers and kinds."""
    found = [*possible(model, training=training)]
    step = len(found) / count
    return [found[int(number * step + number * 0.37) % len(found)] for number in range(count)]
