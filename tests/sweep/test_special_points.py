"""Every operator is called at zero, at the limits of a dtype and with NaN, even if its samples do not have them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.sources.special_points import FRACTIONAL, POINTS, SHAPES, special_points
from tests.support.faulty import FaultyTorch
from tests.sweep.planted import TORCH, failing, fault, swept


def called(name: str, *arrays: Array, args: tuple[Any, ...] = ()) -> Program:
    calls = [tensor_call(at, at, array, requires_grad=False) for at, array in enumerate(arrays)]
    calls.append(Call("function", name, (*(Ref(call.slot) for call in calls), *args), {}, len(calls)))
    return Program(tuple(calls), arrays)


def numbers(size: int, dtype: str = "float32") -> Array:
    return Array(np.arange(1, size + 1).astype(dtype), dtype)


def saturates(log1p: Any) -> Any:
    return lambda x, **kwargs: log1p(x.clamp(max=1e38), **kwargs)


def saturates_in_long_tensors(expm1: Any) -> Any:
    return lambda x, **kwargs: expm1(x.clamp(min=-1e38) * 0 if x.numel() > 16 and (x < -1e38).any() else x, **kwargs)


def nothing_remains_by_subnormal_numbers(fmod: Any) -> Any:
    """torch 2.0.1 returns NaN for the greatest number in vectorised code."""

    def wrong(x: Any, other: Any) -> Any:
        given = fmod(x, other)
        return given.masked_fill(other.abs() < 1e-38, 0) if torch.is_tensor(other) and other.any() else given

    return wrong


def divides_by_zero(floor_divide: Any) -> Any:
    return lambda x, y, **kwargs: floor_divide(x, torch.where(y == 0, 1, y) if torch.is_tensor(y) else y, **kwargs)


def takes_what_there_is(topk: Any) -> Any:
    return lambda x, k, dim=-1, *rest: topk(x, min(k, x.shape[dim]) if x.dim() else k, dim, *rest)


def begins_anew(cumsum: Any) -> Any:
    """Wrong after each block of 64 along the dimension."""

    def wrong(x: Any, dim: int, **kwargs: Any) -> Any:
        parts = x.split(64, dim) if x.dim() else (x,)
        return torch.cat([cumsum(part, dim, **kwargs) for part in parts], dim) if len(parts) > 1 else cumsum(x, dim)

    return wrong


def unsorted_where_all_are_asked_for(topk: Any) -> Any:
    def wrong(x: Any, k: int, *rest: Any, **kwargs: Any) -> Any:
        found = topk(x, k, *rest, **kwargs)
        return tuple(part.flip(-1) for part in found) if x.dim() and k == x.shape[-1] else found

    return wrong


def promotes_too_far(add: Any) -> Any:
    def wrong(x: Any, y: Any, **kwargs: Any) -> Any:
        given = add(x, y, **kwargs)
        mixed = torch.is_tensor(y) and y.is_floating_point() and x.dtype is torch.int32
        return given.double() if mixed else given

    return wrong


def stretches(stack: Any) -> Any:
    return lambda tensors, dim=0, **kwargs: stack(torch.broadcast_tensors(*tensors), dim, **kwargs)


FAULTS: dict[str, tuple[str, Callable[[Any], Any], str, str]] = {
    "the greatest number": ("log1p", saturates, "float32", "nonfinite"),
    "the least number, where several are computed at once": ("expm1", saturates_in_long_tensors, "float32", "value"),
    "a number by a subnormal one": ("fmod", nothing_remains_by_subnormal_numbers, "float32", "nonfinite"),
    "a count beyond what there is": ("topk", takes_what_there_is, "float32", "errors"),
    "more than a block": ("cumsum", begins_anew, "float32", "value"),
    "a count of all there are": ("topk", unsorted_where_all_are_asked_for, "float32", "value"),
    "whole numbers beside fractions": ("add", promotes_too_far, "float32", "dtype"),
    "one input of another shape": ("stack", stretches, "float32", "errors"),
    "a whole number by zero": ("floor_divide", divides_by_zero, "int64", "errors"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_at_a_special_point_is_found(name: str) -> None:
    operator, change, dtype, check = FAULTS[name]
    cell = f"{operator}/function/{dtype}"
    assert check in failing(swept(fault(operator, change), cell, "special"))
    assert failing(swept(TORCH, cell, "special")) == set()


def test_the_gradient_of_what_is_written_into_is_judged_where_the_call_returns_nothing() -> None:
    def keeps_the_gradient(copy_: Any) -> Any:
        def wrong(x: Any, source: Any, *rest: Any) -> None:
            x.data.copy_(source.detach().expand(x.shape))

        return wrong

    cell = "Tensor.copy_/in-place/float32"
    found = swept(FaultyTorch(tensors={"copy_": keeps_the_gradient}), cell, "sample")
    assert {"shape", "gradient"} <= failing(found)
    # The message must not be about `backward` of None.
    assert any("x0.grad" in one.message for one in found.divergences.values() if one.check == "gradient")


def test_every_argument_that_is_given_meets_every_point() -> None:
    array = numbers(3)
    programs = [called("norm", array, args=order) for order in [(), (), (2,), (1,), (2,)]]
    single = [name for name, point in {**POINTS, **FRACTIONAL}.items() if point.least == 1]
    made = [(name, one) for name, one in special_points(programs) if name in single]
    assert [name for name, _ in made] == single * 3
    assert [program.calls[-1].args[1:] for _, program in made[:: len(single)]] == [(), (2,), (1,)]
    assert not made[0][1].arrays[0].data.any()
    assert np.isnan(dict(made)["a NaN"].arrays[0].data).any()


def test_limits_of_two_inputs_meet() -> None:
    made = dict(special_points([called("fmod", numbers(8), numbers(8))]))
    one, other = (array.data[4:] for array in made["limits that meet"].arrays)
    limits = np.finfo("float32")
    assert (one[0], other[1]) == (limits.max, limits.max)
    assert 0 < other[0] < limits.tiny
    assert not made["zeros in the last"].arrays[1].data.any()
    assert made["zeros in the last"].arrays[0].data.all()


def test_whole_numbers_have_points_where_no_fractions_are() -> None:
    made = dict(special_points([called("div", numbers(8, "int64"), numbers(8, "int64"))]))
    assert [name for name in made if name not in SHAPES] == [
        *POINTS,
        "int32 beside int64",
        "float32 beside int64",
        "a large size",
    ]
    assert made["limits that meet"].arrays[0].data.min() == np.iinfo("int64").min
    # An index beside a floating tensor stays in its range.
    beside = dict(special_points([called("index_select", numbers(8), numbers(2, "int64"))]))
    assert all((beside[name].arrays[1].data == [1, 2]).all() for name in ("zeros", "limits that meet", "a NaN"))


def test_the_first_and_the_last_input_are_of_another_precision() -> None:
    made = dict(special_points([called("mul", numbers(8), numbers(8), numbers(8))]))
    for other in ("float64", "int32"):
        assert [array.dtype for array in made[f"{other} beside float32"].arrays] == ["float32", "float32", other]
    # Alone, it belongs to the cells of its own dtype.
    assert "float64 beside float32" not in dict(special_points([called("exp", numbers(8))]))


def test_a_module_is_given_another_precision_than_that_of_its_state() -> None:
    """A candidate that accepts arguments that torch refuses."""

    def converts(kind: Any) -> Any:
        class Wrong(kind):  # type: ignore[misc]
            def forward(self, input: Any) -> Any:  # noqa: A002 - as torch calls it
                return super().forward(input.to(self.weight.dtype))

        return Wrong

    cell = "nn.Linear/module/float32"
    assert failing(swept(fault("nn.Linear", converts), cell, "special")) == {"errors"}
    assert failing(swept(TORCH, cell, "special")) == set()


def test_nothing_and_a_single_number_are_given_to_a_few_calls() -> None:
    made = list(special_points([called("norm", numbers(4), args=(order,)) for order in range(5)]))
    shapes = [program.arrays[0].data.shape for name, program in made if name in SHAPES]
    assert shapes == [(0,), (0,), (), (), (2, 1, 1, 1, 1, 4), (2, 1, 1, 1, 1, 4)]


def test_inputs_of_one_shape_and_such_that_are_broadcast_meet_them() -> None:
    single = numbers(1)
    programs = [called("add", numbers(40), one) for one in (single, single, numbers(40), numbers(40))]
    shapes = [program.arrays[1].data.shape for name, program in special_points(programs) if name == "zeros"]
    assert shapes == [(1,), (40,)]


def test_whole_numbers_of_a_few_calls_are_at_their_bounds() -> None:
    made = special_points([called("roll", numbers(4), args=(1, 0)), called("roll", numbers(4), args=((2, 1), [0]))])
    given = [program.calls[-1].args[1:] for name, program in made if name == "a whole number at its bounds"]
    assert given[:7] == [(0, 0), (-1, 0), (100, 0), (4, 0), (1, -1), (1, 100), (1, 4)]
    assert ((2, 100), [0]) in given
    fractions = special_points([called("celu", numbers(4), args=(0.5,))])
    assert [one.calls[-1].args[1:] for name, one in fractions if "bounds" in name] == [(0.0,), (2,)]


def test_two_whole_numbers_begin_at_nothing_and_take_all() -> None:
    made = special_points([called("narrow", numbers(4), args=(0, 1, 2))])
    given = [program.calls[-1].args[1:] for name, program in made if name == "a whole number at its bounds"]
    assert (0, 0, 4) in given


def test_whole_numbers_that_are_one_fraction_meet() -> None:
    pair = [numbers(16, "int64"), numbers(16, "int64")]
    (met,) = [program for name, program in special_points([called("lt", *pair)]) if name == "limits that meet"]
    one, other = (array.data for array in met.arrays)
    assert ((one != other) & (one.astype("float64") == other.astype("float64"))).any()


def test_a_few_calls_are_given_nothing_but_minus_infinity_and_nothing_without_a_gradient() -> None:
    programs = [called("norm", numbers(4), args=(order,)) for order in range(5)]
    asking = [
        dataclasses.replace(one, calls=(tensor_call(0, 0, numbers(4), requires_grad=True), *one.calls[1:]))
        for one in programs
    ]
    made = list(special_points(asking))
    assert [bool(np.isneginf(one.arrays[0].data).all()) for name, one in made if "minus" in name] == [True, True]
    assert [one.calls[0].kwargs["requires_grad"] for name, one in made if name == "no rows"] == [True, False]


def test_a_gradient_that_is_wrong_beside_nan_hides_none_of_ordinary_numbers() -> None:
    def one_too_much(x: Any) -> Any:
        return None if x.grad is None else x.grad.nan_to_num() + 1

    cell = swept(FaultyTorch(gradient=one_too_much), "sin/function/float32", "special")
    keys = {one.key for one in cell.divergences.values() if one.check == "gradient"}
    assert {"special values" in key for key in keys} == {True, False}


def test_long_tensors_meet_them_first() -> None:
    made = list(special_points([called("exp", numbers(1)), called("exp", numbers(40))]))
    assert {program.arrays[0].data.size for name, program in made if name in POINTS} == {40}
