"""Finds the first call of a test body after a mode was changed on one framework only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from autotest.base.errors import UsageError
from autotest.base.settings import Settings
from autotest.comparison import Side
from autotest.frameworks import Pair
from autotest.program import Call
from autotest.recording.call_observer import CallObserver, current_observer, notifying
from autotest.recording.recorder import Recorder
from autotest.trials.modes import changes_modes_of_both_sides
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_without_comparison

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True


def check_one_sided_modes(body: Callable[[], Any], outcome: Outcome, settings: Settings, pair: Pair) -> None:
    """Raise `UsageError`, at the line of `body`, if the body changed a mode on one side only.

    `body` runs again with the choices of `outcome`, and the modes of both sides are read before each call. This is too
    expensive for every trial: use it only for a trial whose mismatch no replay shows.
    """
    observer = _ModeObserver(pair, current_observer())
    with notifying(observer):
        try:
            run_without_comparison(body, outcome.seed, settings, pair, outcome.choices)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # raised by a body that behaves differently this time: no evidence
            if error is observer.complaint:
                raise


@dataclasses.dataclass(slots=True)
class _ModeObserver:
    """Observer that reads the modes of both sides at each call, and compares them with those at the previous call."""

    pair: Pair
    #: The observer that was active before this one.
    outer: CallObserver
    #: The modes of each side at the previous call, and the number of calls recorded by then.
    before: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    written: int = 0
    #: The error for the body, once a mode was changed on one side.
    complaint: UsageError | None = None

    def __post_init__(self) -> None:
        self.before = self._modes()

    def before_call(self, recorder: Recorder, side: Side, call: Call) -> None:
        self.outer.before_call(recorder, side, call)
        before, self.before = self.before, self._modes()
        if not any(map(changes_modes_of_both_sides, (call, *recorder.calls[self.written :]))):
            changed = [
                {name: now for name, now in after.items() if now != earlier.get(name)}
                for earlier, after in zip(before, self.before, strict=True)
            ]
            for name in dict.fromkeys(name for changed_on in changed for name in changed_on):
                self._check_changed_on_both(name, [name in changed_on for changed_on in changed], call)
        self.written = len(recorder.calls)

    def _modes(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return self.pair.reference.told(), self.pair.candidate.told()

    def _check_changed_on_both(self, name: str, changed_on: list[bool], call: Call) -> None:
        if all(changed_on):
            return
        alone = self.pair.sides[changed_on.index(True)]
        done = "a tensor was made" if call.kind == "tensor" else f"{call.target} was called"
        self.complaint = UsageError(
            f"{done} after {alone}'s own {name} had changed only that side, so the sides compute differently: write "
            f"torch.{name}(...) with the torch of `from autotest import torch`, which changes both sides"
        )
        raise self.complaint
