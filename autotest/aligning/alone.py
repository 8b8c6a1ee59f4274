"""Tries one module of two aligned models by itself, on what the reference's was given."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.aligning import running
from autotest.aligning.matching import Match
from autotest.aligning.running import ModuleCall, Step
from autotest.base.settings import Tolerance
from autotest.comparison import Stage, TensorValue, compare_values
from autotest.frameworks import Pair
from autotest.program import Array
from autotest.replaying.module_alone import call_alone


@contextlib.contextmanager
def as_before(pair: Pair, models: tuple[Any, Any], matched: Sequence[Match], step: Step) -> Iterator[None]:
    """Both models hold what the reference's held when `step` began, until the block is left."""
    sides = (pair.reference, pair.candidate)
    after = [_arrays(running.state_of(side, model)) for side, model in zip(sides, models, strict=True)]
    carried = {
        one.candidate: Array(one.carried(step.before[one.reference].data), step.before[one.reference].dtype)
        for one in matched
    }
    try:
        for side, model, state in zip(sides, models, (_arrays(step.before), carried), strict=True):
            side.load_state(model, state)
        yield
    finally:
        for side, model, state in zip(sides, models, after, strict=True):
            side.load_state(model, state)


def _arrays(state: Mapping[str, TensorValue]) -> dict[str, Array]:
    return {name: Array(np.array(value.data), value.dtype) for name, value in state.items()}


def differs_alone(
    call: ModuleCall,
    pair: Pair,
    models: tuple[Any, Any],
    paths: Mapping[str, str],
    matched: Sequence[Match],
    stage: Stage,
    tolerance: Tolerance,
) -> bool:
    """Whether the two modules of `call` differ on what the reference's was given: in gradients, if `stage` says so."""
    own, other = (dict(model.named_modules()) for model in models)
    modules = own[call.path], other[paths[call.path]]
    try:
        own_told, other_told = [
            call_alone(side, module, call.inputs, call.output_gradients, backward=stage == "backward")
            for side, module in zip((pair.reference, pair.candidate), modules, strict=True)
        ]
    except Exception:  # noqa: BLE001 - it may be called with more than tensors
        return False
    if stage != "backward":
        return bool(compare_values("", 0, "forward", own_told.outputs, other_told.outputs, tolerance))
    differs = bool(compare_values("", 0, "backward", own_told.gradients, other_told.gradients, tolerance))
    beginning, their_beginning = (f"{path}." if path else "" for path in (call.path, paths[call.path]))
    for match in matched:
        mine = match.reference.removeprefix(beginning)
        their = match.candidate.removeprefix(their_beginning)
        inside = match.reference.startswith(beginning) and match.candidate.startswith(their_beginning)
        if inside and mine in own_told.held and their in other_told.held:
            value = other_told.held[their]
            back = value if value is None else dataclasses.replace(value, data=match.back(value.data))
            differs = differs or bool(compare_values("", 0, "backward", own_told.held[mine], back, tolerance))
    return differs
