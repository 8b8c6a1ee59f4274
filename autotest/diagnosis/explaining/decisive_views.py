"""Finds the views of the test that a failure needs for the memory that they share: ``x.t()``, ``x[1:]``."""

from __future__ import annotations

from collections.abc import Iterator

from autotest.diagnosis.explaining.outcomes import OnPrograms
from autotest.emission import names
from autotest.program import LAYOUT, Call, Program, Ref, reading
from autotest.program.rewriting import assembled
from autotest.program.semantics import OPERATIONS, may_share_memory, writes


def view_clauses(program: Program, run: OnPrograms) -> Iterator[str]:
    """Yield a clause for each view in `program` without whose memory the sides agree.

    Views that the library made for the layout of an input are left out: the input itself can be laid out otherwise. So
    are programs that write into a view, which mean something else if the view is a copy.

    Args:
        program: the failing program, already shrunk.
        run: returns how a program ends on other inputs.
    """
    if any(call.kind in OPERATIONS and writes(call) for call in program.calls):
        return
    own = names(program)
    for call in program.calls:
        if call.kind not in OPERATIONS or call.note == LAYOUT or not may_share_memory(call) or call.slot not in own:
            continue
        # `contiguous` copies only what is not contiguous, so that it tells the two reasons apart.
        if run(_read_after(program, call, "contiguous"), []) == "passes":
            yield f"only where {own[call.slot]} is not contiguous"
        elif run(_read_after(program, call, "clone"), []) == "passes":
            yield f"only where {own[call.slot]} is a part of other memory"


def _read_after(program: Program, view: Call, method: str) -> Program:
    """Return `program` in which the calls after `view` read what the method named `method` makes of its result."""
    copied = Call("method", method, (Ref(view.slot),), {}, len(program.calls))
    after = [reading(call, {view.slot: Ref(copied.slot)}) for call in program.calls[view.slot + 1 :]]
    return assembled([*program.calls[: view.slot + 1], copied, *after], program.arrays, program.undefined)[0]
