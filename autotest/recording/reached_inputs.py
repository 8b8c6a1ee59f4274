"""Finds, on the reference alone, the tensors that a gradient reaches, without side effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.recording.record import Record


def reached_inputs(
    record: Record, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]
) -> list[bool]:
    """Return for each of `inputs` whether the reference's `outputs` depend on it.

    If the reference refuses to backpropagate, all are True: the recorded call that the caller then makes is refused in
    the same way, as every call that the reference refuses.

    Tensors that retain their gradients accumulate this one as well, and only on the reference. Their earlier gradients
    are therefore restored.
    """
    reference = record.pair.reference
    retained = [call.args[0].slot for call in record.calls if call.target == "retain_grad"]
    retaining = [record.expected[slot] for slot in dict.fromkeys(retained)]
    before = [reference.gradient(tensor) for tensor in retaining]
    named = {"retain_graph": True, "allow_unused": True}
    try:
        found = reference.invoke("function", "autograd.grad", (outputs, inputs, cotangents), named)
    except Exception:  # noqa: BLE001 - the framework may raise any exception
        return [True] * len(inputs)
    finally:
        for tensor, gradient in zip(retaining, before, strict=True):
            reference.invoke("setattr", "grad", (tensor, gradient), {})
    return [gradient is not None for gradient in found]
