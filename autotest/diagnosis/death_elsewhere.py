"""Recognizes programs that crash only a fresh interpreter.

In a forked process, a framework may raise an exception for an error that otherwise crashes one of its own threads.
"""

from __future__ import annotations

import dataclasses
import re

from autotest.base.errors import NotReplayable
from autotest.comparison import Symptom
from autotest.diagnosis.attribution.verdict import Evidence, judge
from autotest.diagnosis.verification import run_script
from autotest.emission import emit
from autotest.emission.checker import ONCE
from autotest.frameworks import Pair
from autotest.processes.endings import describe, last_words
from autotest.program import Program
from autotest.results.finding import Finding
from autotest.results.identity import FatalCall, death_of
from autotest.results.verification import State, Verification

#: The line in which the script of a crash prints the candidate's exit status.
_STATUS = re.compile(r"^DIFFERS: .* ends with status (-\d+)", re.MULTILINE)


def as_death(finding: Finding, program: Program, pair: Pair) -> Finding:
    """Return `finding`, whose script crashes a fresh interpreter, as the finding of a crash.

    Args:
        finding: the finding of the mismatch.
        program: the program that the script was written from.
        pair: the reference and the candidate.

    Returns:
        The finding with a crash as its mismatch, or `finding` unchanged if the program does not crash the candidate
        in a process of its own.
    """
    first, candidate = finding.first, pair.sides[1]
    symptom: Symptom = "crash"
    as_crash = dataclasses.replace(finding, mismatches=(dataclasses.replace(first, symptom=symptom),), program=program)
    line = judge(Evidence(symptom, pair.sides)).line
    as_crash = dataclasses.replace(as_crash, verdict=(line,), blame="candidate")
    try:
        script = emit(as_crash, pair.scripts(program), ONCE)
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
        as_crash,
        program=finding.program,
        mismatches=(mismatch,),
        shown=death_of(call, how, words, pair.candidate.name),
        script=script,
        verified=Verification(State.VERIFIED),
    )
