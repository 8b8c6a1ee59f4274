"""Finds the operator whose backward kills the process: a backward pass goes back through many operators at once."""

from __future__ import annotations

import bisect
import contextlib

from autotest.diagnosis.shrinking.probing import HANG, Probe, ProbeOptions
from autotest.processes.client import Server
from autotest.program import Call, Program, Ref, operator_of, refs
from autotest.program.rewriting import needed, upto
from autotest.program.semantics import OPERATIONS, pushes_gradients


def deadly_operator(program: Program, options: ProbeOptions, server: Server) -> str:
    """Return the operator whose backward kills, where the last call of `program` is a backward pass that kills.

    It is the first one from whose result a backward pass kills, too. Return "" if no operator comes before the pass.

    Args:
        program: the program.
        options: how programs are run.
        server: starts the process in which they run.
    """
    behind = needed(program, [ref.slot for ref in refs(program.calls[-1])])
    passed = [
        call.slot
        for call in program.calls[:-1]
        if call.slot in behind and call.kind in OPERATIONS and not pushes_gradients(call)
    ]
    if not passed:
        return ""
    with contextlib.closing(Probe(server, options)) as probe:

        def kills(slot: int) -> bool:
            return probe.run(_backward_from(program, slot)).death not in (None, HANG)

        first = bisect.bisect_left(passed, True, hi=len(passed) - 1, key=kills)
    return operator_of(program.calls, passed[first])


def _backward_from(program: Program, slot: int) -> Program:
    """Return the calls of `program` up to `slot`, and a backward pass from its result."""
    end = slot + 1
    before = upto(program, end)
    calls = (
        *before.calls,
        Call("function", "ones_like", (Ref(slot),), {}, end),
        Call("function", "autograd.backward", ([Ref(slot)], [Ref(end)]), {}, end + 1),
    )
    return Program(calls, before.arrays, before.undefined)
