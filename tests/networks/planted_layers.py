"""Faults in one layer of a network of the candidate, which stay in this layer in every later call.

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
    """One call of a layer: the framework's namespace, the module, its healthy call, and the arguments."""

    torch: Any
    module: Any
    call: Callable[[Any], Any]
    x: Any

    def on_result(self, change: Callable[[Any], Any]) -> Any:
        """Return the result of the call, with `change` applied to it, or to the first of several results."""
        result = self.call(self.x)
        return (change(result[0]), *result[1:]) if isinstance(result, tuple) else change(result)

    def with_parameter(self, name: str, change: Callable[[Any], Any]) -> Any:
        """Return the result of the call, with `change` applied to one parameter."""
        own = self.module._parameters.pop(name)
        object.__setattr__(self.module, name, change(own))
        try:
            return self.call(self.x)
        finally:
            object.__delattr__(self.module, name)
            self.module._parameters[name] = own

    def with_gradient(self, factor: float) -> Callable[[Any], Any]:
        """Return the identity whose gradient is multiplied by a factor."""

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
    """One fault in one layer of one model, in training or evaluation."""

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
        """Return torch, or OneFlow, with this fault in its layer."""
        mark, fault = _marks(self.model, training=self.training, make=make)[self.path], FAULTS[self.what]

        def replacement(original: Any) -> Any:
            class Faulty(original):  # type: ignore[misc]
                def forward(self, x: Any, *rest: Any) -> Any:
                    usual = super().forward
                    if _is_marked(candidate, self, x, mark):
                        return fault(Layer(candidate.root, self, lambda y: usual(y, *rest), x))
                    return usual(x, *rest)

            return Faulty

        candidate = make({f"nn.{name}": replacement for name in _CLASSES})
        return candidate


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """The mark by which a layer is recognised: shapes, a sum, and the rounding error of the sum."""

    #: Told first, and no part of what makes two marks alike: a layer is no other one for being called with a view.
    shapes: tuple[tuple[int, ...], ...] = dataclasses.field(compare=False)
    total: float
    rounding: float


def _marking(layer: Any, x: Any) -> list[Any]:
    return [*layer.parameters()] or [x]


def _shapes(tensors: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(one.shape) for one in tensors)


@functools.cache
def _weights(size: int) -> np.ndarray[Any, Any]:
    return np.asarray(np.cos(np.arange(size)) + 1.5)


def _mark(framework: Framework, layer: Any, x: Any) -> Mark:
    whole = _marking(layer, x)
    # All at once: OneFlow waits for each tensor that is read alone.
    arrays = [value.data.astype("float64").reshape(-1) for value in framework.values(whole)]
    weighed = [one * _weights(one.size) for one in arrays]
    total = sum(float(one.sum()) for one in weighed) + len(type(layer).__mro__[1].__name__)
    return Mark(_shapes(whole), total, 1e-5 * max(1.0, sum(float(np.abs(one).sum()) for one in weighed)))


def _is_marked(framework: Framework, layer: Any, x: Any, mark: Mark) -> bool:
    # Shapes first, because reading values waits for all earlier calls of the framework.
    if _shapes(_marking(layer, x)) != mark.shapes:
        return False
    return abs(_mark(framework, layer, x).total - mark.total) <= mark.rounding


@functools.cache
def _marks(model: str, *, training: bool, make: Make = FaultyTorch) -> dict[str, Mark]:
    """The mark of each layer of the model that is called, as a healthy trial of the same seed shows them.

    Of layers with the same mark, such as copies, and of those outside of any gradient, none is told.
    """
    found: dict[str, Mark] = {}

    def noting(original: Any) -> Any:
        class Noting(original):  # type: ignore[misc]
            def forward(self, x: Any, *rest: Any) -> Any:
                made.append((self, _mark(candidate, self, x), candidate.records_gradients()))
                return super().forward(x, *rest)

        return Noting

    made: list[tuple[Any, Mark, bool]] = []
    # torch's next random numbers depend on whether the candidate uses torch, too.
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
    """Yield every fault that can be planted in a layer of `model`."""
    network = ALL_MODELS[model](TorchFramework().root)
    for path, layer in network.named_modules():
        name = type(layer).__name__
        if name not in _CLASSES or path not in _marks(model, training=training):
            continue
        kinds = [*_ANY]
        weight = layer._parameters.get("weight")  # a normalised weight is computed again in each call
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
    """Return `count` of the possible faults, spread over layers and kinds."""
    found = [*possible(model, training=training)]
    step = len(found) / count
    return [found[int(number * step + number * 0.37) % len(found)] for number in range(count)]
