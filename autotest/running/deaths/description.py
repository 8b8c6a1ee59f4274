"""Describes the death of a traced trial: operator, stage, message, verdict, and the side that died."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotest.comparison import Stage, Symptom
from autotest.diagnosis.attribution.verdict import Evidence, judge
from autotest.frameworks import Pair
from autotest.processes.endings import ProcessDeath
from autotest.program import Call, operator_of, refs
from autotest.program.semantics import is_backward, pushes_gradients
from autotest.results.finding import Finding
from autotest.running.deaths.tracing import TracedTrial


def without_blame(finding: Finding) -> Finding:
    """Return `finding`, whose trial hangs or dies in the test's own code, so that it blames no framework."""
    message = f"{finding.first.name}: a trial with this call did not end in time or died, but not in the call"
    first = dataclasses.replace(finding.first, message=message)
    return dataclasses.replace(finding, mismatches=(first,), verdict=("inconclusive",), blame="inconclusive")


def _symptom(supposed: Symptom, death: ProcessDeath) -> Symptom:
    # A process that ran out of memory may die of another signal when it is repeated.
    return supposed if death.symptom == "crash" and supposed == "out of memory" else death.symptom


def _slot(traced: TracedTrial) -> int:
    """Return the call that the process died in. For a graph it is the last call with a result: no more is known."""
    calls = () if traced.program is None else traced.program.calls
    return max(0, len(calls) - 1) if traced.graph is None else last_result(calls)


def last_result(calls: Sequence[Call]) -> int:
    """Return the last call of a program that has a result."""
    made = (call.slot for call in reversed(calls) if call.kind != "tensor" and not is_backward(call))
    return next(made, max(0, len(calls) - 1))


def _operator(traced: TracedTrial, otherwise: str) -> str:
    """Return the operator that the program died in. For a backward, it is the operator of its output."""
    calls = () if traced.program is None else traced.program.calls
    if not calls:
        return otherwise
    call = calls[_slot(traced)]
    if pushes_gradients(call):
        return operator_of(calls, next((ref.slot for ref in refs(call)), call.slot)) or otherwise
    return operator_of(calls, call.slot) or otherwise


def _stage(traced: TracedTrial, otherwise: Stage) -> Stage:
    """Return the stage of the death. An asynchronous candidate may die when a later call is written already."""
    if traced.graph is not None:
        return "replay"
    if traced.program is None or not traced.program.calls:
        return otherwise
    return "backward" if pushes_gradients(traced.program.calls[-1]) else "forward"


def dies_in_backward(traced: TracedTrial) -> bool:
    """Return whether the process died in a backward pass, and not of a limit."""
    crashes = traced.death is not None and traced.death.symptom == "crash"
    return crashes and traced.program is not None and _stage(traced, "forward") == "backward"


def described(finding: Finding, traced: TracedTrial, death: ProcessDeath, pair: Pair, *, operator: str = "") -> Finding:
    """Return `finding` with the results of tracing the trial: operator, symptom, program, and the side that died.

    `operator` is the one that died, if it is known better than by the last call of the program.
    """
    symptom, operator = _symptom(finding.first.symptom, death), operator or _operator(traced, finding.first.name)
    words = f": {traced.last_words}" if traced.last_words else ""
    refuses = f"{pair.sides[0]} refuses ({traced.refusal[:200]}), " if traced.refusal else ""
    ours = traced.side == "reference"
    dead = pair.reference.name if ours else pair.candidate.name
    where = f" in {traced.graph.mode}, not in eager mode" if traced.graph is not None else ""
    message = (
        f"{operator}: {refuses}{dead} {'hangs' if death.symptom == 'hang' else 'dies'}{where} ({death.how}){words}. "
        f"expected={pair.sides[0]} actual={pair.sides[1]}"
    )
    first = dataclasses.replace(
        finding.first,
        name=operator,
        slot=_slot(traced),
        message=message,
        symptom=symptom,
        side=traced.side,
        stage=_stage(traced, finding.first.stage),
        detail="refused" if traced.refusal else "",
    )
    return dataclasses.replace(
        finding,
        mismatches=(first,),
        program=traced.program,
        verdict=(_verdict(symptom, pair.sides, traced),),
        blame=traced.side,
    )


def _verdict(symptom: str, sides: tuple[str, str], traced: TracedTrial) -> str:
    if traced.side == "reference":
        return f"{sides[0]}: {symptom}; {sides[1]} did not run"
    if traced.graph is not None:
        return f"{sides[1]}: {symptom} in {traced.graph.mode}; its eager mode agrees with {sides[0]}"
    if traced.refusal:
        return f"{sides[1]}: {symptom}; {sides[0]} refuses the call"
    return judge(Evidence(symptom, sides)).line
