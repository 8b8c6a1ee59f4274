"""Finds the call of the candidate that changes a mode of the reference, which may be the same library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotest.base.errors import NotDual, NotReplayable
from autotest.frameworks.recorded_calls import run_call
from autotest.recording.recorder import Recorder
from autotest.replaying.replay import Contexts
from autotest.trials.returned import changes_modes_of_both_sides

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True


def check_candidate_keeps_modes(recorder: Recorder, modes: Any) -> None:
    """Raise `NotDual`, which names the call, if a call of the candidate alone changes `modes` of the reference.

    The recorded calls run again on the candidate, without the body: only a trial that ended in other modes pays for it.
    """
    reference, candidate = recorder.pair.reference, recorder.pair.candidate
    try:
        program = recorder.program()
    except NotReplayable:
        return
    ended = reference.modes()
    reference.restore(modes)
    held = {name: str(value) for name, value in reference.told().items()}

    values: list[Any] = []
    try:
        with Contexts(program.calls, candidate) as contexts:
            for call in program.calls:
                try:
                    values.append(run_call(call, candidate, values, program.arrays))
                except Exception:  # noqa: BLE001 - the framework's, whatever it is
                    return
                contexts.note(candidate, call, values)
                now = {name: str(value) for name, value in reference.told().items()}
                if not changes_modes_of_both_sides(call):
                    _check_equal(held, now, call.target, recorder.pair.sides)
                held = now
    finally:
        reference.restore(ended)


def _check_equal(before: Mapping[str, str], after: Mapping[str, str], target: str, sides: tuple[str, str]) -> None:
    reference, candidate = sides
    for name, value in after.items():
        if value != before[name]:
            raise NotDual(
                f"called {target}, in which {candidate} changes a setting of {reference} and does not restore it "
                f"({name}: {before[name]} before, {value} after), so later calls compute differently: correct "
                f"{candidate}, or run it in a process of its own (candidate python:PATH:NAME)"
            )
