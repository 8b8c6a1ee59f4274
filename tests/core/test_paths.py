"""Paths lead to parts of results and back."""

from __future__ import annotations

from autotest.program.paths import indices_of, item_at, item_path, tensors_with_indices


def test_indices_lead_to_each_tensor_of_a_nested_result():
    value = (1.5, [2, (2.5,)], {"key": 3.5}, ())
    found = dict(tensors_with_indices(value, (float,)))
    assert found == {(0,): 1.5, (1, 1, 0): 2.5}
    assert [item_at(value, indices) for indices in found] == [1.5, 2.5]
    assert dict(tensors_with_indices(1.5, (float,))) == {(): 1.5}


def test_there_is_no_item_at_indices_that_lead_nowhere():
    assert item_at((1, 2), (2,)) is None
    assert item_at((1, 2), (0, 0)) is None


def test_the_text_of_a_path_is_read_back():
    assert item_path((1, 0)) == "[1][0]"
    assert indices_of("[1][0]") == (1, 0)
    assert indices_of(".weight") is None
