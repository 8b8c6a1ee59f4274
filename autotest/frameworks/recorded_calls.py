"""Carries out one call of a recorded program on one framework."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.allocator import current_filling
from autotest.frameworks import files
from autotest.frameworks.base import Framework
from autotest.program import Array, Call, Captured, File, Operand, Ref, Root, map_operand
from autotest.program.semantics import returns_new_memory


def run_call(call: Call, framework: Framework, values: Sequence[Any], arrays: Sequence[Array]) -> Any:
    """Make one call with operands from `values` and `arrays`; see `live_operands`. Raises what it raises."""
    if call.kind == "tensor":
        kwargs: Any = call.kwargs
        return framework.tensor(
            arrays[call.args[0].index], device=kwargs["device"], requires_grad=kwargs["requires_grad"]
        )
    if call.kind == "load_state":
        module, state = call.args
        framework.load_state(values[module.slot], {name: arrays[item.index] for name, item in state.items()})
        return None
    if call.kind == "overwrite":
        framework.overwrite(values[call.args[0].slot], arrays[call.args[1].index])
        return None

    args, named = live_operands(call, framework, values, arrays)
    if returns_new_memory(call):
        return _in_known_memory(call, framework, args, named)
    made = framework.invoke(call.kind, call.target, args, named)
    if call.kind == "enter" and made is args[0]:
        return None  # a reference to OneFlow's context would keep it entered
    return None if call.kind in ("setattr", "exit") else made


def live_operands(
    call: Call, framework: Framework, values: Sequence[Any], arrays: Sequence[Array]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and keyword arguments of `call` as the framework gets them."""

    def live(leaf: Operand) -> Any:
        kind = type(leaf)
        if kind is Ref:
            return values[leaf.slot]
        if kind is Root:
            return framework.resolve(leaf.path)
        if kind is File:
            return files.path(framework, leaf.name)
        return arrays[leaf.index].data.copy() if kind is Captured else leaf

    args: list[Any] = [map_operand(item, live) for item in call.args]
    named: dict[str, Any] = {key: map_operand(item, live) for key, item in call.kwargs.items()}
    return args, named


def _in_known_memory(call: Call, framework: Framework, args: list[Any], named: dict[str, Any]) -> Any:
    """Make a call that returns uninitialised memory, as ``torch.empty`` does, with the same contents on all frameworks.

    The contents would otherwise be left over from an earlier replay. These may be what a later call should write there,
    and hide that it does not. Which contents fit is read from another result: torch resizes no `out=` that was read.
    """
    made = framework.invoke(call.kind, call.target, args, named)
    with contextlib.suppress(Exception):  # a result of another layout, for instance, keeps its contents
        (held,) = framework.values([framework.invoke(call.kind, call.target, args, named)])
        byte = current_filling() & (1 if held.data.dtype == np.bool_ else 0xFF)
        contents = np.full(held.data.nbytes, byte, np.uint8).view(held.data.dtype).reshape(held.data.shape)
        framework.overwrite(made, Array(contents, held.dtype))
    return made
