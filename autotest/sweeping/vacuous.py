"""Decides whether a program's results have elements and depend on its inputs; otherwise they show nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import Array, Program
from autotest.replaying.replay import Replayed, replay
from autotest.sweeping.backward import results


def has_no_defined_element(program: Program, expected: Replayed) -> bool:
    """Whether no result of the reference has an element with specified contents."""
    backward = ("backward", "autograd.backward")
    made = [call for call in program.calls if call.kind != "tensor" and call.target not in backward]
    values = [expected.values[call.slot] for call in made if call.slot not in program.undefined]
    types = expected.framework.tensor_types
    plain = any(value is not None and not isinstance(value, (*types, tuple, list)) for value in values)
    tensors = [value for value in values if isinstance(value, types)]
    tensors += _defined(program, expected)
    return not plain and all(0 in expected.framework.shape(tensor) for tensor in tensors)


def is_constant(program: Program, expected: Replayed) -> bool:
    """Whether each result consists of one repeated number, and does not change with the inputs.

    `program` has no backward. The reference runs it on other inputs only if the results consist of repeated numbers. A
    program without tensor inputs is not constant in this sense: equal results on both sides are evidence there.
    """
    given = _results(program, expected)
    if not given or not all(map(_is_one_number, given)):
        return False
    constant_results = [value.tobytes() for value in given]
    tried = False
    for change in _OTHER_INPUTS:
        changed = _changed(program, change)
        if changed is None:
            continue
        again = replay(changed, expected.framework)
        if again.error is not None:
            continue
        tried = True
        if [value.tobytes() for value in _results(changed, again)] != constant_results:
            return False
    return tried


def _defined(program: Program, ran: Replayed) -> list[Any]:
    return [tensor for slot, _, tensor in results(program, ran) if slot not in program.undefined]


def _results(program: Program, ran: Replayed) -> list[Values]:
    found = ran.framework.values(_defined(program, ran))
    # Normalize negative zeros, so that the sign of a zero does not count.
    return [value.data + 0 if value.data.dtype.kind in "fc" else value.data for value in found]


def _is_one_number(data: Values) -> bool:
    if data.size < 2:
        return True
    flat = data.reshape(-1)
    # Most arrays end with another value than they begin with, which shows without a copy.
    first: bytes = flat[0].tobytes()
    return first == flat[-1].tobytes() and first * data.size == flat.tobytes()


def _changed(program: Program, change: Callable[[Values], Values]) -> Program | None:
    """Return `program` with other contents of its tensors; None if no tensor would change."""
    arrays = list(program.arrays)
    for index in {call.args[0].index for call in program.inputs()}:
        data = arrays[index].data
        with np.errstate(all="ignore"):
            arrays[index] = Array(np.ascontiguousarray(change(data)).reshape(data.shape), arrays[index].dtype)
    if all(one.data.tobytes() == other.data.tobytes() for one, other in zip(arrays, program.arrays, strict=True)):
        return None
    return dataclasses.replace(program, arrays=tuple(arrays))


def _reversed(data: Values) -> Values:
    return data.reshape(-1)[::-1]


def _other(data: Values) -> Values:
    """Return other numbers: another sign and size for floats, the negation for bools, the reverse for integers."""
    if data.dtype.kind in "fc":
        return (data * -0.75 + 0.1).astype(data.dtype)
    return ~data if data.dtype.kind == "b" else _reversed(data)


#: Ways to change the contents of inputs. If the reference accepts only one of them, that one decides.
_OTHER_INPUTS: Final[tuple[Callable[[Values], Values], ...]] = (_other, _reversed)
