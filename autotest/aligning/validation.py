"""Checks the arguments of `align`, and describes differences in the setup of two models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.aligning.port import Port
from autotest.aligning.running import TrainingStep
from autotest.base.errors import UsageError
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, TensorValue, compare_values
from autotest.comparison.rejection import first_line
from autotest.frameworks import Framework, Pair
from autotest.program import same_bits
from autotest.replaying.module_alone import state_of
from autotest.results.zeros_tally import ZerosOfStage

#: Maximum number of names that are listed.
_LISTED = 6


def check_numbers(steps: Any, rtol: Any, atol: Any, optimizer: Any) -> None:
    """Raise `UsageError` for an invalid number of steps or an invalid tolerance."""
    if type(steps) is not int or steps < 1:
        raise UsageError(f"align(steps={steps!r}): expected a whole number, at least 1")
    if steps > 1 and optimizer is None:
        raise UsageError(
            f"align(steps={steps}): without an optimizer every step repeats the first one; give "
            "optimizer=lambda lib, parameters: lib.optim.SGD(parameters, lr=0.1), or omit steps"
        )
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and (not isinstance(value, (int, float)) or not value >= 0):
            raise UsageError(f"align({name}={value!r}): expected a number, 0 or more")


def check_tolerance(zeros: ZerosOfStage) -> None:
    """Raise `UsageError` if a port whose modules return zeros would have passed, and not only for tiny numbers."""
    if zeros.greatest and not zeros.refusing:
        raise UsageError(
            f"align(rtol={zeros.rtol:g}, atol={zeros.atol:g}): a port whose modules return zeros would pass, too: the "
            f"greatest number that a module of the reference returns is {zeros.greatest:.3g}; give a smaller "
            "tolerance, or leave it out"
        )


def state(framework: Framework, side: str, model: Any) -> dict[str, TensorValue]:
    """Return the parameters and buffers of `model` by name.

    Raises:
        UsageError: One of them has no shape or no values yet.
    """
    held = framework.state(model)
    lacking = next((found for found in (_lacking(framework, *item) for item in held.items()) if found), None)
    if lacking is not None:
        raise UsageError(
            f"align: in the {side} model, {lacking}: call a model with lazy layers once before, and do not use a "
            "device without memory"
        )
    return state_of(framework, model)


def _lacking(framework: Framework, name: str, value: Any) -> str | None:
    try:
        framework.values([value])
    except Exception as error:  # noqa: BLE001 - frameworks raise various exceptions here
        return f"{name} has no values ({first_line(error)})"
    return None


def check_returned(side: str, step: TrainingStep) -> None:
    """Raise `UsageError` if the reference's model returned nothing that can be compared."""
    outputs = step.calls[-1].outputs if step.calls else []
    if not outputs:
        raise UsageError(
            f"align: the {side} model returned {step.returned}, which contains no tensor. Expected tensors, or "
            "tuples, lists, dictionaries or dataclasses of them"
        )
    arrays = [one.data for one in outputs]
    if all(one.size and one.dtype.kind in "fc" and not np.isfinite(one).any() for one in arrays):
        raise UsageError(
            f"align: the {side} model returned no finite number, so nothing can be compared: give inputs and weights "
            "for which it returns some"
        )


