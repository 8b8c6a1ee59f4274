"""Tells what only a fresh interpreter dies of: in a fork, a framework may raise what elsewhere ends its own thread."""

from __future__ import annotations

import dataclasses
import re

from autotest.base.errors import NotReplayable
from autotest.comparison import Symptom
from autotest.diagnosis.verdict import Evidence, judge
from autotest.diagnosis.verification import run_script
from autotest.emission import emit
from autotest.emission.checker import ONCE
from autotest.frameworks import Pair
from autotest.processes.endings import describe, last_words
from autotest.program import Program
from autotest.results.finding import Finding
from autotest.results.identity import FatalCall, death_of
from autotest.results.verification import State, Verification

#: What a script of a death prints of the status that the candidate ended with.
_STATUS = re.compile(r"^DIFFERS: .* ends with status (-\d+)", re.MULTILINE)


def as_death(finding: Finding, program: Program, pair: Pair) -> Finding:
    """`finding`, whose script a fresh interpreter does not survive, told as the death that this is.

    `program` is the one that the script was written of. Returns `finding` as it is where the candidate alone, in a
    process of its own, does not die of its program.
    """
    first, candidate = finding.first, pair.sides[1]
    symptom: Symptom = "crash"
    told = dataclasses.replace(finding, mismatches=(dataclasses.replace(first, symptom=symptom),), program=program)
    line = judge(Evidence(symptom, pair.sides)).line
    told = dataclasses.replace(told, verdict=(line,), blame="candidate")
    try:
        script = emit(told, pair.scripts(program), ONCE)
    except NotReplayable:
        return finding
    status, output = run_script(script)
    died = _STATUS.search(output)
    if status != 1 or died is None:
        return finding
    how, words = describe(int(died[1])), last_words(output[: died.start()])
    call = FatalCall(finding.operator, symptom, first.stage, first.side)
    message = f"{call.operator}: {candidate} dies ({how}): {words}. In the process of the trial: {first.message}"
    mismatch = dataclasses.replace(
        first, symptom=symptom, name=call.operator, message=message, what="", detail="", statistics=None
    )
    return dataclasses.replace(
        told,
        program=finding.program,
        mismatches=(mismatch,),
        shown=death_of(call, how, words, pair.candidate.name),
        script=script,
        verified=Verification(State.VERIFIED),
    )


__all__ = ["as_death"]
