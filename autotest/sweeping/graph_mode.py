"""Judges samples in graph mode, for candidates that run whole programs: their eager mode is torch itself."""

from __future__ import annotations

from typing import Final

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.program.paths import is_gradient
from autotest.recording.record import Record
from autotest.replaying import graph_check
from autotest.results.sweep import Check
from autotest.sweeping.judgement import SampleJudgement

#: Checks that say nothing about a graph mode if the eager modes pass them.
_OF_EAGER_MODE: Final[tuple[Check, ...]] = ("signature", "gradient", "alias")


def judge_in_graph(found: SampleJudgement, record: Record, settings: Settings) -> SampleJudgement:
    """Return the judgement on the graph mode, given the one on the eager mode.

    A program that no graph can contain, or that none runs, needs what the candidate lacks.

    Args:
        found: the judgement on the eager mode, whose program and checks are kept if the graph mode compared anything.
        record: the record of the program in eager mode.
        settings: the settings of the comparison.
    """
    report = graph_check.check([record], settings)
    (mismatches,) = report.mismatches
    if not mismatches and not report.compared:
        reason, _ = report.left_out.most_common(1)[0] if report.left_out else ("nothing is left to build", 1)
        return SampleJudgement(found.program, reason)
    for check in _OF_EAGER_MODE:
        found.checks.pop(check, None)
    for mismatch in mismatches:
        check = _check_of(mismatch)
        if found.checks.get(check) is not False:
            found.fail(check, mismatch.key, mismatch.message)
    found.failed = any(mismatch.detail == "raised" for mismatch in mismatches)
    return found


def _check_of(mismatch: Mismatch) -> Check:
    if mismatch.detail == "raised":
        return "errors"
    if mismatch.detail == "overwritten":
        return "alias"
    if is_gradient(mismatch.place):
        return "gradient"
    numbers = mismatch.statistics
    if numbers is not None:
        return "nonfinite" if numbers.nonfinite == numbers.mismatched else "value"
    return "dtype" if "dtype" in mismatch.what else "shape"
