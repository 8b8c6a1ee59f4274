"""Runs a call of one of the reference's own functions on a dual tensor as a call on both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autotest.base.errors import UsageError
from autotest.recording.lowering import lower
from autotest.recording.recorder import Recorder


def carried_out(recorder: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """Run on both sides the call that corresponds to `function` of the real reference; return its slot.

    Raises:
        UsageError: the dual namespace has no name for the function, or the call comes from a module of the reference
            alone, whose parameters the candidate does not have.
    """
    reference = recorder.pair.reference
    found = reference.public_call(function, args, kwargs)
    if found is None:
        name = getattr(function, "__name__", str(function))
        home = getattr(function, "__module__", "") or ""
        path = f"{home}.{name}" if home.partition(".")[0] in recorder.pair.packages else name
        raise UsageError(
            f"{path} of {reference.name} itself got a dual tensor, which it does not accept: use `from autotest "
            "import torch`, or pass one side only, such as x.reference"
        )
    if any(reference.is_parameter(item) for item in (*args, *kwargs.values())):
        raise UsageError(
            f"a module of {reference.name} itself was called with a dual tensor ({found.target} got its parameters): "
            "build the module on both sides, with `from autotest import torch` and torch.nn.Linear(...)"
        )
    if found.kind == "function":
        return recorder.call("function", found.target, found.args, found.kwargs)
    if found.kind == "operator":
        return recorder.operate(found.target, found.args)
    owner = lower(recorder, found.args[0], lambda: None)
    if found.kind == "getattr":
        return recorder.call("builtin", "getattr", (found.args[0], found.target), {})
    return recorder.call("method", found.target, found.args[1:], found.kwargs, owner)
