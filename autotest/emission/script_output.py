"""Parses the output of a reproducer that this package wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import numpy as np

from autotest.comparison.mismatch import NUMERIC_SYMPTOMS
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY

#: Start of the line that lists the differences, and the separator between them.
_DIFFERS, _NEXT = "DIFFERS: ", "; "
_RUNS = re.compile(r"\bdies in \d+ of \d+ runs\b")
#: How far a number may be from one of another process to be the same, as a part of the difference that is shown.
_SAME = 0.1
_SIGNAL = re.compile(r"\bSIG[A-Z0-9]+\b")


def differences(output: str) -> Iterator[str]:
    """Yield the differences that a script printed."""
    for line in output.splitlines():
        if line.startswith(_DIFFERS):
            yield from line.removeprefix(_DIFFERS).split(_NEXT)


def differs(output: str) -> bool:
    """Whether a script printed a difference, also if a framework that died left text on the same line."""
    return _DIFFERS in output


def runs_that_died(output: str) -> str:
    """Return in how many runs of a script the candidate died: ``dies in 3 of 10 runs``; empty for a single run."""
    told = _RUNS.search(output)
    return told[0] if told else ""


def raised_instead(output: str, finding: Finding) -> str:
    """Return the difference that says that the candidate raises, if `finding` is another one than that; else ``""``."""
    if finding.first.symptom in (*DEADLY, "exception", "accepted"):
        return ""
    return next((part for part in differences(output) if part.startswith(f"{finding.sides[1]} raises ")), "")


def shows_other_numbers(output: str, finding: Finding) -> bool:
    """Whether a script in the candidate's own terms got another number of the candidate than `finding` did.

    That of the greatest difference is compared. If it cannot be read from the output, nothing is known.
    """
    first, (reference, candidate) = finding.first, finding.sides
    found = first.statistics
    told = re.search(rf"{_DIFFERS}{re.escape(reference)} gives .*?, {re.escape(candidate)} (.*)", output)
    if found is None or told is None or first.symptom not in NUMERIC_SYMPTOMS:
        return False
    try:
        listed = json.loads(told[1].replace("nan", "NaN").replace("inf", "Infinity"))
        shown = np.asarray(listed, float)[found.abs_index]
        expected, actual = float(found.abs_expected), float(found.abs_actual)
    except (TypeError, ValueError, IndexError):  # cut off, or complex
        return False
    if not (np.isfinite(shown).all() and np.isfinite(actual)):
        return not np.array_equal(shown, actual, equal_nan=True)
    gap = abs(actual - expected)
    return bool(np.any(abs(shown - actual) > _SAME * (gap if np.isfinite(gap) else abs(actual))))


def shows(output: str, finding: Finding) -> bool:
    """Whether the output of a script that exited with 1 shows the divergence of `finding`.

    Otherwise it shows another one: the candidate raises instead of returning other values, or another signal kills it.
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
