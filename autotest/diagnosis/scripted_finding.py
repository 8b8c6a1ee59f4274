"""Writes the standalone script of a finding, and verifies it in a fresh interpreter."""

from __future__ import annotations

import dataclasses

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.diagnosis import gradient_finding
from autotest.diagnosis.death_elsewhere import as_death
from autotest.diagnosis.native_script import native_script
from autotest.diagnosis.verification import judged, tried, verify
from autotest.emission import emit
from autotest.emission.script_output import shows_other_numbers
from autotest.emission.shared_memory import sharing
from autotest.program import Program
from autotest.results.finding import Finding
from autotest.results.verification import State, Verification
from autotest.trials.context import RunContext


@np.errstate(all="ignore")
def scripted(finding: Finding, context: RunContext) -> Finding:
    """Return `finding` with its standalone script, and the result of running that in a fresh interpreter."""
    assert finding.program is not None
    if gradient_finding.is_numeric(finding.first):
        options = dataclasses.replace(context.options, shrink=0.0)
        unshrunk = dataclasses.replace(context, options=options)
        return gradient_finding.diagnosed(finding, unshrunk, Settings.kept(finding.settings))
    own = native_script(finding, context.pair)
    if own is not None:
        result = dataclasses.replace(finding, script=own)
        if not context.options.verify:
            return result
        status, output = tried(own)
        result = dataclasses.replace(result, verified=judged(status, output, finding))
        # The adapter's lines for scripts may compute something else than the adapter.
        if result.verified.holds and shows_other_numbers(output, finding):
            general = _run_elsewhere(finding, finding.program, context)
            return general if general.verified.holds else result
        if result.verified.holds:
            return result
    return _run_elsewhere(finding, finding.program, context)


def _run_elsewhere(finding: Finding, program: Program, context: RunContext) -> Finding:
    """Return `finding` with the standalone script of `program`, and the result of running that."""
    pair = context.pair
    try:
        script = emit(dataclasses.replace(finding, program=program), pair.scripts(program))
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=Verification.lacking(str(error)))
    result = dataclasses.replace(finding, script=script)
    if not context.options.verify or script == finding.script:
        return result
    result = dataclasses.replace(result, verified=verify(script, finding=finding))
    if result.verified.state is State.MISSED and program is finding.program:
        # A framework may allocate more memory than a tensor needs, so that an access out of bounds goes unnoticed. In
        # the trial, tensors used the memory of their arrays.
        again = _run_elsewhere(result, sharing(program), context)
        return result if again.verified.state is State.MISSED else again
    return as_death(result, program, pair) if result.verified.state is State.DIED else result
