"""Finds what must be equal for a failure: indices with each other, an element with an argument, two sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from autotest.diagnosis.explaining.decisive_arguments import Argument, arguments_of
from autotest.diagnosis.explaining.decisive_counts import NamesOf, name_of
from autotest.diagnosis.explaining.outcomes import Numbers, OnPrograms, ProgramOutcome
from autotest.diagnosis.explaining.paired_numbers import OnInputs
from autotest.program import Program
from autotest.program.inputs import Input

#: The largest number of indices that are tried with different ones in their place.
_MOST_INDICES = 16
#: What is added to an argument and to the elements that are equal to it.
_ADDED = (1, 2, -1)


def needs_equal_indices(item: Input, others: Sequence[Input], run: OnInputs) -> bool:
    """Whether the failure needs equal ones among the indices in `item`: it is gone with any different ones.

    Args:
        item: an input of whole numbers.
        others: the other inputs. They are made long enough for different indices.
        run: runs the program with other inputs.
    """
    data, count = item.array.data, item.array.data.size
    if data.dtype.kind not in "iu" or not 1 < count <= _MOST_INDICES or len(np.unique(data)) == count:
        return False
    longer = [_grown(other, count) for other in others if other.array.data.dtype.kind == "f"]
    if not longer or (data < 0).any() or (data >= count).any() or run(longer) != "fails":
        return False
    rising = np.arange(count)
    orders = (rising, rising[::-1], np.roll(rising, 1))
    return all(
        run([*longer, item.with_data(order.reshape(data.shape).astype(data.dtype))]) == "passes" for order in orders
    )


def argument_met(program: Program, item: Input, run: OnPrograms, names_of: NamesOf) -> tuple[Argument, str] | None:
    """Return the argument that an element of `item` must be equal to, whatever both are, and its name; or None.

    Args:
        program: the failing program.
        item: one of its inputs.
        run: returns how a program ends on other inputs.
        names_of: returns the names of a call's positional arguments.
    """
    data = item.array.data
    for argument in arguments_of(program):
        value = argument.value
        if type(value) not in (int, float) or not (data == value).any():
            continue
        name = name_of(argument, names_of)
        if argument.may_be_a_dimension and (argument.key is not None or name is None):
            continue

        def moved(to: float, at: Numbers = data == value) -> list[Input]:
            return [item.with_data(np.where(at, np.asarray(to, data.dtype), data))]

        places = [to for to in (value + more for more in _ADDED) if not (data == to).any()]
        if any(run(argument.given(program, to), moved(to)) == "fails" for to in places) and not any(
            run(*changed) == "fails"
            for to in places
            for changed in ((program, moved(to)), (argument.given(program, to), []))
        ):
            return argument, name or argument.shown
    return None


def needs_square(item: Input, run: Callable[[Numbers], ProgramOutcome]) -> bool:
    """Whether the failure needs matrices in `item` whose two sizes are equal, whatever these are.

    Args:
        item: the only input of a program.
        run: runs the program with another array in its place.
    """
    data = item.array.data
    if data.ndim < 2 or data.shape[-1] != data.shape[-2] or data.shape[-1] < 2:
        return False
    size = data.shape[-1]

    def ending(rows: int, columns: int) -> ProgramOutcome:
        return run(np.pad(data, [(0, 0)] * (data.ndim - 2) + [(0, rows - size), (0, columns - size)], mode="wrap"))

    unequal = [(size + more, size + other) for more, other in ((0, 1), (1, 0), (2, 1), (1, 2), (0, size), (size, 0))]
    return ending(size + 1, size + 1) == "fails" and all(ending(*sizes) == "passes" for sizes in unequal)


def _grown(item: Input, count: int) -> Input:
    """Return `item` with each of its dimensions as long as `count`, if it is shorter; its numbers are repeated.

    A single number has one element of one dimension, of which it may be gathered, too.
    """
    data = np.atleast_1d(item.array.data)
    more = [(0, max(count - size, 0)) for size in data.shape]
    return item if not any(after for _, after in more) or not data.size else item.with_data(np.pad(data, more, "wrap"))
