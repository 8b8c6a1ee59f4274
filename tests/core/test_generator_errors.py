"""An error about a generator names the line of the test, even if the library created the generator for it."""

from __future__ import annotations

import sys

import pytest

from autotest import choice_tensor, random, random_tensor
from generators import GeneratorError


def two_lines_below():
    """Return the position of the statement inside of a `with` that follows the call."""
    return f"{__file__}:{sys._getframe(1).f_lineno + 2}:"


def test_bounds_of_a_tensor():
    here = two_lines_below()
    with pytest.raises(GeneratorError) as caught:
        random_tensor(low=3, high=1)
    assert here in str(caught.value)


def test_a_size_of_a_tensor():
    here = two_lines_below()
    with pytest.raises(GeneratorError) as caught:
        random_tensor(ndim=-2)
    assert here in str(caught.value)


def test_a_generator_among_the_sizes():
    here = two_lines_below()
    with pytest.raises(GeneratorError) as caught:
        random_tensor(dim0=random(5, 2))
    assert here in str(caught.value)


def test_the_alternatives_of_a_choice():
    here = two_lines_below()
    with pytest.raises(GeneratorError) as caught:
        choice_tensor([])
    assert here in str(caught.value)


@pytest.mark.oneflow
@pytest.mark.parametrize("name", ["random_tensor", "random_pytorch_tensor"])
def test_what_is_drawn_under_oneflows_names(name):
    from autotest.oneflow import generators, torch_flow_dual_object

    build = getattr(generators, name, None) or getattr(torch_flow_dual_object, name)
    here = two_lines_below()
    with pytest.raises(GeneratorError) as caught:
        build(-2)
    assert here in str(caught.value)


@pytest.mark.oneflow
@pytest.mark.parametrize("name", ["choice_tensor", "choice_pytorch_tensor"])
def test_what_is_chosen_under_oneflows_names(name):
    from autotest.oneflow import generators, torch_flow_dual_object

    choose = getattr(generators, name, None) or getattr(torch_flow_dual_object, name)
    here = two_lines_below()
    with pytest.raises(GeneratorError) as caught:
        choose([])
    assert here in str(caught.value)
