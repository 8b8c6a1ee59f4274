"""Layouts: other strides, the same values."""

from __future__ import annotations

import numpy as np
import pytest

from generators import (
    DTYPES,
    LAYOUTS,
    GeneratorError,
    Source,
    apply_steps,
    base_of,
    lay_out,
    oneof,
    random_array,
    using,
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_steps_make_exactly_the_array_out_of_the_base(layout: str, dtype: str) -> None:
    for shape in [(), (4,), (0,), (1,), (2, 3), (3, 1), (2, 0, 3), (2, 3, 2, 2)]:
        with using(Source(1)):
            drawn = random_array(shape, dtype=dtype, high=100, layout=layout).value()
        base, steps = lay_out(drawn.data, drawn.layout)
        view = apply_steps(base, steps)
        assert (view.shape, view.dtype) == (drawn.data.shape, drawn.data.dtype)
        assert view.tobytes() == drawn.data.tobytes()
        assert base.flags.c_contiguous


def strides(layout: str, shape: tuple[int, ...]) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    with using(Source(1)):
        drawn = random_array(shape, layout=layout).value()
    assert drawn.layout == layout
    base, steps = lay_out(drawn.data, layout)
    view = apply_steps(base, steps)
    return tuple(stride // view.itemsize for stride in view.strides), base, view


def test_each_layout_has_the_strides_it_is_called_for() -> None:
    assert strides("contiguous", (3, 4))[0] == (4, 1)
    assert strides("transposed", (3, 4))[0] == (1, 3)
    assert strides("strided", (3, 4))[0] == (9, 2)
    assert strides("channels_last", (2, 3, 4, 5))[0] == (60, 1, 15, 3)
    assert strides("channels_last", (2, 3, 4, 5, 6))[0] == (360, 1, 90, 18, 3)
    assert strides("channels_last", (3, 4, 5))[0] == (1, 15, 3)
    assert strides("expanded", (3, 4))[0] == (0, 1)
    assert strides("pitched", (3, 4))[0] == (6, 1)
    assert strides("pitched", (2, 3, 4))[0] == (6, 12, 1)
    assert strides("pitched", (2, 3, 4, 5))[0] == (84, 7, 21, 1)
    assert strides("sliced", (2, 3, 4))[0] == (20, 4, 1)
    offset, base, view = strides("offset", (3, 4))
    assert offset == (4, 1)
    assert view.ctypes.data == base.ctypes.data + 16


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (3, 4), (2, 3, 4, 5)])
def test_the_base_of_a_shape_is_what_the_steps_are_applied_to(layout: str, shape: tuple[int, ...]) -> None:
    base, steps = base_of(shape, layout)
    assert apply_steps(np.zeros(base), steps).shape == shape


def test_gaps_hold_what_is_never_drawn() -> None:
    _, base, view = strides("strided", (3, 4))
    assert (base == 113).sum() == base.size - view.size


def test_a_shape_that_cannot_lie_so_is_contiguous_and_says_so() -> None:
    for layout, shape in [
        ("transposed", (3,)),
        ("channels_last", (3, 4)),
        ("pitched", (3,)),
        ("sliced", (3, 4)),
        ("strided", ()),
        ("offset", ()),
        ("expanded", (1, 1)),
        ("expanded", (0,)),
    ]:
        with using(Source(1)):
            assert random_array(shape, layout=layout).value().layout == "contiguous"


def test_an_expanded_array_repeats_itself() -> None:
    with using(Source(1)):
        data = random_array((1, 3, 4), layout="expanded").value().data
    assert (data == data[:, :1]).all()
    assert len(np.unique(data)) == 4


@pytest.mark.parametrize("dim", range(3))
def test_an_array_is_expanded_along_the_dimension_in_which_it_repeats_itself(dim: int) -> None:
    values = np.repeat(np.arange(8.0).reshape(2, 2, 2).take([0], axis=dim), 3, axis=dim)
    base, steps = lay_out(values, "expanded")
    assert base.shape[dim] == 1
    assert (apply_steps(base, steps) == values).all()
    assert apply_steps(base, steps).strides[dim] == 0


def test_the_layout_may_be_drawn() -> None:
    generator = random_array((3, 4, 2, 2), layout=oneof(*LAYOUTS))
    drawn = set()
    for seed in range(60):
        with using(Source(seed)):
            drawn.add(generator.value().layout)
    assert drawn == set(LAYOUTS)


def test_what_cannot_be_laid_out_is_refused() -> None:
    with pytest.raises(GeneratorError, match="expected an array that repeats itself along some dimension"):
        lay_out(np.arange(3), "expanded")
    with pytest.raises(GeneratorError, match="layout='diagonal'"):
        lay_out(np.arange(3), "diagonal")
    with pytest.raises(GeneratorError, match="expected transpose, slice or expand"):
        apply_steps(np.arange(3), (("flip", 0),))
