"""Makes values of another record again on this record's candidate, if they were made for another one.

What set-up, a fixture or the top of a file makes belongs to one candidate, while a run may have several, and a test one
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.frameworks import Framework, files
from autotest.program import Array, Call, Captured, File, Operand, Ref, Root, map_operand
from autotest.recording.one_sided import only_reference_accepts
from autotest.recording.record import Record
from autotest.recording.recorder import Recorder


def is_of_another_candidate(record: Record, other: Record) -> bool:
    """Return whether the candidate's values of `other` mean nothing to the candidate of `record`."""
    return other.pair.candidate is not record.pair.candidate


def made_again(record: Recorder, call: Call, values: Sequence[Any], arrays: Sequence[Array], expected: Any) -> Any:
    """Return the result of `call` on the candidate of `record`; the trial ends if it refuses the call.

    Args:
        record: the record of the trial.
        call: the call as another record has it, which is the next one of `record`.
        values: the candidate's results of that record's earlier calls.
        arrays: that record's arrays.
        expected: the reference's result.
    """
    try:
        return _made(record.pair.candidate, call, values, arrays)
    except Exception as error:  # noqa: BLE001 - the framework may raise any exception
        slot = record.write(call._replace(slot=len(record.calls)), expected, None)
        record.end(only_reference_accepts(record, slot, None, error))


def _made(candidate: Framework, call: Call, values: Sequence[Any], arrays: Sequence[Array]) -> Any:
    if call.kind == "tensor":
        named: Any = call.kwargs
        array = arrays[call.args[0].index]
        return candidate.tensor(array, device=named["device"], requires_grad=named["requires_grad"])
    if call.kind == "load_state":
        module, state = call.args
        candidate.load_state(values[module.slot], {name: arrays[item.index] for name, item in state.items()})
        return None
    if call.kind == "overwrite":
        candidate.overwrite(values[call.args[0].slot], arrays[call.args[1].index])
        return None

    def live(leaf: Operand) -> Any:
        kind = type(leaf)
        if kind is Ref:
            return values[leaf.slot]
        if kind is Root:
            return candidate.resolve(leaf.path)
        if kind is File:
            return files.path(candidate, leaf.name)
        return arrays[leaf.index].data.copy() if kind is Captured else leaf

    args: list[Any] = [map_operand(item, live) for item in call.args]
    result = candidate.invoke(
        call.kind, call.target, args, {key: map_operand(it, live) for key, it in call.kwargs.items()}
    )
    return None if call.kind in ("setattr", "enter", "exit") else result


__all__ = ["is_of_another_candidate", "made_again"]
