"""The plan of features: what every twenty trials have, what comes first, and what follows a refusal."""

from __future__ import annotations

import itertools
import math

import pytest

from generators import GeneratorError, Schedule, Source, explored_array, using
from generators.levels import BLOCK, FACTORS, NAMES, PLACES, THOROUGH, THOROUGH_FACTORS, THOROUGHLY, USUAL
from generators.plan import DIFFERENT_TRIALS, row
from generators.source import TRIAL_BITS

#: Every second trial with NaN is transposed, whatever layout it had.
_MOVED = {("layout", "contiguous"): -1, ("layout", "transposed"): 1}
#: One trial with special numbers and one with many elements have doubles, whatever dtype they had.
_MADE_DOUBLE = 2
#: The blocks in which features that hide each other meet, and other ones.
LATE = range(6, 12)
EARLY = (*range(6), *range(12, 15))
SPECIAL, MANY = {"nan", "infinite", "tiny", "huge"}, {"long", "large"}


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("block", range(15))
def test_every_level_has_its_turns_in_every_twenty_trials(block: int, thorough: bool) -> None:
    rows = [row(THOROUGH * thorough + block * BLOCK + place) for place in range(BLOCK)]
    for factor, levels in (THOROUGH_FACTORS if thorough else FACTORS).items():
        for level, times in levels.items():
            found = sum(one.level(factor) == level for one in rows)
            moved = _MOVED.get((factor, level), 0)
            made = {"single": -_MADE_DOUBLE, "double": _MADE_DOUBLE}.get(level, 0)
            usual = [times + moved + made, times + moved, *([times] if block in LATE else [])]
            assert min(usual) <= found <= max(usual)


@pytest.mark.parametrize(("first", "offered"), [(0, USUAL), (THOROUGH, THOROUGHLY)])
def test_features_that_hide_each_other_meet_in_later_trials(first: int, offered: tuple[int, ...]) -> None:
    rows = [row(first + index) for index in range(DIFFERENT_TRIALS)]
    factors = range(len(NAMES))
    wanted = {
        (one, level, other, another)
        for one, other in itertools.combinations(factors, 2)
        for level, another in itertools.product(range(offered[one]), range(offered[other]))
    }
    found = {(one, each[one], other, each[other]) for each in rows for one, other in itertools.combinations(factors, 2)}
    assert len(wanted - found) < 0.02 * len(wanted)
    nan = [each for each in rows if each.level("values") == "nan"]
    assert {each.layout for each in nan} == {*range(offered[PLACES["layout"]])}
    assert {each.sizes for each in nan} == {*range(offered[PLACES["sizes"]])}


def test_nan_lies_both_ways_within_every_twenty_trials() -> None:
    for block in EARLY:
        rows = [row(block * BLOCK + place) for place in range(BLOCK)]
        assert {one.level("layout") for one in rows if one.level("values") == "nan"} == {"contiguous", "transposed"}


@pytest.mark.parametrize("block", EARLY)
def test_special_numbers_and_many_elements_are_of_both_precisions_within_every_twenty_trials(block: int) -> None:
    rows = [row(block * BLOCK + place) for place in range(BLOCK)]
    for factor, levels in (("values", SPECIAL), ("sizes", MANY)):
        assert {one.level("dtype") for one in rows if one.level(factor) in levels} == {"single", "double"}


def test_each_kind_of_special_numbers_is_of_doubles_in_some_trial() -> None:
    rows = [row(index) for index in range(6 * BLOCK)]
    assert {one.level("values") for one in rows if one.level("dtype") == "double"} >= SPECIAL


def test_an_expanded_array_has_another_of_its_shape_beside_it_within_twenty_trials() -> None:
    rows = [row(index) for index in range(BLOCK)]
    expanded = [one for one in rows if one.level("layout") == "expanded"]
    assert any(one.level("partner") == "same" and one.level("dtype") == "single" for one in expanded)
    assert all(one.level("values") != "zeros" for one in expanded)  # their only other number cannot be repeated


def test_the_first_trials_are_plain() -> None:
    assert set(row(0)) == {0}
    first = [row(index) for index in range(BLOCK)]
    # Some of NaN, and of special numbers and many elements, are made odder than they were dealt. The second row of NaN
    # has then swapped its numbers with the row of doubles.
    made = [one.level("values") in ("nan", "infinite") and one.layout > 0 and not one.dtype for one in first]
    made_double = [one.dtype > 0 and {one.level("values"), one.level("sizes")} & {*SPECIAL, "long"} for one in first]
    oddness = [sum(map(bool, one)) - made[at] - bool(made_double[at]) for at, one in enumerate(first)]
    assert oddness == sorted(oddness)
    assert not any(one.dtype for one in first[:5])  # layers have single precision, and so have their inputs


@pytest.mark.parametrize("start", [0, THOROUGH])
def test_pairs_that_no_trial_had_go_before_others(start: int) -> None:
    def covered(trials: int) -> int:
        return len(
            {
                (one, row(index)[one], two, row(index)[two])
                for index in range(start, start + trials)
                for one, two in itertools.combinations(range(len(NAMES)), 2)
            }
        )

    factors = THOROUGH_FACTORS if start else FACTORS
    levels = [sum(times > 0 for times in levels.values()) for levels in factors.values()]
    every = sum(one * two for one, two in itertools.combinations(levels, 2))
    assert covered(BLOCK) > 0.65 * BLOCK * math.comb(len(NAMES), 2)  # the greatest possible number in so few trials
    assert covered(6 * BLOCK) > 0.75 * every


def test_ordinary_numbers_lie_in_memory_in_every_way_within_twenty_trials() -> None:
    ordinary = {"unit", "signed", "wide", "whole", "ties"}
    lying = {one.level("layout") for index in range(BLOCK) if (one := row(index)).level("values") in ordinary}
    assert lying == set(FACTORS["layout"])


