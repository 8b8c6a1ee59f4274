"""Compares one module of two aligned models by itself, on the inputs that the reference's module was given."""

from __future__ import annotations

from autotest.aligning.port import Port
from autotest.aligning.running import ModuleCall
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, Stage, compare_values
from autotest.replaying.module_alone import call_module_alone


def differs_alone(call: ModuleCall, port: Port, stage: Stage, tolerance: Tolerance) -> bool:
    """Whether the two modules of `call` differ on the reference's inputs; for `stage` backward, in their gradients."""
    try:
        own, other = (
            call_module_alone(side, module, call.inputs, call.output_gradients, backward=stage == "backward")
            for side, module in zip(port.frameworks, port.modules_at(call.path), strict=True)
        )
    except Exception:  # noqa: BLE001 - the module may need arguments that are not tensors
        return False
    how = Comparison(stage, tolerance)
    if stage != "backward":
        return bool(compare_values("", own.outputs, other.outputs, how))
    differs = bool(compare_values("", own.gradients, other.gradients, how))
    beginning, their_beginning = (f"{path}." if path else "" for path in (call.path, port.paths[call.path]))
    for match in port.matches.pairs:
        mine = match.reference.removeprefix(beginning)
        theirs = match.candidate.removeprefix(their_beginning)
        inside = match.reference.startswith(beginning) and match.candidate.startswith(their_beginning)
        if inside and mine in own.held and theirs in other.held:
            back = match.to_reference(other.held[theirs])
            differs = differs or bool(compare_values("", own.held[mine], back, how))
    return differs
