"""The summary of a campaign as plain text."""

from __future__ import annotations

import collections
import textwrap

from autotest.results.progress import Standing
from autotest.results.tasks import NOT_LOOKED_INTO, Found

#: Of tests and reasons, how many are listed.
LISTED = 12
#: Columns of a message, and how many of its lines are shown after the first.
WIDTH, CONTINUED = 108, 3


def summary(standing: Standing) -> str:
    """All of it."""
    parts = [
        _numbers(standing),
        *_findings(standing),
        *_by_symptom(standing),
        *_troubles(standing),
        verdict(standing),
    ]
    return "\n\n".join(parts)


def progress(standing: Standing) -> str:
    """One line for a log."""
    rate = standing.trials / standing.seconds if standing.seconds else 0.0
    return (
        f"{standing.seconds:4.0f} s: {standing.trials} trials ({rate:.0f}/s), {standing.rejected} rejected, "
        f"{len(standing.found)} distinct findings"
        + (f", {standing.workers_lost} workers lost" if standing.workers_lost else "")
    )


def announcement(found: Found) -> str:
    """One line for a finding when it is kept."""
    identity = found.identity
    return f"found {found.key}: {identity.operator}, {identity.symptom} ({identity.stage}) in {found.where.test}"


def _numbers(standing: Standing) -> str:
    ran = [test for test in standing.tests if test.tried]
    expected = sum(standing.expected.values())
    lines = [
        f"{standing.trials} trials of {len(ran)} tests in {standing.seconds:.0f} s, base seed {standing.base_seed}: "
        f"{standing.accepted} accepted, {standing.rejected} rejected by the reference"
        + (f" ({standing.stopped})" if standing.stopped else "")
    ]
    skipped = sum(test.skipped for test in standing.tests)
    if skipped:
        lines.append(f"{skipped} more ended before a call that is set aside")
    if expected:
        lines.append(f"{expected} of them diverged as the ledger expects ({len(standing.expected)} entries)")
    if standing.cleared:
        lines.append(f"{standing.cleared} mismatches were only rounding, says the float64 referee")
    if standing.workers_lost:
        known = sum(standing.known_deaths.values())
        lines.append(
            f"{standing.workers_lost} worker processes were lost and replaced"
            + (f", {known} of them as the ledger expects ({len(standing.known_deaths)} entries)" if known else "")
        )
    return "\n".join(lines)


def _findings(standing: Standing) -> list[str]:
    blocks = []
    for number, found in enumerate(standing.found.values(), start=1):
        identity = found.identity
        times = standing.seen[identity]
        head = f"{number}. {identity.operator}: {identity.symptom} ({identity.stage}), seen {times}x"
        state = found.verified or "not verified yet: autotest replay " + found.key
        script = f"python {found.place}/repro.py  ({state})"
        if found.verified == NOT_LOOKED_INTO:
            script = f"{found.place}  (no script yet; the same command with --resume makes one)"
        lines = [*_message(found.message), *([found.verdict] if found.verdict else []), script]
        lines.append(f"{found.where.test}, trial {found.index}; autotest show {found.key}")
        blocks.append("\n".join([head, *("   " + line for line in lines)]))
    return blocks


def _message(text: str) -> list[str]:
    """The first line of a message in full, where it is not very long; of what follows, the beginnings of a few."""
    first, *more = [" ".join(line.split()) for line in text.splitlines() if line.strip()] or [""]
    lines = textwrap.wrap(textwrap.shorten(first, 300, placeholder=" ..."), WIDTH)
    lines += ["  " + textwrap.shorten(line, WIDTH - 2, placeholder=" ...") for line in more[:CONTINUED]]
    return [*lines, f"  ... {len(more) - CONTINUED} more lines"] if len(more) > CONTINUED else lines


def _by_symptom(standing: Standing) -> list[str]:
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
        lines.append(f"  {sum(operators.values()):4d}  {symptom}: {names}" + (f" and {more} more" if more > 0 else ""))
    return ["\n".join(["Distinct findings by symptom:", *lines])]


def _troubles(standing: Standing) -> list[str]:
    blocks = []
    if standing.unwritten:
        blocks.append(
            f"{standing.unwritten}\n--resume would go on from what it holds; what was found is kept where it says."
        )
    if standing.broken:
        listed = [f"  {test.where.test}\n{textwrap.indent(test.broken, '      ')}" for test in standing.broken[:LISTED]]
        blocks.append("\n".join([f"{len(standing.broken)} tests are themselves at fault:", *listed]))
    if standing.forgetful:
        listed = [f"  {test.where.test}: {_commonest(test.forgotten)}" for test in standing.forgetful[:LISTED]]
        blocks.append("\n".join([f"{len(standing.forgetful)} tests forget their gradients:", *listed]))
    if standing.files_broken:
        blocks.append("\n".join(["Files left out:", *(f"  {name}: {why}" for name, why in standing.files_broken)]))
    if standing.left_out:
        shown = [f"  {name}: {why}" for name, why in standing.left_out[:LISTED]]
        more = len(standing.left_out) - LISTED
        blocks.append("\n".join(["Not explorable:", *shown, *([f"  and {more} more"] if more > 0 else [])]))
    if standing.set_aside:
        blocks.append("Set aside, for killing too many workers: " + ", ".join(sorted(standing.set_aside)))
    rare = [test for test in standing.tests if test.rejected > 20 * max(1, test.accepted)]
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


def verdict(standing: Standing) -> str:
    """The last line."""
    if standing.found:
        return f"{len(standing.found)} distinct findings that the ledger does not expect."
    forgetful = len(standing.forgetful)
    return f"Nothing new found, but {forgetful} tests forget their gradients." if forgetful else "Nothing new found."
