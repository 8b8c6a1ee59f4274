"""Replays a program on both sides and compares all results, as a trial does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeAlias

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import freeze
from autotest.program import Program
from autotest.program.semantics import is_class
from autotest.recording.initial_state import unlike_state
from autotest.recording.observation import compare_trial
from autotest.recording.one_sided import accepted_by_candidate, accepts, refused_by_candidate
from autotest.recording.pairing import pair_up
from autotest.recording.precision import with_precision
from autotest.recording.record import Record
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.replaying.recorded import record_of
from autotest.replaying.replay import Place, Replayed, seeded_replay

#: A callback that runs before each call of a replay, with the number of calls that have run and their live results.
BetweenCalls: TypeAlias = Callable[[int, list[Any]], None]


@dataclasses.dataclass(slots=True)
class Agreement:
    """The result of running a program on both sides."""

    program: Program
    record: Record
    mismatches: list[Mismatch]
    #: Why the reference rejected the program, which makes it useless for a comparison; "" if it did not.
    refused: str = ""
    _results: dict[Place, tuple[Any, Any]] | None = None

    def read(self) -> dict[Place, tuple[Any, Any]]:
        """Return the pairs of the reference's and the candidate's results, by place."""
        if self._results is None:
            self._results = self._read()
        return self._results

    def beginning_with(self, mismatch: Mismatch) -> Agreement:
        """Return the same result with `mismatch`, one of its mismatches, as the first one."""
        others = (item for item in self.mismatches if item is not mismatch)
        return dataclasses.replace(self, mismatches=[mismatch, *others])

    def _read(self) -> dict[Place, tuple[Any, Any]]:
        pairings = pair_up(self.record).pairings
        expected = freeze(self.record.pair.reference, [item.expected for item in pairings])
        actual = freeze(self.record.pair.candidate, [item.actual for item in pairings])
        coarse = with_precision(self.record, pairings, expected, actual, range(len(pairings)))
        expected = [coarse.get(index, one) for index, one in enumerate(expected)]
        found: dict[Place, tuple[Any, Any]] = {}
        for item, one, other in zip(pairings, expected, actual, strict=True):
            own, theirs = dict(_flat(item.suffix, one)), dict(_flat(item.suffix, other))
            found |= {(item.slot, suffix): (value, theirs.get(suffix)) for suffix, value in own.items()}
        return found


def agree(program: Program, pair: Pair, settings: Settings) -> Agreement:
    """Run `program` on both sides and compare all results, as a trial does."""
    expected = seeded_replay(program, pair.reference)
    if expected.error is not None:
        return refused(program, pair, settings, expected)
    actual = seeded_replay(program, pair.candidate)
    record = record_of(program, pair, expected, actual)
    if actual.error is not None:
        record.mismatches.append(refused_by_candidate(program.calls, len(actual.values), pair, actual.error))
    elif program.calls and is_class(program.calls[-1]):
        # A live trial would share the state of the new module next, or end here if the states do not match.
        unlike = unlike_state(record, len(program.calls) - 1)
        record.mismatches += [unlike] if unlike is not None else []
    try:
        found = compare_trial(record, settings)
    except Exception:
        reason = _unreadable(record)
        if not reason:
            raise
        return Agreement(program, record, [], reason)
    if settings.set_aside:
        names = MismatchNames(program, pair, settings)
        found = [item for item in found if not _is_set_aside(item, names)]
    return Agreement(program, record, found)


def _unreadable(record: Record) -> str:
    """Return why the reference's results cannot be read; "" if they can.

    A reference may accept what it should not, such as a size of -1 of ``torch.as_strided``: no array holds the result.
    """
    try:
        freeze(record.pair.reference, [item.expected for item in pair_up(record).pairings])
    except Exception as error:  # noqa: BLE001 - a framework may raise any exception
        return f"its result cannot be read: {type(error).__name__}: {error}"
    return ""


def _is_set_aside(item: Mismatch, names: MismatchNames) -> bool:
    known = f"{item.symptom} {names.operator(item)}"
    aside = names.settings.set_aside
    return known in aside or f"{known} {item.place} {item.operand}" in aside


def results(
    program: Program,
    framework: Framework,
    between_calls: BetweenCalls | None = None,
    *,
    slots: Collection[int] | None = None,
) -> dict[Place, Any]:
    """Return the results of `program` on `framework` alone; empty if it raises.

    Args:
        program: the program to run.
        framework: the framework to run it on.
        between_calls: as in `replay`.
        slots: the slots whose results are wanted; None for all. A long program takes longer to read than to run.
    """
    replayed = seeded_replay(program, framework, between_calls)
    if replayed.error is not None:
        return {}
    pairings = pair_up(record_of(program, Pair(framework, framework), replayed, replayed), slots).pairings
    frozen = freeze(framework, [item.expected for item in pairings])
    return {
        (item.slot, suffix): value
        for item, one in zip(pairings, frozen, strict=True)
        for suffix, value in _flat(item.suffix, one)
    }


def results_of_side(program: Program, side: Framework, pair: Pair, place: Place) -> dict[Place, Any]:
    """Return the results of the call at `place` on `side`, one side of `pair`; empty if it raises."""
    found = results(program, side, slots=place[:1])
    return found if side is pair.reference else with_counterparts(found, program, pair, [place])


def with_counterparts(
    found: dict[Place, Any], program: Program, pair: Pair, places: Collection[Place]
) -> dict[Place, Any]:
    """Return `found`, the results of `program` on the candidate alone, and those at `places` that are missing there.

    The candidate alone cannot always tell what is at a place: the adapter of another process does not know a module
    from a tensor, and where the reference has a copy, the candidate may have the object of an earlier call. Both sides
    run then, and the reference decides.
    """
    return found if found.keys() >= {*places} else {**_results_beside(program, pair), **found}


def _results_beside(program: Program, pair: Pair) -> dict[Place, Any]:
    """Return the candidate's results that have a counterpart on the reference; empty if a side raises."""
    expected, actual = seeded_replay(program, pair.reference), seeded_replay(program, pair.candidate)
    if expected.error is not None or actual.error is not None:
        return {}
    read = Agreement(program, record_of(program, pair, expected, actual), []).read()
    return {place: both[1] for place, both in read.items()}


def refused(program: Program, pair: Pair, settings: Settings, expected: Replayed) -> Agreement:
    """Return the agreement on a program that the reference rejects with the error in `expected`.

    It has a mismatch only if the test checks errors, the last call is the rejected one, and the candidate accepts it.
    """
    assert expected.error is not None
    reason, slot = f"{type(expected.error).__name__}: {expected.error}", len(expected.values)
    refusal = Agreement(program, Record(pair), [], reason)
    if not settings.check_errors or slot != len(program.calls) - 1:
        return refusal
    actual = seeded_replay(program, pair.candidate)
    if actual.error is not None or not accepts(pair.candidate, lambda: actual.values[slot]):
        return refusal
    return Agreement(program, Record(pair), [accepted_by_candidate(program.calls, slot, pair, expected.error)])


def _flat(suffix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (tuple, list)) and not isinstance(value, TensorValue):
        for at, item in enumerate(value):
            yield from _flat(f"{suffix}[{at}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{suffix}[{key!r}]", item)
    else:
        yield suffix, value
