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
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import freeze
from autotest.program import Array


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
        told = [
            _told(side, module, call, backward=stage == "backward")
            for side, module in zip((pair.reference, pair.candidate), modules, strict=True)
        ]
    except Exception:  # noqa: BLE001 - it may be called with more than tensors
        return False
    (outputs, gradients, held), (theirs, their_gradients, their_held) = told
    if stage != "backward":
        return bool(compare_values("", 0, "forward", outputs, theirs, tolerance))
    differs = bool(compare_values("", 0, "backward", gradients, their_gradients, tolerance))
    beginning, their_beginning = (f"{path}." if path else "" for path in (call.path, paths[call.path]))
    for match in matched:
        mine = match.reference.removeprefix(beginning)
        their = match.candidate.removeprefix(their_beginning)
        inside = match.reference.startswith(beginning) and match.candidate.startswith(their_beginning)
        if inside and mine in held and their in their_held:
            value = their_held[their]
            back = value if value is None else dataclasses.replace(value, data=match.back(value.data))
            differs = differs or bool(compare_values("", 0, "backward", held[mine], back, tolerance))
    return differs


def _told(
    framework: Framework, module: Any, call: ModuleCall, *, backward: bool
) -> tuple[list[Any], list[Any], dict[str, TensorValue | None]]:
    """What `module` gives for the inputs of `call`; the gradients of these and of its parameters, by name."""
    given = [
        framework.tensor(Array(np.array(one.data), one.dtype), requires_grad=backward and one.requires_grad)
        for one in call.inputs
    ]
    # What is asked for its gradient must not be written into.
    operands = [framework.invoke("method", "clone", [one], {}) for one in given] if backward else given
    result = running.flat(framework, framework.invoke("method", "__call__", [module, *operands], {}))
    outputs = [dataclasses.replace(value, requires_grad=False) for value in freeze(framework, result)]
    if not backward:
        return outputs, [], {}
    parameters = framework.parameters(module)
    for parameter in parameters.values():
        framework.forget_gradient(parameter)
    pushed = [
        (root, framework.tensor(Array(np.array(one.data), one.dtype)))
        for root, one in zip(result, call.output_gradients, strict=True)
        if one is not None and framework.can_backpropagate(root)
    ]
    if pushed:
        framework.invoke(
            "function", "autograd.backward", [[root for root, _ in pushed], [one for _, one in pushed]], {}
        )
    gradients = running.gradients_of(framework, given)
    held = dict(zip(parameters, running.gradients_of(framework, list(parameters.values())), strict=True))
    return outputs, gradients, held
