"""Finds the sizes that a failure needs: 9 elements or more, a dimension of 1, some numbers of elements.

A number in a call may be the size of an input (``layer_norm(x, (17,))``) or may have to be as large as that
(``topk(x, 5)``). Each other size is therefore tried with the program's own numbers, and with equal ones changed, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from autotest.base.plural import several
from autotest.diagnosis.explaining.outcomes import OnPrograms, ProgramOutcome, together
from autotest.diagnosis.explaining.paired_numbers import numeric, scaled
from autotest.diagnosis.explaining.whole_trial import WholeTrial
from autotest.program import Program, with_leaves
from autotest.program.inputs import Input
from autotest.program.rewriting import places_of_number, with_call, with_number

#: How much larger sizes are tried before one is called the only one: the next ones with the same remainder in blocks
#: of 2, 3, 5, 7, 8 and 32.
_FURTHER = (2, 3, 5, 7, 8, 32)
#: What numbers are multiplied by before fewer of them are tried.
_GREATER = 1000
#: How many numbers in calls that are equal to a size are changed without the others.
_MOST_ALONE = 4
#: How many factors, from 1 in steps of a quarter, numbers that are repeated are multiplied by.
_DIFFERENT = 7
#: How the numbers of a longer dimension are made from those that it had.
_Order: TypeAlias = Literal["wrap", "clip", "varied"]


def size_clauses(
    program: Program,
    inputs: Sequence[Input],
    run: OnPrograms,
    trial: WholeTrial,
    counted: Collection[int] = (),
    *,
    telling: bool,
) -> Iterator[str]:
    """Yield clauses on the sizes of `inputs`.

    Args:
        program: the failing program.
        inputs: the inputs.
        run: returns how a program ends on other inputs.
        trial: the program before it was shrunk, which failed with its own sizes.
        counted: the sizes that an argument must have, whatever the inputs' sizes are.
        telling: whether a size of 2 is tested, too: other features imply that there are two elements.
    """
    shapes = [item.array.data.shape for item in inputs]
    elements = max((len(shape) for shape in shapes), default=0) == 1
    another = False  # whether a greater dimension is needed, too
    for size in sorted({size for shape in shapes for size in shape}, reverse=True):
        sizes = _Sizes(size, program, inputs, run, trial, with_numbers=size not in counted)
        if size == 0:
            if sizes.resized(1) == "passes":
                alone = any(0 not in shape for shape in shapes)
                yield "only where an input has no elements" if alone else "only without elements"
        elif (size != 2 or telling) and sizes.smaller() == "passes":
            for clause in sizes.larger(elements=elements, another=another):
                another = another or clause.endswith("or more")
                yield clause


@dataclasses.dataclass(frozen=True)
class _Sizes:
    """The failing program with other sizes in the place of `size`."""

    size: int
    program: Program
    inputs: Sequence[Input]
    run: OnPrograms
    trial: WholeTrial
    #: Whether equal numbers in calls are changed with the size, too.
    with_numbers: bool

    def smaller(self) -> ProgramOutcome:
        """Return "passes" if the program does so with fewer elements, or if there is only one."""
        size = self.size
        if size == 1:
            return "passes"
        if self.resized(size - 1) != "passes":
            return "neither"
        others = {size // 2, 1, size - 2, size // 3, size - 8} - {size - 1}
        # Of greater numbers, fewer may make a sum or a product that is too great.
        greater = dataclasses.replace(self, inputs=scaled(numeric(self.inputs), _GREATER))
        fails = any(self.resized(other) == "fails" for other in others if other > 0) or (
            greater.inputs and any(greater.resized(other) == "fails" for other in (size - 1, size // 2) if other > 1)
        )
        return "fails" if fails else "passes"

    def larger(self, *, elements: bool, another: bool) -> Iterator[str]:
        """Yield the clause on this size, given that the program passes with fewer elements.

        Args:
            elements: whether numbers of elements are told, not dimensions.
            another: whether a greater dimension was told.
        """
        size = self.size
        near = {other: self._lengthened(other) for other in ((2, 3) if size == 1 else (size + 1, 2 * size))}
        if "passes" not in near.values():
            if size > 1:
                dimension = "and another one" if another else "needs a dimension"
                yield f"needs {size} elements or more" if elements else f"{dimension} of {size} or more"
            return
        if size == 1 and "fails" in near.values():
            return  # nearly any size shows it
        if "fails" not in near.values():
            near |= {size + more: self._lengthened(size + more) for more in _FURTHER if size + more not in near}
        # A vector of twice the elements passes: if two rows or columns of these fail, a dimension decides.
        elements = elements and not (near.get(2 * size) == "passes" and "fails" in map(self._doubled, (0, 1)))
        failing = [size, *(other for other, ending in near.items() if ending == "fails")]
        if len(failing) > 1:
            such = f"such as {failing[0]} and {failing[1]}"
            yield f"only with some {'numbers of elements' if elements else 'sizes of a dimension'}, {such}"
        elif size > 1 and "neither" in near.values():
            return  # the sides differ with another size in another way, or the reference refuses it
        elif elements and self.trial.has_elements(size):
            yield f"only with {several(size, 'element')}"
        elif not elements and self.trial.has_dimension(size):
            yield f"only with a dimension of {size}"

    def _lengthened(self, other: int) -> ProgramOutcome:
        """Run the program with every dimension of this size grown to `other`, with its numbers in several orders.

        It passes only if it does so in each of them: some operators depend on the first or the last number alone, and
        of repeated numbers some results are zero, as a determinant is.
        """
        orders: tuple[_Order, ...] = ("wrap", "clip", "varied")
        endings = [self.resized(other, mode) for mode in orders]
        return "neither" if "neither" in endings and "fails" not in endings else together(endings)

    def _doubled(self, axis: int) -> ProgramOutcome:
        """Run the program with each input twice, side by side along a new axis."""
        doubled = [np.stack([item.array.data] * 2, min(axis, item.array.data.ndim)) for item in self.inputs]
        return self.run(self.program, [item.with_data(data) for item, data in zip(self.inputs, doubled, strict=True)])

    def resized(self, other: int, mode: _Order = "wrap") -> ProgramOutcome:
        """Run the program with every dimension of this size changed to `other`.

        A dimension is cut, or its numbers are repeated: all of them (`mode` "wrap"), or the last one ("clip"), or all
        of them, multiplied by several factors ("varied").
        """
        changed = []
        for item in self.inputs:
            data = item.array.data
            for axis, length in enumerate(data.shape):
                if length == self.size:
                    places = np.arange(other)
                    repeat: Literal["wrap", "clip"] = "clip" if mode == "clip" else "wrap"
                    data = np.take(data, places, axis=axis, mode=repeat) if length else _grown(data, axis)
            if mode == "varied" and data.dtype.kind == "f":
                data = (data * (1 + np.arange(data.size) % _DIFFERENT / 4).reshape(data.shape)).astype(data.dtype)
            if data.shape != item.array.data.shape:
                changed.append(item.with_data(data))
        numbered = _with_numbers(self.program, self.size, other) if self.with_numbers else ()
        programs = [self.program, *numbered]
        return together([self.run(program, changed) for program in programs])


def _with_numbers(program: Program, size: int, other: int) -> Iterator[Program]:
    """Yield `program` with `other` in place of the whole numbers `size` in its calls: of all, then of each alone.

    Of ``nn.Conv2d(2, 2, 1, groups=2)``, the first one alone has to be the size of a longer dimension.
    """
    single = [(call, place) for call, places in places_of_number(program, size) for place in places]
    if single:
        yield with_number(program, size, other)
    if len(single) > 1:
        yield from (with_call(program, with_leaves(call, {place: other})) for call, place in single[:_MOST_ALONE])


def _grown(data: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    return np.ones((*data.shape[:axis], 1, *data.shape[axis + 1 :]), data.dtype)
