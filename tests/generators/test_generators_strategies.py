"""Hypothesis strategies can be used as generators, and generators as strategies."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, find, given, settings
from hypothesis import strategies as st

from autotest import Divergence, UsageError, autotest, broadcast_tensors, choice_tensor, random_tensor, torch
from autotest.base.errors import TooFewAccepted
from autotest.base.options import Options
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.sources.hypothesis_strategies import arrays, strategy
from generators import (
    GeneratorError,
    Source,
    choice_array,
    indices,
    nothing,
    oneof,
    pack,
    random,
    random_array,
    random_shape,
    using,
)
from generators.shapes import given_shape
from generators.source import TRIAL_BITS
from tests.support.faulty import FaultyTorch, plus


def test_a_strategy_is_a_generator_wherever_one_is_made_of_values() -> None:
    drawn = set()
    for seed in range(12):
        with using(Source(seed << 30)):
            drawn.add(oneof(st.integers(3, 5), st.sampled_from("ab")).value())
    assert drawn <= {3, 4, 5, "a", "b"}
    assert len(drawn) > 2


def test_what_a_strategy_gives_is_the_same_for_the_same_trial() -> None:
    def drawn(seed: int) -> object:
        with using(Source(seed)):
            generator = pack(st.lists(st.integers()))
            return generator.value(), generator.value() is generator.value()

    assert [drawn(seed) for seed in range(5)] == [drawn(seed) for seed in range(5)]
    assert all(same for _, same in map(drawn, range(5)))


def test_what_a_strategy_gives_does_not_depend_on_what_else_is_imported(tmp_path, monkeypatch) -> None:
    def drawn() -> list[object]:
        found = []
        for seed in range(6):  # each takes milliseconds; of its hundred numbers, one in twenty may be a constant
            with using(Source(seed)):
                found.append(pack(st.lists(st.integers(), min_size=100)).value())
        return found

    before = drawn()
    (tmp_path / "others.py").write_text(f"NUMBERS = {[*range(1_000_003, 9_000_000, 40_009)]}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("others")
    assert drawn() == before


def test_a_strategy_is_accepted_by_dual_functions_and_tensors(against, quick) -> None:
    against()
    seen = []

    @autotest(n=5)
    def body() -> object:
        x = random_tensor(ndim=2, dim0=st.integers(2, 4), dim1=3, low=-1, high=1)
        seen.append(x.shape[0])
        return torch.sum(x, dim=st.sampled_from([0, 1]), keepdim=st.booleans())

    body()
    assert set(seen) <= {2, 3, 4}


@pytest.mark.parametrize(
    "draw",
    [
        lambda size: random(size, st.integers(6, 9)),
        lambda size: random_shape(size, [size]),
        lambda size: given_shape((size, 2)),
        lambda size: given_shape(st.tuples(size, size)),
        lambda size: random_array(
            (size, 3), dtype=st.just("int8"), low=size, high=st.just(5), layout=st.just("strided")
        ),
        lambda size: random_array((3,), dtype=int, contents=indices(size)),
        lambda size: choice_array(st.lists(size, min_size=1), size=(size,)),
        lambda size: choice_array(4, 4, replace=st.booleans(), p=st.just([0.25] * 4), dtype=st.just("int8")),
    ],
)
def test_a_strategy_is_accepted_by_each_generator_that_takes_generators(draw) -> None:
    for seed in range(4):
        with using(Source(seed << TRIAL_BITS)):
            value = draw(st.integers(1, 4)).value()
        assert value is not None


def test_a_strategy_is_accepted_wherever_tensors_take_a_generator(against, quick) -> None:
    against()
    seen = set()

    @autotest(n=20)
    def body() -> object:
        x, y = broadcast_tensors(2, ndim=st.integers(1, 2), low=st.just(0), dtype=st.just("float64"))
        z = random_tensor(shape=(st.integers(1, 3), 2))
        chosen = choice_tensor(
            st.lists(st.integers(0, 9), min_size=1),
            size=st.integers(1, 3),
            replace=st.just(True),
            dtype=st.sampled_from([torch.int64, "int32"]),
        )
        seen.add((max(x.ndim, y.ndim), z.shape[0]))
        return torch.sum(torch.add(x, y)), torch.sum(z, dim=random(st.just(0), st.just(2))), torch.sum(chosen)

    body()
    assert {rank for rank, _ in seen} == {1, 2}
    assert len({rows for _, rows in seen}) > 1


def test_a_strategy_is_accepted_as_a_generator_under_given(against, quick) -> None:
    against()
    seen = set()

    @settings(max_examples=5, database=None, deadline=None, derandomize=True)
    @given(st.integers(0, 1))
    @example(1)
    @autotest(n=2)
    def body(dim) -> object:
        x = random_tensor(ndim=2, dim0=st.integers(1, 4))
        seen.add((dim, x.shape[0]))
        return torch.sum(x, dim=dim, keepdim=st.booleans())

    body()
    assert {dim for dim, _ in seen} == {0, 1}
    assert {rows for _, rows in seen} <= {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("nothing_comes_of", "message"),
    [
        (st.data(), "expected a strategy of values; data\\(\\) works only in a test under @given"),
        (st.integers(0, 1).filter(lambda value: value > 3), "Hypothesis finds none; use a wider range"),
        (st.integers(3, 1), r"integers\(min_value=3, max_value=1\): Cannot have max_value=1 < min_value=3"),
    ],
)
def test_a_strategy_of_which_nothing_comes_is_an_error_that_names_it(nothing_comes_of, message: str) -> None:
    with using(Source(3)), pytest.raises(GeneratorError, match=message):
        pack(nothing_comes_of).value()


@settings(max_examples=40, database=None, deadline=None)
@given(data=st.data())
def test_a_filtered_generator_is_a_strategy_though_its_simplest_value_is_refused(data) -> None:
    assert data.draw(strategy(random(-2, 2).to(int).filter(bool))) in {-2, -1, 1}


@settings(max_examples=40, database=None, deadline=None)
@given(strategy((random(2, 9) | nothing()).map(lambda value: value)))
def test_a_generator_is_a_strategy(value) -> None:
    assert value in range(2, 9) or repr(value) == "NOTHING"


def test_hypothesis_shrinks_what_a_generator_draws() -> None:
    options = settings(database=None, deadline=None, suppress_health_check=[*HealthCheck], phases=[*Phase])
    assert find(strategy(random(0, 1000)), lambda value: value >= 17, settings=options, random=Random(0)) == 17
    # Its seed is fixed, because the result depends on chance.
    smallest = find(
        arrays(2, dtype=float, low=0, high=1), lambda array: array.shape[1] > 3, settings=options, random=Random(0)
    )
    assert smallest.shape[1] == 4


def test_arrays_are_those_of_tensors_in_a_given_test_with_dual_functions(against) -> None:
    against()
    sums = []

    @settings(max_examples=10, database=None, deadline=None)
    @given(arrays(1, low=-1, high=1, dtype=float))
    def body(array) -> None:
        assert torch.sum(torch.tensor(array)).item() == pytest.approx(float(np.sum(array)), abs=1e-2)
        sums.append(array)

    body()
    assert sums


def test_what_is_no_generator_is_no_strategy() -> None:
    with pytest.raises(GeneratorError, match="expected a generator"):
        strategy(3)


def test_a_seed_of_a_trial_does_not_matter_to_hypothesis() -> None:
    with using(Source(3 << TRIAL_BITS)):
        assert pack(st.just(4)).value() == 4


#: Fast, and the same in every run.
QUICK = settings(max_examples=30, database=None, deadline=None, derandomize=True)


def test_of_arrays_that_fail_alike_hypothesis_finds_one_of_zeros() -> None:
    options = settings(
        max_examples=20, database=None, deadline=None, suppress_health_check=[*HealthCheck], phases=[*Phase]
    )
    smallest = find(
        arrays(shape=(2, 3), dtype="float32", low=-9, high=9), lambda array: True, settings=options, random=Random(0)
    )
    assert (smallest == 0).all()
    positive = find(
        arrays(shape=(3,), low=3, high=9, dtype=float), lambda array: True, settings=options, random=Random(0)
    )
    assert ((positive >= 3) & (positive < 9)).all()


@QUICK
@given(arrays(2, dim0=3, dim1=st.integers(1, 4), dtype=st.sampled_from(["float32", "float64"]), low=-1, high=1))
def test_arrays_take_what_random_tensor_takes(array) -> None:
    assert array.shape[0] == 3
    assert 1 <= array.shape[1] <= 4
    assert ((array >= -1) & (array < 1)).all()


INNER = st.shared(strategy(random(1, 8)))


@QUICK
@given(arrays(2, dim1=INNER), arrays(2, dim0=INNER))
def test_arrays_have_the_size_of_a_shared_strategy_in_common(one, other) -> None:
    assert one.shape[1] == other.shape[0]


@QUICK
@given(arrays(shape=(), low=-3, high=3))
def test_an_array_without_dimensions_is_one_also_if_it_is_simplified(array) -> None:
    assert type(array) is np.ndarray
    assert array.dtype in ("float32", "float64")


def test_strategies_are_shown_as_they_were_written() -> None:
    assert repr(arrays(2, dim1=3)) == "arrays(dim1=3, ndim=2)"
    assert repr(strategy(random(0, 5))) == "strategy(random(0, 5))"


def test_what_arrays_cannot_be_is_told_at_the_line_of_the_test() -> None:
    with pytest.raises(TypeError, match="dim7"):
        arrays(2, dim7=3)

    @QUICK
    @given(arrays(low=3, high=1))
    def crossed(array) -> None: ...

    with pytest.raises(GeneratorError, match=rf"{Path(__file__).name}:\d+: expected finite numbers with low < high"):
        crossed()


def test_a_users_own_strategy_is_one() -> None:
    class Ours(st.SearchStrategy):  # type: ignore[misc]
        def do_draw(self, data: object) -> int:
            return 4

    with using(Source(1 << TRIAL_BITS)):
        assert pack(Ours()).value() == 4


def test_each_example_of_hypothesis_is_run_as_trials_and_the_smallest_that_fails_is_told(against, quick) -> None:
    against(FaultyTorch({"relu": lambda relu: lambda x: relu(x) + (x.numel() > 6)}))
    tried = []

    @QUICK
    @given(rows=st.integers(1, 9))
    @autotest(n=2)
    def body(rows) -> object:
        tried.append(rows)
        return torch.relu(random_tensor(1, rows, dtype="float32"))

    with pytest.raises(Divergence) as raised:
        body()
    assert tried[-1] == 7
    assert "trial 0 of base seed 0" in str(raised.value)


def test_what_one_example_left_is_not_tried_with_another(against, quick) -> None:
    tried = []

    @QUICK
    @given(rows=st.just(7))
    @autotest(n=2)
    def body(rows) -> object:
        tried.append(rows)
        return torch.relu(random_tensor(1, rows))

    against(FaultyTorch({"relu": plus(1.0)}))
    with pytest.raises(Divergence):
        body()
    assert [*quick.glob("failures/*")]
    tried.clear()
    against()
    body()
    assert {*tried} == {7}


def test_only_the_smallest_example_is_looked_into(against, quick, monkeypatch) -> None:
    monkeypatch.setenv("AUTOTEST_SHRINK", "5")
    seconds = []
    whole = FailedTrial.diagnosed

    def diagnosed(trial, context, index):
        seconds.append(context.options.shrink)
        return whole(trial, dataclasses.replace(context, options=Options(shrink=0, verify=False)), index)

    monkeypatch.setattr(FailedTrial, "diagnosed", diagnosed)
    against(FaultyTorch({"relu": plus(1.0)}))

    @QUICK
    @given(rows=st.integers(1, 6))
    @autotest(n=1)
    def body(rows) -> object:
        return torch.relu(random_tensor(1, rows))

    with pytest.raises(Divergence):
        body()
    assert seconds[-1] == 5.0
    assert {*seconds[:-1]} == {0.0}


def test_hypothesis_chooses_the_trials_of_an_example_and_finds_the_simplest(against, quick) -> None:
    against(FaultyTorch({"tanh": lambda tanh: lambda x: tanh(x) + 0.5 * (x < 0)}))
    seen = set()

    @QUICK
    @given(st.just(1))
    @autotest(n=1)
    def body(one) -> object:
        tensor = random_tensor(ndim=2)
        seen.add(tensor.pytorch.detach().numpy().tobytes())
        return torch.tanh(tensor)

    with pytest.raises(Divergence) as raised:
        body()
    assert len(seen) > 3
    assert "trial 1 of base seed 0" in str(raised.value)  # the first with negative numbers


def test_an_example_that_the_reference_refuses_is_replaced_by_another(against, quick) -> None:
    against()
    accepted = set()

    @QUICK
    @given(dim=st.integers(-4, 4))
    @autotest(n=1)
    def body(dim) -> object:
        result = torch.sum(random_tensor(ndim=2), dim=dim)
        accepted.add(dim)
        return result

    body()
    assert accepted == {-2, -1, 0, 1}


def test_a_written_example_that_the_reference_refuses_is_an_error(against, quick) -> None:
    against()

    @QUICK
    @given(dim=st.integers(0, 1))
    @example(dim=0)
    @example(dim=7)
    @autotest(n=1)
    def body(dim) -> object:
        return torch.sum(random_tensor(ndim=2), dim=dim)

    with pytest.raises(TooFewAccepted, match="Dimension out of range"):
        body()


def test_autotest_above_given_says_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"write @given\(...\) above @autotest"):

        @autotest()
        @given(st.integers())
        def body(number) -> None: ...


def test_a_strategy_before_a_bar_says_what_to_write(against) -> None:
    against()

    @autotest(n=1)
    def body() -> object:
        return torch.sum(random_tensor(2), dim=st.just(0) | random(0, 2))

    with pytest.raises(UsageError, match=r"write `generator \| strategy`"):
        body()
