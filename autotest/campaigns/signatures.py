"""The features of a call's arguments that tend to decide whether it kills the process.

These are dtypes, ranks, emptiness, flags and the signs of numbers.
"""

from __future__ import annotations

from typing import Any

from autotest.processes.breadcrumb import called
from autotest.program import Call, Operand, Ref, plain_operands
from autotest.recording.recorder import Recorder


def signature(recorder: Recorder, call: Call, *, refused: bool) -> str:
    """Return a text such as ``matmul(float32 empty, float32 2-d, transpose=False)``.

    Calls that differ only in the numbers they are given have the same signature.
    """
    return f"{called(recorder, call)}({_operands_text(recorder, call)}){' refused' if refused else ''}"


def _operands_text(recorder: Recorder, call: Call) -> str:
    operands = [_operand_text(recorder, operand) for operand in call.args]
    operands += [f"{name}={_operand_text(recorder, operand)}" for name, operand in call.kwargs.items()]
    return ", ".join(operands)


def _operand_text(recorder: Recorder, operand: Operand) -> str:
    if isinstance(operand, (tuple, list)):
        return f"[{', '.join(_operand_text(recorder, item) for item in operand)}]"
    if type(operand) is Ref:
        return _value(recorder, recorder.expected[operand.slot], recorder.calls[operand.slot])
    return plain_operands.operand_text(operand)


def _value(recorder: Recorder, value: Any, made_by: Call) -> str:
    framework = recorder.pair.reference
    if isinstance(value, framework.tensor_types):
        shape = framework.shape(value)
        return f"{framework.dtype_of(value)} {'empty' if 0 in shape else f'{len(shape)}-d'}"
    if isinstance(value, framework.module_types):
        # A module is described by its constructor's arguments, which are plain values.
        return f"{made_by.target}({_operands_text(recorder, made_by)})"
    return type(value).__name__
