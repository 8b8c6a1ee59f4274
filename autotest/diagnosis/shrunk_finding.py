"""Makes the program of a finding smaller where no trial is run again, and says what the failure needs."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from autotest.base.settings import Settings
from autotest.diagnosis.agreement import Agreement
from autotest.diagnosis.decisive_features import decisive_features
from autotest.diagnosis.explanation import shrunk_line
from autotest.diagnosis.probing import scout
from autotest.diagnosis.shrinking import AgreementFunction, FailureSignature, Shrinker
from autotest.frameworks import Pair
from autotest.results.finding import Finding


class Judging(NamedTuple):
    """Who says what is wrong with a program, and what that is asked about."""

    pair: Pair
    settings: Settings
    judge: AgreementFunction


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
    pair, settings, judge = judging
    found = start
    if seconds:
        assert finding.program is not None
        with scout(pair, start.program) as survives:
            shrinker = Shrinker(start, failure, pair, settings, seconds, survives=survives, judge=judge)
            result = shrinker.shrink()
            found = result.agreement
            happens = decisive_features(found.program, shrinker.values(found), shrinker.result_of) if features else ()
        told = shrunk_line(finding.program, found.program, result.executions, result.complete)
        finding = dataclasses.replace(finding, shrinking=(told,), happens=happens)
    return dataclasses.replace(finding, program=found.program, mismatches=tuple(found.mismatches)), found


__all__ = ["Judging", "shrunk"]