def test_a_trial_has_an_index_that_is_not_negative() -> None:
    with pytest.raises(GeneratorError, match="expected the index of a trial"):
        row(-1)


def test_only_a_thorough_run_comes_to_the_trials_of_half_precision() -> None:
    assert [*Schedule(50)] == [*range(50)]
    assert [*Schedule(50, thorough=True)] == [*range(BLOCK), *range(THOROUGH, THOROUGH + 30)]
    assert [*Schedule(3, first=18)] == [18, 19, 20]
    assert [*Schedule(3, first=18, thorough=True)] == [18, 19, THOROUGH]


def _drawn(index: int, **said: object) -> str:
    with using(Source(index << TRIAL_BITS | 5)):
        return explored_array(2, **said).dtype


@pytest.mark.parametrize("dtype", ["half", "bfloat16"])
def test_numbers_of_half_precision_are_of_every_kind_and_mostly_ordinary(dtype: str) -> None:
    rows = [row(THOROUGH + index) for index in range(9 * BLOCK)]
    kinds = [one.level("values") for one in rows if one.level("dtype") == dtype]
    assert {*kinds} == {*FACTORS["values"]}
    assert all(kinds.count(kind) < len(kinds) / 4 for kind in kinds)


def test_half_precision_is_drawn_where_the_dtype_is_open() -> None:
    dtypes = [_drawn(THOROUGH + place) for place in range(BLOCK)]
    assert [dtypes.count(name) for name in ("float32", "float64", "float16", "bfloat16")] == [10, 4, 3, 3]
    assert {_drawn(THOROUGH + place, dtype="float64") for place in range(BLOCK)} == {"float64"}


@pytest.mark.parametrize(
    "said", [{"low": 1e5}, {"low": 1.0, "high": 1.0001}, {"high": -1e5}, {"low": 0, "high": 1, "contents": "distinct"}]
)
def test_half_precision_is_not_drawn_where_it_does_not_hold_what_a_test_asks_for(said: dict[str, object]) -> None:
    dtypes = {_drawn(THOROUGH + place, **said) for place in range(BLOCK)}
    assert dtypes & {"float16", "bfloat16"} <= {"bfloat16"}  # it has the range of float32
    assert {"float32", "float64"} <= dtypes


def test_bounds_are_law_in_half_precision() -> None:
    for place in range(5 * BLOCK):
        with using(Source(THOROUGH + place << TRIAL_BITS | 5)):
            drawn = [explored_array(2, low=-0.3, high=2.1).data.astype(float) for _ in range(2)]
        assert all((one >= -0.3).all() and (one < 2.1).all() for one in drawn)


def test_a_trial_is_the_same_by_its_seed_alone() -> None:
    def drawn(index: int) -> object:
        with using(Source(index << TRIAL_BITS | 5)) as source:
            return explored_array().data.tobytes(), source.choices

    assert [drawn(index) for index in range(30)] == [drawn(index) for index in range(30)]


def test_what_was_drawn_is_drawn_again_from_its_choices_and_is_plain_without_them() -> None:
    with using(Source(19 << TRIAL_BITS)) as source:
        first = explored_array()
    with using(Source(0, source.choices)):
        again = explored_array()
    assert (first.data.tobytes(), first.layout) == (again.data.tobytes(), again.layout)
    with using(Source(19 << TRIAL_BITS, then="simplest")) as plain:
        assert explored_array().layout == "contiguous"
    assert set(plain.features.values()) == {0}


def run(refuses: object, needed: int = BLOCK) -> tuple[list[int], list[int]]:
    """Return the trials that ran, and the accepted ones."""
    schedule = Schedule(needed * 20)
    ran, accepted = [], []
    for index in schedule:
        features = {"values": row(index).values, "layout": row(index).layout, "dtype": row(index).dtype}
        refused = bool(refuses(row(index)))  # type: ignore[operator]
        schedule.record(index, features, refused=refused)
        ran.append(index)
        if not refused:
            accepted.append(index)
        if len(accepted) == needed:
            break
    return ran, accepted


def test_trials_come_in_order_while_nothing_is_refused() -> None:
    assert run(lambda one: False)[0] == [*range(BLOCK)]


def test_a_feature_that_is_always_refused_is_soon_left_alone() -> None:
    ran, accepted = run(lambda one: one.level("dtype") == "double")
    assert len(accepted) == BLOCK
    assert len(ran) - len(accepted) <= 4


def test_what_was_refused_beside_it_is_tried_again() -> None:
    _, accepted = run(lambda one: one.level("dtype") == "double")
    rows = [row(index) for index in accepted]
    for factor in ("values", "layout"):
        assert {one.level(factor) for one in rows} == set(FACTORS[factor])


def test_a_test_of_which_nearly_all_is_refused_has_its_trials_all_the_same() -> None:
    ran, accepted = run(lambda one: one.level("values") != "unit")
    assert len(accepted) == BLOCK
    assert len(ran) < 100


def test_no_trial_is_run_twice() -> None:
    ran, _ = run(lambda one: one.level("values") not in ("nan", "huge"))
    assert len(set(ran)) == len(ran)


def test_whoever_makes_the_choices_of_a_usual_trial_is_offered_no_half_precision() -> None:
    with using(Source(5, [])) as source:
        explored_array()
    with using(Source(THOROUGH << TRIAL_BITS | 5, [])) as thorough:
        explored_array()
    offered = [{choice.high for choice in each.choices if choice.kind == "index"} for each in (source, thorough)]
    assert 2 in offered[0]
    assert 2 not in offered[1]
