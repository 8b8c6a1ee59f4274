"""Structure, shape, dtype, device and requires_grad are compared before values."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from autotest.program.values import NamedItems


@pytest.mark.parametrize(
    ("expected", "actual"),
    [((3,), (4, 3)), ((), (5,)), ((3, 1), (1, 3)), ((0,), (1,)), ((0, 3), (3, 0)), ((1,), ()), ((2, 3), (6,))],
)
def test_shapes_that_broadcast_or_hold_as_many_are_still_different(tensor, compare, expected, actual):
    (found,) = compare(tensor(np.zeros(expected)), tensor(np.zeros(actual)))
    assert found.symptom == "shape"
    assert str(expected) in found.message
    assert str(actual) in found.message


def test_a_gradient_of_another_shape_is_not_reshaped_to_fit(tensor, symptoms):
    assert symptoms(tensor([[1.0, 2.0]]), tensor([1.0, 2.0]), "x0.grad", "backward") == ["shape"]


def test_equal_values_of_another_dtype_differ(tensor, symptoms):
    assert symptoms(tensor([1, 2], "int32"), tensor([1, 2], "int64")) == ["dtype"]
    # Both are held as float32, so only the dtype's name differs.
    assert symptoms(tensor([1, 2], "float32"), tensor([1, 2], "bfloat16")) == ["dtype"]


def test_dtypes_are_let_be_when_asked_but_values_are_not(tensor, symptoms):
    assert symptoms(tensor([1, 2], "int32"), tensor([1, 2], "float32"), check_dtype=False) == []
    assert symptoms(tensor([1, 2], "int32"), tensor([1, 3], "float32"), check_dtype=False) == ["value"]


def test_integers_of_other_dtypes_are_still_exact(tensor, symptoms):
    huge = 2**63
    assert symptoms(tensor([huge], "uint64"), tensor([-huge], "int64"), check_dtype=False) == ["value"]
    assert symptoms(tensor([huge - 2], "uint64"), tensor([huge - 1], "int64"), check_dtype=False) == ["value"]
    assert symptoms(tensor([huge - 1], "uint64"), tensor([huge - 1], "int64"), check_dtype=False) == []
    assert symptoms(tensor([255], "uint8"), tensor([-1], "int8"), check_dtype=False) == ["value"]


def test_device_and_requires_grad_are_compared(tensor, symptoms):
    assert symptoms(tensor([1]), tensor([1], device="cuda")) == ["device"]
    assert symptoms(tensor([1]), tensor([1], requires_grad=True)) == ["requires_grad"]


def test_everything_that_differs_is_told_not_only_the_first(tensor, symptoms):
    found = symptoms(tensor([1, 2]), tensor([1, 5], "float64", device="cuda", requires_grad=True))
    assert found == ["dtype", "device", "requires_grad", "value"]
    assert symptoms(tensor([1]), tensor([1, 2], "float64")) == ["shape", "dtype"]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ((1, 2), [1, 2]),
        ((1, 2), (1, 2, 3)),
        ((), (1,)),
        (True, 1),
        (1, 1.0),
        (1.0, 1 + 0j),
        (None, 0),
        (None, ()),
        ("1", 1),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: 0}, {True: 0}),
        ({"a": 1}, [("a", 1)]),
    ],
)
def test_other_types_lengths_and_keys_are_other_structures(symptoms, expected, actual):
    assert symptoms(expected, actual) == ["structure"]
    assert symptoms(actual, expected) == ["structure"]


def test_a_list_for_a_tuple_hides_nothing_of_what_is_in_it(tensor, symptoms):
    assert symptoms((tensor([1]),), [tensor([1])]) == ["structure"]
    assert symptoms((tensor([1]), tensor([2])), [tensor([1]), tensor([3])]) == ["structure", "value"]


def test_a_tensor_is_no_plain_value(tensor, symptoms):
    for other in (None, 1.0, [1.0], np.ones(1)):
        assert symptoms(tensor([1]), other) == ["structure"]
        assert symptoms(other, tensor([1])) == ["structure"]


@pytest.mark.parametrize("value", [(), [], {}, "", None, True, 0, (None, ()), {"a": ()}, "text", 2**5000])
def test_equal_plain_values_and_empty_containers_agree(compare, value):
    assert not compare(value, value)


def test_items_are_compared_at_any_depth_and_named_by_their_path(tensor, compare):
    expected = (tensor([1]), {"state": [tensor([1]), None, 7]})
    actual = (tensor([1]), {"state": [tensor([2]), None, 8]})
    found = compare(expected, actual, "v3")
    assert [(item.name, item.symptom) for item in found] == [
        ("v3[1]['state'][0]", "value"),
        ("v3[1]['state'][2]", "value"),
    ]


def test_none_among_the_items_does_not_end_the_comparison(tensor, compare):
    (found,) = compare((None, tensor([1])), (None, tensor([2])), "v3")
    assert (found.name, found.place) == ("v3[1]", "[1]")
    (found,) = compare({"a": [tensor([1])]}, {"a": [tensor([2])]}, "m0", place=".held")
    assert (found.name, found.place) == ("m0.held['a'][0]", ".held['a'][0]")


def test_a_gradient_on_one_side_only_is_a_mismatch_and_says_whose(tensor, compare):
    sides = ("torch", "oneflow")
    (extra,) = compare(None, tensor([1]), "x0.grad", "backward", sides=sides)
    (missing,) = compare(tensor([1]), None, "x0.grad", "backward", sides=sides)
    assert extra.symptom == missing.symptom == "gradient"
    assert "oneflow has a gradient, torch has none" in extra.message
    assert "torch has a gradient, oneflow has none" in missing.message
    assert not compare(None, None, "x0.grad", "backward")


def test_a_gradient_on_one_side_only_shows_even_where_values_are_not_compared(tensor, symptoms):
    assert symptoms(None, tensor([1]), "x0.grad", "backward", check_values=False) == ["gradient"]


def test_what_is_not_compared_by_value_is_by_everything_else(tensor, symptoms):
    assert symptoms(tensor([1]), tensor([2]), check_values=False) == []
    assert symptoms([tensor([1]), 0.5], [tensor([2]), 0.7], check_values=False) == []
    assert symptoms(tensor([1]), tensor([[2]]), check_values=False) == ["shape"]
    assert symptoms(tensor([1]), tensor([2], "int64"), check_values=False) == ["dtype"]
    assert symptoms([tensor([1])], (tensor([2]),), check_values=False) == ["structure"]


def test_everything_that_differs_is_told_in_order(compare, tensor):
    expected = [tensor([1]), None, tensor([1]), tensor([1])]
    actual = [tensor([2]), None, tensor([[1]]), tensor([1], "float64")]
    found = compare(expected, actual, "v4")
    assert [(item.name, item.symptom) for item in found] == [("v4[0]", "value"), ("v4[2]", "shape"), ("v4[3]", "dtype")]
    assert {(item.slot, item.stage, item.side) for item in found} == {(1, "forward", "candidate")}


def test_what_is_not_to_be_compared_is_not(compare, tensor):
    expected, actual = tensor([1]), tensor([2], "float64")
    assert [item.symptom for item in compare(expected, actual, check_values=False)] == ["dtype"]
    (found,) = compare(expected, actual, check_dtype=False, sides=("torch", "oneflow"))
    assert found.symptom == "value"
    assert found.message.endswith("expected=torch actual=oneflow")


def test_a_tuple_without_the_names_of_its_items_is_another_structure(compare, symptoms):
    named = NamedItems((1, 2), ("values", "indices"))
    (found,) = compare(named, (1, 2))
    assert found.symptom == "structure"
    assert "expected a tuple named (values, indices), actual a tuple of 2." in found.message
    assert symptoms(named, NamedItems((1, 2), ("values", "places"))) == ["structure"]
    assert symptoms(named, (1, 3)) == ["structure", "value"]
    assert symptoms(named, NamedItems((1, 3), ("values", "indices"))) == ["value"]


@pytest.mark.parametrize("names", [("values", "indices"), None])
def test_a_tuple_with_the_same_names_or_with_unknown_ones_agrees(symptoms, names):
    named = NamedItems((1, 2), ("values", "indices"))
    assert symptoms(named, NamedItems((1, 2), names)) == []
    assert symptoms((1, 2), NamedItems((1, 2), names)) == []
    assert copy.copy(named).names == named.names
