"""If a body changes a mode of one framework only, the body is wrong, and the candidate is not accused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch as plain

from autotest import Divergence, random_tensor, torch
from autotest.base.errors import UsageError
from autotest.frameworks.registry import framework
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


class OfItsOwn(FaultyTorch):
    """torch as an independent framework: settings of the real torch have no effect on its `matmul` and `ones`."""

    def __init__(self) -> None:
        def matmul(real: Any) -> Any:
            def multiply(*args: Any) -> Any:
                with plain.autocast("cpu", enabled=False):
                    return real(*args)

            return multiply

        super().__init__({"matmul": matmul, "ones": lambda ones: lambda *size: ones(*size, dtype=plain.float32)})

    def told(self) -> Mapping[str, Any]:
        return {}


def square() -> Any:
    return random_tensor(shape=(3, 3), dtype="float32")


def test_real_autocast_around_dual_calls_is_told_as_the_tests_fault_at_the_call(tmp_path: Path) -> None:
    def body() -> Any:
        x = square()
        with plain.autocast("cpu", dtype=plain.bfloat16):
            return torch.matmul(x, x)

    with pytest.raises(
        UsageError, match=r"matmul was called after torch's own autocast had changed only that side"
    ) as told:
        trials(body, tmp_path, OfItsOwn())
    assert "return torch.matmul(x, x)" in str(told.traceback[-1].statement)
    assert not list(tmp_path.glob("failures/*"))


def test_what_was_told_before_a_tensor_is_made_is_told_in_words(tmp_path: Path) -> None:
    def body() -> Any:
        with plain.autocast("cpu", dtype=plain.bfloat16):
            return torch.matmul(square(), square())

    with pytest.raises(UsageError, match=r"^a tensor was made after torch's own autocast had changed only that side"):
        trials(body, tmp_path, OfItsOwn())


def test_a_default_dtype_that_the_body_sets_and_sets_back_on_one_side_is_told_as_the_tests_fault(
    tmp_path: Path,
) -> None:
    def body() -> Any:
        plain.set_default_dtype(plain.float64)
        try:
            return torch.ones(3) * square()
        finally:
            plain.set_default_dtype(plain.float32)

    with pytest.raises(
        UsageError, match=r"ones was called after torch's own set_default_dtype had changed only that side"
    ):
        trials(body, tmp_path, OfItsOwn())


@pytest.mark.oneflow
def test_gradients_that_the_candidate_alone_was_told_not_to_record_are_told_as_the_tests_fault(tmp_path: Path) -> None:
    import oneflow

    def body() -> Any:
        x = square()
        with oneflow.no_grad():
            return x + 1

    with pytest.raises(UsageError, match=r"add was called after oneflow's own no_grad had changed only that side"):
        trials(body, tmp_path, framework("oneflow"))


def wrong_at_first(real: Any) -> Any:
    """The same as `real` except in the first call, so that no replay shows the fault."""
    calls = []

    def called(*args: Any) -> Any:
        calls.append(args)
        return real(*args) + (len(calls) == 1)

    return called


def test_what_no_replay_shows_is_still_a_finding_where_both_sides_were_told_alike(tmp_path: Path) -> None:
    def body() -> Any:
        torch.set_default_dtype(torch.float64)
        try:
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
                x = torch.ones(3)
            return torch.relu(x)
        finally:
            torch.set_default_dtype(torch.float32)

    with pytest.raises(Divergence, match="relu, value"):
        trials(body, tmp_path, FaultyTorch({"relu": wrong_at_first}))


def test_what_replays_show_is_a_finding_also_where_one_side_alone_was_told_something(tmp_path: Path) -> None:
    def body() -> Any:
        x = square()
        with plain.autocast("cpu", dtype=plain.bfloat16):
            return torch.relu(x)

    faulty = OfItsOwn()
    faulty._replace["relu"] = lambda relu: lambda x: relu(x) + 1
    with pytest.raises(Divergence, match="relu, value"):
        trials(body, tmp_path, faulty)


@pytest.mark.parametrize("end", [AssertionError, pytest.skip.Exception, pytest.fail.Exception])
def test_what_a_body_raises_when_it_runs_again_hides_no_finding(tmp_path: Path, end: type[BaseException]) -> None:
    ran = []

    def body() -> Any:
        ran.append(1)
        if len(ran) > 1:
            raise end("another time")
        return torch.relu(square())

    with pytest.raises(Divergence, match="relu, value"):
        trials(body, tmp_path, FaultyTorch({"relu": wrong_at_first}))
    assert len(ran) == 2
