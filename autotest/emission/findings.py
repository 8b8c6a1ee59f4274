"""The reproducer of a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings, Tolerance
from autotest.comparison import Mismatch
from autotest.emission import compact, naming
from autotest.emission.checker import ONCE, Runs, often
from autotest.emission.script import Script, reproducer
from autotest.program import Program

if TYPE_CHECKING:
    from autotest.results.finding import Finding

_SHOWS = {
    "unlike": "its parameters or buffers are called or shaped otherwise in {candidate} than in {reference}",
    "exception": "{candidate} raises where {reference} does not",
    "accepted": "{candidate} accepts what {reference} refuses",
    "crash": "{candidate} crashes, {reference} does not",
    "hang": "{candidate} hangs, {reference} does not",
    "out of memory": "{candidate} runs out of memory, {reference} does not",
}


def emit(
    finding: Finding,
    sides: tuple[Script, Script],
    *,
    isolated: bool = False,
    timeout: float = 60.0,
    memory: int | None = None,
    runs: Runs = ONCE,
) -> str:
    """The standalone script that shows `finding`, comparing what mismatched there and nothing else.

    `isolated`, `timeout`, `memory` and `runs` are those of `reproducer`. Raises `NotReplayable` when the finding has no
    program, or one that has no source text.
    """
    program = finding.program
    if program is None:
        raise NotReplayable("the finding has no program; it was not recorded, or holds what is no data")
    reference, candidate = sides
    first = finding.first
    names = naming.names(program)
    observed: list[str] = []
    for mismatch in finding.mismatches:
        own = names.get(mismatch.slot)
        if mismatch.symptom == "structure" and own is not None and _has_parts(own):
            observed.append(own)  # what the other side does not have cannot be read by name
        elif naming.is_observable(mismatch.name, names):
            observed.append(mismatch.name)
        elif own is not None and not own.startswith("ctx"):
            observed.append(own)  # a module or a result whose parts could not be paired: it is looked at whole
    # A module whose state the sides could not share holds what each of them drew.
    unlike = first.symptom == "structure" and first.stage == "build"
    shows = _SHOWS.get(
        "unlike" if unlike else first.symptom, "{name} differs in {symptom} between {reference} and {candidate}"
    ).format(name=first.name, symptom=first.symptom, reference=reference.name, candidate=candidate.name)
    versions = ", ".join(f"{name} {version}" for name, version in finding.versions.items())
    title = f"{finding.operator}: {shows}."
    header = [
        f"{versions}; {finding.origin}.",
        *finding.verdict[:1],
        *([often(runs)] if runs.often else []),
    ]
    kept = Settings.kept(finding.settings)
    return _compact(finding, program, sides, title, header, isolated, runs) or reproducer(
        program,
        reference,
        candidate,
        title=title,
        header=header,
        observed=list(dict.fromkeys(observed)) or None,
        symptom=first.symptom,
        isolated=isolated,
        timeout=timeout,
        memory=memory,
        runs=runs,
        tolerance=_tolerance(kept, first),
        check_dtype=kept.check_dtype,
        check_values=kept.check_values and not unlike,
    )


def _tolerance(kept: Settings, first: Mismatch) -> Tolerance:
    """That with which the trial compared, be it that of numbers which are all small."""
    tolerance, found = kept.tolerance_at(first.stage), first.statistics
    if found is None or tolerance.given or found.atol >= tolerance.of(found.dtype)[1]:
        return tolerance
    return Tolerance(found.rtol, found.atol)


def _has_parts(name: str) -> bool:
    """Whether the value called `name` is a module, as `naming` calls them."""
    return name.startswith("m")


def _compact(
    finding: Finding,
    program: Program,
    sides: tuple[Script, Script],
    title: str,
    header: list[str],
    isolated: bool,
    runs: Runs,
) -> str | None:
    """The shortest form, where the finding is plain enough for it."""
    first = finding.first
    if first.symptom == "crash":
        return compact.dying_candidate(program, sides, title, header, runs)
    if first.symptom == "structure" and first.stage == "build" and not isolated:
        return compact.unlike_module(program, sides, title, header)
    if first.symptom == "exception" and not isolated and first.slot == len(program.calls) - 1:
        return compact.refusing_candidate(program, sides, title, header)
    if first.symptom == "accepted" and not isolated and first.slot == len(program.calls) - 1:
        return compact.accepting_candidate(program, sides, title, header)
    plain = first.symptom in ("value", "gradient") and first.slot not in program.undefined
    if isolated or not naming.is_observable(first.name, naming.names(program)):
        return None
    lacking = first.symptom == "gradient" and first.detail == "one-sided"
    # Of containers of one type, the whole form tells what is in them, where it is not their lengths that differ.
    if first.symptom == "structure" and first.detail == "length":
        return compact.differing_fact(program, sides, title, header, first.name, "length")
    other_type = first.symptom == "structure" and first.detail == "type" and not _has_parts(first.name)
    if first.symptom in ("shape", "dtype", "requires_grad") or lacking or other_type:
        return compact.differing_fact(program, sides, title, header, first.name, first.symptom)
    if not plain or first.statistics is None:
        return None
    return compact.differing_tensor(program, sides, title, header, first.name, first.statistics)
