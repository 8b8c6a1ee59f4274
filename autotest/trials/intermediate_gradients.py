"""Makes intermediate tensors of a body retain their gradients, so that these are compared like those of inputs."""

from __future__ import annotations

from autotest.program import Ref
from autotest.program.semantics import OPERATIONS, is_class
from autotest.recording.recorder import Recorder


def keep_gradients(recorder: Recorder) -> None:
    """Record a ``retain_grad`` of each computed tensor that a gradient can reach, once for each tensor.

    These are ordinary calls, so that replays, reduced programs and scripts contain them, too.
    """
    reference = recorder.pair.reference
    seen: set[int] = set()
    for call in list(recorder.calls):
        tensor = recorder.expected[call.slot]
        if call.kind not in OPERATIONS or is_class(call) or not isinstance(tensor, reference.tensor_types):
            continue
        if id(tensor) not in seen and reference.can_backpropagate(tensor) and not reference.holds_gradient(tensor):
            recorder.method("retain_grad", (tensor, recorder.actual[call.slot], Ref(call.slot)))
        seen.add(id(tensor))
