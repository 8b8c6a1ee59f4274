"""Finds the memory layouts of one input with which a program fails that passes if the input is contiguous."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autotest.diagnosis.explaining.paired_numbers import OnInputs
from autotest.program.inputs import Input
from generators.layouts import LAYOUTS, LEAST_RANK

_LAYOUTS = tuple(layout for layout in LAYOUTS if layout != "contiguous")


def failing_layouts(item: Input, others: Sequence[Input], run: OnInputs) -> list[str]:
    """Return the layouts of `item` with which the program fails.

    Args:
        item: an input, in a layout that the failure needs.
        others: the other inputs, and the cotangents.
        run: runs the program with other inputs.
    """
    larger = _larger(item, others, run)
    found = [
        kind
        for kind in _LAYOUTS
        if kind == item.layout
        or run([item.with_layout(kind)]) == "fails"
        or (larger and run([*larger, _laid_out(larger[0], kind)]) == "fails")
    ]
    if item.array.data.ndim >= LEAST_RANK["channels_last"]:
        return found
    # The order is reversed, and nothing is a channel.
    return list(dict.fromkeys("transposed" if kind == "channels_last" else kind for kind in found))


def of_different_numbers(item: Input) -> Input:
    """Return `item` with numbers that are all different, because equal ones hide which of them an operator reads."""
    data = item.array.data
    if data.dtype.kind != "f":
        return item
    laid_out = item.with_layout("contiguous") if item.layout == "expanded" else item  # different numbers do not repeat
    return laid_out.with_data((1 + 0.375 * np.arange(data.size)).reshape(data.shape).astype(data.dtype))


def _larger(item: Input, others: Sequence[Input], run: OnInputs) -> list[Input]:
    """Return the inputs and cotangents, `item` first, with two rows for one and numbers that are all different.

    Of a single row, some layouts are contiguous. Return nothing if `item` then fails in contiguous memory, too, or does
    not fail in its own.
    """
    larger = [of_different_numbers(one.with_layout("contiguous").with_size(1, 2)) for one in (item, *others)]
    if 1 not in item.array.data.shape or run(larger) != "passes":
        return []
    return larger if run([*larger, _laid_out(larger[0], item.layout)]) == "fails" else []


def _laid_out(item: Input, kind: str) -> Input:
    """Return `item` with the layout `kind`; of an expanded one, all rows are the first."""
    data = item.array.data
    repeated = item.with_data(np.repeat(data[:1], len(data), axis=0)) if kind == "expanded" else item
    return repeated.with_layout(kind)
