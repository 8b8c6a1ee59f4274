"""The summary of a campaign as plain text."""

from __future__ import annotations

import collections
import textwrap
from collections.abc import Sequence

from autotest.base.plural import several, were
from autotest.base.settings import ATTEMPTS_PER_TRIAL
from autotest.report import coverage, trial_counts
from autotest.report import groups as by_group
from autotest.report.advice import refused_at
from autotest.report.cleared import rounding
from autotest.report.commands import reproduce
from autotest.report.text import nothing_in_graph_mode
from autotest.results.groups import of_campaign
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import FindingRecord
from autotest.results.verification import State

#: Maximum number of tests and of reasons that are listed.
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
        *_troubles(progress),
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


def _troubles(progress: CampaignProgress) -> list[str]:
    blocks = []
    if progress.unwritten:
        blocks.append(
            f"{progress.unwritten}\n--resume continues from what it contains. Findings are stored in the places shown."
        )
    if progress.broken:
        lines = [f"{test.where.test}\n{textwrap.indent(test.broken, ' ' * 6)}" for test in progress.broken]
        blocks.append(_listed(f"{_broken(len(progress.broken))}:", lines))
    if progress.forgetful:
        lines = [f"{test.where.test}: {_commonest(test.complaints)}" for test in progress.forgetful]
        blocks.append(_listed(f"{_forgetful(progress)}:", lines))
    if progress.passing_zeros:
        lines = [f"{test.where.test}: {test.passes_zeros}" for test in progress.passing_zeros]
        blocks.append(_listed(f"{_passing_zeros(progress)}:", lines))
    if progress.ungraphed:
        lines = [f"{test.where.test}: {why_ungraphed(test)}" for test in progress.ungraphed]
        blocks.append(_listed(f"{_ungraphed(progress)}:", lines))
    if progress.files_broken:
        blocks.append(_listed("Files left out:", [f"{name}: {why}" for name, why in progress.files_broken]))
    if progress.unexplored:
        blocks.append(_listed("Not explorable:", [f"{name}: {why}" for name, why in progress.unexplored]))
    if progress.set_aside:
        head = f"Not run any more, because they killed too many workers ({several(len(progress.set_aside), 'call')}):"
        blocks.append(_listed(head, sorted(progress.set_aside)))
    # A test with a death has a result, too: expected by the ledger, or a finding listed above.
    never = [test for test in progress.tests if not (test.accepted or test.died or test.skips)]
    if never:
        lines = [f"{test.where.test}: {_why_never(test)}" for test in never]
        blocks.append(_listed(f"{several(len(never), 'test')} had no accepted trial:", lines))
    partly = [test for test in progress.refused if test.accepted]
    if partly:
        lines = [f"{test.where.test}: {_commonest_refusal(test)}" for test in partly]
        blocks.append(_listed("Accepted by the reference only where some inputs require no grad:", lines))
    seldom = [test for test in progress.tests if test.accepted and test.rejected > ATTEMPTS_PER_TRIAL * test.accepted]
    rare = [test for test in seldom if test not in partly]
    if rare:
        lines = [
            f"{test.where.test}: {test.accepted} of {test.tried}; mostly {_commonest_refusal(test)}" for test in rare
        ]
        blocks.append(_listed("Rarely accepted by the reference:", lines))
    never_drawn = coverage.closing(progress.covered, "")
    if never_drawn:
        blocks.append("\n".join(never_drawn))
    if progress.undiagnosed:
        lines = [
            f"{where.test}, trial {index} of base seed {where.base_seed}\n{textwrap.indent(why, ' ' * 6)}"
            for where, index, why in progress.undiagnosed
        ]
        blocks.append(_listed("The sides differed, but the diagnosis failed:", lines))
    if progress.vanished:
        lines = [f"{where.test}, trial {index}" for where, index in progress.vanished]
        blocks.append(_listed("Seen once, but not when the same trial ran again:", lines))
    return blocks


def _listed(head: str, lines: Sequence[str]) -> str:
    """Return `head` with the first `LISTED` of `lines` below, and the number of the others."""
    more = len(lines) - LISTED
    end = [f"  and {more} more (`--json FILE` writes all)"] if more > 0 else []
    return "\n".join([head, *(f"  {line}" for line in lines[:LISTED]), *end])


def _commonest(counts: collections.Counter[str]) -> str:
    return counts.most_common(1)[0][0]


def _commonest_refusal(test: TestProgress) -> str:
    """Return the most frequent reason for a refusal by the reference, and its line of the test."""
    reason = _commonest(test.rejections)
    return refused_at(reason, test.places.get(reason, ""))


def _why_never(test: TestProgress) -> str:
    if test.broken:
        return "it is broken"
    if test.set_aside:
        return test.set_aside
    if not test.tried and not test.died:
        return "no trial was run"
    if test.skipped > test.rejections.total():
        return f"0 of {test.tried}; most end before {_commonest(test.avoided)}, which is avoided"
    if not test.rejections:
        return f"0 of {max(test.tried, test.died)}"
    return f"0 of {test.tried}; mostly {_commonest_refusal(test)}"


def _refused(progress: CampaignProgress) -> str:
    partly = any(test.accepted for test in progress.refused)
    where = " in which all inputs require grad" if partly else ""
    return f"the reference refused every trial of {several(len(progress.refused), 'test')}{where}"


def refuses_every_trial(test: TestProgress) -> str:
    """Return the sentence about a test of which the reference refused every trial that counts."""
    return "the reference refuses every trial" + (" in which all inputs require grad" if test.accepted else "")


def _broken(count: int) -> str:
    return "1 test is broken" if count == 1 else f"{count} tests are broken"


def _forgetful(progress: CampaignProgress) -> str:
    count = len(progress.forgetful)
    return "1 test compares no gradients" if count == 1 else f"{count} tests compare no gradients"


def _passing_zeros(progress: CampaignProgress) -> str:
    count = len(progress.passing_zeros)
    return "1 test accepts zeros for all numbers" if count == 1 else f"{count} tests accept zeros for all numbers"


def _ungraphed(progress: CampaignProgress) -> str:
    count = len(progress.ungraphed)
    return "1 test compares nothing in graph mode" if count == 1 else f"{count} tests compare nothing in graph mode"


def why_ungraphed(test: TestProgress) -> str:
    """Return why nothing of `test` could run in graph mode, and what to do."""
    return nothing_in_graph_mode(test.left_out, test.graph_mode)


def verdict(progress: CampaignProgress) -> str:
    """Return the last line of the summary: whether anything new was found, and what is wrong with the tests."""
    if progress.found:
        return f"{several(len(progress.found), 'distinct finding')} that the ledger does not expect."
    wrong = mistakes(progress)
    nothing = "Nothing new found" + (" before it was interrupted" if progress.interrupted else "")
    return f"{nothing}, but {', and '.join(wrong)}." if wrong else f"{nothing}."


def mistakes(progress: CampaignProgress) -> list[str]:
    """Return what is wrong with the tests or the run, so that a campaign without findings has not passed."""
    broken, refused, files = len(progress.broken), len(progress.refused), len(progress.files_broken)
    undiagnosed = len(progress.undiagnosed)
    return [
        *([_broken(broken)] if broken else []),
        *([_forgetful(progress)] if progress.forgetful else []),
        *([_passing_zeros(progress)] if progress.passing_zeros else []),
        *([_ungraphed(progress)] if progress.ungraphed else []),
        *([_refused(progress)] if refused else []),
        *([f"{several(files, 'file')} cannot be imported"] if files else []),
        *([f"the diagnosis of {several(undiagnosed, 'failure')} failed"] if undiagnosed else []),
    ]
