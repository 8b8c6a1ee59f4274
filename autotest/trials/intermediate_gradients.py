"""Has what a body computed keep its gradients, so that they are compared as those of inputs are."""

from __future__ import annotations

from autotest.program import Ref
from autotest.program.semantics import OPERATIONS, is_class
from autotest.recording.recorder import Recorder


def keep_gradients(recorder: Recorder) -> None:
    """Record a ``retain_grad`` of every computed tensor that gradients will reach, each once.

    These are calls like any other, so that replays, smaller programs and scripts have them, too.
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
