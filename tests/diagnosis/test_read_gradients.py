"""What only reads a wrong or missing gradient, or lists what it is given, is not blamed for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, random_tensor
from autotest import torch as dual
from autotest.results.finding import Finding
from tests.diagnosis.test_state_of_modules import method
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


def found(body: Callable[[], Any], fault: FaultyTorch, folder: Any) -> Finding:
    with pytest.raises(Divergence) as raised:
        trials(body, folder, fault, n=1, options={"shrink": 2.0})
    finding = raised.value.finding
    assert finding is not None
    return finding


def marked(finding: Finding) -> str:
    assert finding.program is not None
    assert finding.divergent is not None
    return finding.program.calls[finding.divergent].target


def drawn(*shape: int) -> Any:
    return random_tensor(shape=shape, low=0.5, high=1, dtype="float32")


def test_a_backward_that_leaves_twice_the_gradient_is_marked_and_not_what_reads_it(quick: Any) -> None:
    def body() -> Any:
        x = drawn(3)
        dual.exp(x).sum().backward()
        return x.grad * 2

    def twice(backward: Any) -> Any:
        def pushed(value: Any) -> None:
            backward(value, retain_graph=True)
            backward(value)

        return pushed

    finding = found(body, FaultyTorch(tensors={"backward": twice}), quick)
    assert (finding.operator, marked(finding)) == ("backward", "backward")


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_what_keeps_no_gradient_is_marked_and_not_what_refuses_the_missing_one(quick: Any) -> None:
    def body() -> Any:
        x = dual.exp(drawn(3))
        x.retain_grad()
        x.sum().backward()
        return x.grad * 2

    finding = found(body, FaultyTorch(tensors={"retain_grad": lambda _: lambda x: None}), quick)
    assert (finding.operator, marked(finding)) == ("retain_grad", "retain_grad")


def test_parameters_in_another_order_are_told_of_as_that_and_no_layer_is_wrong(quick: Any) -> None:
    def body() -> Any:
        network = dual.nn.Sequential(dual.nn.Linear(3, 3), dual.nn.Linear(3, 3))
        first, *_ = network.parameters()
        return network(drawn(2, 3)) + first.sum()

    def backwards(cls: Any) -> Callable[..., Any]:
        return lambda self, recurse=True: reversed([*cls.parameters(self, recurse)])

    finding = found(body, FaultyTorch({"nn.Sequential": method("parameters", backwards)}), quick)
    assert finding.operator == finding.identity.operator == "parameters"
    assert finding.network is not None
    assert not finding.network.alone


def test_a_gradient_of_zero_for_an_unused_input_is_the_fault_of_what_returns_it(quick: Any) -> None:
    def body() -> Any:
        used, unused = drawn(3), drawn(3)
        return dual.autograd.grad((used * 2).sum(), (used, unused), allow_unused=True)

    def filled(grad: Any) -> Any:
        def gradients(outputs: Any, inputs: Any, **options: Any) -> Any:
            found = grad(outputs, inputs, **options)
            return tuple(one * 0 if part is None else part for part, one in zip(found, inputs, strict=True))

        return gradients

    finding = found(body, FaultyTorch({"autograd.grad": filled}), quick)
    assert finding.operator == finding.identity.operator == "autograd.grad"
