"""The summary of a campaign as plain text."""

from __future__ import annotations

import collections
import textwrap

from autotest.report.plural import rounding, several, were
from autotest.results.progress import Standing, TestStanding
from autotest.results.tasks import Found
from autotest.results.verification import State

#: Of tests and reasons, how many are listed.
LISTED = 12
#: Columns of a message, and how many of its lines are shown after the first.
WIDTH, CONTINUED = 108, 3


def summary(standing: Standing, width: int = WIDTH) -> str:
    """All of it, in at most `width` columns but for what is to be copied: paths, commands, names of tests."""
    parts = [
        _numbers(standing, width),
        *_findings(standing, width),
        *_by_symptom(standing, width),
        *_troubles(standing),
        verdict(standing),
    ]
    return "\n\n".join(parts)


def _wrapped(line: str, width: int, indent: str = "  ") -> list[str]:
    return textwrap.wrap(line, max(width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def progress(standing: Standing) -> str:
    """One line for a log."""
    rate = standing.trials / standing.seconds if standing.seconds else 0.0
    return (
        f"{standing.seconds:4.0f} s: {several(standing.trials, 'trial')} ({rate:.0f}/s), {standing.rejected} rejected, "
        f"{several(len(standing.found), 'distinct finding')}"
        + (f", {several(standing.workers_lost, 'worker')} lost" if standing.workers_lost else "")
    )


def announcement(found: Found) -> str:
    """One line for a finding when it is kept."""
    identity = found.identity
    return f"found {found.key}: {identity.operator}, {identity.symptom} ({identity.stage}) in {found.where.test}"


def _numbers(standing: Standing, width: int) -> str:
    ran = [test for test in standing.tests if test.tried]
    expected = sum(standing.expected.values())
    lines = [
        f"{several(standing.trials, 'trial')} of {several(len(ran), 'test')} "
        f"in {standing.seconds:.0f} s, base seed {standing.base_seed}: "
        f"{standing.accepted} accepted, {standing.rejected} rejected by the reference"
        + (f" ({standing.stopped})" if standing.stopped else "")
    ]
    skipped = sum(test.skipped for test in standing.tests)
    if skipped:
        lines.append(f"{skipped} more ended before a call that is set aside")
    if expected:
        entries = several(len(standing.expected), "entry", "entries")
        lines.append(f"{expected} of them diverged as the ledger expects ({entries})")
    if standing.cleared:
        lines.append(rounding(standing.cleared))
    if standing.workers_lost:
        known = sum(standing.known_deaths.values())
        entries = several(len(standing.known_deaths), "entry", "entries")
        lost = several(standing.workers_lost, "worker process", "worker processes")
        lines.append(
            f"{lost} {were(standing.workers_lost)} lost and replaced"
            + (f", {known} of them as the ledger expects ({entries})" if known else "")
        )
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def _findings(standing: Standing, width: int) -> list[str]:
    blocks = []
    for number, found in enumerate(standing.found.values(), start=1):
        identity = found.identity
        times = standing.seen[identity]
        head = f"{number}. {identity.operator}: {identity.symptom} ({identity.stage}), seen {times}x"
        state = found.verified if found.verified.tried else f"not verified yet: autotest replay {found.key}"
        script = f"python {found.place}/repro.py  ({state})"
        if found.verified.state is State.WAITING:
            script = f"{found.place}  (no script yet; the same command with --resume makes one)"
        lines = [*_message(found.message, width - 3), *_wrapped(found.verdict, width - 3), script]
        lines.append(f"{found.where.test}, trial {found.index}; autotest show {found.key}")
        blocks.append("\n".join([head, *("   " + line for line in lines)]))
    return blocks


def _message(text: str, width: int) -> list[str]:
    """The first line of a message in full, where it is not very long; of what follows, the beginnings of a few."""
    first, *more = [" ".join(line.split()) for line in text.splitlines() if line.strip()] or [""]
    lines = textwrap.wrap(textwrap.shorten(first, 300, placeholder=" ..."), width)
    lines += ["  " + textwrap.shorten(line, width - 2, placeholder=" ...") for line in more[:CONTINUED]]
    return [*lines, f"  ... {several(len(more) - CONTINUED, 'more line')}"] if len(more) > CONTINUED else lines


def _by_symptom(standing: Standing, width: int) -> list[str]:
    if not standing.found:
        return []
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for identity in standing.found:
        table[f"{identity.symptom} ({identity.stage})"][identity.operator] += 1
    rows = sorted(table.items(), key=lambda row: -sum(row[1].values()))
    lines = []
    for symptom, operators in rows:
        names = ", ".join(name + (f" x{count}" if count > 1 else "") for name, count in operators.most_common(LISTED))
        more = len(operators) - LISTED
        row = f"  {sum(operators.values()):4d}  {symptom}: {names}" + (f" and {more} more" if more > 0 else "")
        lines += _wrapped(row, width, " " * 8)
    return ["\n".join(["Distinct findings by symptom:", *lines])]


def _troubles(standing: Standing) -> list[str]:
    blocks = []
    if standing.unwritten:
        blocks.append(
            f"{standing.unwritten}\n--resume would go on from what it holds; what was found is kept where it says."
        )
    if standing.broken:
        listed = [f"  {test.where.test}\n{textwrap.indent(test.broken, '      ')}" for test in standing.broken[:LISTED]]
        one = len(standing.broken) == 1
        what = "1 test is itself at fault:" if one else f"{len(standing.broken)} tests are themselves at fault:"
        blocks.append("\n".join([what, *listed]))
    if standing.forgetful:
        listed = [f"  {test.where.test}: {_commonest(test.forgotten)}" for test in standing.forgetful[:LISTED]]
        blocks.append("\n".join([f"{_forgetful(standing)}:", *listed]))
    if standing.files_broken:
        blocks.append("\n".join(["Files left out:", *(f"  {name}: {why}" for name, why in standing.files_broken)]))
    if standing.left_out:
        shown = [f"  {name}: {why}" for name, why in standing.left_out[:LISTED]]
        more = len(standing.left_out) - LISTED
        blocks.append("\n".join(["Not explorable:", *shown, *([f"  and {more} more"] if more > 0 else [])]))
    if standing.set_aside:
        blocks.append("Set aside, for killing too many workers: " + ", ".join(sorted(standing.set_aside)))
    never = [test for test in standing.tests if not test.accepted]
    if never:
        head = f"{several(len(never), 'test')} never had an accepted trial:"
        blocks.append("\n".join([head, *(f"  {test.where.test}: {_why_never(test)}" for test in never)]))
    rare = [test for test in standing.tests if test.accepted and test.rejected > 20 * test.accepted]
    if rare:
        shown = [
            f"  {test.where.test}: {test.accepted} of {test.tried}; mostly {_commonest(test.rejections)}"
            for test in rare[:LISTED]
        ]
        blocks.append("\n".join(["Hardly ever accepted by the reference:", *shown]))
    if standing.vanished:
        shown = [f"  {where.test}, trial {index}" for where, index in standing.vanished[:LISTED]]
        blocks.append("\n".join(["Seen once, and not again when the same trial was repeated:", *shown]))
    return blocks


def _commonest(counts: collections.Counter[str]) -> str:
    return counts.most_common(1)[0][0]


def _why_never(test: TestStanding) -> str:
    if test.broken:
        return "it is itself at fault"
    if test.set_aside:
        return test.set_aside
    if not test.tried and not test.died:
        return "no trial was run"
    if not test.rejections:
        return f"0 of {max(test.tried, test.died)}"
    return f"0 of {test.tried}; mostly {_commonest(test.rejections)}"


def _forgetful(standing: Standing) -> str:
    count = len(standing.forgetful)
    return "1 test forgets its gradients" if count == 1 else f"{count} tests forget their gradients"


def verdict(standing: Standing) -> str:
    """The last line."""
    if standing.found:
        return f"{several(len(standing.found), 'distinct finding')} that the ledger does not expect."
    return f"Nothing new found, but {_forgetful(standing)}." if standing.forgetful else "Nothing new found."
