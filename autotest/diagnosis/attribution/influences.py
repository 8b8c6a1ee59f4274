"""Finds the calls that a mismatch may depend on."""

from __future__ import annotations

from autotest.comparison import Mismatch
from autotest.program import Program
from autotest.program.influence import contributing
from autotest.program.semantics import pushes_gradients


def influences(program: Program, mismatch: Mismatch) -> frozenset[int]:
    """Return the slots of all values that `mismatch` may depend on; what differs elsewhere says nothing about it."""
    # A gradient depends on all that gradients were pushed back from.
    pushes = [call.slot for call in program.calls if pushes_gradients(call)]
    return contributing(program, [mismatch.slot, *(pushes if mismatch.stage == "backward" else ())])
