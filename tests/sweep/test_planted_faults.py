"""Every planted fault is found in its cell and by its check; torch against itself has none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from autotest.diagnosis.attribution.out_of_bounds_reads import slots_read_out_of_bounds
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.results.sweep import Cell
from autotest.sweeping.judging import Judge
from autotest.sweeping.probing import is_nondeterministic
from tests.support.faulty import FaultyTorch
from tests.sweep.planted import FAULTS, TORCH, failing, fault, other_every_time, swept

#: The kind of samples that shows a fault, where thousands of others are judged before.
SHOWN_BY = {"nothing but minus infinity": "special"}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_in_its_cell(name: str) -> None:
    candidate, cell, check = FAULTS[name]
    kinds = [SHOWN_BY[name]] if name in SHOWN_BY else []

    def is_found(seen: Cell) -> bool:
        programs = [one.program for one in seen.divergences.values() if one.check == check]
        return check in failing(seen) and any(programs)

    # Later failures do not change the result, and the diagnosis of each failing sample takes long.
    assert is_found(swept(candidate, cell, *kinds, enough=is_found))


@pytest.mark.parametrize("cell", sorted({cell for _, cell, _ in FAULTS.values()}))
def test_torch_beside_itself_has_no_fault_there(cell: str) -> None:
    assert failing(swept(TORCH, cell)) == set()


def test_a_fault_of_one_dtype_leaves_the_others_alone() -> None:
    candidate, _, _ = FAULTS["value in one dtype"]
    assert failing(swept(candidate, "exp/function/float32")) == set()


def test_a_fault_of_one_variant_leaves_the_others_alone() -> None:
    candidate, _, _ = FAULTS["value of one variant"]
    assert failing(swept(candidate, "div:floor_rounding/function/float32", "sample")) == set()


def test_what_the_candidate_lacks_is_absent_and_no_agreement() -> None:
    found = swept(FaultyTorch(missing=["erfinv"]), "erfinv/function/float32")
    assert found.status == "absent"
    assert (found.absent, found.lacks) == ("faulty has no erfinv", "erfinv")


def test_every_sample_is_counted_and_none_ends_the_others() -> None:
    candidate, cell, _ = FAULTS["value"]
    found = swept(candidate, cell, "sample")
    good = swept(TORCH, cell, "sample")
    assert found.samples == good.samples > 1
    passed, total = found.checks["value"]
    assert passed == 0
    assert total == good.checks["value"][1]


def test_an_operator_whose_contents_nobody_specifies_says_nothing_of_values() -> None:
    found = swept(TORCH, "bernoulli/function/float32", "sample")
    assert "value" not in found.checks
    assert found.vacuous == found.accepted > 0
    assert found.status == "vacuous"


def test_what_torch_itself_gives_differently_every_time_is_no_finding() -> None:
    """The gradient of `sgn` holds uninitialised memory in torch 2.0.1."""
    assert failing(swept(TORCH, "sgn/function/float32", "sample")) == set()


@pytest.mark.parametrize("kind", ["noncontiguous", "mutation"])
def test_random_numbers_drawn_into_a_view_are_random_in_its_base(kind: str) -> None:
    assert failing(swept(TORCH, "uniform/function/float32", kind)) == set()


def test_a_module_that_drops_in_place_leaves_nothing_to_compare() -> None:
    assert failing(swept(TORCH, "nn.Dropout/module/float64", "sample")) == set()


def test_a_sample_of_more_dimensions_than_numpy_has_is_left_out() -> None:
    found = swept(TORCH, "amax/function/float32", "error")
    assert any("dimensions" in reason for reason in found.left_out)


def test_what_refuses_for_some_random_numbers_only_is_no_finding() -> None:
    calls = [0]

    def now_and_then(bernoulli: Any) -> Any:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            calls[0] += 1
            if calls[0] % 2:
                raise RuntimeError("not with these numbers")
            return bernoulli(*args, **kwargs)

        return wrong

    found = swept(fault("bernoulli", now_and_then), "bernoulli/function/float32", "sample")
    assert failing(found) == set()
    assert any("some random numbers" in reason for reason in found.left_out)


def test_what_the_reference_refuses_for_the_numbers_that_it_drew_is_no_finding() -> None:
    """`lobpcg` of torch 2.0.1 starts at a random point, and raises for some of them."""

    def refuses_its_own_numbers(exp: Any) -> Any:
        def wrong(x: Any) -> Any:
            raise RuntimeError(f"cannot go on from {torch.rand(1)}")

        return wrong

    def refuses_all(exp: Any) -> Any:
        def wrong(x: Any) -> Any:
            raise RuntimeError("cannot")

        return wrong

    array = Array(np.ones(2, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    program = Program(calls, (array,))
    for replacement, failed in ((refuses_its_own_numbers, []), (refuses_all, ["errors"])):
        found = Judge(Pair(fault("exp", replacement), TORCH)).judge(program)
        assert [failure.check for failure in found.failures] == failed
        assert bool(found.left_out) is not bool(failed)


def test_a_reference_whose_shape_wavers_is_no_evidence() -> None:
    turns = [0]

    def longer_each_time(exp: Any) -> Any:
        def wrong(x: Any) -> Any:
            turns[0] += 1
            return exp(x).expand(turns[0], *x.shape)

        return wrong

    array = Array(np.ones(2, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    program = Program(calls, (array,))
    assert is_nondeterministic(program, fault("exp", longer_each_time))
    assert not is_nondeterministic(program, TORCH)
    judge = Judge(Pair(fault("exp", longer_each_time), TORCH))
    judged = [judge.judge(program) for _ in range(5)]
    assert {found.left_out for found in judged} == {
        "faulty gives different results in two runs"
    }  # however often it occurs


@pytest.mark.parametrize("is_nondeterministic", [True, False])
def test_a_reference_that_refuses_for_another_reason_each_time_is_no_evidence(is_nondeterministic: bool) -> None:
    bins = [0]

    def refusing(exp: Any) -> Any:
        def refused(x: Any) -> Any:
            bins[0] += is_nondeterministic
            raise RuntimeError(f"bins must be > 0, but got {-bins[0]} for dimension 4")

        return refused

    array = Array(np.ones(2, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    found = Judge(Pair(fault("exp", refusing), TORCH)).judge(Program(calls, (array,)))
    assert found.left_out == ("faulty gives different results in two runs" if is_nondeterministic else "")
    assert [failure.check for failure in found.failures] == ([] if is_nondeterministic else ["errors"])


@pytest.mark.parametrize("reference", [fault("cosh", other_every_time), TORCH])
def test_a_candidate_that_differs_from_itself_as_the_reference_does_is_no_finding(reference: Framework) -> None:
    array = Array(np.ones(2, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "cosh", (Ref(0),), {}, 1))
    found = Judge(Pair(reference, fault("cosh", other_every_time))).judge(Program(calls, (array,)), closely=True)
    assert [failure.check for failure in found.failures] == (["repeat"] if reference is TORCH else [])


def test_a_reference_that_takes_nothing_of_memory_nobody_wrote_into_is_no_evidence() -> None:
    """`baddbmm` of torch 2.0.1 with ``beta=0`` multiplies uninitialised memory by zero, which gives NaN for NaN."""
    stirred: list[Any] = []

    class Noting(FaultyTorch):
        def tensor(self, array: Array, *args: Any, **kwargs: Any) -> Any:
            stirred.append(array.data)
            return super().tensor(array, *args, **kwargs)

    array = Array(np.ones(2, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    assert not is_nondeterministic(Program(calls, (array,)), Noting())
    assert any(np.isnan(data).all() for data in stirred)


def test_memory_of_the_size_of_a_result_is_filled_before_the_reference_is_run_again() -> None:
    """Unwritten parts of a result then have other contents in the second run."""
    made: list[tuple[int, ...]] = []

    class Noting(FaultyTorch):
        def tensor(self, array: Array, *args: Any, **kwargs: Any) -> Any:
            made.append(array.data.shape)
            return super().tensor(array, *args, **kwargs)

    array = Array(np.ones((0, 4), "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "sum", (Ref(0),), {}, 1))
    assert not is_nondeterministic(Program(calls, (array,)), Noting())
    assert () in made


@pytest.mark.parametrize("sign", [1, -1])
def test_a_reference_whose_result_is_infinity_times_what_lies_beyond_is_no_evidence(sign: int) -> None:
    def one_further(exp: Any) -> Any:
        return lambda x: sign * math.inf * x.as_strided((1,), (1,), x.storage_offset() + x.numel())

    array = Array(np.ones(3, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    assert slots_read_out_of_bounds(Program(calls, (array,)), fault("exp", one_further)) == {1}


@pytest.mark.parametrize("shape", [(2,), (0,), ()], ids=str)
def test_a_reference_that_reads_beyond_its_inputs_is_no_evidence(shape: tuple[int, ...]) -> None:
    def one_further(exp: Any) -> Any:
        return lambda x: exp(x).sum() + x.as_strided((1,), (1,), x.storage_offset() + x.numel())

    array = Array(np.ones(shape, "float32"), "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "exp", (Ref(0),), {}, 1))
    assert slots_read_out_of_bounds(Program(calls, (array,)), fault("exp", one_further)) == {1}
    assert not slots_read_out_of_bounds(Program(calls, (array,)), TORCH)
