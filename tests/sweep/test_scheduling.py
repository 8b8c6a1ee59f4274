"""A sweep first runs everything once, and then spends its time where samples showed most that was new."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from autotest.results.sweep import Cell, CellDivergence, CellKey
from autotest.sweeping.scheduling import UnitAgenda
from autotest.sweeping.units import Unit

OPERATORS = [f"operator{number}" for number in range(20)]
#: The one of twenty operators whose mutations continue to show something new, and finally a fault.
TELLING = "operator13"
DTYPES = ("float32", "float64", "int64", "int32", "bool", "uint8")


def units() -> list[Unit]:
    """Return the units: a first pass over all operators, then their mutations by dtype."""
    first = [("sample", "float32", operator) for operator in OPERATORS]
    rest = [("mutation", dtype, operator) for dtype in DTYPES for operator in OPERATORS]
    return [
        Unit(number, "operators", CellKey(operator, "function", dtype), kind, number)
        for number, (kind, dtype, operator) in enumerate(first + rest)
    ]


def judge(unit: Unit) -> Cell:
    """Return the behaviour of a unit: ten equal samples, except for the mutations of one operator."""
    new = unit.key.name == TELLING and unit.kind == "mutation"
    cell = Cell(accepted=10, features={hash((unit.number, sample if new else 0)) for sample in range(10)})
    if new and unit.key.dtype == DTYPES[-1]:
        cell.diverged(CellDivergence("value", "differs", "a rare fault", "mutation 3"))
    elif not new:
        cell.features = {1}
    return cell


def judged(agenda: UnitAgenda) -> Iterator[tuple[Unit, Cell]]:
    for unit in agenda:
        cell = judge(unit)
        agenda.record_outcome(unit, cell, done=True)
        yield unit, cell


def until_a_fault(told: Iterable[tuple[Unit, Cell]]) -> int:
    """Return the number of units that were judged until one showed the fault."""
    return next(count for count, (_, cell) in enumerate(told, 1) if cell.divergences)


def test_a_rare_fault_where_samples_tell_something_new_is_found_sooner_than_in_turn() -> None:
    in_turn = until_a_fault((unit, judge(unit)) for unit in units())
    by_novelty = until_a_fault(judged(UnitAgenda(units(), first=20)))
    # Round robin reaches it among the last twenty of 140. By novelty, only this operator is mutated more than once.
    assert in_turn > 120
    assert by_novelty <= 20 + 20 + 5


def test_the_first_pass_comes_first_and_everything_comes_once() -> None:
    handed_out = [unit.number for unit, _ in judged(UnitAgenda(units(), first=20))]
    assert handed_out[:20] == list(range(20))
    assert sorted(handed_out) == list(range(140))


def test_the_same_is_told_so_the_same_is_chosen() -> None:
    once, again = ([unit for unit, _ in judged(UnitAgenda(units(), first=20))] for _ in range(2))
    assert once == again


def test_when_parts_are_handed_in_makes_no_difference() -> None:
    def order(parts: Callable[[Cell], list[Cell]]) -> list[int]:
        agenda, numbers = UnitAgenda(units(), first=20), []
        for unit in agenda:
            made = parts(judge(unit))
            for part in made:
                agenda.record_outcome(unit, part, done=part is made[-1])
            numbers.append(unit.number)
        return numbers

    def halves(cell: Cell) -> list[Cell]:
        features = sorted(cell.features)
        first = Cell(accepted=5, features=set(features[:5]), divergences=cell.divergences)
        return [first, Cell(accepted=5, features=set(features[5:])), Cell()]

    assert order(lambda cell: [cell]) == order(halves)


def test_a_search_goes_on_with_other_mutations_where_they_tell_something_new() -> None:
    after = list(itertools.islice(judged(UnitAgenda(units(), first=20, endless=True)), 140 + 30))[140:]
    assert {unit.turn for unit, _ in after} > {1, 2}
    assert {unit.kind for unit, _ in after} == {"mutation"}
    counts = [sum(unit.key.name == operator for unit, _ in after) for operator in OPERATORS]
    assert max(counts) == counts[OPERATORS.index(TELLING)] > 20
    assert len({unit.number for unit, _ in after} | set(range(140))) == 170


def test_a_search_that_was_interrupted_goes_on_after_its_turns() -> None:
    done = [unit for unit in units() if unit.kind == "mutation"]
    further = [Unit(unit.number, unit.database, unit.key, unit.kind, unit.seed, turn=3) for unit in done]
    agenda = UnitAgenda([], first=0, endless=True, further=further)
    assert {unit.turn for unit in itertools.islice(agenda, 40)} == {3}
