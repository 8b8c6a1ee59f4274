"""Writes the shortest reproducer of a finding."""

from __future__ import annotations

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings, Tolerance
from autotest.comparison import Mismatch
from autotest.emission import compact, naming
from autotest.emission.checker import ONCE, Criterion, Runs, often
from autotest.emission.naming import Role
from autotest.emission.script import reproducer
from autotest.emission.script_subject import Script, ScriptSubject
from autotest.results.finding import Finding

_SHOWS = {
    "unlike": "its parameters or buffers have other names or shapes in {candidate} than in {reference}",
    "exception": "{candidate} raises where {reference} does not",
    "accepted": "{candidate} accepts what {reference} refuses",
    "crash": "{candidate} crashes, {reference} does not",
    "hang": "{candidate} hangs, {reference} does not",
    "out of memory": "{candidate} runs out of memory, {reference} does not",
}


def emit(finding: Finding, sides: tuple[Script, Script], runs: Runs | None = None) -> str:
    """Return the standalone script that shows `finding`; it compares only the values that mismatched.

    Args:
        finding: the finding.
        sides: how the script imports the reference and the candidate.
        runs: if given, the candidate runs in child processes, as many and as often as it says.

    Raises:
        NotReplayable: the finding has no program, or its program has no source text.
    """
    program = finding.program
    if program is None:
        raise NotReplayable(
            "the finding has no program: it was not recorded, or contains objects that cannot be written as data"
        )
    reference, candidate = sides
    first = finding.first
    names, roles, observable = naming.names(program), naming.roles(program), naming.ObservedNames(program)
    observed: list[str] = []
    for mismatch in finding.mismatches:
        own = names.get(mismatch.slot)
        if mismatch.symptom == "structure" and own is not None and roles[mismatch.slot] is Role.MODULE:
            observed.append(own)  # a member that one side lacks cannot be read by name
        elif mismatch.name in observable:
            observed.append(mismatch.name)
        elif own is not None and roles[mismatch.slot] is not Role.CONTEXT:
            observed.append(own)  # the whole module or result, if its parts could not be paired
    # A module whose state the sides could not share contains the values that each side drew.
    unlike = first.symptom == "structure" and first.stage == "build"
    shows = _SHOWS.get(
        "unlike" if unlike else first.symptom, "{name} differs in {symptom} between {reference} and {candidate}"
    ).format(name=first.name, symptom=first.symptom, reference=reference.name, candidate=candidate.name)
    title = f"{finding.operator}: {shows}."
    header = [
        finding.provenance,
        *finding.verdict[:1],
        *([often(runs)] if runs is not None and runs.often else []),
    ]
    kept = Settings.kept(finding.settings)
    about = ScriptSubject(program, sides, title, header)
    criterion = Criterion(
        first.symptom,
        list(dict.fromkeys(observed)) or None,
        _tolerance(kept, first),
        check_dtype=kept.check_dtype,
        check_values=kept.check_values and not unlike,
    )
    return _compact(finding, about, runs) or reproducer(about, criterion, runs)


def _tolerance(kept: Settings, first: Mismatch) -> Tolerance:
    """Return the tolerance that the trial used, also if it was a lower one: of small values, or of a conversion."""
    tolerance, found = kept.tolerance_at(first.stage), first.statistics
    if found is None or tolerance.gives(found.tolerated_as) or (found.rtol, found.atol) == tolerance.of(found.dtype):
        return tolerance
    return Tolerance(found.rtol, found.atol)


def _compact(finding: Finding, about: ScriptSubject, runs: Runs | None) -> str | None:
    """Return the script in its short form if the finding is simple enough, else None."""
    first, program = finding.first, about.program
    if first.symptom == "crash":
        return compact.dying_candidate(about, runs or ONCE)
    if runs is not None:
        return None
    if first.symptom == "structure" and first.stage == "build":
        return compact.unlike_module(about)
    if first.symptom in ("exception", "accepted") and first.slot == len(program.calls) - 1:
        return (compact.refusing_candidate if first.symptom == "exception" else compact.accepting_candidate)(about)
    if not naming.is_observable(first.name, program):
        return None
    lacking = first.symptom == "gradient" and first.detail == "one-sided"
    # For containers of the same type and length, the long form shows which items differ.
    if first.symptom == "structure" and first.detail in ("length", "layout"):
        return compact.differing_fact(about, first.name, first.detail)
    is_module = naming.roles(program).get(first.slot) is Role.MODULE
    other_type = first.symptom == "structure" and first.detail == "type" and not is_module
    if first.symptom in ("shape", "dtype", "requires_grad") or lacking or other_type:
        return compact.differing_fact(about, first.name, first.symptom)
    if not first.of_numbers or first.slot in program.undefined:
        return None
    if first.statistics is None:
        return compact.differing_plain(about, first.name)
    return compact.differing_tensor(about, first.name, first.statistics)
