"""Formats a divergence in a network by modules."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Protocol

from autotest.comparison import Mismatch
from autotest.results.layers import ByLayer, Layer, first_divergent_layer

#: Maximum numbers of rows of the table, and of mismatches of two models.
ROWS = 16
SHOWN = 8


def layer_lines(by_layer: ByLayer | None) -> list[str]:
    """Return which module is wrong, and a table of the largest error of each module relative to the tolerance."""
    if by_layer is None:
        return []
    lines = []
    if by_layer.alone and (by_layer.path or any(not layer.path for layer in by_layer.layers)):
        named = by_layer.path or "the whole model"
        lines.append(f"Layer:      {named} is wrong: it differs even with the inputs of the reference")
    elif by_layer.path:
        lines.append(
            f"Layer:      the difference first shows in {by_layer.path}, which agrees with the inputs of the reference"
        )
    shown = _around(by_layer)
    if not shown:
        return [*lines, ""] if lines else []
    width = max(len(layer.path) for layer in shown)
    kinds = max(len(layer.kind) for layer in shown)
    start = first_divergent_layer(by_layer.layers, by_layer.stage)
    lines.append(f"    {'module':{width}}  {'':{kinds}}  {'forward':>9}  {'gradient':>9}   (error / tolerance)")
    for layer in shown:
        mark = "  <-- begins here" if start is not None and layer.path == (by_layer.path or start.path) else ""
        row = (
            f"    {layer.path:{width}}  {layer.kind:{kinds}}  {_number(layer.forward)}  {_number(layer.gradient)}{mark}"
        )
        lines.append(row)
    hidden = len(by_layer.layers) - len(shown)
    return [
        *lines,
        *([f"    and {hidden} more, within tolerance or farther from the first difference"] if hidden else []),
        "",
    ]


class MatchedNames(Protocol):
    """The names of one parameter or buffer in two models."""

    @property
    def reference(self) -> str: ...
    @property
    def candidate(self) -> str: ...
    @property
    def axes(self) -> tuple[int, ...] | None: ...


class AlignedModels(Protocol):
    """The comparison of two models, as in `autotest.aligning.Alignment`."""

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
    """Return the report on two aligned models."""
    reference, candidate = models.sides
    found = models.mismatches
    differ = "differs from" if found else "agrees with"
    more = ", in the matched parts" if any(models.unmatched) and not found else ""
    at = f", in step {models.step}" if models.step and found else ""
    lines = [f"the {candidate} model {differ} the {reference} model{at}{more}"]
    lines += ["", f"Matched:    parameters and buffers: {len(models.matched)}"]
    renamed = (one for one in models.matched if one.reference != one.candidate or one.axes)
    lines += [f"    {one.reference} is {one.candidate}" for one in renamed]
    for side, names in zip(models.sides, models.unmatched, strict=True):
        if names:
            lines.append(f"Unmatched:  of {side}: {', '.join(names)} (give their counterparts in `mapping`)")
    lines += [f"Noticed:    {note}" for note in models.notes]
    if models.rounding:
        times = f"{models.rounding:.2g}"
        lines.append(f"Rounding:   differences of up to {times} times the tolerance, none in double precision")
    if found:
        lines += ["", *layer_lines(models.network), "Mismatches:"]
        for mismatch in found[:SHOWN]:
            lines += textwrap.wrap(mismatch.message, 100, initial_indent="  - ", subsequent_indent="    ")
        if len(found) > SHOWN:
            lines.append(f"  - and {len(found) - SHOWN} more")
    return "\n".join(lines).rstrip()


def _around(by_layer: ByLayer) -> Sequence[Layer]:
    """Return all rows, or the `ROWS` rows around the one where the divergence begins."""
    if len(by_layer.layers) <= ROWS:
        return by_layer.layers
    start = first_divergent_layer(by_layer.layers, by_layer.stage)
    path = by_layer.path or ("" if start is None else start.path)
    at = next((number for number, layer in enumerate(by_layer.layers) if layer.path == path), 0)
    first = max(0, min(at - ROWS // 2, len(by_layer.layers) - ROWS))
    return by_layer.layers[first : first + ROWS]


def _number(ratio: float | None) -> str:
    return f"{'-' if ratio is None else f'{ratio:.2g}':>9}"
