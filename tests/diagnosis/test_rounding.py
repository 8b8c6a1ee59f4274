"""Rounding by another order of evaluation is never a finding, and a single wrong element always is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import cleared, examine
from autotest.program import Array, Call, Program, Ref, Root
from autotest.program.rewriting import tensor_call
from autotest.replaying.agreement import agree
from tests.diagnosis.ordering import Case, case
from tests.support.faulty import FaultyTorch
from tests.support.running import pair_with

#: So strict that every difference has to be judged.
STRICT = Settings(rtol=0.0, atol=0.0)


def alarms(seeds: range) -> tuple[list[int], int]:
    """Return the seeds whose rounding was judged as a fault, and the number of judged seeds."""
    wrong, judged = [], 0
    for seed in seeds:
        one = case(seed)
        pair = one.pair()
        agreement = agree(one.program, pair, STRICT)
        assert not agreement.refused, agreement.refused
        if agreement.mismatches:
            judged += 1
            if cleared(agreement, pair, STRICT) is None:
                wrong.append(seed)
    return wrong, judged


def missed(seeds: range) -> tuple[list[int], int]:
    """Return the seeds whose wrong element was missed, and the number of seeds with one."""
    silent, planted = [], 0
    for seed in seeds:
        one = case(seed)
        random = np.random.Generator(np.random.SFC64(seed + 1))
        at = int(random.integers(0, one.rounding.size))
        amount = float(20 * one.rounding.ravel()[at]) * float(random.uniform(1.1, 3))
        if not _representable(one, at, amount):
            continue
        planted += 1
        pair = one.pair(lambda result, at=at, amount=amount: _with_error(result, at, amount))
        agreement = agree(one.program, pair, STRICT)
        if not agreement.mismatches or examine(agreement, pair, STRICT).verdict.blame != "candidate":
            silent.append(seed)
    return silent, planted


def _representable(one: Case, at: int, amount: float) -> bool:
    """Half precision ends at 65,504, and very small numbers become zero in it."""
    limit = 1e4 if one.dtype == "float16" else 1e37
    least = 1e-4 if one.dtype == "float16" else 1e-30
    return least < amount < limit


def _with_error(result: Any, at: int, amount: float) -> Any:
    changed = result.double().clone().contiguous()
    changed.reshape(-1)[at] += amount
    return changed.to(result.dtype)


def test_another_order_of_evaluation_is_no_alarm() -> None:
    wrong, judged = alarms(range(84))
    assert judged > 30
    assert wrong == []


def test_one_wrong_element_is_always_seen() -> None:
    silent, planted = missed(range(84))
    assert planted > 40
    assert silent == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_another_order_of_evaluation_is_no_alarm_in_5000_trials() -> None:
    wrong, judged = alarms(range(5000))
    assert judged > 2000
    assert wrong == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_one_wrong_element_is_always_seen_in_5000_trials() -> None:
    silent, planted = missed(range(5000))
    assert planted > 2000
    assert silent == []


RUNNING_SUM = np.random.Generator(np.random.SFC64(9)).uniform(-9, 9, (2, 2691)).astype(np.float32)


def blamed_for_a_running_sum(cumsum: Callable[..., Any]) -> str:
    array = Array(RUNNING_SUM, "float32")
    calls = (tensor_call(0, 0, array, requires_grad=False), Call("function", "cumsum", (Ref(0), 1), {}, 1))
    pair = pair_with(FaultyTorch({"cumsum": lambda original: cumsum}))
    return examine(agree(Program(calls, (array,)), pair, STRICT), pair, STRICT).verdict.blame


def added_one_by_one(x: Any, dim: int) -> Any:
    return torch.from_numpy(np.add.accumulate(x.numpy(), axis=dim))


def wrong_at_its_end(x: Any, dim: int) -> Any:
    return torch.cumsum(x, dim) - (torch.arange(x.shape[dim]) >= 2688) * 0.01


def test_a_long_running_sum_in_its_own_precision_is_no_alarm() -> None:
    assert blamed_for_a_running_sum(added_one_by_one) == "rounding"


def test_a_long_running_sum_that_is_wrong_at_its_end_is_seen() -> None:
    assert blamed_for_a_running_sum(wrong_at_its_end) == "candidate"


#: Six channels of positive numbers and six of negative ones, so that the sum over a kernel of 588 numbers cancels.
IMAGE = np.random.Generator(np.random.SFC64(9)).uniform(0.5, 1.5, (1, 12, 22, 22)).astype(np.float32)
IMAGE[:, 6:] *= -1
KERNEL = np.random.Generator(np.random.SFC64(8)).uniform(0.5, 1.5, (8, 12, 7, 7)).astype(np.float32)


def blamed_for_a_convolution(conv2d: Callable[..., Any]) -> str:
    arrays = (Array(IMAGE, "float32"), Array(KERNEL, "float32"))
    inputs = [tensor_call(slot, slot, array, requires_grad=False) for slot, array in enumerate(arrays)]
    calls = (*inputs, Call("function", "nn.functional.conv2d", (Ref(0), Ref(1)), {}, 2))
    pair = pair_with(FaultyTorch({"nn.functional.conv2d": lambda original: conv2d}))
    return examine(agree(Program(calls, arrays), pair, STRICT), pair, STRICT).verdict.blame


def convolved_term_by_term(x: Any, weight: Any) -> Any:
    windows, kernels = torch.nn.functional.unfold(x, 7)[0], weight.flatten(1)
    sums = torch.zeros(8, windows.shape[1], dtype=x.dtype)
    for window, factors in zip(windows, kernels.T, strict=True):
        sums = sums + factors[:, None] * window
    return sums.reshape(1, 8, 16, 16)


def wrong_in_its_last_window(x: Any, weight: Any) -> Any:
    result = torch.conv2d(x, weight)
    result[0, 7, 15, 15] += 0.05
    return result


def test_a_sum_over_a_large_kernel_in_its_own_precision_is_no_alarm() -> None:
    assert blamed_for_a_convolution(convolved_term_by_term) == "rounding"


def test_a_convolution_that_is_wrong_in_one_window_is_seen() -> None:
    assert blamed_for_a_convolution(wrong_in_its_last_window) == "candidate"


@pytest.mark.parametrize("named", [{}, {"dtype": Root("float32")}], ids=["default", "float32"])
def test_numbers_that_the_program_gives_itself_are_judged_as_captured_ones(named: dict[str, Root]) -> None:
    def in_sequence(x: Any) -> Any:
        return torch.tensor(np.add.accumulate(x.numpy())[-1] / x.numpy().dtype.type(x.numel()))

    numbers = [10000.0, 10000.0, -10000.0, 2.1949851, -10000.0]
    calls = (Call("function", "tensor", (numbers,), named, 0), Call("function", "mean", (Ref(0),), {}, 1))
    pair = pair_with(FaultyTorch({"mean": lambda mean: in_sequence}))
    settings = Settings()
    agreement = agree(Program(calls, ()), pair, settings)
    assert agreement.mismatches
    assert cleared(agreement, pair, settings) is not None
