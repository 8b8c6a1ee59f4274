"""Whether a kept finding still happens."""

from __future__ import annotations

from typing import NamedTuple

from autotest.diagnosis.verification import run_script
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY


class Reproduction(NamedTuple):
    """What became of a finding."""

    #: ``still diverges``, ``fixed``, ``changed``, or ``cannot tell``.
    state: str
    #: What the script printed, or why it could not be run.
    output: str


def reproduce(finding: Finding) -> Reproduction:
    """Run the script of `finding`. ``changed``: it diverges, but no more in what the finding was about."""
    if finding.script is None:
        return Reproduction(
            "cannot tell",
            f"there is no script: {finding.verified if finding.verified.tried else 'the program is no data'}",
        )
    status, output = run_script(finding.script)
    if status == 0:
        return Reproduction("fixed", output)
    if status != 1:
        return Reproduction("cannot tell", output or f"the script ended with status {status}")
    return Reproduction("still diverges" if _same(finding, output) else "changed", output)


def _same(finding: Finding, output: str) -> bool:
    first = finding.first
    if first.symptom in DEADLY:
        if "hangs" in output:
            return first.symptom == "hang"
        signals = [word for word in output.replace(":", " ").split() if word.startswith("SIG")]
        return not signals or any(signal in first.message for signal in signals) or first.symptom == "out of memory"
    if first.symptom in ("exception", "accepted"):
        return True
    # A short script compares what the finding is about, and names no value; any other names each that differs.
    names = tuple(f"{mismatch.name}" for mismatch in finding.mismatches)
    found = [part for line in output.splitlines() for part in line.removeprefix("DIFFERS: ").split("; ")]
    short = (f"{finding.sides[0]}:", *(f"{finding.sides[0]} {verb} " for verb in ("gives", "has", "lacks")))
    return any(part.startswith((*short, *names)) for part in found)
