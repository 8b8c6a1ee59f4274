"""Gives a program whose modules have other arguments than before the state that these modules have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autotest.frameworks import Framework
from autotest.program import Array, Call, Captured, Program
from autotest.program.rewriting import assembled
from autotest.program.semantics import is_class
from autotest.replaying.replay import replay

_Shape = tuple[int, ...]


def with_fitting_state(program: Program, framework: Framework) -> Program:
    """Return `program` with its modules' parameters and buffers resized, and without those that modules do not have.

    An example is an LSTM with a layer less than before. `program` is returned as it is if `framework` refuses a module.
    """
    loads = [call for call in program.calls if call.kind == "load_state" and is_class(program.calls[_owner(call)])]
    if not loads:
        return program
    made = replay(program, framework, upto=1 + max(map(_owner, loads))).values
    if any(_owner(load) >= len(made) for load in loads):
        return program
    arrays = list(program.arrays)
    changed: dict[int, Call] = {}
    for load in loads:
        owner, content = load.args
        fitting = _fitting(content, arrays, _shapes(framework, made[owner.slot]))
        if fitting != content:
            changed[load.slot] = load._replace(args=(owner, fitting))
    if not changed:
        return program
    calls = [changed.get(call.slot, call) for call in program.calls]
    kept = [call for call in calls if call.slot not in changed or call.args[1]]
    return assembled(kept, tuple(arrays), program.undefined)[0]


def _owner(load: Call) -> int:
    slot: int = load.args[0].slot
    return slot


def _shapes(framework: Framework, module: Any) -> Mapping[str, _Shape | None]:
    """Return the shapes in the state of `module` by name; None for a parameter of a lazy module, which has none yet."""
    return {name: _shape(framework, tensor) for name, tensor in framework.state(module).items()}


def _shape(framework: Framework, tensor: Any) -> _Shape | None:
    try:
        return tuple(framework.shape(tensor))
    except RuntimeError:
        return None


def _fitting(
    content: Mapping[str, Captured], arrays: list[Array], shapes: Mapping[str, _Shape | None]
) -> dict[str, Captured]:
    """Return those of `content` that have a shape in `shapes`; resized contents are added to `arrays`."""
    found: dict[str, Captured] = {}
    for name, captured in content.items():
        if name not in shapes:
            continue
        shape, array = shapes[name], arrays[captured.index]
        if shape is None or _is_broadcast_to(array.data.shape, shape):
            found[name] = captured
        else:
            found[name] = Captured(len(arrays))
            arrays.append(Array(_resized(array.data, shape), array.dtype))
    return found


def _is_broadcast_to(shape: _Shape, other: _Shape) -> bool:
    try:
        return np.broadcast_shapes(shape, other) == other
    except ValueError:
        return False


def _resized(data: np.ndarray[Any, Any], shape: _Shape) -> np.ndarray[Any, Any]:
    """Return `data` cut to `shape`, or with its numbers repeated where it is too short."""
    if data.ndim != len(shape) or not data.size:
        return np.resize(data, shape)
    for axis, length in enumerate(shape):
        data = np.take(data, np.arange(length), axis=axis, mode="wrap")
    return data
