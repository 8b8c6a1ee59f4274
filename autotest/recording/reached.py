"""Asks the reference which tensors a gradient reaches, and leaves no trace of having asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.recording.record import Record


def reached(record: Record, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The gradients of the reference's `outputs` by its `inputs`, None for what nothing depends on.

    Tensors that retain their gradients collect this one, too, on the reference alone: it is taken from them again.
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
