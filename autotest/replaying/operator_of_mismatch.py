"""Names the operator of a mismatch. For a tensor changed in place it is the call after which the sides differ."""

from __future__ import annotations

import dataclasses

import numpy as np

from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, Mismatch, TensorValue, compare_values
from autotest.frameworks import Framework, Pair, warnings_ignored
from autotest.program import Program, operator_of
from autotest.program.semantics import in_place, in_place_by_argument
from autotest.replaying.replay import replay
from autotest.results.identity import operator_behind


@warnings_ignored()
def operator_of_mismatch(program: Program, mismatch: Mismatch, pair: Pair) -> str:
    """Return the operator that names a mismatch of `program`. Replays the program if its tensor is changed in place."""
    writer = _writer(program, mismatch, pair)
    return operator_behind(program.calls, mismatch) if writer is None else operator_of(program.calls, writer)


def _writer(program: Program, mismatch: Mismatch, pair: Pair) -> int | None:
    """Return the in-place call after which a tensor first differs; None if there is none, or it differs before."""
    slot = mismatch.slot
    writers = [call.slot for call in program.calls[slot + 1 :] if in_place(call) or in_place_by_argument(call)]
    if not writers or (mismatch.stage, mismatch.symptom) != ("forward", "value"):
        return None
    times = {slot, *writers}
    expected, actual = (_held(program, side, slot, times) for side in (pair.reference, pair.candidate))
    how = Comparison("forward", Tolerance())
    for at in sorted(expected.keys() & actual.keys()):
        if compare_values("", expected[at], actual[at], how):
            return None if at == slot else at
    return None


def _held(program: Program, framework: Framework, slot: int, times: set[int]) -> dict[int, TensorValue]:
    """Return the contents of the tensor in `slot` after each call in `times`, until the replay ends."""
    found: dict[int, TensorValue] = {}

    def between_calls(done: int, values: list[object]) -> None:
        if done - 1 in times and isinstance(values[slot], framework.tensor_types):
            value = framework.values([values[slot]])[0]
            found[done - 1] = dataclasses.replace(value, data=np.array(value.data))

    replay(program, framework, between_calls=between_calls, upto=max(times) + 1)
    return found
