"""A method that changes the state of a module wrongly is blamed, and not the class of the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import trials


def method(name: str, change: Callable[[Any], Callable[..., Any]]) -> Replacement:
    """Return a replacement of a class, with ``change(class)`` in place of the method `name`."""
    return lambda cls: type(cls.__name__, (cls,), {name: change(cls), "__module__": cls.__module__})


def without_biases(cls: Any) -> Callable[..., Any]:
    def load_state_dict(self: Any, state: Any) -> Any:
        own = self.state_dict()
        kept = {name: own[name].clone() if name.endswith("bias") else value for name, value in state.items()}
        return cls.load_state_dict(self, kept)

    return load_state_dict


def only_weights(cls: Any) -> Callable[..., Any]:
    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        self.weight.requires_grad_(requires_grad)
        return self

    return requires_grad_


def unchanged(cls: Any) -> Callable[..., Any]:
    return lambda self, requires_grad=True: self


def layers() -> Any:
    return dual.nn.Sequential(dual.nn.Linear(3, 3), dual.nn.Tanh())


def drawn() -> Any:
    return random_tensor(shape=(2, 3), low=-1, high=1, dtype="float32", requires_grad=False)


def loaded() -> Any:
    first, second = layers(), layers()
    second.load_state_dict(first.state_dict())
    return second(drawn())


def loaded_layer() -> Any:
    first, second = dual.nn.Linear(3, 3), dual.nn.Linear(3, 3)
    second.load_state_dict(first.state_dict())
    return second(drawn())


def frozen() -> Any:
    net = layers()
    net[0].requires_grad_(False)
    return net(drawn())


CASES: dict[str, tuple[Callable[[], Any], FaultyTorch, str]] = {
    "a network loads no biases": (
        loaded,
        FaultyTorch({"nn.Sequential": method("load_state_dict", without_biases)}),
        "load_state_dict",
    ),
    "a layer loads no biases": (
        loaded_layer,
        FaultyTorch({"nn.Linear": method("load_state_dict", without_biases)}),
        "load_state_dict",
    ),
    "biases are not frozen": (
        frozen,
        FaultyTorch({"nn.Linear": method("requires_grad_", only_weights)}),
        "requires_grad_",
    ),
    "nothing is frozen": (frozen, FaultyTorch({"nn.Linear": method("requires_grad_", unchanged)}), "requires_grad_"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_method_that_changes_the_state_wrongly_is_named_and_marked(name: str, quick: Any) -> None:
    body, fault, operator = CASES[name]
    with pytest.raises(Divergence) as raised:
        trials(body, quick, fault, n=1, options={"shrink": 2.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.operator == finding.identity.operator == operator
    assert finding.divergent is not None
    assert finding.program.calls[finding.divergent].target == operator


def test_a_module_made_with_a_parameter_that_requires_no_grad_is_named_itself(quick: Any) -> None:
    def made(cls: Any) -> Callable[..., None]:
        def init(self: Any, *sizes: int) -> None:
            cls.__init__(self, *sizes)
            self.bias.requires_grad_(False)

        return init

    def body() -> Any:
        layer = dual.nn.Linear(3, 3)
        layer.requires_grad_(True)
        return layer(drawn())

    wrong = FaultyTorch({"nn.Linear": lambda cls: method("requires_grad_", unchanged)(method("__init__", made)(cls))})
    with pytest.raises(Divergence) as raised:
        trials(body, quick, wrong, n=1)
    assert raised.value.finding is not None
    assert raised.value.finding.identity.operator == "nn.Linear"
