"""Computes gradients on the reference alone, to find the tensors that they reach, without side effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.recording.record import Record


def reference_gradients(
    record: Record, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """Return the gradients of the reference's `outputs` with respect to `inputs`; None for an input without influence.

    Tensors that retain their gradients accumulate this one as well, and only on the reference. Their earlier gradients
    are therefore restored.
    """
    reference = record.pair.reference
    retained = [call.args[0].slot for call in record.calls if call.target == "retain_grad"]
    retaining = [record.expected[slot] for slot in dict.fromkeys(retained)]
    before = [reference.gradient(tensor) for tensor in retaining]
    named = {"retain_graph": True, "allow_unused": True}
    found = reference.invoke("function", "autograd.grad", (outputs, inputs, cotangents), named)
    for tensor, gradient in zip(retaining, before, strict=True):
        reference.invoke("setattr", "grad", (tensor, gradient), {})
    return list(found)


__all__ = ["reference_gradients"]
