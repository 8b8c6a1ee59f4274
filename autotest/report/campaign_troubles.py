"""What was wrong with the tests of a campaign, or with the campaign itself, as plain text."""

from __future__ import annotations

import collections
import textwrap
from collections.abc import Iterator, Sequence

from autotest.base.plural import several
from autotest.base.settings import ATTEMPTS_PER_TRIAL
from autotest.report import coverage
from autotest.report.advice import refused_at
from autotest.report.text import nothing_in_graph_mode
from autotest.results.progress import CampaignProgress, TestProgress

#: Maximum number of tests and of reasons that are listed.
LISTED = 12


def blocks(progress: CampaignProgress) -> list[str]:
    """Return a block of text for each kind of trouble that was met."""
    advice = "--resume continues from what it contains. Findings are stored in the places shown."
    never_drawn = coverage.closing(progress.covered, "")
    return [
        *([f"{progress.unwritten}\n{advice}"] if progress.unwritten else []),
        *(_listed(head, lines) for head, lines in _of_tests(progress) if lines),
        *(_listed(head, lines) for head, lines in _of_acceptance(progress) if lines),
        *(["\n".join(never_drawn)] if never_drawn else []),
        *(_listed(head, lines) for head, lines in _of_diagnosis(progress) if lines),
    ]


def _of_tests(progress: CampaignProgress) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield mistakes of tests and files, and what was not run: a head, and a line for each."""
    yield (
        f"{_broken(len(progress.broken))}:",
        [f"{test.where.test}\n{textwrap.indent(test.broken, ' ' * 6)}" for test in progress.broken],
    )
    yield (
        f"{_forgetful(progress)}:",
        [f"{test.where.test}: {_commonest(test.complaints)}" for test in progress.forgetful],
    )
    yield (
        f"{_passing_zeros(progress)}:",
        [f"{test.where.test}: {test.passes_zeros}" for test in progress.passing_zeros],
    )
    yield f"{_ungraphed(progress)}:", [f"{test.where.test}: {why_ungraphed(test)}" for test in progress.ungraphed]
    yield "Files left out:", [f"{name}: {why}" for name, why in progress.files_broken]
    yield "Not explorable:", [f"{name}: {why}" for name, why in progress.unexplored]
    calls = several(len(progress.set_aside), "call")
    yield f"Not run any more, because they killed too many workers ({calls}):", sorted(progress.set_aside)


def _of_acceptance(progress: CampaignProgress) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the tests of which the reference accepted too few trials."""
    # A test with a death has a result, too: expected by the ledger, or a finding listed above.
    never = [test for test in progress.tests if not (test.accepted or test.died or test.skips)]
    yield (
        f"{several(len(never), 'test')} had no accepted trial:",
        [f"{test.where.test}: {_why_never(test)}" for test in never],
    )
    partly = [test for test in progress.refused if test.accepted]
    yield (
        "Accepted by the reference only where some inputs require no grad:",
        [f"{test.where.test}: {_commonest_refusal(test)}" for test in partly],
    )
    seldom = [test for test in progress.tests if test.accepted and test.rejected > ATTEMPTS_PER_TRIAL * test.accepted]
    yield (
        "Rarely accepted by the reference:",
        [
            f"{test.where.test}: {test.accepted} of {test.tried}; mostly {_commonest_refusal(test)}"
            for test in seldom
            if test not in partly
        ],
    )


def _of_diagnosis(progress: CampaignProgress) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the trials with a difference about which nothing more is known."""
    yield (
        "The sides differed, but the diagnosis failed:",
        [
            f"{where.test}, trial {index} of base seed {where.base_seed}\n{textwrap.indent(why, ' ' * 6)}"
            for where, index, why in progress.undiagnosed
        ],
    )
    yield (
        "Seen once, but not when the same trial ran again:",
        [f"{where.test}, trial {index}" for where, index in progress.vanished],
    )


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
