"""Whether the script of a finding reproduces it, and the reason if it does not."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence


class State(enum.Enum):
    """The state of the verification of a finding."""

    UNTRIED = "untried"
    #: The finding was stored before its diagnosis, which is not finished: for a death, its trial was not run again yet.
    WAITING = "waiting"
    #: The script reproduced the finding in a fresh interpreter.
    VERIFIED = "verified"
    #: The script ran and did not reproduce the finding.
    MISSED = "missed"
    #: The script ended without reporting whether it reproduces the finding.
    UNCLEAR = "unclear"
    #: A signal killed the interpreter of the script before it reported anything.
    DIED = "died"
    #: There is no script.
    LACKING = "lacking"
    #: For a death: it did not happen again.
    SURVIVED = "survived"
    #: For a death: its trial could not be run again.
    UNREPEATABLE = "unrepeatable"
    #: For a hang: at the deadline, the test's own code was running, outside of all recorded calls.
    OWN_HANG = "own code"
    #: For a crash: the test's own code was running, outside of all recorded calls.
    OWN_CRASH = "own crash"


_WORDS = {
    State.UNTRIED: "not verified",
    State.WAITING: "not diagnosed yet",
    State.VERIFIED: "verified in a fresh interpreter",
    State.MISSED: "DOES NOT REPRODUCE in a fresh interpreter",
    State.UNCLEAR: "not verified",
    State.DIED: "not verified",
    State.LACKING: "",
    State.SURVIVED: "its trial does not crash or hang when it runs again in a new process",
    State.UNREPEATABLE: "its trial cannot run again",
    State.OWN_HANG: "the test's own code, not a recorded call, does not end in time",
    State.OWN_CRASH: "the test's own code, not a recorded call, ended its process",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying the script of a finding; `str()` gives the text for reports."""

    state: State = State.UNTRIED
    #: The output of the script, or the reason why it could not be run.
    detail: str = ""

    @classmethod
    def lacking(cls, why: str) -> Verification:
        """Return the verification of a finding without a script; `why` is the reason."""
        return cls(State.LACKING, why)

    @property
    def holds(self) -> bool:
        """Whether the script reproduced the finding in a fresh interpreter."""
        return self.state is State.VERIFIED

    @property
    def of_own_code(self) -> bool:
        """Whether the test's own code hung or crashed, so that no framework is to blame."""
        return self.state in (State.OWN_HANG, State.OWN_CRASH)

    @property
    def tried(self) -> bool:
        """Whether the state is another than ``UNTRIED``."""
        return self.state is not State.UNTRIED

    def __str__(self) -> str:
        return ": ".join(filter(None, (_WORDS[self.state], self.detail)))

    def as_data(self) -> list[str]:
        """Return the same as values that `json.dumps` accepts and `from_data` reads."""
        return [self.state.value, self.detail]

    @classmethod
    def from_data(cls, data: Sequence[str]) -> Verification:
        """Return the verification for the return value of `as_data`.

        Raises:
            ValueError: `data` is something else.
        """
        state, detail = data
        return cls(State(state), detail)
