"""Runs a call of one of the reference's own functions with a dual tensor on both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autotest.base.errors import UsageError
from autotest.recording.lowering import lower
from autotest.recording.recorder import Recorder


def carried_out(recorder: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """Make the call that `function` of the real reference stands for on both sides, and return its slot.

    Raises:
        UsageError: the dual namespace has no name for the function, or the call is by a module of the reference, whose
            parameters the candidate does not have.
    """
    reference = recorder.pair.reference
    found = reference.public_call(function, args, kwargs)
    if found is None:
        name = getattr(function, "__name__", str(function))
        home = getattr(function, "__module__", "") or ""
        path = f"{home}.{name}" if home.partition(".")[0] in recorder.pair.packages else name
        raise UsageError(
            f"{path} is {reference.name}'s own and was given a dual tensor, which it cannot be given: use what "
            "`from autotest import torch` has, or hand it one side alone, as x.reference"
        )
    if any(reference.is_parameter(item) for item in (*args, *kwargs.values())):
        raise UsageError(
            f"a module of {reference.name}'s own was called with a dual tensor ({found.target} was given its "
            "parameters): build the module on both sides, as `from autotest import torch` and torch.nn.Linear(...) do"
        )
    if found.kind == "function":
        return recorder.call("function", found.target, found.args, found.kwargs)
    if found.kind == "operator":
        return recorder.operate(found.target, found.args)
    owner = lower(recorder, found.args[0], lambda: None)
    if found.kind == "getattr":
        return recorder.call("builtin", "getattr", (found.args[0], found.target), {})
    return recorder.call("method", found.target, found.args[1:], found.kwargs, owner)
