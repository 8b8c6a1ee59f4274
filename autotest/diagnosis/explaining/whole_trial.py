"""Refutes claims on a shrunk program with the whole trial, which failed in the same way without what they claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from autotest.diagnosis.explaining.decisive_arguments import Argument
from autotest.diagnosis.explaining.outcomes import PROPERTIES, NumberClaim, OnPrograms
from autotest.emission import cotangents
from autotest.program import Call, Program
from autotest.program.inputs import Input, inputs_of
from autotest.program.semantics import is_backward, makes_input
from autotest.program.values import TensorValue

#: How many numbers without the claimed property take the places of those that have it, one after the other.
_MOST = 3


class WholeTrial:
    """A failed trial before shrinking, or the call of it that is divergent, as far as its inputs are known.

    They are known if it is a single call: an operand of a later call is no input of the trial.

    Args:
        program: the program with that call.
        inputs: its inputs without cotangents; none if they are not known.
        run: returns how a program ends on other inputs.
    """

    def __init__(self, program: Program, inputs: Sequence[Input], run: OnPrograms) -> None:
        self._program, self._inputs, self._run = program, inputs, run
        self._arrays = [item.array.data for item in inputs]

    @staticmethod
    def of(
        programs: Sequence[Program], values_of: Callable[[Program], Mapping[int, TensorValue]], run: OnPrograms
    ) -> WholeTrial:
        """Return what is known of the first of `programs` that is a single call.

        Args:
            programs: the trial, and the divergent call of it alone, which may lack the memory layout of its operands.
            values_of: returns the reference's results in a program, by slot.
            run: returns how a program ends on other inputs.
        """
        for program in programs:
            if len([*_computing(program)]) == 1:
                pushed = cotangents(program)
                found = inputs_of(program, values_of(program))
                return WholeTrial(program, [item for item in found if item.made_by[0] not in pushed], run)
        return WholeTrial(Program((), ()), (), run)

    def has(self, text: str) -> bool:
        """Return whether a number of the trial is what a claim's `text` says, or may be."""
        holds = PROPERTIES.get(text)
        if holds is None or not self._arrays:
            return True
        return any(bool(holds(data).any()) for data in self._arrays if data.dtype.kind in "fiu")

    def has_dimension(self, size: int) -> bool:
        """Return whether a dimension of an input of the trial is `size`, or may be."""
        return not self._arrays or any(size in data.shape for data in self._arrays)

    def has_elements(self, count: int) -> bool:
        """Return whether an input of the trial has `count` elements, or may have them."""
        return not self._arrays or any(data.size == count for data in self._arrays)

    def has_equal_elements(self) -> bool:
        """Return whether two elements of an input of the trial are equal, or may be."""
        return not self._arrays or any(len(np.unique(data)) < data.size for data in self._arrays)

    def fails_without(self, claim: NumberClaim) -> bool:
        """Return whether the trial also fails if no number in its only input is what `claim` says."""
        holds = claim.holds or PROPERTIES.get(claim.text)
        if holds is None or len(self._inputs) != 1:
            return False
        (item,) = self._inputs
        data = item.array.data
        there = np.asarray(holds(data)) if data.dtype.kind in "fiu" else np.zeros(data.shape, bool)
        others = np.unique(np.concatenate([claim.lacking(np.ravel(one)) for one in claim.without]))
        others = others[np.isfinite(others)]
        instead = others[np.linspace(0, len(others) - 1, min(_MOST, len(others))).astype(int)]
        variants = [np.where(there, np.asarray(one, data.dtype), data) for one in instead]
        return any(self._fails(item.with_data(variant)) for variant in variants)

    def fails_in_contiguous_memory(self) -> bool:
        """Return whether the trial also fails if all its inputs lie in contiguous memory."""
        return bool(self._inputs) and self._fails(*(item.with_layout("contiguous") for item in self._inputs))

    def fails_with(self, argument: Argument, changed: Callable[[Argument, Program], Program]) -> bool:
        """Return whether the trial also fails if `changed` changes the `argument` of the shrunk program there, too."""
        call = next(_computing(self._program), None)
        if call is None or (call.kind, call.target) != (argument.call.kind, argument.call.target):
            return False
        own = argument._replace(call=call)
        is_there = own.key in own.call.kwargs if own.key is not None else own.place < len(own.call.args)
        return is_there and self._fails(program=changed(own, self._program))

    def _fails(self, *others: Input, program: Program | None = None) -> bool:
        return self._run(program or self._program, others) == "fails"


def _computing(program: Program) -> Iterator[Call]:
    """Yield the calls of `program` other than those that make inputs or push gradients back."""
    return (call for call in program.calls if not makes_input(call) and not is_backward(call))
