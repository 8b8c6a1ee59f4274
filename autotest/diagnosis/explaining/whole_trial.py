"""Refutes claims on a shrunk program with the whole trial, which failed in the same way without what they claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from autotest.diagnosis.explaining.outcomes import PROPERTIES, Numbers
from autotest.emission import cotangents
from autotest.program import Program
from autotest.program.inputs import inputs_of
from autotest.program.semantics import is_backward, makes_input
from autotest.program.values import TensorValue


class WholeTrial:
    """The numbers of a failed trial before shrinking, as far as they are known.

    They are known if the trial made a single call: an operand of a later call is no input of the trial.
    """

    def __init__(self, arrays: Sequence[Numbers] = ()) -> None:
        self._arrays = arrays

    @staticmethod
    def of(program: Program, values_of: Callable[[Program], Mapping[int, TensorValue]]) -> WholeTrial:
        """Return the numbers of `program`. `values_of` returns the reference's results in it, by slot."""
        made = [call for call in program.calls if not makes_input(call)]
        if sum(not is_backward(call) for call in made) != 1:
            return WholeTrial()
        pushed = cotangents(program)
        found = inputs_of(program, values_of(program))
        return WholeTrial([item.array.data for item in found if item.made_by[0] not in pushed])

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
