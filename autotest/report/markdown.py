"""Formats Markdown: a bug report of one finding ready to paste, and the summary of a campaign for CI."""

from __future__ import annotations

from autotest.base.plural import several
from autotest.emission import program_text
from autotest.report import groups as by_group
from autotest.report import trial_counts
from autotest.report.campaign import seen_by_groups
from autotest.report.campaign_troubles import mistakes
from autotest.results.finding import Finding
from autotest.results.groups import of_campaign
from autotest.results.progress import CampaignProgress


def bug_report(finding: Finding, date: str) -> str:
    """Return a report for the candidate's developers: the difference, versions, expected and actual values, script."""
    reference, candidate = finding.sides
    lines = [f"# {finding.operator}: {_title(finding)}", ""]
    if finding.verdict:
        lines += [*finding.verdict, ""]
    lines += ["## Versions", "", *(f"- {name} {version}" for name, version in finding.versions.items()), ""]
    if finding.program is not None:
        program = program_text(finding.program, finding.marked, [item.name for item in finding.mismatches])
        lines += ["## What was run", "", *_fenced(program, "python"), ""]
    lines += [f"## Expected ({reference}) and seen ({candidate})", ""]
    lines += [*_fenced("\n".join(mismatch.message for mismatch in finding.mismatches[:8])), ""]
    if finding.script is not None:
        lines += [f"## Script ({finding.verified})", "", *_fenced(finding.script, "python"), ""]
    lines += [f"Found by autotest on {date[:10]}: {finding.origin}."]
    return "\n".join(lines) + "\n"


def _title(finding: Finding) -> str:
    first, (reference, candidate) = finding.first, finding.sides
    if first.symptom in ("crash", "hang", "out of memory"):
        return f"{first.symptom} in {candidate}, none in {reference}"
    if first.symptom in ("exception", "accepted"):
        return f"{candidate} {'raises' if first.symptom == 'exception' else 'accepts'}, {reference} does not"
    return f"{first.heading} differs from {reference}"


def _fenced(text: str, language: str = "") -> list[str]:
    """Return a code block whose fence is longer than any run of backticks in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [fence + language, text.rstrip(), fence]


def campaign(progress: CampaignProgress) -> str:
    """Return a job's summary: the numbers, and a row for each finding."""
    lines = [
        f"## autotest fuzz: {several(len(progress.found), 'distinct finding')}",
        "",
        (
            f"{several(progress.trials, 'trial')} in {progress.seconds:.0f} s, base seed {progress.base_seed}; "
            f"{trial_counts.counts(progress.accepted, progress.rejected, progress.absent)}, "
            f"{sum(progress.expected.values())} diverged as the ledger expects."
        ),
        "",
    ]
    groups = of_campaign(progress)
    if groups:
        lines += by_group.markdown(groups, seen_by_groups(progress))
    if progress.found:
        lines += ["| operator | symptom | seen | test | reproducer |", "|---|---|---|---|---|"]
    for identity, found in progress.found.items():
        cells = (
            f"`{identity.operator}`",
            f"{identity.symptom} ({identity.stage})",
            str(progress.seen[identity]),
            f"`{found.where.test}`, trial {found.index}",
            f"`{found.script}`: {found.verified}",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    if wrong := mistakes(progress):
        lines += ["", f"The tests themselves are wrong: {', and '.join(wrong)}."]
    return "\n".join(lines) + "\n"
