"""Gives a program whose shapes have changed cotangents that fit its results."""

from __future__ import annotations

import numpy as np

from autotest.frameworks import Framework
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import with_arrays
from autotest.program.semantics import pushed_pairs, pushes_gradients
from autotest.replaying.replay import replay


def with_fitting_cotangents(program: Program, framework: Framework) -> Program | None:
    """Return `program` with its cotangents resized to its results' shapes; None if it raises before a backward call."""
    fitting: Program | None = program
    for call in program.calls:
        if fitting is not None and pushes_gradients(call):
            fitting = _push_with_fitting_cotangents(fitting, call, framework)
    return fitting


def _push_with_fitting_cotangents(program: Program, push: Call, framework: Framework) -> Program | None:
    """Return `program` with fitting cotangents for the call `push`; None if `framework` raises before it."""
    pairs = [
        (root, one)
        for root, one in pushed_pairs(push)
        if type(root) is type(one) is Ref and program.calls[one.slot].kind == "tensor"
    ]
    if not pairs:
        return program
    replayed = replay(program, framework, upto=push.slot)
    if replayed.error is not None:
        return None
    arrays = list(program.arrays)
    if not all(isinstance(replayed.values[root.slot], framework.tensor_types) for root, _ in pairs):
        return None  # a root was an item of a tuple and is no tensor any more
    for root, one in pairs:
        shape = tuple(framework.values([replayed.values[root.slot]])[0].data.shape)
        index = program.calls[one.slot].args[0].index
        if arrays[index].data.shape != shape:
            size = int(np.prod(shape))
            data = np.resize(arrays[index].data, size) if arrays[index].data.size else np.ones(size)
            arrays[index] = Array(data.reshape(shape).astype(arrays[index].data.dtype), arrays[index].dtype)
    return with_arrays(program, arrays)
