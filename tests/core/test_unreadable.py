"""An exception of the candidate is the candidate's, also when it is raised where the library looks at its values."""

from __future__ import annotations

from typing import Any

import pytest
import torch as real

from autotest import Divergence, random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
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


def test_a_call_that_raises_only_when_its_result_is_looked_at_has_a_verdict() -> None:
    def raises(self: Any, *args: Any) -> Any:
        raise RuntimeError("computed only now, and too large")

    kind = type("Late", (real.Tensor,), {"requires_grad": property(raises), "backward": raises})
    faulty = FaultyTorch({"exp": returning(lambda result: result.as_subclass(kind))}, name="lazy")

    def body() -> Any:
        return torch.tanh(torch.exp(torch.sin(random_tensor(shape=(2, 3), requires_grad=True))))

    settings = Settings()
    pair = Pair(TorchFramework(), faulty)
    failed = FailedTrial(ATest("file.py::test", body, settings), run_trial(body, 0, settings, pair), pair)
    finding = failed.diagnosed(RunContext(pair, Options(verify=False)), 0)
    assert finding.verdict[0] == "lazy: it refuses or lacks what torch accepts"
    assert finding.operator == "exp"


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
