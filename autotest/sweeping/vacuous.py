"""Tells whether a program's results say anything: they have elements, and depend on what the program is given."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autotest.frameworks import Framework
from autotest.program import Array, Program
from autotest.replaying.replay import Replayed, replay
from autotest.sweeping.backward import results

_Values = np.ndarray[Any, Any]


def says_nothing(program: Program, expected: Replayed) -> bool:
    """Whether no result of the reference has an element whose contents are specified."""
    backward = ("backward", "autograd.backward")
    made = [call for call in program.calls if call.kind != "tensor" and call.target not in backward]
    values = [expected.values[call.slot] for call in made if call.slot not in program.undefined]
    types = expected.framework.tensor_types
    plain = any(value is not None and not isinstance(value, (*types, tuple, list)) for value in values)
    tensors = [value for value in values if isinstance(value, types)]
    tensors += [tensor for slot, _, tensor in results(program, expected) if slot not in program.undefined]
    return not plain and all(0 in expected.framework.shape(tensor) for tensor in tensors)


def is_constant(program: Program, expected: Replayed) -> bool:
    """Whether all results are of one number each, and stay as they are when the inputs are others.

    `program` has no backward. Other inputs are tried on the reference only where results look like that; what takes no
    tensor is no constant: that it is the same one on both sides says something.
    """
    framework = expected.framework
    given = _results(program, expected, framework)
    if not given or not all(map(_is_one_number, given)):
        return False
    told = [value.tobytes() for value in given]
    tried = False
    for change in _OTHER_INPUTS:
        changed = _changed(program, change)
        if changed is None:
            continue
        again = replay(changed, framework)
        if again.error is not None:
            continue
        tried = True
        if [value.tobytes() for value in _results(changed, again, framework)] != told:
            return False
    return tried


def _results(program: Program, ran: Replayed, framework: Framework) -> list[_Values]:
    tensors = [tensor for slot, _, tensor in results(program, ran) if slot not in program.undefined]
    # Of zeros the sign does not count.
    return [value.data + 0 if value.data.dtype.kind in "fc" else value.data for value in framework.values(tensors)]


def _is_one_number(data: _Values) -> bool:
    if data.size < 2:
        return True
    flat = data.reshape(-1)
    # Most end otherwise than they begin, and need not be copied to see that.
    first: bytes = flat[0].tobytes()
    return first == flat[-1].tobytes() and first * data.size == flat.tobytes()


def _changed(program: Program, change: Callable[[_Values], _Values]) -> Program | None:
    """`program` with other contents of its tensors; None where there is none that would be changed."""
    arrays = list(program.arrays)
    for index in {call.args[0].index for call in program.inputs()}:
        data = arrays[index].data
        with np.errstate(all="ignore"):
            arrays[index] = Array(np.ascontiguousarray(change(data)).reshape(data.shape), arrays[index].dtype)
    if all(one.data.tobytes() == other.data.tobytes() for one, other in zip(arrays, program.arrays, strict=True)):
        return None
    return dataclasses.replace(program, arrays=tuple(arrays))


def _reversed(data: _Values) -> _Values:
    return data.reshape(-1)[::-1]


def _other(data: _Values) -> _Values:
    """Other numbers: of the other sign and another size where they are floating, the opposite where they are flags."""
    if data.dtype.kind in "fc":
        return (data * -0.75 + 0.1).astype(data.dtype)
    return ~data if data.dtype.kind == "b" else _reversed(data)


#: Ways to change the contents of inputs. What only one of them is accepted for is told by that one.
_OTHER_INPUTS: Final[tuple[Callable[[_Values], _Values], ...]] = (_other, _reversed)
