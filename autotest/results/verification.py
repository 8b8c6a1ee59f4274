"""Whether the script of a finding was seen to show it, and why not where it was not."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence


class State(enum.Enum):
    """How far the proof of a finding has come."""

    UNTRIED = "untried"
    #: Of a death: nobody has run its trial again yet.
    WAITING = "waiting"
    VERIFIED = "verified"
    MISSED = "missed"
    #: The script was run, and ended without saying whether it shows the finding.
    UNCLEAR = "unclear"
    #: A signal ended the interpreter that the script ran in, before it had said anything.
    DIED = "died"
    #: There is no script.
    LACKING = "lacking"
    #: Of a death: it did not happen again.
    SURVIVED = "survived"
    #: Of a death: its trial could not be run again.
    UNREPEATABLE = "unrepeatable"


_WORDS = {
    State.UNTRIED: "not verified",
    State.WAITING: "it was not looked into yet",
    State.VERIFIED: "verified in a fresh interpreter",
    State.MISSED: "DOES NOT REPRODUCE in a fresh interpreter",
    State.UNCLEAR: "not verified",
    State.DIED: "not verified",
    State.LACKING: "",
    State.SURVIVED: "its trial survives in processes of its own",
    State.UNREPEATABLE: "its trial cannot be run again",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Verification:
    """What became of the script of a finding; its text is what reports show."""

    state: State = State.UNTRIED
    #: What the script, or whoever failed to run it, said.
    detail: str = ""

    @classmethod
    def lacking(cls, why: str) -> Verification:
        """There is no script to run."""
        return cls(State.LACKING, why)

    @property
    def holds(self) -> bool:
        """Whether a fresh interpreter saw the finding."""
        return self.state is State.VERIFIED

    @property
    def tried(self) -> bool:
        """Whether anything is known of it."""
        return self.state is not State.UNTRIED

    def __str__(self) -> str:
        return ": ".join(filter(None, (_WORDS[self.state], self.detail)))

    def as_data(self) -> list[str]:
        """For JSON; `from_data` reads it."""
        return [self.state.value, self.detail]

    @classmethod
    def from_data(cls, data: Sequence[str]) -> Verification:
        """What `as_data` wrote; raises `ValueError` for anything else."""
        state, detail = data
        return cls(State(state), detail)
