"""A ``zero_grad`` that discards no gradient is blamed, and not what differs because of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, autotest, random_tensor, skip_grad_check, torch
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.locating import locate
from autotest.replaying.agreement import agree
from autotest.replaying.updates import check_updates
from tests.support.faulty import FaultyTorch, Replacement
from tests.support.running import pair_with, trial


def of_class(change: Callable[[Any], Callable[..., None]]) -> Replacement:
    """Return a replacement of a class, with the method ``change(class)`` in place of ``zero_grad``."""
    return lambda cls: type(cls.__name__, (cls,), {"zero_grad": change(cls), "__module__": cls.__module__})


def without(cls: Any) -> Callable[..., None]:
    return lambda self, set_to_none=True: None


def only_weights(cls: Any) -> Callable[..., None]:
    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        self.weight.grad = None

    return zero_grad


def two_steps() -> Any:
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5]))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    x = random_tensor(shape=(3,), low=0.5, high=2, requires_grad=False)
    for _ in range(2):
        optimizer.zero_grad()
        (weight * x).pow(2).sum().backward()
        optimizer.step()
    return weight * x


def twice_backwards() -> Any:
    layer = torch.nn.Linear(3, 2)
    x = random_tensor(shape=(4, 3), low=0.5, high=2, dtype="float32")
    layer(x).sum().backward()
    layer.zero_grad()
    layer(x * 2).sum().backward()
    return layer.weight.grad


def discarded() -> Any:
    layer = torch.nn.Linear(3, 2)
    x = random_tensor(shape=(4, 3), low=0.5, high=2, dtype="float32", requires_grad=False)
    layer(x).sum().backward()
    layer.zero_grad()
    return x * 2


BODIES: dict[str, tuple[Callable[[], Any], FaultyTorch]] = {
    "the optimizer keeps all": (two_steps, FaultyTorch({"optim.SGD": of_class(without)})),
    "a module keeps all": (twice_backwards, FaultyTorch({"nn.Linear": of_class(without)})),
    "a module keeps some": (twice_backwards, FaultyTorch({"nn.Linear": of_class(only_weights)})),
    "one is left over": (discarded, FaultyTorch({"nn.Linear": of_class(only_weights)})),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_call_that_keeps_gradients_is_located(name: str) -> None:
    body, fault = BODIES[name]
    outcome = trial(body, fault)
    pair, settings = pair_with(fault), Settings()
    agreement = agree(outcome.program, pair, settings)
    found = locate(outcome.program, pair, settings, agreement.mismatches[0]).slot
    assert found is not None
    assert outcome.program.calls[found].target == "zero_grad"


@pytest.mark.parametrize("name", BODIES)
def test_it_names_the_finding(name: str, against: Callable[[FaultyTorch], None]) -> None:
    body, fault = BODIES[name]
    against(fault)
    with pytest.raises(Divergence, match="diverges from torch: zero_grad, "):
        skip_grad_check(reason="planted")(autotest(n=1)(body))()


def test_no_step_is_said_to_be_wrong_with_the_same_gradients() -> None:
    outcome = trial(two_steps, BODIES["the optimizer keeps all"][1])
    assert check_updates(outcome.recorder).wrong is None


def test_a_wrong_operator_beside_a_right_one_is_still_named() -> None:
    fault = FaultyTorch(tensors={"pow": lambda power: lambda x, n: power(x, n) * 1.5})
    outcome = trial(two_steps, fault)
    settings = Settings()
    first = agree(outcome.program, pair_with(fault), settings).mismatches[0]
    found = locate(outcome.program, pair_with(fault), settings, first).beginning
    assert found is not None
    assert outcome.program.calls[found].target == "pow"
