"""What a sample has that others may not have had: the features by which a sweep knows what is new."""

from __future__ import annotations

import zlib

from autotest.sweeping.arguments import arguments
from autotest.sweeping.judgement import SampleJudgement


def features(found: SampleJudgement) -> set[int]:
    """What decides how the sample's operator behaves, and how it did behave, as numbers that are the same everywhere.

    Values that differ from sample to sample have no part in it, nor has the dtype of its cell but beside others.
    """
    told = arguments(found.program, refused=found.refused)
    dtypes = {call.target for call in found.program.inputs() if call.note != "cotangent"}
    told_of = [told, *(f"{told} of {one}, {other}" for one in dtypes for other in dtypes if one < other)]
    told_of += [f"{told}: {failure.check} {failure.key}" for failure in found.failures]
    told_of += [f"{told}: rounded"] * found.rounded + [f"{told}: vacuous"] * found.vacuous
    return {zlib.crc32(text.encode()) for text in told_of}
