"""Diagnoses a trial whose optimizer updates differ on the same gradients: shrinks a program of its steps alone."""

from __future__ import annotations

import dataclasses

from autotest.base.settings import Settings
from autotest.diagnosis.shrinking.defaults import differing_defaults
from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.diagnosis.shrinking.shrinker import ProgramJudge
from autotest.diagnosis.shrinking.shrunk_finding import shrunk
from autotest.frameworks import Pair
from autotest.program import Program
from autotest.program.semantics import is_step
from autotest.recording.record import Record
from autotest.replaying.agreement import Agreement, agree
from autotest.replaying.changing_call import ObjectChanges
from autotest.replaying.rates import other_rate
from autotest.replaying.updates import Update
from autotest.results.finding import Finding
from autotest.trials.context import RunContext

_UNDECIDED = "no independent oracle can decide which side is right"


def diagnosed(finding: Finding, update: Update, context: RunContext, settings: Settings) -> Finding:
    """Return `finding` about a shrunk program of the optimizer's steps on the recorded parameters and gradients.

    Args:
        finding: the finding about the trial.
        update: the wrong update, with the program that shows it.
        context: the run that the trial belongs to.
        settings: the settings of the test.
    """
    pair = context.pair
    judged = dataclasses.replace(settings, rtol=update.tolerance, atol=update.floor)
    line = f"semantic difference: {update.description}; {_UNDECIDED}"
    verdict_lines = (line, *differing_defaults(update.program, pair))
    finding = dataclasses.replace(finding, verdict=verdict_lines, blame="semantic difference")
    agreement = _of_values(agree(update.program, pair, judged))
    if not agreement.mismatches:
        return finding
    first = agreement.mismatches[0]
    failure = FailureSignature(first.symptom, first.stage, first.side, "", "")
    judging = ProgramJudge(pair, judged, _in_double)
    finding, agreement = shrunk(finding, agreement, failure, judging, context.options.shrink, features=False)
    finding = dataclasses.replace(finding, settings=dataclasses.asdict(judged))
    change = ObjectChanges(agreement.program, pair, judged).behind(agreement.mismatches[0])
    if change is not None:  # the step is right: the optimizer was given another state before
        line = f"semantic difference: after {change.operator}, {change.told}; {_UNDECIDED}"
        return dataclasses.replace(finding, divergent=change.slot, verdict=(line, *verdict_lines[1:]))
    rate = other_rate(agreement.program, pair)
    steps = [call.slot for call in agreement.program.calls if is_step(call)]
    divergent = max(steps, default=None) if rate is None else rate.slot
    return dataclasses.replace(finding, divergent=divergent)


def _of_values(agreement: Agreement) -> Agreement:
    """Return `agreement` with only the mismatches that an update may cause, in values.

    If a side raises an exception, all others may be due to that.
    """
    raised = any(item.symptom in ("exception", "accepted") for item in agreement.mismatches)
    found = [item for item in agreement.mismatches if item.symptom == "value" and not raised]
    return dataclasses.replace(agreement, mismatches=found)


def _in_double(program: Program, pair: Pair, settings: Settings) -> Agreement:
    """Return the agreement on `program` in double precision.

    A program in another precision counts as agreeing, because its rounding would look like a wrong step.
    """
    if any(array.dtype != "float64" for array in program.arrays):
        return Agreement(program, Record(pair), [])
    return _of_values(agree(program, pair, settings))
