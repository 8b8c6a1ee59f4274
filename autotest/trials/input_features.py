"""The inputs that operators of one trial had: signs, sizes, dtypes, layouts, plain arguments; and their gradients."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.gradients.differentiable import tensors_in
from autotest.gradients.nondifferentiable import listed
from autotest.program import COTANGENT, LAYOUT, Array, Call, Ref, leaves, operator_of, refs
from autotest.program.inputs import layout_of
from autotest.program.semantics import OPERATIONS, is_module_call, pushes_gradients, written
from autotest.recording.overwritten import is_kept_copy
from autotest.recording.record import Record
from autotest.recording.recorder import CHANGES_RECORDING
from autotest.recording.special_values import has_special_numbers
from autotest.results.coverage import (
    BROADCAST,
    COMPUTED,
    FLOATING,
    GIVEN,
    GRADIENT,
    HAS_GRADIENT,
    REFUSED,
    SEVERAL,
    TRIALS,
    WHOLE,
    WITHOUT_SPECIAL,
    Coverage,
    argument,
    valued,
)
from autotest.trials.outcome import Outcome

#: Sizes (in elements) above which an operator's threaded loop, and its vectorised loop, needs more than one block.
_LARGE, _BLOCK = 4096, 8
#: Maximum length of the text of an argument that is reported.
_LONGEST = 30
_PLAIN = (bool, int, float, str, type(None))


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
        operands = _operands(inputs, call)
        if operands:
            features = {TRIALS, *left_out, *_of_call(record, call, operands)}
            features |= _of_gradient(outcome, settings, call)
        elif _computes_with_results(record, call):
            features = {COMPUTED}
        else:
            continue
        found.setdefault(operator_of(record.calls, call.slot) or call.target, collections.Counter()).update(features)
        for ref in written(call):  # what it holds from here on is a result
            inputs.pop(ref.slot, None)
    return {operator: dict(features) for operator, features in found.items()}


def refused_features_of(outcome: Outcome) -> Coverage:
    """Return the names of the plain arguments that the reference refused together, in a rejected trial, by operator."""
    record, call = outcome.recorder, outcome.recorder.refused_call
    if call is None or record.rejection is None or not _is_operator(call) or not _operands(_inputs(record), call):
        return {}
    names = {name for name, value in _all_arguments(record, call) if _is_counted(value)}
    return {record.rejection.target: {valued(REFUSED, name): 1 for name in sorted(names)}} if names else {}


def _is_operator(call: Call) -> bool:
    added = call.note == LAYOUT or is_kept_copy(call)  # by this library
    return call.kind in OPERATIONS and not added and not pushes_gradients(call)


def _operands(inputs: Mapping[int, tuple[Array, str]], call: Call) -> list[tuple[Array, str]]:
    """Return those of `inputs` that `call` is given."""
    return [inputs[ref.slot] for ref in dict.fromkeys(refs(call)) if ref.slot in inputs]


def _inputs(record: Record) -> dict[int, tuple[Array, str]]:
    """Return for each input's slot the array, as the operators read it, and the name of its memory layout."""
    inputs: dict[int, tuple[Array, str]] = {}
    for call in record.calls:
        if call.kind == "tensor" and call.note != COTANGENT:
            inputs[call.slot] = (record.arrays[call.args[0].index], "contiguous")
        elif call.note == LAYOUT and type(call.args[0]) is Ref and call.args[0].slot in inputs:
            base, layout = inputs[call.args[0].slot]
            inputs[call.slot] = (Array(_viewed(base.data, call), base.dtype), layout_of(call, layout))
    return inputs


def _viewed(data: np.ndarray[Any, Any], view: Call) -> np.ndarray[Any, Any]:
    """Return the view of `data` that the call `view` makes: the memory between its elements is no input."""
    if view.target == "getitem":
        viewed: np.ndarray[Any, Any] = data[view.args[1]]
        return viewed
    if view.target == "transpose":
        return data.swapaxes(*view.args[1:])
    return np.broadcast_to(data, view.args[1]) if view.target == "expand" else data


def _of_call(record: Record, call: Call, operands: Sequence[tuple[Array, str]]) -> set[str]:
    """Return the features of the input tensors `operands` of `call`, and of its plain arguments."""
    features = {
        argument(name, value) if _is_counted(value) else valued(GIVEN, name)
        for name, value in _all_arguments(record, call)
    }
    for array, layout in operands:
        features |= _of_array(array, layout)
    if len(operands) > 1:
        features.add(SEVERAL)
        features |= {BROADCAST} if len({array.data.shape for array, _ in operands}) > 1 else set()
    return features


def _computes_with_results(record: Record, call: Call) -> bool:
    """Return whether the test computes a tensor from results of other calls; this library notes its own calls."""
    types = record.pair.reference.tensor_types
    given = (record.expected[ref.slot] for ref in refs(call))
    return not call.note and any(isinstance(item, types) for item in given) and bool(tensors_in(record, call.slot))


def _of_array(array: Array, layout: str) -> set[str]:
    data = array.data
    count = math.prod(data.shape)
    features = {valued("dtype", array.dtype), valued("rank", data.ndim), valued("layout", layout)}
    features |= {"past a block"} if count > _BLOCK else set()
    features |= {"large"} if count > _LARGE else set()
    features |= {"size 1"} if 1 in data.shape else set()
    if data.dtype.kind in "fiu" and count:
        flat = data.reshape(-1)
        least, greatest = np.fmin.reduce(flat), np.fmax.reduce(flat)
        floating = data.dtype.kind == "f"
        features.add(FLOATING if floating else WHOLE)
        if least < 0:
            features.add("negative" if floating else "negative whole")
        features |= {"positive"} if greatest > 0 else set()
        features |= {"zero"} if least <= 0 <= greatest and np.count_nonzero(flat) < count else set()
        if floating and has_special_numbers(array):
            features |= {"special"} if np.isfinite(flat).all() else {"special", "not finite"}
        features |= {"ties"} if 1 < count <= _LARGE and _has_ties(flat) else set()
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
    if unasked or listed(call.target) is not None:
        return set()
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


def _all_arguments(record: Record, call: Call) -> Iterator[tuple[str, object]]:
    """Yield the arguments of `call`; for the call of a module, also those with which the module was made."""
    yield from _arguments(record, call)
    if is_module_call(call) and type(call.args[0]) is Ref:
        yield from _arguments(record, record.calls[call.args[0].slot])


def _arguments(record: Record, call: Call) -> Iterator[tuple[str, object]]:
    """Yield name and value of the arguments of `call`; of positional ones only if the reference names them."""
    owner = 1 if call.kind == "method" else 0
    named = [*call.kwargs.items()]
    if call.kind in ("function", "method"):
        given = call.args[owner:]
        whose = record.expected[call.args[0].slot] if owner and type(call.args[0]) is Ref else None
        if len(given) > 1 or any(map(_is_counted, given)):
            names = record.pair.argument_names(call.kind, call.target, whose, len(given), tuple(call.kwargs))
            named += zip(names, given, strict=False)
    yield from named


def _is_counted(value: object) -> bool:
    """Return whether `value` is plain, or a sequence of plain values and no tensors, and its text is short."""
    items = leaves(value) if isinstance(value, (tuple, list)) else (value,)
    return all(isinstance(item, _PLAIN) for item in items) and len(repr(value)) <= _LONGEST