def of_own_memory(pair: Pair, models: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the two models, with a copy of the reference's if they share memory, as of one that `torch.compile` wraps.

    Each side is called and trained by itself, so that what one side writes would be an input of the other.

    Raises:
        UsageError: the reference's model cannot be copied.
    """
    held = [side.state(model) for side, model in zip(pair.frameworks, models, strict=True)]
    try:
        own, other = (
            {_address(value): name for name, value in zip(state, side.values([*state.values()]), strict=True)}
            for side, state in zip(pair.frameworks, held, strict=True)
        )
    except Exception:  # noqa: BLE001 - `state` says which parameter has no values yet
        return models
    shared = [own[address] for address in other if address is not None and address in own]
    if not shared:
        return models
    try:
        return pair.reference.invoke("builtin", "deepcopy", [models[0]], {}), models[1]
    except Exception as error:
        raise UsageError(
            f"align: {shared[0]} of the {pair.sides[0]} model shares memory with the {pair.sides[1]} model, and the "
            f"former cannot be copied ({first_line(error)}): make the port with parameters and buffers of its own"
        ) from error


def check_unwritten(sides: Sequence[str], left: Mapping[str, TensorValue], found: Mapping[str, TensorValue]) -> None:
    """Raise `UsageError` if the candidate's state was `left` before a step of the reference, and is `found` after it.

    Tensors of two frameworks can share memory: OneFlow's `from_numpy` copies nothing.
    """
    for name, before in left.items():
        if not same_bits(before.data, found[name].data):
            raise UsageError(
                f"align: a step of the {sides[0]} model also changed {name} of the {sides[1]} model, because they "
                "share memory: make the port with copies, such as from_numpy(array.copy())"
            )


def _address(value: TensorValue) -> int | None:
    """Return where the numbers of `value` are in memory; None if there are none."""
    return int(value.data.__array_interface__["data"][0]) if value.data.size else None


def settings(port: Port, states: tuple[Mapping[str, TensorValue], Mapping[str, TensorValue]]) -> tuple[str, ...]:
    """Return a sentence for each difference in the setup: modes, dtypes, buffers, frozen and tied parameters.

    Args:
        port: the two models.
        states: the parameters and buffers of both models before they shared weights.
    """
    sides, paths = port.pair.sides, port.paths
    own, other = port.modules
    live = [side.state(model) for side, model in zip(port.frameworks, port.models, strict=True)]
    modes: list[tuple[str, bool]] = []
    for path, module in own.items():
        if path in paths:
            mode, wanted = map(_mode, port.frameworks, (module, other[paths[path]]))
            if mode is not None and wanted is not None and mode != wanted:
                modes.append((path, mode))
    pairs = [(one.reference, states[0][one.reference], states[1][one.candidate]) for one in port.matches.pairs]
    dtypes = [(name, mine.dtype, theirs.dtype) for name, mine, theirs in pairs if mine.dtype != theirs.dtype]
    frozen = [(name, mine.requires_grad) for name, mine, theirs in pairs if mine.requires_grad != theirs.requires_grad]
    found = []
    for side, trains in ((sides[0], True), (sides[1], False)):
        if names := [path for path, mode in modes if mode is trains]:
            parts = "all of it" if "" in names else _listed(names)
            found.append(f"in training mode in the {side} model only: {parts}; call .train() or .eval() on both")
        if names := [name for name, asks in frozen if asks is trains]:
            found.append(f"requires a gradient in the {side} model only: {_listed(names)}")
    if dtypes:
        name, mine, theirs = dtypes[0]
        rest = f" (and {len(dtypes) - 1} more)" if len(dtypes) > 1 else ""
        found.append(f"{name}{rest} is {mine} in the {sides[0]} model and {theirs} in the {sides[1]} model")
    if names := list(_overwritten_tables(port, states)):
        found.append(
            f"had other values in the {sides[1]} model, and are in no checkpoint of it: {_listed(names)}; they were "
            f"overwritten with those of the {sides[0]} model"
        )
    for framework, side, model, held, others in zip(
        port.frameworks, sides, port.modules, live, reversed(live), strict=True
    ):
        tied = _tied(framework, model, held, others)
        found += [f"{one} and {same} are the same tensor in the {side} model only" for one, same in tied]
    return tuple(found)


def _overwritten_tables(
    port: Port, states: tuple[Mapping[str, TensorValue], Mapping[str, TensorValue]]
) -> Iterator[str]:
    """Yield the candidate's buffers that are not persistent and had other values than the reference's.

    Such a buffer is a table that the model makes itself. `align` gives the port that of the reference, so that a wrong
    one does not show in the results. It may also be a cache, which differs without a fault.
    """
    candidate, model = port.pair.candidate, port.models[1]
    if not candidate.provides("method", "state_dict", model):
        return
    buffers, persistent = candidate.buffers(model), candidate.invoke("method", "state_dict", [model], {})
    for one in port.matches.pairs:
        if one.candidate in buffers and one.candidate not in persistent:
            mine, theirs = states[0][one.reference], one.to_reference(states[1][one.candidate])
            if compare_values(one.candidate, mine, theirs, Comparison("forward", Tolerance(), check_dtype=False)):
                yield one.candidate


def _mode(framework: Framework, module: Any) -> bool | None:
    """Whether `module` is in training mode; None if it has no modes."""
    try:
        return framework.is_training(module)
    except AttributeError:
        return None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _tied(
    framework: Framework, modules: Mapping[str, Any], held: Mapping[str, Any], others: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the other model's names that this model also has, but as second names of a tied parameter."""
    for name in others:
        owner, _, last = name.rpartition(".")
        if name in held or owner not in modules:
            continue
        if framework.provides("getattr", last, modules[owner]):
            value = framework.invoke("getattr", last, (modules[owner],), {})
            yield from ((one, name) for one, tensor in held.items() if framework.same(value, tensor))
