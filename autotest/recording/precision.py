"""Marks the tensors whose numbers were computed in a coarser dtype than their own, which limits how exact they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from autotest.base.settings import DEFAULT_TOLERANCES
from autotest.comparison.elementwise import identical
from autotest.program import LAYOUT, Program, Ref, refs
from autotest.program.influence import contributing
from autotest.program.semantics import OPERATIONS, out_operands
from autotest.program.values import NamedItems, TensorValue
from autotest.recording.pairing import Pairing
from autotest.recording.record import Record


def with_precision(
    record: Record, pairings: Sequence[Pairing], expected: Sequence[Any], actual: Sequence[Any], only: Collection[int]
) -> dict[int, Any]:
    """Return those of the values in `expected` that were computed in a coarser dtype, marked so, by index.

    Args:
        record: the calls of the trial.
        pairings: the pairs of the trial.
        expected, actual: the values of each pair.
        only: the indices of the pairs that are looked at.
    """
    dtypes = {dtype for value in expected for dtype in _dtypes(value)}
    fine = [index for index in only if _marked(expected[index], dtypes) is not expected[index]]
    if not fine:
        return {}
    precision = _Precision(record.snapshot(), pairings, expected, actual)
    marked = {index: _marked(expected[index], precision.computed_in(index)) for index in fine}
    return {index: value for index, value in marked.items() if value is not expected[index]}


@dataclasses.dataclass(frozen=True)
class _Precision:
    """The values of a trial, from which it is read in which dtypes numbers were computed."""

    program: Program
    pairings: Sequence[Pairing]
    expected: Sequence[Any]
    actual: Sequence[Any]

    def computed_in(self, index: int) -> set[str]:
        """Return the floating dtypes in which numbers of the pair `index` were computed before they had their own."""
        pairing = self.pairings[index]
        if pairing.stage == "backward":
            # A gradient is multiplied by results that do not depend on its leaf, too.
            return self._differentiated(pairing.slot) | self._rounded(range(len(self.program.calls)))
        before = contributing(self.program, [pairing.slot]) - {pairing.slot}
        return self._rounded(before) | self._stored(pairing.slot)

    def _rounded(self, slots: Collection[int]) -> set[str]:
        """Return the dtypes of those results of the calls in `slots` that were rounded in different ways."""
        return {dtype for at in self._results(slots) if self._differs(at) for dtype in _dtypes(self.expected[at])}

    def _differentiated(self, leaf: int) -> set[str]:
        """Return the dtypes of the results that depend on `leaf`: their gradients have these dtypes, too."""
        calls = self.program.calls
        computed = {call.slot for call in calls if call.kind in OPERATIONS and call.note != LAYOUT}
        return {
            dtype
            for at in self._results(computed)
            if leaf in contributing(self.program, [self.pairings[at].slot])
            for dtype in _dtypes(self.expected[at])
        }

    def _stored(self, slot: int) -> set[str]:
        """Return the dtypes of the operands of a call that stored its result in `slot` by ``out=``."""
        for call in reversed(self.program.calls):
            out = out_operands(call)
            if out and (call.slot == slot or Ref(slot) in out):
                given = {ref.slot for ref in refs(call) if ref not in out}
                return {dtype for at in self._results(given) for dtype in _dtypes(self.expected[at])}
        return set()

    def _results(self, slots: Collection[int]) -> Iterator[int]:
        """Yield the indices of the results, without gradients, of the calls in `slots`."""
        return (at for at, one in enumerate(self.pairings) if one.stage != "backward" and one.slot in slots)

    def _differs(self, at: int) -> bool:
        pairs = zip(_tensors(self.expected[at]), _tensors(self.actual[at]), strict=False)
        return any(one.data.shape != other.data.shape or not identical(one.data, other.data) for one, other in pairs)


def _dtypes(value: Any) -> set[str]:
    """Return the floating and complex dtypes of the tensors in `value`."""
    return {item.dtype for item in _tensors(value)} & DEFAULT_TOLERANCES.keys()


def _tensors(value: Any) -> Iterator[TensorValue]:
    if type(value) is TensorValue:
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)


def _marked(value: Any, dtypes: set[str]) -> Any:
    """Return `value` with each tensor marked that is of a finer dtype than one of `dtypes`."""
    if type(value) is TensorValue and value.dtype in DEFAULT_TOLERANCES:
        coarsest = max({value.dtype, *dtypes}, key=DEFAULT_TOLERANCES.__getitem__)
        finer = DEFAULT_TOLERANCES[coarsest] > DEFAULT_TOLERANCES[value.dtype]
        return dataclasses.replace(value, rounded_to=coarsest) if finer else value
    if isinstance(value, (tuple, list)):
        items = [_marked(item, dtypes) for item in value]
        if all(one is other for one, other in zip(items, value, strict=True)):
            return value
        return NamedItems(items, value.names) if isinstance(value, NamedItems) else type(value)(items)
    return value
