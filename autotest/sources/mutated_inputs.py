"""Changes single tensors of a program: what they hold, and whether they require a gradient."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Collection
from typing import Final

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import Array, Call, Program

#: Elements of the largest array that is changed. Larger arrays show no more and take longer.
LARGEST: Final = 1 << 14

Mutation = Callable[[Program, random.Random], "Program | None"]


def with_array(program: Program, index: int, data: Values, dtype: str | None = None) -> Program:
    """Return `program` with `data` as its captured array `index`."""
    arrays = list(program.arrays)
    arrays[index] = Array(np.ascontiguousarray(data).reshape(data.shape), dtype or arrays[index].dtype)
    calls = [
        call._replace(target=arrays[index].dtype, kwargs={**call.kwargs, "requires_grad": _differentiable(call, dtype)})
        if call.kind == "tensor" and call.args[0].index == index
        else call
        for call in program.calls
    ]
    return dataclasses.replace(program, calls=tuple(calls), arrays=tuple(arrays))


def _differentiable(call: Call, dtype: str | None) -> bool:
    wanted: bool = call.kwargs["requires_grad"]
    return wanted and (dtype is None or dtype.startswith(("float", "bfloat", "complex")))


def inputs(program: Program) -> list[int]:
    """Return the indices of captured arrays that become tensors and are small enough to be changed."""
    found = [call.args[0].index for call in program.calls if call.kind == "tensor"]
    return [index for index in found if program.arrays[index].data.size <= LARGEST]


def has_single_elements(program: Program) -> bool:
    """Whether no small input has more than one element."""
    return max((program.arrays[index].data.size for index in inputs(program)), default=0) <= 1


def one(program: Program, source: random.Random, fits: Callable[[Array], bool]) -> int | None:
    """Return one of the small inputs that `fits`; None if there is none."""
    fitting = [index for index in inputs(program) if fits(program.arrays[index])]
    return source.choice(fitting) if fitting else None


def on_one(fits: Callable[[Array], bool], change: Callable[[Values, random.Random], Values | None]) -> Mutation:
    """Return a mutation that gives new values to one of the small inputs that `fits`, unless `change` returns None."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        index = one(program, source, fits)
        if index is None:
            return None
        changed = change(program.arrays[index].data, source)
        return None if changed is None else with_array(program, index, changed)

    return mutated


def no_gradient(program: Program, source: random.Random) -> Program | None:
    """Let one of several inputs no longer require a gradient."""
    asking = _asking(program)
    return _not_asking(program, {source.choice(asking)}) if len(asking) > 1 else None


def no_gradients(program: Program, source: random.Random) -> Program | None:
    """Let no input require a gradient, so that code for inference runs."""
    asking = _asking(program)
    return _not_asking(program, asking) if asking else None


def _asking(program: Program) -> list[int]:
    return [call.slot for call in program.inputs() if call.kwargs["requires_grad"]]


def _not_asking(program: Program, slots: Collection[int]) -> Program:
    return dataclasses.replace(
        program,
        calls=tuple(
            call._replace(kwargs={**call.kwargs, "requires_grad": False}) if call.slot in slots else call
            for call in program.calls
        ),
    )
