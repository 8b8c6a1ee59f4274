"""Diagnoses findings that a comparison of values does not show: locates the difference, and writes a script."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from autotest.base.errors import NotReplayable
from autotest.comparison import Mismatch, Symptom
from autotest.emission import hidden_differences, names
from autotest.emission.script_subject import ScriptSubject
from autotest.frameworks import Pair
from autotest.program import Program
from autotest.recording.observation import observe
from autotest.replaying.recorded import record_of
from autotest.replaying.replay import replay
from autotest.results.finding import Finding
from autotest.results.sweep import Check
from autotest.sweeping import probing
from autotest.sweeping.probing import HiddenDifference

#: Checks other than of values -> the symptoms by which other reports call them.
SYMPTOMS: Final[dict[Check, Symptom]] = {"strides": "strides", "alias": "alias", "repeat": "nondeterminism"}


def hidden_finding(check: Check, message: str, about: str, program: Program, pair: Pair) -> Finding | None:
    """Return the finding for a failed `check`, with a script if possible; None if the failure does not recur."""
    shown = _difference(check, program, pair)
    if shown is None:
        return None
    own = names(program)[shown.slot] + shown.suffix
    mismatch = Mismatch(own, shown.slot, SYMPTOMS[check], "forward", "candidate", message, place=shown.suffix)
    found = Finding(about, 0, -1, 0, (mismatch,), pair.sides, program, pair.versions, {}, divergent=shown.slot)
    return dataclasses.replace(found, script=_script(found, shown, pair))


def _difference(check: Check, program: Program, pair: Pair) -> HiddenDifference | None:
    expected, actual = (replay(program, side) for side in pair.frameworks)
    if expected.error is not None or actual.error is not None:
        return None
    found: Sequence[HiddenDifference] | None
    if check == "strides":
        found = [*probing.layouts(observe(record_of(program, pair, expected, actual)))]
    elif check == "alias":
        found = probing.aliases(program, expected, actual, pair)
    else:
        place = probing.first_unrepeated(actual, replay(program, pair.candidate))
        found = [] if place is None else [HiddenDifference(check, "", "", *place)]
    return found[0] if found else None


def _script(finding: Finding, shown: HiddenDifference, pair: Pair) -> str | None:
    program, check, name = finding.program, shown.check, finding.first.name
    if program is None or pair.candidate.translates:
        return None
    reference, candidate = pair.sides
    what = {
        "strides": f"the strides of {name} differ between {reference} and {candidate}",
        "alias": f"{name} shares memory with an operand on only one of {reference} and {candidate}",
        "repeat": f"{candidate} gives a different {name} in each run",
    }[check]
    try:
        notes = [finding.provenance]
        about = ScriptSubject(program, pair.scripts(program), f"{finding.operator}: {what}.", notes)
        if check == "strides":
            return hidden_differences.other_strides(about, name)
        if check == "alias":
            return hidden_differences.other_sharing(about, name, shown.operand)
        return hidden_differences.nondeterministic(about, name)
    except (NotReplayable, ValueError):
        return None
