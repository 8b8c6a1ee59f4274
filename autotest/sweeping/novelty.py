"""Computes the features of a sample, by which a sweep recognizes new behaviour."""

from __future__ import annotations

import zlib

from autotest.sweeping.arguments import arguments
from autotest.sweeping.judgement import SampleJudgement


def features(found: SampleJudgement) -> set[int]:
    """Return the features of a sample as numbers: what decides its operator's behaviour, and the behaviour itself.

    The numbers are the same in all processes. Values that differ from sample to sample do not count, and dtypes count
    only if the inputs have several.
    """
    told = arguments(found.program, refused=found.refused)
    dtypes = {call.target for call in found.program.inputs() if call.note != "cotangent"}
    told_of = [told, *(f"{told} of {one}, {other}" for one in dtypes for other in dtypes if one < other)]
    told_of += [f"{told}: {failure.check} {failure.key}" for failure in found.failures]
    told_of += [f"{told}: rounded"] * found.rounded + [f"{told}: vacuous"] * found.vacuous
    return {zlib.crc32(text.encode()) for text in told_of}
