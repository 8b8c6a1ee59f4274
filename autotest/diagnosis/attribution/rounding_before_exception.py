"""Finds the mismatches of a trial that rounding explains although its last call raised on the candidate's side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.diagnosis.attribution.live_modules import not_reproduced
from autotest.diagnosis.attribution.referee import examine, explained, may_be_rounding
from autotest.frameworks import Pair
from autotest.program import Program
from autotest.replaying.agreement import agree


def counting_mismatches(
    program: Program, mismatches: Sequence[Mismatch], pair: Pair, settings: Settings
) -> list[Mismatch]:
    """Return `mismatches` without those of values that rounding explains; the exception always counts.

    A program that raises has no results in double precision, so values are examined without its last call. All
    mismatches are returned if the last call is not the one that raised, or if a replay does not show them.
    """
    values = [item for item in mismatches if may_be_rounding([item])]
    others = [item for item in mismatches if item not in values]
    last = len(program.calls) - 1
    if not values or any((item.symptom, item.slot) != ("exception", last) for item in others):
        return list(mismatches)
    before = agree(dataclasses.replace(program, calls=program.calls[:-1]), pair, settings)
    if not before.mismatches or not may_be_rounding(before.mismatches) or not_reproduced(values, before):
        return list(mismatches)
    _, left = explained(before, examine(before, pair, settings), pair)
    counting = {(item.name, item.symptom) for item in left}
    return [item for item in mismatches if item in others or (item.name, item.symptom) in counting]
