"""Shrinks the program of a finding without its trial, and names the features that the failure needs."""

from __future__ import annotations

import contextlib
import dataclasses

from autotest.diagnosis.explaining.decisive_features import OutOfTime, decisive_features
from autotest.diagnosis.explaining.explanation import shrunk_line
from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.diagnosis.shrinking.probing import scout
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker
from autotest.program.inputs import inputs_of, with_inputs
from autotest.replaying.agreement import Agreement
from autotest.results.finding import Finding


def shrunk(
    finding: Finding,
    start: Agreement,
    failure: FailureSignature,
    judging: ProgramJudge,
    seconds: float,
    *,
    features: bool = True,
) -> tuple[Finding, Agreement]:
    """Return `finding` about the smallest program found that fails in the same way, and the agreement on that program.

    Args:
        finding: the finding about the whole program.
        start: the agreement on the program to begin with.
        failure: the signature that a smaller program must show.
        judging: how programs are judged.
        seconds: the time limit; 0 means no shrinking.
        features: whether to find the features that the failure needs.
    """
    found = start
    if seconds:
        assert finding.program is not None
        with scout(judging.pair, start.program) as survives:
            shrinker = Shrinker(start, failure, judging._replace(survives=survives), seconds)
            result = shrinker.shrink()
            found = _laid_out_at_once(result.agreement, shrinker, judging)
            happens: tuple[str, ...] = ()
            if features:
                happens = decisive_features(
                    found.program, shrinker.values_of, shrinker.names_of, shrinker.words_of, shrinker.result_of
                )
        line = shrunk_line(finding.program, found.program, result.executions, result.complete)
        finding = dataclasses.replace(finding, shrinking=(line,), happens=happens)
    return dataclasses.replace(finding, program=found.program, mismatches=tuple(found.mismatches)), found


def _laid_out_at_once(found: Agreement, shrinker: Shrinker, judging: ProgramJudge) -> Agreement:
    """Return `found` with each input created with its content, not filled later, if the program still fails alike.

    This leaves inputs as they are if their memory layout does not allow it.
    """
    inputs = inputs_of(found.program, shrinker.values_of(found.program))
    inputs = [item for item in inputs if item.filled_by is not None]
    if not inputs:
        return found
    program = with_inputs(found.program, inputs)
    with contextlib.suppress(OutOfTime):
        if len(program.calls) < len(found.program.calls) and shrinker.result_of(program) == "fails":
            return judging.examined(program)
    return found
