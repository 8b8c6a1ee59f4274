"""Computes on the reference which tensors a gradient reaches, without side effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.recording.record import Record


def reached(record: Record, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Return the gradients of the reference's `outputs` by its `inputs`; None for an input that they do not depend on.

    Tensors that retain their gradients would also collect this one, on the reference only. Their gradients are
    restored.
    """
    reference = record.pair.reference
    told = [call.args[0].slot for call in record.calls if call.target == "retain_grad"]
    retaining = [record.expected[slot] for slot in dict.fromkeys(told)]
    before = [reference.gradient(tensor) for tensor in retaining]
    named = {"retain_graph": True, "allow_unused": True}
    found = reference.invoke("function", "autograd.grad", (outputs, inputs, cotangents), named)
    for tensor, gradient in zip(retaining, before, strict=True):
        reference.invoke("setattr", "grad", (tensor, gradient), {})
    return list(found)


__all__ = ["reached"]
