"""Faults that are planted in one layer of a network of the candidate, and stay in it wherever it is called again.

A layer is known by the sum of its parameters, or of what it is called with where it has none, as the healthy reference
shows them: it is then the same layer in every replay of the program, and in a program of that call alone.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.frameworks.torch import TorchFramework
from autotest.trials.trial import run_trial
from tests.networks.bodies import distinct, inputs
from tests.networks.models import MODELS
from tests.support.faulty import FaultyTorch, with_gradient
from tests.support.running import pair_with

#: (module, healthy call, arguments) -> what the faulty layer gives
Fault = Callable[[Any, Callable[..., Any], Any], Any]


def _scaled(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return _first(call(x), lambda y: y * 1.02 + 0.01)


def _last_element(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    def change(y: Any) -> Any:
        y = y.clone()
        y.reshape(-1)[-1] += 0.05
        return y

    return _first(call(x), change)


def _gradient(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return _first(call(x), with_gradient(lambda gradient: gradient * 1.5)(lambda y: y * 1))


def _input_gradient(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return call(with_gradient(lambda gradient: gradient * 0.5)(lambda y: y * 1)(x) if x.is_floating_point() else x)


def _weight_gradient(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return _with_parameter(layer, "weight", with_gradient(lambda gradient: gradient * 1.1)(lambda y: y * 1), call, x)


def _no_bias_gradient(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return _with_parameter(layer, "bias", lambda bias: bias.detach(), call, x)


def _no_bias(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return _with_parameter(layer, "bias", lambda bias: bias * 0, call, x)


def _flipped_weight(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    return _with_parameter(layer, "weight", lambda weight: weight.flip(0), call, x)


def _epsilon(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    usual, layer.eps = layer.eps, 1e-2
    try:
        return call(x)
    finally:
        layer.eps = usual


def _not_updated(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    before = layer.running_mean.clone()
    result = call(x)
    layer.running_mean.copy_(before)
    return result


def _first(result: Any, change: Callable[[Any], Any]) -> Any:
    return (change(result[0]), *result[1:]) if isinstance(result, tuple) else change(result)


def _with_parameter(layer: Any, name: str, change: Callable[[Any], Any], call: Callable[..., Any], x: Any) -> Any:
    """The call of `layer` with one parameter replaced by what `change` makes of it."""
    own = layer._parameters.pop(name)
    object.__setattr__(layer, name, change(own))
    try:
        return call(x)
    finally:
        object.__delattr__(layer, name)
        layer._parameters[name] = own


_ANY = {"scaled": _scaled, "last element": _last_element, "gradient": _gradient, "input gradient": _input_gradient}
_WEIGHED = {"weight gradient": _weight_gradient, "flipped weight": _flipped_weight}
_BIASED = {"no bias gradient": _no_bias_gradient, "no bias": _no_bias}
_NORMALISING = {"epsilon": _epsilon}
_CLASSES = (
    "Linear Conv2d ConvTranspose2d LayerNorm BatchNorm1d BatchNorm2d GroupNorm ReLU GELU Tanh SiLU Sigmoid LeakyReLU "
    "AvgPool2d MaxPool2d AdaptiveAvgPool2d Embedding LSTM"
).split()


@dataclasses.dataclass(frozen=True)
class Planted:
    """One fault in one layer of one model, in training or not."""

    model: str
    training: bool
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.model}-{'train' if self.training else 'eval'}-{self.path}-{self.what}".replace(" ", "_")

    @property
    def fault(self) -> Fault:
        return {**_ANY, **_WEIGHED, **_BIASED, **_NORMALISING, "buffer not updated": _not_updated}[self.what]

    def body(self) -> Any:
        network = distinct(MODELS[self.model](dual))
        network.train(self.training)
        return network(*inputs(self.model))

    def candidate(self) -> FaultyTorch:
        """torch with that fault in that layer."""
        mark = _marks(self.model, training=self.training)[self.path]

        def replacement(original: Any) -> Any:
            class Faulty(original):  # type: ignore[misc]
                def forward(self, x: Any, *rest: Any) -> Any:
                    usual = super().forward
                    if abs(_mark(self, x) - mark) <= 1e-5 * max(1.0, abs(mark)):
                        return fault(self, lambda y: usual(y, *rest), x)
                    return usual(x, *rest)

            return Faulty

        fault = self.fault
        return FaultyTorch({f"nn.{name}": replacement for name in _CLASSES})


def _mark(layer: Any, x: Any) -> float:
    parameters = [*layer.parameters()]
    whole = [one.detach().double() for one in parameters] or [x.detach().double()]
    weighed = [(one.reshape(-1) * _weights(one)).sum().item() for one in whole]
    return float(sum(weighed)) + len(type(layer).__mro__[-3].__name__)


def _weights(tensor: Any) -> Any:
    import torch

    return torch.cos(torch.arange(tensor.numel(), dtype=torch.float64)) + 1.5


@functools.cache
def _marks(model: str, *, training: bool) -> dict[str, float]:
    """The mark of each layer of the model that is called, as a healthy trial of the same seed shows them."""
    found: dict[str, float] = {}

    def noting(original: Any) -> Any:
        class Noting(original):  # type: ignore[misc]
            def forward(self, x: Any, *rest: Any) -> Any:
                made.append((self, _mark(self, x)))
                return super().forward(x, *rest)

        return Noting

    made: list[tuple[Any, float]] = []
    candidate = FaultyTorch({f"nn.{name}": noting for name in _CLASSES})
    network: list[Any] = []

    def body() -> Any:
        one = distinct(MODELS[model](dual))
        network.append(one)
        one.train(training)
        return one(*inputs(model))

    outcome = run_trial(body, 0, Settings(n=1), pair_with(candidate))
    assert not outcome.mismatches
    paths = {id(module._actual): path for path, module in network[0].named_modules()}
    for module, mark in made:
        found.setdefault(paths[id(module)], mark)
    return found


def possible(model: str, *, training: bool) -> Iterator[Planted]:
    """Every fault that may be planted in a layer of `model`."""
    network = MODELS[model](TorchFramework().root)
    for path, layer in network.named_modules():
        name = type(layer).__name__
        if name not in _CLASSES or path not in _marks(model, training=training):
            continue
        kinds: list[str] = [*_ANY]
        if name == "Embedding":
            kinds = ["scaled", "last element", "gradient", "weight gradient", "flipped weight"]
        elif name == "LSTM":
            kinds = ["scaled", "last element", "gradient", "input gradient"]
        elif hasattr(layer, "weight"):
            kinds += [*_WEIGHED] if name not in ("LayerNorm", "GroupNorm", "BatchNorm1d", "BatchNorm2d") else []
            kinds += [*_BIASED] if getattr(layer, "bias", None) is not None and "Norm" not in name else []
            kinds += [*_NORMALISING] if hasattr(layer, "eps") else []
            kinds += ["no bias gradient"] if "Norm" in name else []
            kinds += ["buffer not updated"] if "BatchNorm" in name and training else []
        yield from (Planted(model, training, path, kind) for kind in kinds)


def spread(model: str, *, training: bool, count: int) -> Sequence[Planted]:
    """`count` of the possible faults, spread over layers and kinds."""
    found = [*possible(model, training=training)]
    step = len(found) / count
    return [found[int(number * step + number * 0.37) % len(found)] for number in range(count)]
