"""What makes two failures the same one, and the key that it is kept under."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from autotest.base.options import DEFAULT_PAIR
from autotest.comparison import SPECIAL, Mismatch
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


#: What a message holds that is another in every trial, or on every machine, and what stands for it in an identity.
_PASSING = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\b0x[0-9a-fA-F]+", "N"),
        (r"(?<![\w.])(?:/[\w.+-]+)+/(?=[\w.+-])", ""),  # folders
        (r"\b(?!u?int\d)[a-z]{1,4}\d+\b", "it"),  # names of values; dtypes stay
        (r"(?<![A-Za-z])[-+]?\d[\d.e+-]*(?![A-Za-z_])", "N"),
        (r"\bN(?:,? N)+\b", "N"),  # shapes of any rank
    )
)
_CHECK = re.compile(r"Check failed: (.*)")


def operator_behind(calls: Sequence[Call], mismatch: Mismatch) -> str:
    """The operator that a mismatch of a program of `calls` is known by."""
    return operator_of(calls, mismatch.slot, gradient=mismatch.stage == "backward")


def identity_of(mismatch: Mismatch, operator: str, program: Program, candidate: str = "") -> Identity:
    """Which failure of `candidate` a trial showed, by its first mismatch."""
    own = known_as(candidate)
    if mismatch.special:  # a flood of them is one finding
        return Identity(operator, SPECIAL, mismatch.stage, mismatch.side, "", "", own)
    said = mismatch.key.replace(candidate, placeless(candidate)) if candidate else mismatch.key
    message = passing_left_out(re.sub(rf"(?<!\w){re.escape(mismatch.name)}(?!\w)", "it", said))
    return Identity(operator, mismatch.symptom, mismatch.stage, mismatch.side, message, program.shape_class(), own)


def placeless(candidate: str) -> str:
    """What `candidate` is called wherever it is: ``torch@venv``, in the interpreter of that folder, is ``torch``."""
    return candidate.partition("@")[0]


def known_as(candidate: str) -> str:
    """What stands for `candidate` in identities: nothing for the usual one, so that its keys are short.

    Where it is counts for nothing, so that people whose folders have other names get the same keys.
    """
    own = placeless(candidate)
    return "" if own == DEFAULT_PAIR[1] else own


def passing_left_out(text: str) -> str:
    """A message without what is another in every trial: numbers, shapes, addresses, folders, names of values."""
    for pattern, instead in _PASSING:
        text = pattern.sub(instead, text)
    return text


def death_of(
    operator: str, symptom: str, stage: str, side: str, how: str, last_words: str, candidate: str = ""
) -> Identity:
    """Which death of `candidate` it was: two checks that fail in one operator are two of them."""
    check = _CHECK.search(last_words)
    how = "no answer" if symptom == "hang" else how  # for how long it was waited for is not the candidate's
    said = f"{how}: {passing_left_out(check[1].strip())}" if check else how
    return Identity(operator, symptom, stage, side, said, "", known_as(candidate))
