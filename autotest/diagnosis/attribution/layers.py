"""Finds the module of a network in which a divergence begins, and the error between the sides in each module."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from autotest.base.settings import Settings, Tolerance
from autotest.comparison import Mismatch
from autotest.comparison.ratio import over_tolerance
from autotest.diagnosis.attribution.locating import Located
from autotest.frameworks import Pair
from autotest.program import Call, Scope, operator_of, refs
from autotest.program.paths import is_gradient
from autotest.program.semantics import clips_gradients, first_operand, is_class, may_share_memory
from autotest.replaying.agreement import Agreement
from autotest.replaying.gradient_flow import PairedGradients, may_pass_gradients, suspects
from autotest.replaying.replay import Place
from autotest.results.layers import ByLayer, Layer, paths_of


def by_layer(agreement: Agreement, located: Located, pair: Pair, settings: Settings) -> ByLayer | None:
    """Return where the first mismatch begins in the networks of a program; None if that is in none of their layers."""
    calls, first = agreement.program.calls, agreement.mismatches[0]
    paths = paths_of(calls)
    if not paths or (located.change is not None and _is_between_passes(calls, located.change.slot)):
        return None  # what becomes of gradients after the backward is no layer's fault
    slot = located.beginning
    outside = located.slot is not None and not calls[located.slot].scope and may_pass_gradients(calls[located.slot])
    if outside:
        # A call of the test body outside its networks is no layer's fault. If that call made a module, name the module.
        slot = _seen_at(calls, [first]) if is_class(calls[first.slot]) else None
    elif slot is None or not calls[slot].scope:
        slot = _seen_at(calls, agreement.mismatches)
    path = "" if slot is None else paths.get(calls[slot].scope, "")
    table = _table(agreement, paths, located.gradients, pair, settings)
    is_shown_alone = located.alone is not None and slot == located.slot and not outside
    return ByLayer(path, is_shown_alone, first.stage, table)


def _is_between_passes(calls: Sequence[Call], slot: int) -> bool:
    """Whether the call in `slot` is of an optimizer or a scheduler, or clips gradients."""
    owner = first_operand(calls[slot])
    return clips_gradients(calls[slot]) or (owner is not None and calls[owner.slot].target.startswith("optim."))


@dataclasses.dataclass(slots=True)
class _Row:
    """The calls of one module: their operators, the errors of their results, and those of the gradients they passed."""

    operators: dict[str, None] = dataclasses.field(default_factory=dict)
    forward: list[float] = dataclasses.field(default_factory=list)
    backward: list[float] = dataclasses.field(default_factory=list)


def _table(
    agreement: Agreement,
    paths: Mapping[Scope | None, str],
    followed: PairedGradients | None,
    pair: Pair,
    settings: Settings,
) -> tuple[Layer, ...]:
    """Return the error between the sides in each module.

    Args:
        agreement: the results of both sides.
        paths: the module path of each scope.
        followed: the gradients of both sides, if they are known.
        pair: the reference and the candidate.
        settings: the settings of the test.
    """
    calls, read = agreement.program.calls, agreement.read()
    pushed: PairedGradients = followed or {}
    if followed is None and agreement.mismatches[0].stage == "backward":
        with contextlib.suppress(Exception):  # an error here must not lose the finding
            pushed = suspects(agreement.program, pair, settings).pairs
    held = [item for item in read.items() if is_gradient(item[0][1])]
    values = _errors([item for item in read.items() if not is_gradient(item[0][1])], settings.tolerance)
    gradients = _errors([*pushed.items(), *held], settings.gradient_tolerance)
    rows: dict[str, _Row] = {}
    for call in calls:
        if call.scope and may_pass_gradients(call):
            row = rows.setdefault(paths[call.scope], _Row())
            row.operators[operator_of(calls, call.slot)] = None
            row.forward += values.get(call.slot, [])
            for ref in refs(call):
                row.backward += gradients.get(ref.slot, [])
    return tuple(
        Layer(path, ", ".join([*row.operators][:3]), max(row.forward, default=None), max(row.backward, default=None))
        for path, row in rows.items()
    )


def _errors(pairs: Iterable[tuple[Place, tuple[Any, Any]]], tolerance: Tolerance) -> dict[int, list[float]]:
    """Return the error of each pair of values as a multiple of the tolerance, by slot."""
    found: dict[int, list[float]] = {}
    for (slot, _), (one, other) in pairs:
        found.setdefault(slot, []).append(over_tolerance(one, other, tolerance))
    return found


def by_layer_of_calls(calls: Sequence[Call], mismatches: Sequence[Mismatch]) -> ByLayer | None:
    """Return the same as `by_layer` for a trial that replays do not reproduce, from the places of its mismatches alone.

    Mismatches in results of calls come first: parameters differ after an optimizer's step because such results do.
    """
    paths = paths_of(calls)
    if not paths:
        return None
    given = [item for item in mismatches if item.stage != "backward" and _is_result(calls[item.slot])]
    shown = sorted(given, key=lambda item: item.slot) or mismatches
    slot = _seen_at(calls, shown)
    return ByLayer("" if slot is None else paths.get(calls[slot].scope, ""), stage=shown[0].stage)


def _is_result(call: Call) -> bool:
    """Whether a network computed the result of `call`.

    A view does not count: it may be a view of a parameter that an optimizer has changed since.
    """
    return call.scope is not None and may_pass_gradients(call) and not may_share_memory(call)


def _seen_at(calls: Sequence[Call], mismatches: Sequence[Mismatch]) -> int | None:
    """Return the call in a network at which the mismatches begin; None if there is none.

    For results, this is the call that computed the first mismatch. For gradients, it is the last call that reads a
    value with a wrong gradient.
    """
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
    """Yield `slot` if its call is in a network, else the first call in a network that reads its result."""
    if calls[slot].scope and may_pass_gradients(calls[slot]):
        yield slot
    else:
        yield from _readers(calls, slot)


def _readers(calls: Sequence[Call], slot: int) -> Iterator[int]:
    """Yield the first call in a network that reads the result of `slot` and passes gradients back to it."""
    for call in calls[slot + 1 :]:
        if call.scope and may_pass_gradients(call) and any(ref.slot == slot for ref in refs(call)):
            yield call.slot
            return
