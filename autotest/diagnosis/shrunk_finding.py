"""Makes the program of a finding smaller where no trial is run again, and says what the failure needs."""

from __future__ import annotations

import dataclasses

from autotest.diagnosis.agreement import Agreement
from autotest.diagnosis.decisive_features import decisive_features
from autotest.diagnosis.explanation import shrunk_line
from autotest.diagnosis.probing import scout
from autotest.diagnosis.shrinking import FailureSignature, Judging, Shrinker
from autotest.results.finding import Finding


def shrunk(
    finding: Finding,
    start: Agreement,
    failure: FailureSignature,
    judging: Judging,
    seconds: float,
    *,
    features: bool = True,
) -> tuple[Finding, Agreement]:
    """`finding` about the smallest program found in `seconds` that fails alike, beginning with that of `start`; and
    what is wrong with it. `features` asks for those that the failure needs."""
    found = start
    if seconds:
        assert finding.program is not None
        with scout(judging.pair, start.program) as survives:
            shrinker = Shrinker(start, failure, judging._replace(survives=survives), seconds)
            result = shrinker.shrink()
            found = result.agreement
            happens = decisive_features(found.program, shrinker.values_of, shrinker.result_of) if features else ()
        told = shrunk_line(finding.program, found.program, result.executions, result.complete)
        finding = dataclasses.replace(finding, shrinking=(told,), happens=happens)
    return dataclasses.replace(finding, program=found.program, mismatches=tuple(found.mismatches)), found


__all__ = ["shrunk"]
