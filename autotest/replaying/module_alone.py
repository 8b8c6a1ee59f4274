"""Calls one live module on given operands, and pushes given cotangents back through it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autotest.comparison import TensorValue
from autotest.frameworks import Framework
from autotest.frameworks.freezing import freeze, frozen_copies
from autotest.program import Array
from autotest.program.fixed_cotangents import fixed_cotangent


@dataclasses.dataclass(frozen=True, slots=True)
class ModuleResults:
    """Results of a module call: outputs, gradients of the operands, and gradients of the parameters by name."""

    outputs: list[Any]
    gradients: list[TensorValue | None] = dataclasses.field(default_factory=list)
    held: dict[str, TensorValue | None] = dataclasses.field(default_factory=dict)


def call_module_alone(
    framework: Framework,
    module: Any,
    operands: Sequence[TensorValue],
    cotangents: Sequence[TensorValue | Array | None] | None = None,
    *,
    backward: bool,
) -> ModuleResults:
    """Call `module` on `operands`, and push cotangents back if `backward` is set.

    Args:
        framework: the framework of the module.
        module: the live module.
        operands: values of the arguments.
        cotangents: cotangents of the outputs, None for one that is not pushed back; by default those of `cotangent`.
        backward: whether to compute gradients.

    Returns:
        The outputs and, if requested, the gradients.
    """
    given = [framework.tensor(one.as_array(), requires_grad=backward and one.requires_grad) for one in operands]
    # A leaf that requires grad must not be written into.
    passed = [framework.invoke("method", "clone", [one], {}) for one in given] if backward else given
    result = flat(framework, framework.invoke("method", "__call__", [module, *passed], {}))
    outputs = [dataclasses.replace(value, requires_grad=False) for value in freeze(framework, result)]
    if not backward:
        return ModuleResults(outputs)
    parameters = framework.parameters(module)
    for parameter in parameters.values():
        framework.forget_gradient(parameter)
    chosen = [None] * len(result) if cotangents is None else cotangents
    pushed = [
        (root, framework.tensor(cotangent(framework, root) if one is None else Array(np.array(one.data), one.dtype)))
        for root, one in zip(result, chosen, strict=True)
        if (one is not None or cotangents is None) and framework.can_backpropagate(root)
    ]
    if pushed:
        framework.invoke(
            "function", "autograd.backward", [[root for root, _ in pushed], [one for _, one in pushed]], {}
        )
    held = dict(zip(parameters, gradients_of(framework, list(parameters.values())), strict=True))
    return ModuleResults(outputs, gradients_of(framework, given), held)


def cotangent(framework: Framework, tensor: Any) -> Array:
    """Return the fixed cotangent for `tensor`."""
    return fixed_cotangent(framework.shape(tensor), framework.dtype_of(tensor))


def state_of(framework: Framework, module: Any) -> dict[str, TensorValue]:
    """Return copies of the parameters and buffers of `module`, by name."""
    held = framework.state(module)
    return dict(zip(held, frozen_copies(framework, [*held.values()]), strict=True))


def flat(framework: Framework, value: Any) -> list[Any]:
    """Return the tensors in `value`, at any depth. Those of a dictionary are in the order of its sorted keys."""
    if isinstance(value, framework.tensor_types):
        return [value]
    value = fields_of(value)
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in flat(framework, item)]
    return []


def fields_of(value: Any) -> Any:
    """Return the fields of a dataclass by name, or `value` itself if it is not one."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def gradients_of(framework: Framework, tensors: Sequence[Any]) -> list[TensorValue | None]:
    """Return copies of the gradients of `tensors`, None for a tensor without one."""
    held = [framework.gradient(tensor) if framework.can_backpropagate(tensor) else None for tensor in tensors]
    return frozen_copies(framework, held)
