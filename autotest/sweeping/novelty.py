"""Computes the features of a sample, by which a sweep recognizes new behaviour."""

from __future__ import annotations

import zlib

from autotest.program import COTANGENT
from autotest.sweeping.arguments import arguments
from autotest.sweeping.judgement import SampleJudgement


def features(found: SampleJudgement) -> set[int]:
    """Return the features of a sample as numbers: what decides its operator's behaviour, and the behaviour itself.

    The numbers are the same in all processes. Values that differ from sample to sample do not count, and dtypes count
    only if the inputs have several.
    """
    summary = arguments(found.program, refused=found.refused)
    dtypes = {call.target for call in found.program.inputs() if call.note != COTANGENT}
    summaries = [summary, *(f"{summary} of {one}, {other}" for one in dtypes for other in dtypes if one < other)]
    summaries += [f"{summary}: {failure.check} {failure.key}" for failure in found.failures]
    summaries += [f"{summary}: rounded"] * found.rounded + [f"{summary}: vacuous"] * found.vacuous
    return {zlib.crc32(text.encode()) for text in summaries}
