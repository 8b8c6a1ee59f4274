"""Rewrites programs so that computed values are inputs that contain the reference's values."""

from __future__ import annotations

from collections.abc import Mapping

from autotest.base.settings import Settings
from autotest.comparison import TensorValue
from autotest.frameworks import Pair
from autotest.program import Program, refs
from autotest.program.rewriting import assembled, tensor_call
from autotest.replaying.agreement import Agreement, agree


def as_inputs(program: Program, values: Mapping[int, TensorValue]) -> Program:
    """Return `program` with the slots of `values` as inputs that contain these values."""
    arrays = list(program.arrays)
    calls = list(program.calls)
    for slot, value in values.items():
        arrays.append(value.as_array())
        made = tensor_call(slot, len(arrays) - 1, arrays[-1], requires_grad=value.requires_grad, device=value.device)
        calls[slot] = made._replace(note="as the reference computes it")
    return assembled(calls, tuple(arrays), program.undefined)[0]


def _with_plain_leaves(agreement: Agreement) -> Program:
    """Return the program of `agreement` with inputs for leaves that calls create, as inputs can be varied.

    Such leaves are results of calls without tensor arguments, for example ``torch.ones(2, requires_grad=True)``. Their
    gradients can be judged only if their values can be varied.
    """
    made: dict[int, TensorValue] = {}
    for call in agreement.program.calls:
        if call.kind == "function" and call.kwargs.get("requires_grad") is True and not [*refs(call)]:
            value = agreement.read().get((call.slot, ""), (None,))[0]
            if type(value) is TensorValue and value.requires_grad:
                made[call.slot] = value
    return as_inputs(agreement.program, made) if made else agreement.program


def on_inputs(agreement: Agreement, pair: Pair, settings: Settings) -> Agreement:
    """Return the same failure with every leaf as an input, whose values can be varied, if there is one.

    Otherwise return `agreement` unchanged. Only failures of gradients are changed.
    """
    first = agreement.mismatches[0]
    program = _with_plain_leaves(agreement) if first.stage == "backward" else agreement.program
    if program is agreement.program:
        return agreement
    found = agree(program, pair, settings)
    alike = found.mismatches and (found.mismatches[0].symptom, found.mismatches[0].slot) == (first.symptom, first.slot)
    return found if alike else agreement
