"""Draws cotangents and pushes them back through the results of a test body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import generators
from autotest.base.errors import TrialEnd
from autotest.frameworks import Framework
from autotest.program import COTANGENT, Array, refs
from autotest.program.semantics import is_backward, leave_gradients, pushes_gradients, reads_gradient
from autotest.recording.dual import Value
from autotest.recording.overwritten import is_kept_copy
from autotest.recording.reached_inputs import reached_inputs
from autotest.recording.recorder import Recorder
from autotest.recording.tensors import from_base

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

# Generators that are built here belong to the test: their errors name the line of the test.
__generators_hide__ = True


def unused_results(recorder: Recorder) -> Iterator[Value]:
    """Yield the results that no call used. If a body returns nothing, these are backpropagated.

    There are none if the body itself pushes back or reads gradients.
    """
    if any(pushes_gradients(call) or reads_gradient(call) for call in recorder.calls):
        return
    read = {ref.slot for call in recorder.calls for ref in refs(call)}
    for call in recorder.calls:
        if is_kept_copy(call) or call.slot in read:
            continue
        if call.kind not in ("tensor", "load_state", "overwrite", "setattr"):
            expected = recorder.expected[call.slot]
            if isinstance(expected, recorder.pair.reference.tensor_types):
                yield Value(recorder, call.slot)


def run_backward(recorder: Recorder, tensors: Sequence[Value], *, twice: bool = False) -> None:
    """Draw a cotangent for each differentiable tensor, and push all of them back, by recorded calls.

    Args:
        recorder: the recorder of the trial.
        tensors: the tensors that the body returned.
        twice: whether to compute second derivatives: the gradients are computed as values, and cotangents are pushed
            back through these.
    """
    reference = recorder.pair.reference
    outputs_by_identity: dict[int, Value] = {}
    for value in tensors:
        if value._recorder is not recorder:
            value._lower(recorder)  # imports a tensor of another record into this one
        if reference.can_backpropagate(value._expected):
            outputs_by_identity.setdefault(id(value._expected), value)
    if not outputs_by_identity:
        return
    outputs = list(outputs_by_identity.values())
    cotangents = [_cotangent(recorder, value, leaf=twice) for value in outputs]
    if twice:
        outputs = _gradients(recorder, outputs, cotangents)
        cotangents = [_cotangent(recorder, value) for value in outputs]
        if not outputs:
            return
    pushed_by_body = leave_gradients(recorder.calls) and any(is_backward(call) for call in recorder.calls)
    before = [(*held, _copy_of_gradient(*held)) for held in _holders(recorder)] if pushed_by_body else []
    try:
        if len(outputs) == 1:
            recorder.method("backward", outputs[0]._lower(recorder), cotangents)
        else:
            recorder.call("function", "autograd.backward", (outputs, cotangents), {})
    except TrialEnd:
        # A body that ran its own backward may have freed the graph, or its optimizer may have changed parameters that
        # the graph needs. Then its own backward is compared, without what this one accumulated before it failed.
        if recorder.rejection is None:
            raise
        if not pushed_by_body:
            # The reference may have accumulated some gradients before it refused.
            for framework, tensor in _holders(recorder):
                framework.forget_gradient(tensor)
            raise
        recorder.rejection = None
        for framework, tensor, gradient in before:
            framework.forget_gradient(tensor)
            if gradient is not None:
                framework.invoke("setattr", "grad", (tensor, gradient), {})


def _holders(recorder: Recorder) -> list[tuple[Framework, Any]]:
    """Return the tensors and parameters that may hold a gradient, each with its framework.

    Those of the candidate are included only if it makes the calls, too, that the reference refuses.
    """
    pair = recorder.pair
    found: dict[int, tuple[Framework, Any]] = {}
    sides = [(pair.reference, recorder.expected), (pair.candidate, recorder.actual)]
    for framework, values in sides if recorder.check_errors else sides[:1]:
        for value in values:
            found |= {id(it): (framework, it) for it in framework.tensors_of(value) if framework.holds_gradient(it)}
    return list(found.values())


def _copy_of_gradient(framework: Framework, tensor: Any) -> Any:
    """Return a copy of the gradient of `tensor`, or None if it has none."""
    gradient = framework.gradient(tensor)
    return None if gradient is None else framework.invoke("method", "clone", (gradient,), {})


def _gradients(recorder: Recorder, outputs: list[Value], cotangents: list[Value]) -> list[Value]:
    """Return the differentiable gradients of `outputs` by leaves and by parameters of modules."""
    reference = recorder.pair.reference
    inputs: dict[int, Value] = {}
    for call in list(recorder.calls):
        expected = recorder.expected[call.slot]
        value = Value(recorder, call.slot)
        if isinstance(expected, reference.module_types):
            for parameter in value.parameters():
                inputs.setdefault(id(parameter._sides()[0]), parameter)
        elif isinstance(expected, reference.tensor_types) and reference.holds_gradient(expected):
            inputs.setdefault(id(expected), value)
    # OneFlow refuses inputs that the outputs do not depend on, so the reference finds these first.
    asked = [tensor for tensor in inputs.values() if reference.can_backpropagate(tensor._sides()[0])]
    live = [[value._sides()[0] for value in values] for values in (outputs, asked, cotangents)]
    asked = [value for value, reached in zip(asked, reached_inputs(recorder, *live), strict=True) if reached]
    slot = recorder.call("function", "autograd.grad", (outputs, asked, cotangents), {"create_graph": True})
    return [item for item in Value(recorder, slot) if reference.can_backpropagate(item._sides()[0])]


def _cotangent(recorder: Recorder, value: Value, *, leaf: bool = False) -> Value:
    expected, actual, reference = value._expected, value._actual, recorder.pair.reference
    drawn = generators.drawn_cotangent(reference.shape(expected), reference.dtype_of(expected), plain=leaf)
    base = Array(drawn.base, drawn.dtype)
    cotangent = from_base(base, drawn.steps, leaf, reference.device_type(expected), COTANGENT)
    placing = recorder.pair.candidate.placed_like(actual)
    return cotangent if placing is None else getattr(cotangent, placing[0])(**placing[1])
