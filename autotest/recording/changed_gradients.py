"""Makes a backward leave or return the gradients that hooks made, where the graph ends at the hooked tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.recording.dual import Value, wrap
from autotest.recording.push import Push, PushedGradient, RecorderCall


def returning(push: Push, pushing: RecorderCall, inputs: Sequence[Any]) -> RecorderCall:
    """Return the call whose result are the gradients of `inputs`, of which `pushing` computes those without hooks."""
    new = [_among(push.changed, one) for one in inputs]
    if all(one is None for one in new):
        return pushing
    taken = Value(push.recorder, push.recorder.call(*pushing))
    items = [
        wrap(push.recorder, push.recorder.operate("getitem", (taken, at))) if one is None else one
        for at, one in enumerate(new)
    ]
    return "builtin", "tuple", (items,), {}, None


def leaving(push: Push, pushing: RecorderCall, inputs: Sequence[Any]) -> RecorderCall:
    """Return the call that adds the gradients of hooks to ``.grad``, after `pushing` has left all others.

    What `pushing` itself leaves at the hooked tensors is removed again. `inputs` are the only tensors to leave
    gradients in; all if it is empty.
    """
    recorder = push.recorder
    changed = [one for one in push.changed if not inputs or any(one[0]._expected is some._expected for some in inputs)]
    if not changed:
        return pushing
    held = [wrap(recorder, recorder.getattr(tensor, "grad")) for tensor, _ in changed]
    # Otherwise the backward would add to the contents of a gradient that is put back below.
    for (tensor, _), gradient in zip(changed, held, strict=True):
        if gradient is not None:
            recorder.setattr(tensor, "grad", None)
    recorder.call(*pushing)
    for (tensor, _), gradient in zip(changed, held, strict=True):
        recorder.setattr(tensor, "grad", gradient)
    tensors, gradients = (list(side) for side in zip(*changed, strict=True))
    named = {"create_graph": True} if push.create_graph else {}
    return "function", "autograd.backward", (tensors, gradients), named, None


def _among(changed: Sequence[PushedGradient], tensor: Any) -> Value | None:
    return next((new for one, new in changed if one._expected is tensor._expected), None)
