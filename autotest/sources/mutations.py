"""Mutates programs to make one of their calls less usual: other shapes, layouts, dtypes, values and arguments.

The reference runs each mutation first: its result, or its refusal, decides what the mutation shows.
"""

from __future__ import annotations

import collections
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from autotest.program import Program
from autotest.program.reduction import digest
from autotest.sources import mutated_arguments as arguments
from autotest.sources import mutated_inputs as inputs
from autotest.sources import mutated_layouts as layouts
from autotest.sources import mutated_numbers as numbers
from autotest.sources import mutated_shapes as shapes
from autotest.sources.mutated_inputs import Mutation

#: Probability that a mutation is followed by another one, after it has been used once alone.
_TWO: Final = 0.6


def mutations(
    programs: Sequence[Program], seed: int, count: int, first: Collection[str] = ()
) -> Iterator[tuple[str, Program]]:
    """Yield at most `count` mutations of `programs`, each with its name; the same ones for the same `seed`.

    Programs take turns. Every mutation is used once before any is used again, and those named in `first` come first.
    Results that equal one of `programs`, or an earlier result, are skipped: of small programs, one in seven would be.
    """
    source = random.Random(seed)
    names = list(MUTATIONS)
    source.shuffle(names)
    names.sort(key=lambda name: name not in first)
    used: collections.Counter[str] = collections.Counter()
    seen = {digest(program) for program in programs}
    found = 0
    for turn in range(count * 2):
        if not programs or found == count:
            return
        program = programs[turn % len(programs)]
        for name in sorted(names, key=used.__getitem__):
            mutated = MUTATIONS[name](program, source)
            if mutated is None:
                continue
            used[name] += 1
            combined_name = name
            if used[name] > 1:
                combined_name, mutated = _mutated_again(name, mutated, source)
            if (own := digest(mutated)) not in seen:
                seen.add(own)
                found += 1
                yield combined_name, mutated
                break


def _mutated_again(name: str, program: Program, source: random.Random) -> tuple[str, Program]:
    """Apply another mutation with probability `_TWO`."""
    if source.random() < _TWO:
        other = source.choice(list(MUTATIONS))
        twice = MUTATIONS[other](program, source)
        if twice is not None:
            return f"{name}, {other}", twice
    return name, program


#: Mutations of shapes, memory layouts and indices.
PLACES: Final[Mapping[str, Mutation]] = {
    "zero-size": shapes.zero_size,
    "no rows": shapes.no_rows,
    "size 1": shapes.size_one,
    "another size": shapes.another_size,
    "a large size": shapes.large,
    "one input empty": shapes.one_empty,
    "0-dim": shapes.scalar,
    "0-dim everywhere": shapes.scalars,
    "one dimension more": shapes.more_dimensions,
    "one dimension less": shapes.fewer_dimensions,
    "permuted": layouts.permuted,
    "channels last": layouts.channels_last,
    "expanded": layouts.expanded,
    "offset view": layouts.offset,
    "gaps": layouts.gaps,
    "in place through a view": layouts.through_a_view,
    "in place with gaps": layouts.into_gaps,
    "out= with gaps": layouts.out_with_gaps,
    "out= permuted": layouts.out_permuted,
    "whole numbers where it is written": numbers.with_output_dtype("int64"),
    "double precision where it is written": numbers.with_output_dtype("float64"),
    "a whole number twice": numbers.repeated,
    "an index with a new dimension": arguments.index(lambda parts: ((None, *parts), (*parts, None))),
    "an index with an ellipsis": arguments.index(lambda parts: ((Ellipsis, *parts), (*parts, Ellipsis))),
    "another index": arguments.index(arguments.parts_of(arguments.INDICES)),
    "an index up to the end": arguments.index(arguments.parts_of(arguments.UP_TO_THE_END)),
}
#: Mutations of the values of tensors and of other arguments.
CONTENTS: Final[Mapping[str, Mutation]] = {
    "another dtype": numbers.one_dtype,
    "another dtype everywhere": numbers.all_dtypes,
    "NaN": numbers.special((float("nan"),)),
    "infinity": numbers.special((float("inf"), float("-inf"))),
    "infinities only": numbers.special((float("inf"), float("-inf")), everywhere=True),
    "special numbers that meet": numbers.meeting,
    "negative zero and subnormals": numbers.special((-0.0, 1e-40, -1e-40)),
    "the greatest numbers": numbers.special((3.4e38, -3.4e38, 6.5e4)),
    "zeros": numbers.computed(np.zeros_like, "fiu"),
    "negated": numbers.computed(np.negative, "fi"),
    "whole numbers": numbers.computed(np.rint),
    "a hundred times greater": numbers.computed(lambda data: data * 100),
    "tiny numbers": numbers.computed(lambda data: data * 1e-20),
    "ties": numbers.ties,
    "extremes of integers": numbers.integers(lambda data: (-(1 << 63), (1 << 63) - 1), most=2),
    "integers that fractions round": numbers.beyond_fractions,
    "an index too great": numbers.integers(lambda data: (int(data.max()) + 1, 100, -100)),
    "an index below zero": numbers.integers(lambda data: (-1,)),
    "no gradient of one input": inputs.no_gradient,
    "no gradients": inputs.no_gradients,
    "another number": arguments.number,
    "the last dimension": arguments.last_dimension,
    "all of a number given to another": arguments.moved,
    "another list of numbers": arguments.listed,
    "no numbers": arguments.without_numbers,
    "numbers exchanged": arguments.exchanged,
    "counted from the end": arguments.from_the_end,
    "another fraction": arguments.fraction,
    "fractions of double precision": arguments.exact_fractions,
    "another flag": arguments.flag,
    "a number of another type": arguments.other_type,
    "another dtype asked for": arguments.dtype,
    "an argument left out": arguments.dropped,
    "the same tensor twice": arguments.twice(2),
    "the same tensor everywhere": arguments.twice(8),
    "a number for a tensor": arguments.numbers_of_tensors(1),
    "numbers for tensors": arguments.numbers_of_tensors(8),
}
MUTATIONS: Final[Mapping[str, Mutation]] = {**PLACES, **CONTENTS}
