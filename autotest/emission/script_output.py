"""Reads what a reproducer printed, in the words that the scripts of this room print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from autotest.results.finding import Finding
from autotest.results.identity import DEADLY

#: How the line begins that says what differs; its parts are separated as the second says.
_DIFFERS, _NEXT = "DIFFERS: ", "; "
_RUNS = re.compile(r"\bdies in \d+ of \d+ runs\b")
_SIGNAL = re.compile(r"\bSIG[A-Z0-9]+\b")


def differences(output: str) -> Iterator[str]:
    """What a script says that differs, one thing each."""
    for line in output.splitlines():
        if line.startswith(_DIFFERS):
            yield from line.removeprefix(_DIFFERS).split(_NEXT)


def runs_that_died(output: str) -> str:
    """In how many of its runs a script saw the candidate die: ``dies in 3 of 10 runs``; empty for a single run."""
    told = _RUNS.search(output)
    return told[0] if told else ""


def shows(output: str, finding: Finding) -> bool:
    """Whether a script that ended with 1 printed that it still diverges in what `finding` is about.

    Else it diverges in another way: the candidate raises where it gave other values, or dies of another signal.
    """
    first = finding.first
    if first.symptom in DEADLY:
        if "hangs" in output:
            return first.symptom == "hang"
        signals = _SIGNAL.findall(output)
        return not signals or any(signal in first.message for signal in signals) or first.symptom == "out of memory"
    if first.symptom in ("exception", "accepted"):
        return True
    # A short script compares one value and names the reference; any other names each value that differs.
    reference = finding.sides[0]
    values = tuple(mismatch.name for mismatch in finding.mismatches)
    short = (f"{reference}:", *(f"{reference} {verb} " for verb in ("gives", "has", "lacks")))
    return any(part.startswith((*short, *values)) for part in differences(output))
