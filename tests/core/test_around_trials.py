"""The state that is set while trials run, and restored afterwards."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import pytest
import torch as plain

import generators
from autotest import Divergence, autotest, random_tensor, torch
from autotest.base.errors import NotDual, TooFewAccepted
from autotest.frameworks.registry import framework, pair
from autotest.running.runner import BEFORE_COLLECTION
from autotest.trials import memory
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, trial, trials


@pytest.fixture
def two_threads():
    before = plain.get_num_threads()
    plain.set_num_threads(2)
    yield
    plain.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_torch_computes_in_one_thread_while_trials_run_and_in_as_many_as_before_afterwards(tmp_path: Path) -> None:
    seen = set()

    def body():
        seen.add(plain.get_num_threads())
        return torch.relu(random_tensor(ndim=1))

    trials(body, tmp_path, n=2)
    assert seen == {1}
    assert plain.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_a_test_that_fails_leaves_the_number_of_threads_as_it_was(tmp_path: Path) -> None:
    def body():
        raise RuntimeError("the test's own")

    with pytest.raises(RuntimeError, match="own"):
        trials(body, tmp_path)
    assert plain.get_num_threads() == 2


@pytest.fixture
def collected_often():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collected_often")
def test_garbage_is_collected_less_often_while_trials_run_and_as_often_as_before_afterwards(tmp_path: Path) -> None:
    seen = set()

    def body():
        seen.add(gc.get_threshold()[0])
        return torch.relu(random_tensor(ndim=1))

    trials(body, tmp_path, n=2)
    assert seen == {BEFORE_COLLECTION}
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.usefixtures("collected_often")
def test_how_often_garbage_is_collected_is_the_tests_own_when_it_says_so(tmp_path: Path) -> None:
    def body():
        gc.set_threshold(0)
        return torch.relu(random_tensor(ndim=1))

    trials(body, tmp_path, n=2)
    assert gc.get_threshold()[0] == 0


@pytest.fixture
def never_collected():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("never_collected")
def test_what_a_trial_drew_is_freed_at_its_end_without_a_look_for_cycles(tmp_path: Path) -> None:
    def alive() -> int:
        return sum(type(found) is generators.Source for found in gc.get_objects())

    before, seen = alive(), set()

    def body():
        seen.add(alive() - before)
        return torch.relu(random_tensor(ndim=2))

    trials(body, tmp_path, n=3)
    assert seen == {1}


def test_large_modules_of_a_trial_are_freed_before_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MUCH", 50)
    seen = set()

    def body():
        seen.add(sum(type(found) is plain.nn.Linear and found.in_features == 31 for found in gc.get_objects()))
        return torch.nn.Linear(31, 3)(random_tensor(ndim=2, dim1=31))

    trials(body, tmp_path, n=3)
    assert seen == {0}


def test_a_body_that_is_left_with_gradients_off_leaves_them_on_for_the_next_trial(tmp_path: Path) -> None:
    def body():
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        random_tensor(ndim=1, dim0=3).view(7)

    seen = []

    def watched():
        seen.append((plain.is_grad_enabled(), plain.get_default_dtype()))
        body()

    with pytest.raises(TooFewAccepted):
        trials(watched, tmp_path, n=1)
    assert len(seen) > 1
    assert set(seen) == {(True, plain.float32)}
    assert plain.is_grad_enabled()
    assert plain.get_default_dtype() == plain.float32


@pytest.mark.filterwarnings("error")
def test_what_a_framework_warns_of_is_no_refusal(quick, against):
    def warns(relu):
        def warning(x):
            warnings.warn("relu will go", DeprecationWarning, stacklevel=2)
            return relu(x)

        return warning

    against(FaultyTorch({"relu": warns}))

    @autotest(n=1)
    def test_relu():
        return torch.relu(random_tensor())

    with pytest.warns(DeprecationWarning, match="relu will go"):
        test_relu()
    with warnings.catch_warnings(record=True) as shown:
        warnings.filterwarnings("ignore", "relu will", DeprecationWarning, r"autotest\.")
        test_relu()
    assert not shown


@pytest.mark.oneflow
def test_a_default_dtype_that_a_failing_body_set_is_neither_sides_afterwards(quick: object) -> None:
    import oneflow

    @autotest(n=2, pair=lambda: pair("torch", "oneflow"))
    def test_other_default():
        torch.set_default_dtype(torch.float64)
        return torch.lgamma(torch.ones(2, requires_grad=True))  # its result has no gradient in OneFlow

    with pytest.raises(Divergence):
        test_other_default()
    assert plain.get_default_dtype() is plain.float32
    assert oneflow.get_default_dtype() == oneflow.float32


@pytest.mark.oneflow
def test_a_default_dtype_that_one_side_alone_was_given_before_the_body_accuses_nobody():
    before = plain.get_default_dtype()
    plain.set_default_dtype(plain.float64)
    try:
        with pytest.raises(NotDual, match=r"default dtype of torch is float64 and that of oneflow float32 before"):
            trial(lambda: torch.ones(2) * random_tensor(shape=(2,)), framework("oneflow"))
        assert agrees(trial(lambda: torch.ones(2) * random_tensor(shape=(2,))))
    finally:
        plain.set_default_dtype(before)
