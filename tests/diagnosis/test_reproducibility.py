"""If the reference gives another result when it runs again, the difference is no evidence against the candidate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autotest import Divergence, random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.reproducibility import runs_again
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Program
from autotest.results.ledger import Ledger
from autotest.trials.decorated import Test as OneTest
from autotest.trials.judgement import Diverged, Rejected
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch
from tests.support.running import trials


def body() -> Any:
    return dual.exp(random_tensor(ndim=2, dim0=4, dim1=5, low=-1, high=1))


def odd_once(exp: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return NaN in the first call, as uninitialised memory may contain, and the right result in later calls."""
    calls = [0]

    def wrong(x: Any) -> Any:
        calls[0] += 1
        return exp(x) + (float("nan") if calls[0] == 1 else 0.0)

    return wrong


def other_every_time(exp: Callable[[Any], Any]) -> Callable[[Any], Any]:
    calls = [0]

    def wrong(x: Any) -> Any:
        calls[0] += 1
        return exp(x) * (1 + calls[0])

    return wrong


@pytest.mark.parametrize("fault", [odd_once, other_every_time])
@pytest.mark.parametrize("settings", [{}, {"rtol": 1e-4, "atol": 1e-5}], ids=["default", "given tolerance"])
def test_a_reference_that_does_not_agree_with_itself_accuses_nobody(fault, settings) -> None:
    pair = Pair(FaultyTorch({"exp": fault}), TorchFramework())
    test = OneTest("test_it.py::test_it", body, Settings(**settings))
    outcome = run_trial(body, 5, test.settings, pair)
    assert outcome.mismatches
    judgement = FailedTrial(test, outcome, pair).judged(Ledger())
    assert isinstance(judgement, Rejected)
    assert judgement.rejection.reason == (
        "exp: NotRepeatable: faulty gives a different result when it runs again: it reads uninitialised memory"
    )


def test_a_reference_that_finds_the_same_beyond_its_inputs_in_every_run_accuses_nobody() -> None:
    def reads_on(exp: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def wrong(x: Any) -> Any:
            end = x.storage_offset() + x.numel()
            inside = x.untyped_storage().nbytes() // x.element_size() > end
            return exp(x) + (x.as_strided((1,), (1,), end) if inside else 1)

        return wrong

    def one() -> Any:
        return dual.exp(random_tensor(ndim=2, low=-1, high=1, dtype="float32", layout="contiguous"))

    test = OneTest("test_it.py::test_it", one, Settings())
    outcome = run_trial(one, 5, test.settings, Pair(FaultyTorch({"exp": reads_on}), TorchFramework()))
    assert outcome.mismatches
    judgement = FailedTrial(test, outcome, outcome.recorder.pair).judged(Ledger())
    assert isinstance(judgement, Rejected)
    assert judgement.rejection.reason == "exp: NotRepeatable: faulty reads memory next to its inputs"


@pytest.mark.parametrize("fault", [odd_once, other_every_time])
def test_a_candidate_that_does_not_agree_with_itself_is_found(fault, tmp_path: Path) -> None:
    with pytest.raises(Divergence):
        trials(body, tmp_path, FaultyTorch({"exp": fault}))


def test_what_the_reference_repeats_counts_beside_what_it_does_not() -> None:
    def two() -> Any:
        x = random_tensor(ndim=2, dim0=4, dim1=5, low=-1, high=1)
        return dual.exp(x), dual.sin(x)

    pair = Pair(FaultyTorch({"exp": other_every_time}), FaultyTorch({"sin": lambda sin: lambda x: sin(x) + 1}))
    test = OneTest("test_it.py::test_it", two, Settings())
    outcome = run_trial(two, 5, test.settings, pair)
    judgement = FailedTrial(test, outcome, pair).judged(Ledger())
    assert isinstance(judgement, Diverged)
    assert judgement.identity.operator == "sin"


def test_memory_of_the_sizes_that_a_program_uses_is_filled_before_it_runs_again() -> None:
    filled: list[np.ndarray[Any, Any]] = []

    class Noting(TorchFramework):
        def tensor(self, array: Any, *args: Any, **kwargs: Any) -> Any:
            filled.append(array.data)
            return super().tensor(array, *args, **kwargs)

    def rows() -> Any:
        return dual.sum(random_tensor(ndim=2, dim0=4, dim1=5, dtype="float32", layout="contiguous"), dim=1)

    program = run_trial(rows, 5, Settings(), Pair(TorchFramework(), TorchFramework())).program
    for once, again in runs_again(program, Noting()):
        assert once.keys() == again.keys()
    for shape in ((4, 5), (4,)):
        assert any(np.isnan(data).all() for data in filled if data.shape == shape)


def test_memory_of_other_sizes_that_a_call_reads_unwritten_is_another_when_it_runs_again() -> None:
    workspace = {"exp": lambda exp: lambda x: exp(x) + torch.empty(777, dtype=torch.int32)[5] % 1000}
    program = run_trial(body, 5, Settings(), Pair(TorchFramework(), TorchFramework())).program
    assert not _repeats(program, FaultyTorch(workspace))
    assert _repeats(program, TorchFramework())


def _repeats(program: Program, framework: Framework) -> bool:
    return all(
        np.array_equal(one.data, again[place].data)
        for once, again in runs_again(program, framework)
        for place, one in once.items()
    )
