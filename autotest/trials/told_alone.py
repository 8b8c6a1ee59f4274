"""Finds the call of a test body before which one framework alone was told to compute otherwise from there on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from autotest.base.errors import UsageError
from autotest.base.settings import Settings
from autotest.comparison import Side
from autotest.frameworks import Pair
from autotest.program import Call
from autotest.recording.recorder import Recorder
from autotest.recording.watching import Watch, watched, watching
from autotest.trials.returned import tells_both
from autotest.trials.trial import Outcome, perform

# What runs a test is no part of its traceback: for pytest, for unittest.
__tracebackhide__ = True
__unittest = True


def must_tell_both(body: Callable[[], Any], outcome: Outcome, settings: Settings, pair: Pair) -> None:
    """Raise `UsageError`, at the line of `body`, where it told one side alone to compute otherwise.

    `body` runs once more, as it did in `outcome`, and both sides are asked before each call. That costs too much for
    every trial: it is for one whose mismatch no replay shows.
    """
    asking = _Asking(pair, watching())
    with watched(asking):
        try:
            perform(body, outcome.seed, settings, pair, outcome.choices)
        except Exception as error:  # a body that does not do the same again says nothing
            if error is asking.complaint:
                raise


@dataclasses.dataclass(slots=True)
class _Asking:
    """Asks both sides, at each call, whether the body has told one of them something since the call before."""

    pair: Pair
    #: Who watches besides.
    outer: Watch | None
    #: What each side said last, and how many calls were written down then.
    before: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    written: int = 0
    #: What there is to say against the body.
    complaint: UsageError | None = None

    def __post_init__(self) -> None:
        self.before = self._asked()

    def about_to(self, recorder: Recorder, side: Side, call: Call) -> None:
        if self.outer is not None:
            self.outer.about_to(recorder, side, call)
        before, self.before = self.before, self._asked()
        if not any(map(tells_both, (call, *recorder.calls[self.written :]))):
            changed = [
                {name: now for name, now in after.items() if now != earlier.get(name)}
                for earlier, after in zip(before, self.before, strict=True)
            ]
            for name in dict.fromkeys(name for told in changed for name in told):
                self._must_be_of_both(name, [name in told for told in changed], call)
        self.written = len(recorder.calls)

    def _asked(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return self.pair.reference.told(), self.pair.candidate.told()

    def _must_be_of_both(self, name: str, told: list[bool], call: Call) -> None:
        if all(told):
            return
        alone = self.pair.sides[told.index(True)]
        done = "a tensor was made" if call.kind == "tensor" else f"{call.target} was called"
        self.complaint = UsageError(
            f"{done} where {alone} alone had been told to compute otherwise (its own {name}), so "
            f"that the other side gives something else: write torch.{name}(...) with the torch of `from autotest "
            "import torch`, which tells both sides"
        )
        raise self.complaint
