"""Generates the samples of a unit: those of a database, or mutations of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from autotest.frameworks.samples import Sample, SampleDatabase
from autotest.program import Program
from autotest.program.semantics import is_class
from autotest.results.sweep import CellKey
from autotest.sources.hard_inputs import hard_inputs
from autotest.sources.mutated_inputs import has_single_elements
from autotest.sources.mutations import CONTENTS, PLACES, mutations
from autotest.sources.special_points import special_points
from autotest.sweeping.sample_cache import SampleCache
from autotest.sweeping.units import FIRST, Unit, digest

#: About how many samples of a unit are mutated; into how many mutations in total, by dtype, and for other dtypes.
_MUTATED: Final = 24
_MUTATIONS: Final[Mapping[str, int]] = {"float32": 96, "float64": 44, "int64": 52}
_FEW: Final = 26
#: Number of mutations for cells that have neither a common form nor float32: these differ in both.
_BOTH: Final = 40
#: Programs with several elements get this many mutations for each one of a program with at most one.
_SEVERAL: Final = 3
#: Dtypes in which samples with an optional argument more or fewer are also mutated, half as often as ordinary ones.
_OPTIONED_DTYPES: Final = ("float32", "int64")
#: Maximum number of programs of a cell with hard inputs.
_HARD: Final = 40


def samples(unit: Unit, database: SampleDatabase, kept: SampleCache | None = None) -> Iterator[Sample]:
    """Yield the samples of `unit`; ordinary samples come from the cache `kept` if it has them."""
    key, kept = unit.key, kept or SampleCache()
    if unit.kind == "sample":
        yield from kept.ordinary(unit, database)
        return
    if unit.kind not in ("mutation", "special", "hard"):
        yield from database.samples(key.operator, key.form, key.dtype, unit.kind, unit.seed)  # type: ignore[arg-type]
        return
    ordinary = [sample.program for sample in kept.ordinary(unit, database) if sample.program is not None]
    # A program that only constructs a module is there because torch refuses it. If torch accepts it after a mutation,
    # its parameters are random.
    programs = [program for program in ordinary if not is_class(program.calls[-1])]
    if unit.kind == "special":
        yield from (Sample(program) for _, program in special_points([*programs, *_optioned(unit, database, kept)]))
        return
    # If there are many samples, take some that are far apart.
    some = programs[:: max(1, len(programs) // _MUTATED)]
    if unit.kind == "hard":
        yield from (Sample(program) for _, program in hard_inputs(some, _HARD))
        return
    if key.form in FIRST and key.dtype in _OPTIONED_DTYPES:
        # An option has an effect on some inputs only, and together with some other options only.
        optioned = _optioned(unit, database, kept)
        some += optioned[:: max(1, 2 * len(optioned) // _MUTATED)]
    drawn = f"{key.form}/{unit.turn}" if unit.turn else key.form
    # The other forms compute the same at other memory locations; other dtypes differ in their numbers.
    first = {**({} if key.form in FIRST else PLACES), **({} if key.dtype == "float32" else CONTENTS)}
    for _, mutated in mutations(_mostly_of_several(some), digest(unit.seed, drawn), _times(key), first):
        if not _belongs_elsewhere(mutated, unit):
            yield Sample(mutated)


def _optioned(unit: Unit, database: SampleDatabase, kept: SampleCache) -> list[Program]:
    return [sample.program for sample in kept.optioned(unit, database) if sample.program is not None]


def _mostly_of_several(programs: Sequence[Program]) -> list[Program]:
    """Return `programs` with those of several elements repeated: mutations of the others soon repeat each other."""
    few = [program for program in programs if has_single_elements(program)]
    several = [program for program in programs if not has_single_elements(program)]
    times = math.ceil(_SEVERAL * len(few) / len(several)) if several else 1
    return [*(several * max(1, times)), *few]


def _belongs_elsewhere(program: Program, unit: Unit) -> bool:
    """Whether `program` no longer has a tensor of its cell's dtype, only of dtypes that have cells of their own."""
    dtypes = {call.target for call in program.inputs()}
    return unit.key.dtype not in dtypes and not dtypes.isdisjoint(unit.dtypes)


def _times(key: CellKey) -> int:
    """Return the number of mutations for a cell: most for the forms and dtypes that all candidates have."""
    if key.form in FIRST:
        return _MUTATIONS.get(key.dtype, _FEW)
    return _FEW if key.dtype == "float32" else _BOTH
