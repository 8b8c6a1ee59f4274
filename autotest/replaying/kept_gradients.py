"""Finds the ``zero_grad`` after which one side alone keeps a gradient, to which the next backward pass adds."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autotest.base.settings import Settings
from autotest.comparison import Comparison, Mismatch, compare_values
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import freeze
from autotest.program import Program, Ref
from autotest.replaying.replay import replay


def keeping_call(program: Program, pair: Pair, settings: Settings, first: Mismatch) -> int | None:
    """Return the ``zero_grad`` that leaves other gradients on one side, if all values before it agree, else None.

    Whether a gradient of zero is a tensor or missing counts only if `first`, the mismatch that it is to explain, is
    about a missing gradient: frameworks do either by default.
    """
    if first.symptom not in ("value", "gradient"):
        return None
    is_missing = first.symptom == "gradient" and first.statistics is None
    slots = [call.slot for call in program.calls if call.kind == "method" and call.target == "zero_grad"]
    if not slots:
        return None
    expected, actual = (_kept(program, side, slots, is_missing=is_missing) for side in pair.frameworks)
    for slot in slots:
        if slot not in expected or slot not in actual or expected[slot] == actual[slot]:
            continue
        own, other = (_values_before(program, side, slot) for side in pair.frameworks)
        return None if compare_values("", own, other, Comparison("forward", settings.tolerance)) else slot
    return None


def _kept(program: Program, framework: Framework, slots: Collection[int], *, is_missing: bool) -> dict[int, list[bool]]:
    """Return for each of the calls in `slots` which tensors of its owner have a gradient other than zero after it.

    If `is_missing` is true, one of zero counts, too.
    """
    found: dict[int, list[bool]] = {}

    def between_calls(done: int, values: list[Any]) -> None:
        if done - 1 in slots:
            gradients = [framework.gradient(tensor) for tensor in _owned(program, framework, done - 1, values)]
            found[done - 1] = [
                one is not None and (is_missing or bool(framework.values([one])[0].data.any())) for one in gradients
            ]

    replay(program, framework, between_calls=between_calls)
    return found


def _values_before(program: Program, framework: Framework, slot: int) -> list[Any]:
    """Return the tensors before the call in `slot`, then those of its owner with their gradients."""
    values = replay(program, framework, upto=slot).values
    owned = _owned(program, framework, slot, values)
    held = [*(one for one in values if isinstance(one, framework.tensor_types)), *owned]
    return [*freeze(framework, held), *freeze(framework, [framework.gradient(one) for one in owned])]


def _owned(program: Program, framework: Framework, slot: int, values: list[Any]) -> list[Any]:
    """Return the tensors whose gradients the call in `slot` is to discard."""
    owner = program.calls[slot].args[0]
    held = values[owner.slot] if type(owner) is Ref else None
    if isinstance(held, framework.module_types):
        return [*framework.parameters(held).values()]
    return [*framework.optimized(held)]
