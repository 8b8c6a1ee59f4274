"""What of a call's arguments tends to decide whether it kills: dtypes, ranks, emptiness, flags, signs of numbers."""

from __future__ import annotations

from typing import Any

from autotest.processes.breadcrumb import called
from autotest.program import Call, Operand, Ref, plain_operands
from autotest.recording.recorder import Recorder


def signature(recorder: Recorder, call: Call, *, refused: bool) -> str:
    """Such as ``matmul(float32 empty, float32 2-d, transpose=False)``; the same for calls that differ in numbers."""
    told = [_told(recorder, operand) for operand in call.args]
    told += [f"{name}={_told(recorder, operand)}" for name, operand in call.kwargs.items()]
    return f"{called(recorder, call)}({', '.join(told)}){' refused' if refused else ''}"


def _told(recorder: Recorder, operand: Operand) -> str:
    if isinstance(operand, (tuple, list)):
        return f"[{', '.join(_told(recorder, item) for item in operand)}]"
    if type(operand) is Ref:
        return _value(recorder, recorder.expected[operand.slot], recorder.calls[operand.slot])
    return plain_operands.told(operand)


def _value(recorder: Recorder, value: Any, made_by: Call) -> str:
    framework = recorder.pair.reference
    if isinstance(value, framework.tensor_types):
        shape = framework.shape(value)
        return f"{framework.dtype_of(value)} {'empty' if 0 in shape else f'{len(shape)}-d'}"
    if isinstance(value, framework.module_types):
        # What it was made with is what it goes by; its own arguments are plain.
        given = [_told(recorder, item) for item in made_by.args]
        given += [f"{name}={_told(recorder, item)}" for name, item in made_by.kwargs.items()]
        return f"{made_by.target}({', '.join(given)})"
    return type(value).__name__


__all__ = ["signature"]
