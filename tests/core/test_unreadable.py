"""An exception of the candidate is the candidate's, also when it is raised where the library looks at its values."""

from __future__ import annotations

from typing import Any

import pytest
import torch as real

from autotest import Divergence, random_tensor, torch
from tests.support.faulty import FaultyTorch, Overlay, returning
from tests.support.running import trial, trials


def with_property_that_raises(name: str) -> type:
    """Return a class of tensors whose attribute `name` raises an AttributeError of some inner object."""

    def raises(self: Any) -> Any:
        raise AttributeError("an inner object has no such attribute")

    return type("Unreadable", (real.Tensor,), {name: property(raises)})


class WithoutState(real.nn.Linear):
    def named_parameters(self, *args: Any, **kwargs: Any) -> Any:
        raise AttributeError("an inner object has no such attribute")


class LoadsLazily(FaultyTorch):
    def import_root(self) -> Any:
        class Lazy(Overlay):
            def __getattr__(self, name: str) -> Any:
                if name == "special":
                    raise RuntimeError("its library cannot be loaded")
                return super().__getattr__(name)

        return Lazy(super().import_root())


def exponential() -> Any:
    return torch.exp(random_tensor(shape=(2, 3)))


@pytest.mark.parametrize("attribute", ["requires_grad", "is_leaf"])
def test_an_attribute_that_raises_when_results_are_paired_is_a_finding_about_the_call(
    attribute: str, tmp_path: Any
) -> None:
    kind = with_property_that_raises(attribute)
    faulty = FaultyTorch({"exp": returning(lambda result: result.as_subclass(kind))})
    with pytest.raises(Divergence, match=r"exp: faulty: its result raised AttributeError when it was read: an inner"):
        trials(exponential, tmp_path, faulty, n=1)


def test_a_gradient_that_raises_is_a_finding_about_the_call() -> None:
    class Faulty(FaultyTorch):
        def gradient(self, tensor: Any) -> Any:
            raise AttributeError("an inner object has no such attribute")

    assert {item.symptom for item in trial(exponential, Faulty()).mismatches} == {"exception"}


def test_a_module_whose_state_raises_is_a_finding_about_the_module() -> None:
    def body() -> Any:
        return torch.nn.Linear(3, 2)(random_tensor(shape=(2, 3)))

    (found,) = trial(body, FaultyTorch({"nn.Linear": lambda _: WithoutState})).mismatches
    assert (found.name, found.symptom, found.stage) == ("nn.Linear", "exception", "build")


def test_a_namespace_that_raises_when_it_is_looked_up_is_a_finding_about_the_function() -> None:
    (found,) = trial(lambda: torch.special.expit(random_tensor(shape=(2,))), LoadsLazily()).mismatches
    assert "special.expit" in found.message
    assert "raised RuntimeError: its library cannot be loaded" in found.message
