"""The algebra: a generator has one value per trial; alternatives, arithmetic, filters and maps."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import generators
from generators import (
    NOTHING,
    Generator,
    GeneratorError,
    NotAValue,
    Source,
    Unsatisfiable,
    constant,
    nothing,
    oneof,
    pack,
    random,
    using,
)

AT_MODULE_LEVEL = random(0, 1_000_000)


def values(generator: Generator, count: int = 300, seed: int = 1) -> list[Any]:
    with using(Source(seed)):
        return [generator.eval() for _ in range(count)]


def test_a_generator_has_one_value_in_a_trial() -> None:
    channels = random(0, 1_000_000)
    with using(Source(1)):
        assert channels.value() == channels.value() == (channels + 0).value()


def test_a_generator_made_at_module_level_is_fresh_in_every_trial_and_the_same_for_the_same_seed() -> None:
    drawn = []
    for seed in (1, 2, 1):
        with using(Source(seed)):
            drawn.append(AT_MODULE_LEVEL.value())
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_value_is_not_inherited_by_a_generator_that_takes_a_freed_ones_place() -> None:
    with using(Source(1)) as source:
        drawn = set()
        for _ in range(100):
            drawn.add(random(0, 2**60).value())
            gc.collect(0)
        assert len(drawn) == len(source.choices) == 100


def test_eval_draws_anew_and_so_does_all_that_the_generator_is_made_of() -> None:
    part = random(0, 1_000_000)
    whole = part + 1
    with using(Source(1)):
        before = part.value()
        assert whole.eval() == part.value() + 1
        assert part.value() != before


def test_replaying_the_log_gives_every_value_again() -> None:
    low = random(1, 4)
    trial = generators.tuple(
        low,
        random(low, 9),
        random(0.0, 1.0) | nothing(),
        oneof("a", "b", "c", possibility=[0.2, 0.3, 0.5]),
        random(0, 100).filter(lambda value: value % 7 == 0),
        random(1, 4).flatmap(lambda count: generators.tuple(*[random() for _ in range(count)])),
        generators.random_array(ndim=2, contents="special").map(lambda drawn: drawn.data.tobytes()),
    )
    for seed in range(20):
        with using(Source(seed)) as first:
            drawn = trial.value()
        with using(Source(12345, forced=first.choices)) as again:
            assert trial.value() == drawn
        assert again.choices == first.choices


def test_alternatives_weigh_the_same_however_many_bars_join_them() -> None:
    counts = Counter(values(constant("a") | "b" | constant("c"), 6000))
    assert set(counts) == {"a", "b", "c"}
    assert all(1850 < count < 2150 for count in counts.values())
    assert (constant(1) | 2 | 3).size() == 3


def test_a_plain_value_may_stand_on_either_side_of_a_bar() -> None:
    assert set(values("zeros" | random(1, 3))) == {"zeros", 1, 2}
    assert set(values(random(1, 3) | "zeros")) == {"zeros", 1, 2}


def test_possibility_is_the_chance_of_the_first_of_two_or_one_for_each() -> None:
    assert 850 < Counter(values(oneof(0, 1, possibility=0.3), 3000))[0] < 950
    assert 1700 < Counter(values(oneof(0, 1, 2, possibility=[0.1, 0.3, 0.6]), 3000))[2] < 1900
    assert set(values(oneof(0, 1, possibility=1.0))) == {0}


def test_a_chance_beyond_one_is_told_as_that_of_the_first() -> None:
    with pytest.raises(
        GeneratorError, match=r"possibility=3\): expected the probability of the first alternative, from 0 to 1"
    ):
        oneof(1, 2, possibility=3)


@pytest.mark.parametrize("possibility", [1.5, -0.1, [0.5], [0.5, 0.6], [float("nan"), 1.0], "half", [1, None]])
def test_a_possibility_that_is_none_is_refused(possibility: Any) -> None:
    with pytest.raises(GeneratorError, match=re.escape(f"oneof(possibility={possibility!r})")):
        oneof(1, 2, possibility=possibility)


def test_alternatives_are_needed() -> None:
    with pytest.raises(GeneratorError, match="at least one alternative"):
        oneof()


def test_a_choice_of_functions_can_be_called() -> None:
    with using(Source(1)):
        function = oneof(operator.add, operator.mul)
        assert function(3, 4) in (7, 12)
        assert function(3, 4) == function.value()(3, 4)


def test_arithmetic_is_that_of_the_values() -> None:
    a, b = random(1, 100), random(1, 100)
    with using(Source(1)):
        x, y = a.value(), b.value()
        expected = {
            a + b: x + y,
            a + 3: x + 3,
            3 + a: 3 + x,
            a - b: x - y,
            10 - a: 10 - x,
            a - 10: x - 10,
            a * b: x * y,
            2 * a: 2 * x,
            a * 2: x * 2,
            a // 2: x // 2,
            100 // a: 100 // x,
            a % b: x % y,
            7 % a: 7 % x,
            -a: -x,
            (a + 1) * 2 - b: (x + 1) * 2 - y,
        }
        for generator, value in expected.items():
            assert generator.value() == value, generator


@pytest.mark.parametrize(
    ("built", "told"),
    [
        (lambda: random(1, 6) // random(0, 1), "random(1, 6) // random(0, 1) at {}: expected a divisor other"),
        (lambda: random(1, 2) + "a", "random(1, 2) + 'a' at {}: expected values that have +, got 1 + 'a'"),
        (lambda: -constant("a"), "-'a' at {}: expected a value that has a negative, got 'a'"),
    ],
)
def test_arithmetic_that_the_values_do_not_have_is_a_mistake_of_the_line_that_wrote_it(built: Any, told: str) -> None:
    generator, here = built(), f"{__file__}:{built.__code__.co_firstlineno}"
    with using(Source(1)), pytest.raises(GeneratorError, match=re.escape(told.format(here))) as raised:
        generator.value()
    assert raised.value.__cause__ is raised.value.__context__ is None


def test_both_sides_of_an_operator_follow_the_annotation_together() -> None:
    with using(Source(1)):
        assert isinstance((random() + random()).draw(float), float)
        assert isinstance((random() * 2).draw("Optional[_int]"), int)
        for _ in range(20):
            assert isinstance((random() + random()).draw("Union[_int, Tuple[_int, _int]]"), int)


def test_nothing_stays_nothing_through_whatever_is_made_of_it() -> None:
    def fail(value: Any) -> Any:
        raise AssertionError(value)

    with using(Source(1)):
        for generator in (
            nothing(),
            nothing() + 1,
            2 * nothing(),
            -nothing(),
            nothing().map(fail),
            nothing().filter(fail),
            nothing().flatmap(fail),
        ):
            assert generator.value() is NOTHING, generator


def test_nothing_is_one_object_and_leaves_its_place_in_a_tuple() -> None:
    assert pickle.loads(pickle.dumps(NOTHING)) is copy.deepcopy(NOTHING) is NOTHING
    assert str(NOTHING) == repr(NOTHING) == "NOTHING"
    assert generators.tuple(1, nothing(), 2).value() == (1, 2)


def test_a_tuple_draws_its_parts_and_hands_each_the_type_of_its_place() -> None:
    with using(Source(1)):
        first, second = generators.tuple(random(), random()).draw("Tuple[_int, _float]")
    assert (type(first), type(second)) == (int, float)


def test_pack_makes_a_generator_of_what_holds_one() -> None:
    size = random(1, 100)
    with using(Source(1)):
        assert pack(size) is size
        assert pack((2, size)).value() == (2, size.value())
        assert pack([2, (size,)]).value() == [2, (size.value(),)]
        unchanged = (1, 2)
        assert pack(unchanged).value() is unchanged


def test_map_and_flatmap_work_on_the_value() -> None:
    count = random(1, 5)
    lists = count.flatmap(lambda n: generators.tuple(*[random(10, 20) for _ in range(n)]))
    with using(Source(1)):
        assert count.map(str).value() == str(count.value())
        assert len(lists.value()) == count.value()
        assert lists.value() == lists.value()


def test_a_filter_lets_only_accepted_values_through() -> None:
    assert set(values(random(0, 10).filter(lambda value: value % 4 == 1))) == {1, 5, 9}


def test_a_filter_and_what_it_is_made_of_agree() -> None:
    whole = random(0, 100)
    even = whole.filter(lambda value: value % 2 == 0)
    with using(Source(1)):
        assert even.value() == whole.value()


def test_a_filter_leaves_what_was_drawn_before_it_as_it_was() -> None:
    low, high = random(0, 50), random(0, 50)
    ordered = generators.tuple(low, high).filter(lambda pair: pair[0] <= pair[1])
    for seed in range(30):
        with using(Source(seed)):
            before = low.value()
            assert ordered.value()[0] == low.value() == before


def test_an_impossible_filter_names_its_line_and_the_last_value() -> None:
    impossible = random(1, 3).filter(lambda value: value > 7)  # this line
    line = impossible_line()
    with using(Source(1)), pytest.raises(Unsatisfiable) as caught:
        impossible.value()
    assert re.search(
        rf"random\(1, 3\)\.filter\(\.\.\.\) at .*test_generators_algebra\.py:{line}: .* [12] was refused",
        str(caught.value),
    )


def impossible_line() -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, text in enumerate(lines, 1) if text.endswith("# this line"))


def test_a_filter_on_what_cannot_change_gives_up_at_once() -> None:
    tried = []
    with using(Source(1)), pytest.raises(Unsatisfiable, match="it has no other value"):
        constant(3).filter(tried.append).value()
    assert tried == [3]


def test_a_filter_does_not_change_what_the_trial_has_used_already() -> None:
    size = random(1, 6)
    with using(Source(1)):
        used = size.value()
        other = size.filter(lambda value: value != used)
        with pytest.raises(Unsatisfiable, match="draw the filtered generator before the generators that it uses"):
            other.value()
        assert size.value() == used


def test_a_filter_can_be_satisfied_when_only_the_simplest_values_are_asked_for() -> None:
    with using(Source(1, then="simplest")):
        assert random(0, 10).filter(lambda value: value > 6).value() in (7, 8, 9)
        assert random(0, 10).value() == 0


def test_an_error_of_the_tests_own_function_comes_out_as_it_is() -> None:
    with using(Source(1)), pytest.raises(ZeroDivisionError):
        random(0, 10).filter(lambda value: 1 // 0).value()


def test_to_reaches_the_alternatives_and_returns_the_same_generator() -> None:
    low = random()
    either = low | nothing() | (random() + 1)
    assert either.to(float) is either
    assert all(isinstance(value, float) or value is NOTHING for value in values(either))
    with using(Source(1)):
        assert isinstance(low.value(), float)


def test_a_generator_shared_many_times_over_is_walked_once() -> None:
    generator: Generator = random(1, 2)
    for _ in range(60):
        generator = generator + generator
    with using(Source(1)):
        assert generator.to(int).eval() == 2**60


@pytest.mark.parametrize(
    "misuse",
    [
        bool,
        list,
        lambda generator: generator < 3,
        lambda generator: generator > 3,
        lambda generator: generator >= 3,
        lambda generator: generator == 3,
        lambda generator: generator != (3,),
        lambda generator: generator in [1, 2],
    ],
)
def test_a_generator_where_a_value_is_needed_says_so(misuse: Callable[[Any], object]) -> None:
    with pytest.raises(NotAValue, match=re.escape("random(1, 6) is a generator: write .value()")):
        misuse(random(1, 6))


def test_a_generator_is_no_number() -> None:
    with pytest.raises(TypeError):
        int(random(1, 6))  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        range(random(1, 6))  # type: ignore[call-overload]


def test_generators_among_themselves_compare_by_identity() -> None:
    a, b = random(1, 6), random(1, 6)
    assert a != b
    assert [a, b].index(b) == 1
    assert a != None  # noqa: E711


@pytest.mark.parametrize(
    "code",
    [
        "random(1, 6) | nothing()",
        "random(1, 6).to(int) + 1",
        "(random(1, 6) + 1) * 2 - (random(0.0, 1.0) - 3)",
        "-(random(1, 6) | 2)",
        "(random(1, 6) + 1) // 2 * 3",
        "random(1, 6) * (random(1, 6) // 2)",
        "random(1, 9) // (random(1, 6) * 2) % 5",
        "(random(1, 6) % 2).map(str)",
        "oneof(constant('a'), random(1, 6), possibility=[0.25, 0.75])",
        "tuple(random(1, 6), constant(3))",
        "random(random(1, 3), 6).to('Optional[_int]')",
        "random(1, 6).map(str)",
    ],
)
def test_a_generator_is_written_as_the_code_that_makes_it(code: str) -> None:
    made = eval(code, vars(generators))  # noqa: S307
    assert repr(made).replace("constant(2)", "2") == code


def test_a_generator_of_ones_own_draws_its_children_by_the_same_rules() -> None:
    class repeated(Generator):
        def __init__(self, item: Generator, times: int) -> None:
            super().__init__((item,))
            self.times = times

        def _draw(self, source: Source, annotation: Any) -> list[Any]:
            return [self.children[0].draw_in(source, annotation)] * self.times

    item = random()
    three = repeated(item, 3).to(int)
    with using(Source(1)):
        assert three.value() == [item.value()] * 3
        assert three.value() is three.value()
        assert isinstance(three.eval()[0], int)
    with pytest.raises(NotImplementedError, match="override _draw"):
        Generator().value()


@pytest.mark.parametrize("use", [range, int, float, len, "{}".format, [1, 2, 3].__getitem__])
def test_a_generator_where_a_value_is_needed_says_how_to_get_one(use):
    with pytest.raises(NotAValue, match=r"random\(1, 3\) is a generator: write \.value\(\)"):
        use(random(1, 3))
