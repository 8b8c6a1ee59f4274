"""The inputs that operators of one trial had: signs, sizes, dtypes, layouts, plain arguments; and their gradients."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.gradients.differentiable import tensors_in
from autotest.gradients.nondifferentiable import listed
from autotest.program import COTANGENT, LAYOUT, Array, Call, Captured, Ref, Root, operator_of, refs
from autotest.program.inputs import layout_of, viewed
from autotest.program.semantics import OPERATIONS, is_module_call, pushes_gradients, written
from autotest.recording.overwritten import is_kept_copy
from autotest.recording.record import Record
from autotest.recording.recorder import CHANGES_RECORDING
from autotest.recording.special_values import has_special_numbers
from autotest.results.coverage import (
    BEYOND,
    BROADCAST,
    CALLED_AS,
    COMPUTED,
    COMPUTED_GRADIENT,
    EMPTY,
    FLOATING,
    GRADIENT,
    HAS_GRADIENT,
    NEGATIVE,
    OPERANDS,
    REFUSED,
    SEVERAL,
    SEVERAL_PAST_A_BLOCK,
    TRIALS,
    WHOLE,
    WITHOUT_SPECIAL,
    Coverage,
    broadcasts,
    valued,
)
from autotest.trials.given_arguments import given_arguments, plain_arguments
from autotest.trials.outcome import Outcome
from generators.dtypes import DTYPES, numpy_dtype

#: Sizes (in elements) above which an operator's threaded loop, and its vectorised loop, needs more than one block.
_LARGE, _BLOCK = 4096, 8
#: The attributes of a tensor that compute another one.
_ATTRIBUTES = frozenset("H T mH mT real imag".split())
#: The functions that make a tensor of an array: an example of Hypothesis, or one that the body makes.
_OF_ARRAYS = frozenset(("tensor", "as_tensor", "from_numpy"))
#: What is counted for each of the two tensors of an operator that broadcasts.
_OF_EACH = frozenset((FLOATING, WHOLE, "negative", "negative whole", "positive", "zero", "not finite"))


def features_of(outcome: Outcome, settings: Settings, *, special_values: bool) -> Coverage:
    """Return the features of one accepted trial, by operator.

    Args:
        outcome: the trial.
        settings: those of its test.
        special_values: whether the run draws special values; otherwise only tests that ask for them do.
    """
    record = outcome.recorder
    inputs = _inputs(record)
    left_out = [] if special_values or settings.special_values else [WITHOUT_SPECIAL]
    found: dict[str, collections.Counter[str]] = {}
    for call in record.calls:
        if not _is_operator(call):
            continue
        if _has_inputs(inputs, call):
            features = {TRIALS, *left_out, *_of_call(record, call, inputs)}
            features |= _of_gradient(outcome, settings, call)
        elif _computes_with_results(record, call):
            features = {COMPUTED, *(valued(BEYOND, said) for said in given_arguments(record, call))}
            if GRADIENT in _of_gradient(outcome, settings, call):
                features.add(COMPUTED_GRADIENT)
        else:
            continue
        name = _name_of(record, call)
        if called_as := _called_as(call, name):
            features.add(valued(CALLED_AS, called_as))
        found.setdefault(name, collections.Counter()).update(features)
        for ref in written(call):  # what it holds from here on is a result
            inputs.pop(ref.slot, None)
    return {operator: dict(features) for operator, features in found.items()}


def refused_features_of(outcome: Outcome) -> Coverage:
    """Return the names of the plain arguments that the reference refused together, in a rejected trial, by operator."""
    record, call = outcome.recorder, outcome.recorder.refused_call
    if call is None or record.rejection is None or not _is_operator(call) or not _has_inputs(_inputs(record), call):
        return {}
    names = {*plain_arguments(record, call)}
    return {record.rejection.target: {valued(REFUSED, name): 1 for name in sorted(names)}} if names else {}


def _is_operator(call: Call) -> bool:
    if call.kind == "getattr":
        return call.target in _ATTRIBUTES
    added = call.note == LAYOUT or is_kept_copy(call)  # by this library
    return call.kind in OPERATIONS and not added and not pushes_gradients(call)


def _name_of(record: Record, call: Call) -> str:
    return call.target if call.kind == "getattr" else operator_of(record.calls, call.slot) or call.target


def _called_as(call: Call, name: str) -> str:
    """Return how `call`, counted as the operator `name`, is written; empty if it cannot have optional arguments."""
    if is_module_call(call):
        return "module"
    return call.kind if call.kind in ("function", "method") and call.target == name else ""


def _has_inputs(inputs: Mapping[int, tuple[Array, str]], call: Call) -> bool:
    return any(ref.slot in inputs for ref in refs(call))


def _inputs(record: Record) -> dict[int, tuple[Array, str]]:
    """Return for each input's slot the array, as the operators read it, and the name of its memory layout."""
    inputs: dict[int, tuple[Array, str]] = {}
    for call in record.calls:
        if call.kind == "tensor" and call.note != COTANGENT:
            inputs[call.slot] = (record.arrays[call.args[0].index], "contiguous")
        elif call.kind == "function" and call.target in _OF_ARRAYS and type(call.args[0]) is Captured:
            inputs[call.slot] = (_converted(record.arrays[call.args[0].index], call), "contiguous")
        elif call.note == LAYOUT and type(call.args[0]) is Ref and call.args[0].slot in inputs:
            base, layout = inputs[call.args[0].slot]
            inputs[call.slot] = (Array(viewed(base.data, call), base.dtype), layout_of(call, layout, base.data.ndim))
    return inputs


