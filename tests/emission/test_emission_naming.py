"""Values have the same names in reproducers, reports and messages."""

from __future__ import annotations

import pytest

from autotest.emission import constants, names, observables
from autotest.emission.naming import expression
from autotest.program import Program


def test_inputs_are_counted_and_everything_else_goes_by_its_slot(build):
    linear = build.function("nn.Linear", 2, 3)
    x = build.tensor([1.0], requires_grad=True)
    y = build.method("__call__", linear, x)
    build.function("optim.SGD", build.method("parameters", linear), lr=0.1)
    context = build.function("no_grad")
    build.call("enter", "", context)
    build.call("exit", "", context)
    build.method("backward", y, build.tensor([2.0]))
    assert names(build.program()) == {
        0: "m0", 1: "x0", 2: "v2", 3: "v3", 4: "o4", 5: "ctx5", 6: "v6", 7: "v7", 8: "c8", 9: "v9",
    }  # fmt: skip


def test_a_tensor_that_is_also_read_elsewhere_is_no_cotangent(build):
    x, y = build.tensor([1.0]), build.tensor([2.0])
    build.function("autograd.backward", [x], [y])
    build.function("relu", y)
    assert list(names(build.program()).values())[:2] == ["x0", "x1"]


def test_constants_follow_the_tensors_made_from_them(build, relu_gradient):
    assert constants(relu_gradient) == {0: "X0", 1: "C2"}
    build.function("from_numpy", build.capture([1.0]))
    assert constants(build.program())[2] == "A2"


def test_observables_are_inputs_with_their_gradients_and_results(relu_gradient):
    assert observables(relu_gradient) == [("x0", "x0"), ("x0.grad", "x0.grad"), ("v1", "v1")]


def with_a_network(build):
    """Return a program whose slot 2 is a Sequential that holds another."""
    build.function("nn.Sequential", build.function("nn.Sequential", build.function("nn.Linear", 2, 2)))
    return build.program()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m2.weight.grad", "m2.weight.grad"),
        ("m2.0.weight", "m2[0].weight"),
        ("m2.block.12.bias.grad", "m2.block[12].bias.grad"),
        ("m2[1]", "m2[1]"),
        ("m2.weight.stride()", "m2.weight.stride()"),
        ('m2["key"][0]', 'm2["key"][0]'),
        ("m2['body.0.weight'].0", "m2['body.0.weight'][0]"),
    ],
)
def test_observed_names_become_expressions(build, name, text):
    assert expression(name, with_a_network(build)) == text


@pytest.mark.parametrize("name", ["m3.weight", "relu", "m2..grad", "m2)"])
def test_a_name_that_is_none_of_the_program_is_refused(build, name):
    with pytest.raises(ValueError, match="observed name"):
        expression(name, with_a_network(build))


def test_an_empty_program_has_no_names():
    assert names(Program((), ())) == {}
