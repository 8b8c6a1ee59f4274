"""The identity of a failure: which failures count as the same, and the key under which a failure is stored."""

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
from autotest.program.rewriting import needed
from autotest.program.semantics import base_name, differentiated_slots, pushes_gradients

#: Symptoms whose trials must not be repeated in a process that has to survive.
DEADLY: Final = ("crash", "hang", "out of memory")


class Identity(NamedTuple):
    """The properties by which two failures count as the same, whatever test and values showed them."""

    operator: str
    symptom: str
    stage: str
    side: str
    message: str
    shapes: str
    #: The candidate that failed; empty for the default candidate.
    candidate: str = ""

    @property
    def key(self) -> str:
        """A readable name such as ``relu-gradient-3f2a9c10``, which is the same on every machine and in every run."""
        parts = [part for part in (self.candidate,) if part]
        digest = hashlib.sha256(json.dumps([self.symptom, *self[:-1], *parts]).encode()).hexdigest()[:8]
        words = " ".join([*parts, self.operator.rpartition(".")[2], self.symptom]).lower()
        return f"{re.sub(r'[^a-z0-9_]+', '-', words).strip('-')[:60]}-{digest}"


_CHECK = re.compile(r"Check failed: (.*)")


def operator_behind(calls: Sequence[Call], mismatch: Mismatch) -> str:
    """Return the operator that a mismatch of a program with these `calls` is attributed to."""
    of_leaf = mismatch.symptom == "gradient"
    through = _flowing(calls) if of_leaf else frozenset[int]()
    return operator_of(calls, mismatch.slot, gradient=of_leaf or mismatch.stage == "backward", preferred=through)


def _flowing(calls: Sequence[Call]) -> frozenset[int]:
    """Return the slots of the values that contribute to what `calls` differentiate, without detached ones."""
    roots = [slot for push in filter(pushes_gradients, calls) for slot in differentiated_slots(push)]
    return frozenset(slot for slot in needed(Program(tuple(calls), ()), roots) if base_name(calls[slot]) != "detach")


def identity_of(mismatch: Mismatch, operator: str, program: Program, candidate: str = "") -> Identity:
    """Return the identity of the failure that a trial of `program` showed.

    Args:
        mismatch: the first mismatch of the trial.
        operator: the operator that the mismatch is attributed to.
        program: the program of the trial.
        candidate: the name of the candidate.
    """
    own = identity_name(candidate)
    stage, side = mismatch.stage, mismatch.side
    if mismatch.special:  # such mismatches are frequent; all of one operator are one finding
        return Identity(operator, SPECIAL, stage, side, "", "", own)
    return Identity(operator, mismatch.symptom, stage, side, mismatch.key, program.shape_class(), own)


def without_interpreter(candidate: str) -> str:
    """Return the name of `candidate` without the folder of its interpreter: ``torch`` for ``torch@venv``."""
    return candidate.partition("@")[0]


def identity_name(candidate: str) -> str:
    """Return the name of `candidate` in identities; empty for the default candidate, so that its keys are short.

    The interpreter's folder is left out, so that users with other folder names get the same keys.
    """
    own = without_interpreter(candidate)
    return "" if own == DEFAULT_PAIR[1] else own


class FatalCall(NamedTuple):
    """The call in which a process died, and the side that made it."""

    operator: str
    symptom: str
    stage: str
    side: str


def death_of(call: FatalCall, how: str, last_words: str, candidate: str = "") -> Identity:
    """Return the identity of a death. Two different failed checks in one operator are two identities.

    Args:
        call: the call in which the process died.
        how: how the process ended.
        last_words: the last output of the process, which may name a failed check.
        candidate: the name of the candidate.
    """
    check = _CHECK.search(last_words)
    how = "no answer" if call.symptom == "hang" else how  # the duration of the timeout is no property of the candidate
    said = f"{how}: {normalised(check[1].strip())}" if check else how
    return Identity(*call, said, "", identity_name(candidate))
