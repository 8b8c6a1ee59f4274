"""What makes two failures the same one, and the key that it is kept under."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from autotest.base.options import DEFAULT_PAIR
from autotest.comparison import SPECIAL, Mismatch
from autotest.comparison.normalisation import normalised
from autotest.program import Call, Program, operator_of

#: Symptoms that a trial cannot be run again for in a process that is to live on.
DEADLY: Final = ("crash", "hang", "out of memory")


class Identity(NamedTuple):
    """What makes two failures the same one, whichever test and numbers showed it."""

    operator: str
    symptom: str
    stage: str
    side: str
    message: str
    shapes: str
    #: The candidate that failed so; empty for the one that is taken where nobody says.
    candidate: str = ""

    @property
    def key(self) -> str:
        """A name that people can read, such as ``relu-gradient-3f2a9c10``, and the same wherever it is found."""
        parts = [part for part in (self.candidate,) if part]
        digest = hashlib.sha256(json.dumps([self.symptom, *self[:-1], *parts]).encode()).hexdigest()[:8]
        words = " ".join([*parts, self.operator.rpartition(".")[2], self.symptom]).lower()
        return f"{re.sub(r'[^a-z0-9_]+', '-', words).strip('-')[:60]}-{digest}"


_CHECK = re.compile(r"Check failed: (.*)")


def operator_behind(calls: Sequence[Call], mismatch: Mismatch) -> str:
    """The operator that a mismatch of a program of `calls` is known by."""
    return operator_of(calls, mismatch.slot, gradient=mismatch.stage == "backward")


def identity_of(mismatch: Mismatch, operator: str, program: Program, candidate: str = "") -> Identity:
    """Which failure of `candidate` a trial showed, by its first mismatch."""
    own = known_as(candidate)
    stage, side = mismatch.stage, mismatch.side
    if mismatch.special:  # a flood of them is one finding
        return Identity(operator, SPECIAL, stage, side, "", "", own)
    return Identity(operator, mismatch.symptom, stage, side, mismatch.key, program.shape_class(), own)


def placeless(candidate: str) -> str:
    """What `candidate` is called wherever it is: ``torch@venv``, in the interpreter of that folder, is ``torch``."""
    return candidate.partition("@")[0]


def known_as(candidate: str) -> str:
    """What stands for `candidate` in identities: nothing for the usual one, so that its keys are short.

    Where it is counts for nothing, so that people whose folders have other names get the same keys.
    """
    own = placeless(candidate)
    return "" if own == DEFAULT_PAIR[1] else own


class FatalCall(NamedTuple):
    """The call that a process died in, and whose it was."""

    operator: str
    symptom: str
    stage: str
    side: str


def death_of(call: FatalCall, how: str, last_words: str, candidate: str = "") -> Identity:
    """Which death of `candidate` in `call` it was: two checks that fail in one operator are two of them."""
    check = _CHECK.search(last_words)
    how = "no answer" if call.symptom == "hang" else how  # for how long it was waited for is not the candidate's
    said = f"{how}: {normalised(check[1].strip())}" if check else how
    return Identity(*call, said, "", known_as(candidate))
