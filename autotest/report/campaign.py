"""The summary of a campaign as plain text."""

from __future__ import annotations

import collections
import textwrap

from autotest.base.plural import several, were
from autotest.report import campaign_troubles, trial_counts
from autotest.report import groups as by_group
from autotest.report.cleared import rounding
from autotest.report.commands import reproduce
from autotest.results.groups import of_campaign
from autotest.results.progress import CampaignProgress
from autotest.results.tasks import FindingRecord
from autotest.results.verification import State

#: Maximum number of operators that are listed for a symptom.
LISTED = 12
#: Columns of a message, and maximum number of its lines after the first.
WIDTH, CONTINUED = 108, 3


def summary(progress: CampaignProgress, width: int = WIDTH) -> str:
    """Return the whole summary, in at most `width` columns except for text to copy: paths, commands, names of tests."""
    parts = [
        _numbers(progress, width),
        *_groups(progress),
        *_findings(progress, width),
        *_by_symptom(progress, width),
        *campaign_troubles.blocks(progress),
        verdict(progress),
    ]
    return "\n\n".join(parts)


def _wrapped(line: str, width: int, indent: str = "  ") -> list[str]:
    return textwrap.wrap(line, max(width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def progress_line(progress: CampaignProgress) -> str:
    """Return the progress of a campaign in one line."""
    rate = progress.trials / progress.seconds if progress.seconds else 0.0
    found, workers = several(len(progress.found), "distinct finding"), several(progress.workers, "worker")
    return (
        f"{progress.seconds:4.0f} s: {several(progress.trials, 'trial')} ({rate:.0f}/s), {progress.rejected} rejected"
        f"{trial_counts.lacking(progress.absent)}, {found}, {workers}"
        + (f", {progress.workers_lost} lost" if progress.workers_lost else "")
    )


def announcement(found: FindingRecord) -> str:
    """Return the line that announces a new finding."""
    identity = found.identity
    return f"found {found.key}: {identity.operator}, {identity.symptom} ({identity.stage}) in {found.where.test}"


def renaming(key: str, other: str) -> str:
    """Return the line for a finding that, after its diagnosis, is kept under another key or expected by the ledger."""
    return f"{key} was diagnosed as {other}"


def _numbers(progress: CampaignProgress, width: int) -> str:
    ran = [test for test in progress.tests if test.tried]
    expected = sum(progress.expected.values())
    lines = [
        f"{several(progress.trials, 'trial')} of {several(len(ran), 'test')} "
        f"in {progress.seconds:.0f} s, base seed {progress.base_seed}: "
        + trial_counts.counts(progress.accepted, progress.rejected, progress.absent)
        + (f" ({progress.stopped})" if progress.stopped else "")
    ]
    skipped = sum(test.skipped for test in progress.tests)
    if skipped:
        lines.append(f"{skipped} more ended before a call that is avoided")
    if expected:
        entries = several(len(progress.expected), "entry", "entries")
        lines.append(f"{expected} of them diverged as the ledger expects ({entries})")
    if progress.cleared:
        lines.append(rounding(progress.cleared))
    if progress.workers_lost:
        known = sum(progress.known_deaths.values())
        entries = several(len(progress.known_deaths), "entry", "entries")
        lost = several(progress.workers_lost, "worker process", "worker processes")
        lines.append(
            f"{lost} {were(progress.workers_lost)} lost and replaced"
            + (f", {known} of them as the ledger expects ({entries})" if known else "")
        )
    lines += progress.machines
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def _groups(progress: CampaignProgress) -> list[str]:
    """Return the table with a column for each group of machines that the campaign ran on, if there are any."""
    groups = of_campaign(progress)
    return [by_group.text(groups, seen_by_groups(progress))] if groups else []


def seen_by_groups(progress: CampaignProgress) -> list[tuple[str, dict[str, int]]]:
    """Return every finding with the number of times each group of machines saw it."""
    return [
        (f"{number}. {identity.operator}: {identity.symptom} ({identity.stage})", progress.seen_on(identity))
        for number, identity in enumerate(progress.found, start=1)
    ]


def _findings(progress: CampaignProgress, width: int) -> list[str]:
    blocks, groups = [], of_campaign(progress)
    for number, found in enumerate(progress.found.values(), start=1):
        identity = found.identity
        times = progress.seen[identity]
        head = f"{number}. {identity.operator}: {identity.symptom} ({identity.stage}), seen {times}x"
        on = by_group.where(progress.seen_on(identity), groups)
        head += f" {on}" if on else ""
        state = found.verified if found.verified.tried else f"not verified yet: autotest replay {found.key}"
        script = f"{reproduce(found.place)}  ({state})"
        if found.verified.state is State.WAITING:
            script = f"{found.place}  (no script yet; the same command with --resume writes one)"
        elif not found.has_script:
            script = f"{found.place}  (no script: {found.verified})"
        happens = _wrapped(f"Happens: {found.happens}", width - 3) if found.happens else []
        lines = [*_message(found.message, width - 3), *_wrapped(found.verdict, width - 3), *happens, script]
        seed = "" if found.where.base_seed == progress.base_seed else f" of base seed {found.where.base_seed}"
        lines.append(f"{found.where.test}, trial {found.index}{seed}; autotest show {found.key}")
        blocks.append("\n".join([head, *("   " + line for line in lines)]))
    return blocks


def _message(text: str, width: int) -> list[str]:
    """Return the first line of a message, up to 300 characters, and the beginnings of a few more lines."""
    first, *more = [" ".join(line.split()) for line in text.splitlines() if line.strip()] or [""]
    lines = textwrap.wrap(textwrap.shorten(first, 300, placeholder=" ..."), width)
    lines += ["  " + textwrap.shorten(line, width - 2, placeholder=" ...") for line in more[:CONTINUED]]
    return [*lines, f"  ... {several(len(more) - CONTINUED, 'more line')}"] if len(more) > CONTINUED else lines


def _by_symptom(progress: CampaignProgress, width: int) -> list[str]:
    if not progress.found:
        return []
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for identity in progress.found:
        table[f"{identity.symptom} ({identity.stage})"][identity.operator] += 1
    rows = sorted(table.items(), key=lambda row: -sum(row[1].values()))
    lines = []
    for symptom, operators in rows:
        names = ", ".join(name + (f" x{count}" if count > 1 else "") for name, count in operators.most_common(LISTED))
        more = len(operators) - LISTED
        row = f"  {sum(operators.values()):4d}  {symptom}: {names}" + (f" and {more} more" if more > 0 else "")
        lines += _wrapped(row, width, " " * 8)
    return ["\n".join(["Distinct findings by symptom:", *lines])]


def verdict(progress: CampaignProgress) -> str:
    """Return the last line of the summary: whether anything new was found, and what is wrong with the tests."""
    if progress.found:
        return f"{several(len(progress.found), 'distinct finding')} that the ledger does not expect."
    wrong = campaign_troubles.mistakes(progress)
    nothing = "Nothing new found" + (" before it was interrupted" if progress.interrupted else "")
    return f"{nothing}, but {', and '.join(wrong)}." if wrong else f"{nothing}."
