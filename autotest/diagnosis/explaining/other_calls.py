"""Programs with other numbers in their calls and parameters, on which a claim about the numbers of an input must hold.

As long as `alpha` and the weights stay what they are, a number that only has to be greater than `alpha`, or than a
quotient of weights, looks like a number that the failure needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from autotest.diagnosis.explaining.outcomes import Numbers
from autotest.program import Array, Program, leaves, with_leaves
from autotest.program.rewriting import with_arrays, with_call
from autotest.program.semantics import OPERATIONS, is_backward

#: The largest number of numbers in calls that are varied, and of numbers of an input that each is replaced by.
_MOST, _MOST_MET = 4, 2
#: What numbers in calls, and all parameters together, are multiplied by.
_TIMES = 10


def with_other_calls(program: Program, contents: Sequence[Numbers]) -> Iterator[Program]:
    """Yield `program` with other numbers in a call, one after the other, and with greater parameters.

    Args:
        program: the failing program.
        contents: numbers of an input, which those of a call may have to be equal to.
    """
    varied = 0
    for call in program.calls:
        if call.kind not in OPERATIONS or call.note or is_backward(call):
            continue
        for place, number in enumerate(leaves((call.args, call.kwargs))):
            if type(number) not in (int, float) or not math.isfinite(number) or varied == _MOST:
                continue
            varied += 1
            met = [type(number)(one) for one in _different(contents) if one != number and one == type(number)(one)]
            for other in dict.fromkeys((*met[:_MOST_MET], number + 1, number * _TIMES)):
                if other != number:
                    yield with_call(program, with_leaves(call, {place: other}))
    of_inputs = {call.args[0].index for call in program.inputs()}
    parameters = [at for at, array in enumerate(program.arrays) if at not in of_inputs and array.data.dtype.kind == "f"]
    if parameters:
        greater = {
            at: Array(np.asarray(program.arrays[at].data * _TIMES), program.arrays[at].dtype) for at in parameters
        }
        yield with_arrays(program, [greater.get(at, array) for at, array in enumerate(program.arrays)])


def _different(contents: Sequence[Numbers]) -> list[float]:
    """Return the first finite number of each of `contents`, and its magnitude, each once."""
    numbers = [float(number) for data in contents for number in np.ravel(data)[:1]]
    both = (one for number in numbers for one in (number, abs(number)))
    return list(dict.fromkeys(number for number in both if math.isfinite(number)))
