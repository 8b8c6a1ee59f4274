"""Lines that tell of a divergence in a network by its modules."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Protocol

from autotest.comparison import Mismatch
from autotest.results.layers import ByLayer, Layer, begins

#: Rows of the table, and mismatches of two models, at most.
ROWS = 16
SHOWN = 8


def layer_lines(told: ByLayer | None) -> list[str]:
    """Which module is wrong, and a table by module of the greatest error over what is tolerated."""
    if told is None:
        return []
    lines = []
    if told.alone and (told.path or any(not layer.path for layer in told.layers)):
        named = told.path or "the whole model"
        lines.append(f"Layer:      {named} is wrong itself: given what the reference gives it, it still differs")
    elif told.path:
        lines.append(f"Layer:      {told.path} is where it shows first; alone, on the reference's values, it agrees")
    shown = _around(told)
    if not shown:
        return [*lines, ""] if lines else []
    width = max(len(layer.path) for layer in shown)
    kinds = max(len(layer.kind) for layer in shown)
    start = begins(told.layers, told.stage)
    lines.append(f"    {'module':{width}}  {'':{kinds}}  {'forward':>9}  {'gradient':>9}   (error / tolerated)")
    for layer in shown:
        mark = "  <-- begins here" if start is not None and layer.path == (told.path or start.path) else ""
        row = (
            f"    {layer.path:{width}}  {layer.kind:{kinds}}  {_number(layer.forward)}  {_number(layer.gradient)}{mark}"
        )
        lines.append(row)
    hidden = len(told.layers) - len(shown)
    return [*lines, *([f"    and {hidden} more, within what is tolerated or further from it"] if hidden else []), ""]


class MatchedNames(Protocol):
    """What the two models call one parameter or buffer."""

    @property
    def reference(self) -> str: ...
    @property
    def candidate(self) -> str: ...
    @property
    def axes(self) -> tuple[int, ...] | None: ...


class AlignedModels(Protocol):
    """How two models compare, as `autotest.aligning.Alignment` has it."""

    @property
    def sides(self) -> tuple[str, str]: ...
    @property
    def matched(self) -> Sequence[MatchedNames]: ...
    @property
    def unmatched(self) -> tuple[Sequence[str], Sequence[str]]: ...
    @property
    def mismatches(self) -> Sequence[Mismatch]: ...
    @property
    def step(self) -> int: ...
    @property
    def network(self) -> ByLayer | None: ...
    @property
    def rounding(self) -> float: ...
    @property
    def notes(self) -> Sequence[str]: ...


def aligned(models: AlignedModels) -> str:
    """The report on two models that were laid beside each other."""
    reference, candidate = models.sides
    found = models.mismatches
    differ = "differs from" if found else "agrees with"
    more = ", as far as it is matched" if any(models.unmatched) and not found else ""
    at = f", in step {models.step}" if models.step and found else ""
    lines = [f"the {candidate} model {differ} the {reference} model{at}{more}"]
    lines += ["", f"Matched:    parameters and buffers: {len(models.matched)}"]
    renamed = (one for one in models.matched if one.reference != one.candidate or one.axes)
    lines += [f"    {one.reference} is {one.candidate}" for one in renamed]
    for side, names in zip(models.sides, models.unmatched, strict=True):
        if names:
            lines.append(f"Unmatched:  of {side}: {', '.join(names)} (say in `mapping` which is which)")
    lines += [f"Noticed:    {note}" for note in models.notes]
    if models.rounding:
        times = f"{models.rounding:.2g}"
        lines.append(f"Rounding:   up to {times} times what is tolerated, which is gone in double precision")
    if found:
        lines += ["", *layer_lines(models.network), "Mismatches:"]
        for mismatch in found[:SHOWN]:
            lines += textwrap.wrap(mismatch.message, 100, initial_indent="  - ", subsequent_indent="    ")
        if len(found) > SHOWN:
            lines.append(f"  - and {len(found) - SHOWN} more")
    return "\n".join(lines).rstrip()


def _around(told: ByLayer) -> Sequence[Layer]:
    """All rows, or those about the one where it begins."""
    if len(told.layers) <= ROWS:
        return told.layers
    start = begins(told.layers, told.stage)
    path = told.path or ("" if start is None else start.path)
    at = next((number for number, layer in enumerate(told.layers) if layer.path == path), 0)
    first = max(0, min(at - ROWS // 2, len(told.layers) - ROWS))
    return told.layers[first : first + ROWS]


def _number(ratio: float | None) -> str:
    return f"{'-' if ratio is None else f'{ratio:.2g}':>9}"