def _converted(array: Array, call: Call) -> Array:
    """Return `array` in the dtype that `call`, which makes a tensor of it, asks for."""
    asked = call.kwargs.get("dtype")
    if type(asked) is not Root or asked.path not in DTYPES:
        return array
    with np.errstate(all="ignore"):  # it may be too narrow, or have no NaN
        return Array(array.data.astype(numpy_dtype(asked.path)), asked.path)


def _of_call(record: Record, call: Call, inputs: Mapping[int, tuple[Array, str]]) -> set[str]:
    """Return the features of the tensors among `inputs` that `call` is given, and of its plain arguments."""
    features = {*given_arguments(record, call)}
    given = [*dict.fromkeys(refs(call))]
    shapes, blocks = set(), False
    count = elements = 0
    for place, ref in enumerate(given):
        if ref.slot not in inputs:
            continue
        own = _of_array(*inputs[ref.slot])
        features |= own
        count += 1
        elements += inputs[ref.slot][0].data.size
        shapes.add(inputs[ref.slot][0].data.shape)
        blocks |= "past a block" in own
        if len(given) == len(OPERANDS) and broadcasts(call.target):
            features |= {valued(OPERANDS[place], feature) for feature in own & _OF_EACH}
    features |= set() if elements else {EMPTY}
    if count > 1:
        features |= {SEVERAL, SEVERAL_PAST_A_BLOCK} if blocks else {SEVERAL}
        features |= {BROADCAST} if len(shapes) > 1 else set()
    return features


def _computes_with_results(record: Record, call: Call) -> bool:
    """Return whether the test computes a tensor from results of other calls; this library notes its own calls."""
    types = record.pair.reference.tensor_types
    given = (record.expected[ref.slot] for ref in refs(call))
    return not call.note and any(isinstance(item, types) for item in given) and bool(tensors_in(record, call.slot))


def _of_array(array: Array, layout: str) -> set[str]:
    data = array.data
    count = math.prod(data.shape)
    features = {valued("dtype", array.dtype), valued("rank", data.ndim)}
    if layout in ("contiguous", "offset") or not data.flags.c_contiguous:  # else sizes of 1 hide the layout
        features.add(valued("layout", layout))
    features |= {"past a block"} if count > _BLOCK else set()
    features |= {"large"} if count > _LARGE else set()
    features |= {"size 1"} if 1 in data.shape else set()
    if data.dtype.kind in "fciu" and count:
        flat = data.reshape(-1)
        numbers = flat
        if data.dtype.kind == "c":  # each part has a sign and may be infinite
            flat = np.concatenate((flat.real, flat.imag))
        least, greatest = np.fmin.reduce(flat), np.fmax.reduce(flat)
        floating = data.dtype.kind in "fc"
        features.add(FLOATING if floating else WHOLE)
        features |= {NEGATIVE, "negative" if floating else "negative whole"} if least < 0 else set()
        features |= {"positive"} if greatest > 0 else set()
        features |= {"zero"} if least <= 0 <= greatest and np.count_nonzero(numbers) < count else set()
        if floating and has_special_numbers(Array(flat, array.dtype)):
            features |= {"special"} if np.isfinite(flat).all() else {"special", "not finite"}
        features |= {"ties"} if 1 < count <= _LARGE and _has_ties(numbers) else set()
    return features


def _has_ties(flat: np.ndarray[Any, Any]) -> bool:
    """Return whether two numbers of `flat` are equal, in a third of the time of `numpy.unique`."""
    ordered = np.sort(flat)
    return bool((ordered[1:] == ordered[:-1]).any())


def _of_gradient(outcome: Outcome, settings: Settings, call: Call) -> set[str]:
    """Return whether a gradient of the result of `call` was compared, or else could have been if the test let it."""
    record, can_backpropagate = outcome.recorder, outcome.recorder.pair.reference.can_backpropagate
    results = tensors_in(record, call.slot)
    in_graph = any(map(can_backpropagate, results))
    if outcome.gradients and in_graph:
        return {GRADIENT}
    # A test without `auto_backward`, or with a reason to skip gradients, has already said that it compares none. A
    # known divergence may have ended the trial before its backward pass.
    unasked = not settings.auto_backward or settings.skip_grad or outcome.leaves_out_gradients or outcome.mismatches
    if unasked or listed(call.target) is not None or call.kwargs.get("out") is not None:
        return set()  # torch has no gradients of what is written into `out`
    operands = [tensor for ref in refs(call) for tensor in tensors_in(record, ref.slot)]
    if not (_any_differentiable(record, results) and _any_differentiable(record, operands)):
        return set()
    # If an operand is in a graph and the result is not, either the test prevented it or the operator has no derivative.
    prevented = in_graph or not any(map(can_backpropagate, operands)) or _changes_recording(record)
    return {HAS_GRADIENT} if prevented else set()


def _any_differentiable(record: Record, tensors: Iterable[Any]) -> bool:
    return any(record.pair.reference.dtype_of(tensor) in DIFFERENTIABLE for tensor in tensors)


def _changes_recording(record: Record) -> bool:
    """Return whether the trial may have switched off that calls are recorded for gradients, as with `no_grad`."""
    return any(call.target.rpartition(".")[2] in CHANGES_RECORDING for call in record.calls)
