"""Finds the whole numbers in calls that a failure needs: `out_features` of 9 or more, a `kernel_size` of 3.

Such a number often has to suit other numbers of the program. Each other one is therefore tried in several programs that
fail like the first one: with larger inputs, with different numbers in them, and with the other equal sizes changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from autotest.diagnosis.explaining.decisive_arguments import Argument, arguments_of, filled, other_numbers
from autotest.diagnosis.explaining.outcomes import OnPrograms, ProgramOutcome, together
from autotest.program import Call, Program, leaves, with_leaves
from autotest.program.inputs import Input
from autotest.program.rewriting import with_call, with_number

#: Returns the names of the positional arguments of a call; empty if they are unknown.
NamesOf: TypeAlias = Callable[[Call], Sequence[str]]

#: The names of sizes that are called dimensions.
_SIZES = frozenset(("embedding_dim", "embed_dim", "kdim", "vdim"))
#: The largest number of programs in which each other number is tried, and of elements that an input of them has.
_MOST, _LARGEST = 6, 1 << 12
#: The largest product of the numbers in a call and the size of its inputs: so many elements a result may have.
_ELEMENTS = 1 << 24
#: How programs end that refute a claim: with another number or size, the same fault may show in another way.
_DIFFERENT = frozenset[ProgramOutcome](("fails", "differs"))
#: How many times larger inputs are: enough for a square of twice the factor, as of `pixel_shuffle`.
_LARGER = 4
#: How much greater numbers are tried before one is called the only one, besides the next two and twice the number: the
#: same remainders as those of sizes.
_FURTHER = (3, 5, 7, 8)


def count_clauses(
    program: Program, inputs: Sequence[Input], run: OnPrograms, names_of: NamesOf, told: Collection[Argument] = ()
) -> Iterator[tuple[Argument, str]]:
    """Yield each whole number in a call of `program` with whose other values the sides agree, and a clause on it.

    Args:
        program: the failing program, already shrunk.
        inputs: its inputs.
        run: returns how a program ends on other inputs.
        names_of: returns the names of a call's positional arguments.
        told: the arguments of which more is known already.
    """
    for argument in arguments_of(program):
        name = None if argument in told else name_of(argument, names_of)
        if name is not None and type(argument.value) is int and argument.value > 0:
            clause = _Count(program, inputs, run, argument).clause(name)
            if clause:
                yield argument, clause


def name_of(argument: Argument, names_of: NamesOf) -> str | None:
    """Return the name of `argument`; None if it is unknown, or that of a dimension."""
    name = argument.key
    if name is None:
        names = names_of(argument.call)
        name = names[argument.place] if argument.place < len(names) else None
    if name is None or name.startswith("*"):
        return None
    is_dimension = name not in _SIZES and any(part in name for part in ("dim", "axis", "axes"))
    return None if is_dimension else name


class _Count:
    """The failing program with other numbers in the place of one argument."""

    def __init__(self, program: Program, inputs: Sequence[Input], run: OnPrograms, argument: Argument) -> None:
        self._program, self._inputs, self._run, self._argument = program, inputs, run, argument
        self._value: int = argument.value
        call = argument.call
        #: The whole numbers above 1 of the call.
        self._numbers = [item for item in leaves((call.args, call.kwargs)) if type(item) is int and item > 1]
        #: The programs that are known to fail, each with the inputs that are changed in it.
        self._failing: list[tuple[Program, Sequence[Input]]] = [(program, ())]

    def clause(self, name: str) -> str:
        """Return the clause on the number, which is called `name`; "" if other numbers fail, or too few can run."""
        value = self._value
        if not self._is_affordable(_LARGER) or (value > 1 and self._at(value - 1) == "fails"):
            return ""
        for one in self._others():
            if len(self._failing) == _MOST:
                break
            if self._is_changed(*one) and self._run(*one) in _DIFFERENT:
                self._failing.append(one)
        smaller = {other: self._at(other) for other in sorted({value - 1, value // 2, 1} - {0, value}, reverse=True)}
        if "fails" in smaller.values() or (value > 1 and "passes" not in smaller.values()):
            return ""
        greater = {other: self._at(other) for other in (value + 1, value + 2, 2 * value, _LARGER * value)}
        fails, passes = (list(greater.values()).count(ending) for ending in ("fails", "passes"))
        if fails and not passes:
            return f"needs {name} of {value} or more" if value > 1 and not self._is_of_elements() else ""
        if passes < 2 or (value == 1 and passes < len(greater)):
            return ""
        if not fails:
            greater |= {value + more: self._at(value + more) for more in _FURTHER}
        failing = [other for other, ending in greater.items() if ending == "fails"]
        if failing:
            return f"only with some values of {name}, such as {value} and {failing[0]}"
        return "" if self._is_of_others() else f"only with {name}={value}"

    def _is_changed(self, program: Program, inputs: Sequence[Input]) -> bool:
        """Whether a program differs from the failing one, so that its runs tell more."""
        alike = all(one is item for one, item in zip(inputs, self._inputs, strict=True))
        return not alike or program.calls != self._program.calls

    def _is_affordable(self, times: int) -> bool:
        """Whether a result that is several times as large as the numbers of the call may make it is not too large."""
        size = max((item.array.data.size for item in self._inputs), default=1)
        return math.prod(self._numbers) * max(size, 1) * times <= _ELEMENTS

    def _at(self, other: int) -> ProgramOutcome:
        """Return how the programs end together with `other` as the argument."""
        endings: list[ProgramOutcome] = []
        for program, inputs in self._failing:
            endings.append(self._run(self._given(program, other), inputs))
            if endings[-1] in _DIFFERENT:
                return "fails"
        return together(endings)

    def _others(self) -> Iterator[tuple[Program, Sequence[Input]]]:
        """Yield programs like this one with the same argument, which may fail, too."""
        if self._is_affordable(_LARGER ** (1 + len(self._numbers))):
            yield self._with_others_equal(_LARGER * self._value)
            yield self._with_others_larger()
        tried: list[list[tuple[int, ...]]] = [[]]
        for axes in (slice(None), slice(-2, None), slice(0, 1)):
            larger = [_repeated(item, axes) for item in self._inputs]
            shapes = [item.array.data.shape for item in larger]
            if shapes not in tried and all(item.array.data.size <= _LARGEST for item in larger):
                tried.append(shapes)  # of a vector, all of these axes are the same
                yield self._program, larger
        for numbers in other_numbers(self._inputs):
            yield self._program, numbers
        yield self._program, [_of_greater_integers(item) for item in self._inputs]

    def _with_others_larger(self) -> tuple[Program, Sequence[Input]]:
        """Return the program with the call's other numbers, and equal sizes of inputs, several times as large."""
        call, value = self._argument.call, self._value
        given = enumerate(leaves((call.args, call.kwargs)))
        larger = {place: _LARGER * item for place, item in given if type(item) is int and item > 1}
        program = self._given(with_call(self._program, with_leaves(call, larger)), value)
        others = [*self._numbers]
        if value in others:
            others.remove(value)  # the argument's own
        inputs = self._inputs
        for size in sorted({*others}, reverse=True):  # no product of a smaller size is one of those that follow
            inputs = [item.with_size(size, _LARGER * size) for item in inputs]
        return program, inputs

    def _with_others_equal(self, other: int) -> tuple[Program, Sequence[Input]]:
        """Return the program with `other` in place of all sizes and numbers that are equal to the argument."""
        value = self._value
        inputs = [item.with_size(value, other) for item in self._inputs]
        return self._given(with_number(self._program, value, other), value), inputs

    def _is_of_others(self) -> bool:
        """Whether the failure needs that the argument is equal to another number, whatever both are."""
        others = (self._value + 1, self._value + 2, 2 * self._value)
        return any(self._run(*self._all_equal(other)) in _DIFFERENT for other in others)

    def _all_equal(self, other: int) -> tuple[Program, Sequence[Input]]:
        program, inputs = self._with_others_equal(other)
        return self._given(program, other), inputs

    def _given(self, program: Program, other: int) -> Program:
        """Return `program`, whose call may have other arguments by now, with `other` as the argument."""
        return self._argument._replace(call=program.calls[self._argument.call.slot]).given(program, other)

    def _is_of_elements(self) -> bool:
        """Whether as many rows show the failure with a smaller argument: it needs many results, not this argument."""
        less = self._given(self._program, self._value - 1)
        if any(self._run(*self._all_equal(other)) in _DIFFERENT for other in {self._value - 1, 1}):
            return True
        for axis in (None, 0):
            taller = [_taller(item, self._value, axis) for item in self._inputs]
            if self._run(less, taller) == "fails":  # the candidate may take no input of another rank
                return True
        return False


def _repeated(item: Input, axes: slice) -> Input:
    """Return `item` with its dimensions in `axes` several times as long; its floats are replaced by different ones."""
    data = item.array.data
    axis_times = [1] * data.ndim
    axis_times[axes] = [_LARGER] * len(axis_times[axes])
    longer = np.tile(data, axis_times)
    return filled(item, longer.shape) if data.dtype.kind == "f" else item.with_data(longer)


def _of_greater_integers(item: Input) -> Input:
    data = item.array.data
    return item.with_data(2 * data + 1) if data.dtype.kind in "iu" else item


def _taller(item: Input, times: int, axis: int | None) -> Input:
    """Return `item` several times: along its dimension `axis`, or along a new first one."""
    data = item.array.data
    copies = [data] * times
    return item.with_data(np.stack(copies) if axis is None or not data.ndim else np.concatenate(copies, axis))
