"""A conversion of an input to another dtype has one right result, and no tolerance hides another one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch as real

import autotest as at
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Call, Captured, Ref, Root
from autotest.program.exact_conversions import exact_conversions
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch
from tests.support.running import trial


def truncated(bits: int) -> Any:
    """Return a conversion to the dtype that is asked for, of numbers whose last `bits` of float32 are cut off."""

    def replacement(convert: Any) -> Any:
        def called(x: Any, *dtype: Any) -> Any:
            whole = x.detach().as_subclass(real.Tensor).float().contiguous().numpy().view(np.uint32)
            return convert(real.from_numpy((whole >> bits << bits).view(np.float32)), *dtype)

        return called

    return replacement


def truncating_half() -> FaultyTorch:
    return FaultyTorch(tensors={"half": truncated(13), "to": truncated(13)}, origin=f"{__name__}:truncating_half")


def drawn(dtype: str = "float32", **named: Any) -> Any:
    return at.random_tensor(shape=(3, 4), low=1, high=2, dtype=dtype, requires_grad=False, **named)


BODIES = {
    "half": lambda: drawn().half(),
    "to": lambda: drawn().to(dual.float16),
    "a view": lambda: drawn(layout="transposed").half(),
    "to another": lambda: drawn().to(drawn("float16")),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_conversion_that_truncates_is_no_rounding(body: Any) -> None:
    pair = Pair(TorchFramework(), truncating_half())
    outcome = run_trial(body, 0, Settings(), pair)
    assert [item.symptom for item in outcome.mismatches] == ["value"]
    failed = FailedTrial(ATest("t", body, Settings()), outcome, pair)
    assert failed.cleared() is None
    finding = failed.diagnosed(RunContext(pair, Options(shrink=0.0, verify=False)), 0)
    assert finding.operator in ("half", "to")
    assert finding.verdict[0].startswith("torch is the specification: faulty differs in value")


def in_single(read: Any) -> Any:
    """Return a reading of numbers that rounds doubles to single precision."""
    return lambda x: read(x.float())


def reading_in_single() -> FaultyTorch:
    tensors = dict.fromkeys(("item", "tolist", "__float__"), in_single)
    return FaultyTorch(tensors=tensors, origin=f"{__name__}:reading_in_single")


READS = {
    "item": lambda: at.random_tensor(ndim=0, dtype="float64", requires_grad=False).item(),
    "float": lambda: float(at.random_tensor(ndim=0, dtype="float64", requires_grad=False)),
    "tolist": lambda: drawn("float64").tolist(),
}


@pytest.mark.parametrize("body", READS.values(), ids=READS)
def test_doubles_that_are_read_as_singles_are_no_rounding(body: Any) -> None:
    pair = Pair(TorchFramework(), reading_in_single())
    outcome = run_trial(body, 0, Settings(), pair)
    assert outcome.mismatches
    failed = FailedTrial(ATest("t", body, Settings()), outcome, pair)
    assert failed.cleared() is None
    finding = failed.diagnosed(RunContext(pair, Options(shrink=0.0, verify=False)), 0)
    assert finding.verdict[0].startswith("torch is the specification: faulty differs in value")


def test_bfloat16_is_rounded_to_the_nearest_too() -> None:
    assert trial(lambda: drawn().bfloat16(), FaultyTorch(tensors={"bfloat16": truncated(16)})).mismatches


def test_what_was_computed_is_converted_within_the_tolerance() -> None:
    def body() -> Any:
        computed = drawn() * 1
        return computed.half()

    assert not trial(body, truncating_half()).mismatches


def test_a_tolerance_that_the_test_gave_is_law() -> None:
    assert not trial(lambda: drawn().half(), truncating_half(), rtol=1e-3, atol=1e-3).mismatches


def test_a_whole_number_beside_a_step_is_converted_exactly() -> None:
    def one_less(convert: Any) -> Any:
        return lambda x: convert(x) - (x.dtype == real.float32)

    def body() -> Any:
        return at.random_tensor(shape=(3,), dtype="float32", contents="integers", low=1, high=9).int()

    pair = Pair(TorchFramework(), FaultyTorch(tensors={"int": one_less}))
    outcome = run_trial(body, 0, Settings(), pair)
    assert FailedTrial(ATest("t", body, Settings()), outcome, pair).cleared() is None


INPUTS = (
    Call("tensor", "float32", (Captured(0),), {}, 0),
    Call("tensor", "float64", (Captured(1),), {}, 1),
    Call("function", "exp", (Ref(0),), {}, 2),
)


@pytest.mark.parametrize(
    ("call", "exact"),
    [
        (Call("method", "half", (Ref(0),), {}, 3), True),
        (Call("method", "half", (Ref(1),), {}, 3), False),  # torch rounds to float32 first
        (Call("method", "float", (Ref(1),), {}, 3), True),
        (Call("method", "half", (Ref(2),), {}, 3), False),
        (Call("method", "to", (Ref(0),), {"dtype": Root("bfloat16")}, 3), True),
        (Call("method", "to", (Ref(0), Ref(2)), {}, 3), False),
        (Call("method", "to", (Ref(0), "cpu"), {}, 3), True),
        (Call("method", "to", (Ref(0), Root("complex64")), {}, 3), False),
        (Call("method", "exp", (Ref(0),), {}, 3), False),
        (Call("method", "item", (Ref(1),), {}, 3), True),
        (Call("method", "item", (Ref(2),), {}, 3), False),
        (Call("builtin", "float", (Ref(1),), {}, 3), True),
        (Call("builtin", "float", (1.5,), {}, 3), False),
    ],
)
def test_which_conversions_have_one_result(call: Call, exact: bool) -> None:
    assert exact_conversions((*INPUTS, call)) == ({3} if exact else set())


def test_what_is_written_into_a_conversion_need_not_be_exact() -> None:
    converted = Call("method", "half", (Ref(0),), {}, 3)
    assert not exact_conversions((*INPUTS, converted, Call("method", "add_", (Ref(3), 0.1), {}, 4)))
    assert not exact_conversions((*INPUTS, Call("method", "add_", (Ref(0), 0.1), {}, 3), converted._replace(slot=4)))
