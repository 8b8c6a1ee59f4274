"""Finds out where in a network a divergence begins, and how far the sides are apart in each of its modules."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.comparison.ratio import over_tolerance
from autotest.diagnosis.agreement import Agreement
from autotest.diagnosis.gradient_flow import hands_on, suspects
from autotest.diagnosis.locating import Located
from autotest.frameworks import Pair
from autotest.program import Call, operator_of, refs
from autotest.program.paths import is_gradient
from autotest.program.semantics import is_class, may_share_memory
from autotest.results.layers import ByLayer, Layer, without_root


def by_layer(agreement: Agreement, located: Located, pair: Pair, settings: Settings) -> ByLayer | None:
    """Where in the networks of a program its first mismatch begins; None where it has no networks."""
    program, first = agreement.program, agreement.mismatches[0]
    calls = program.calls
    paths = without_root(call.scope for call in calls)
    if not paths:
        return None
    slot = located.hint if located.slot is None else located.slot
    outside = located.slot is not None and not calls[located.slot].scope and hands_on(calls[located.slot])
    if outside:
        # What a body does beside its networks is none of their layers' fault; where it made one, that is told.
        slot = _seen_at(calls, [first]) if is_class(calls[first.slot]) else None
    elif slot is None or not calls[slot].scope:
        slot = _seen_at(calls, agreement.mismatches)
    rows = dict.fromkeys(paths[call.scope] for call in calls if call.scope and hands_on(call))
    forward: dict[str, list[float]] = {path: [] for path in rows}
    backward: dict[str, list[float]] = {path: [] for path in rows}
    operators: dict[str, dict[str, None]] = {path: {} for path in rows}
    read = agreement.read()
    pushed: dict[Any, Any] = {}
    if first.stage == "backward":
        with contextlib.suppress(Exception):  # a table is no reason to lose what it is about
            pushed = dict(suspects(program, pair, settings).pairs)
    gradients: dict[int, list[float]] = {}
    for (at, _), (one, other) in pushed.items():
        gradients.setdefault(at, []).append(over_tolerance(one, other, settings.tolerance))
    for (at, suffix), (one, other) in read.items():
        if is_gradient(suffix):
            gradients.setdefault(at, []).append(over_tolerance(one, other, settings.tolerance))
    values: dict[int, list[float]] = {}
    for (at, suffix), (one, other) in read.items():
        if not is_gradient(suffix):
            values.setdefault(at, []).append(over_tolerance(one, other, settings.tolerance))
    for call in calls:
        if not call.scope or not hands_on(call):
            continue
        path = paths[call.scope]
        operators[path][operator_of(calls, call.slot)] = None
        forward[path] += values.get(call.slot, [])
        for ref in refs(call):
            backward[path] += gradients.get(ref.slot, [])
    layers = tuple(
        Layer(path, ", ".join([*operators[path]][:3]), _greatest(forward[path]), _greatest(backward[path]))
        for path in rows
    )
    path = "" if slot is None else paths.get(calls[slot].scope, "")
    return ByLayer(path, located.alone is not None and not outside, first.stage, layers)


def seen_live(calls: Sequence[Call], mismatches: Sequence[Mismatch]) -> ByLayer | None:
    """The same of a trial that no replay shows again: all that is known is where its mismatches are.

    What a call gave comes first: parameters differ after a step that follows from it.
    """
    paths = without_root(call.scope for call in calls)
    if not paths:
        return None
    given = [item for item in mismatches if item.stage != "backward" and _is_result(calls[item.slot])]
    told = sorted(given, key=lambda item: item.slot) or mismatches
    slot = _seen_at(calls, told)
    return ByLayer("" if slot is None else paths.get(calls[slot].scope, ""), False, told[0].stage)


def _is_result(call: Call) -> bool:
    """Whether a network computed what `call` gave: a view may be one of parameters that an optimizer stepped since."""
    return bool(call.scope) and hands_on(call) and not may_share_memory(call)


def _seen_at(calls: Sequence[Call], mismatches: Sequence[Mismatch]) -> int | None:
    """The call in a network that computed what differs first, or the last whose parameters have a wrong gradient."""
    first = mismatches[0]
    if first.stage != "backward":
        for mismatch in mismatches:
            found = next(_in_networks(calls, mismatch.slot), None)
            if found is not None:
                return found
        return None
    readers = [at for mismatch in mismatches if mismatch.stage == "backward" for at in _readers(calls, mismatch.slot)]
    return max(readers, default=None)


def _in_networks(calls: Sequence[Call], slot: int) -> Iterator[int]:
    """The call of `slot` where a network made it, or the first call in a network that reads what it gave."""
    if calls[slot].scope and hands_on(calls[slot]):
        yield slot
    else:
        yield from _readers(calls, slot)


def _readers(calls: Sequence[Call], slot: int) -> Iterator[int]:
    """The first call in a network that reads what `slot` gave, and hands gradients back to it."""
    for call in calls[slot + 1 :]:
        if call.scope and hands_on(call) and any(ref.slot == slot for ref in refs(call)):
            yield call.slot
            return


def _greatest(ratios: Sequence[float]) -> float | None:
    return max(ratios, default=None)


__all__ = ["by_layer", "seen_live"]
