"""Formats plain text for terminals and logs."""

from __future__ import annotations

import collections
import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.base.plural import are, several
from autotest.emission import cotangents, names, program_text
from autotest.program import Program
from autotest.report.advice import advice_on, refused_at
from autotest.report.commands import reproduce
from autotest.report.layers import layer_lines
from autotest.results.finding import Finding
from autotest.results.ledger import LedgerEntry

#: Maximum number of mismatches reported in full; the rest is counted.
SHOWN = 8
#: Columns of text, maximum lines of a program, and maximum elements of an input that is printed.
WIDTH = 100
LINES = 40
SMALL = 8


def divergence(finding: Finding, place: str, trouble: str) -> str:
    """Return the text of a failed test: verdict, program, mismatches, and how to reproduce it."""
    lines = [
        headline(finding),
        "",
        *_verdict(finding),
        *layer_lines(finding.network),
        *_program(finding),
        "Mismatches:",
        *_mismatches(finding),
        "",
        *textwrap.wrap(", ".join(finding.happens), WIDTH, initial_indent="Happens:    ", subsequent_indent=" " * 12),
        *finding.shrinking,
        *_reproducer(finding, place),
        *([f"  ({trouble})"] if trouble else []),
        *_origin(finding),
        f"Versions:   {finding.versions_in_words}",
    ]
    return "\n".join(lines)


def headline(finding: Finding) -> str:
    """Return the first line of a report: the sides, the operator and the kind of mismatch, or that none is to blame."""
    reference, candidate = finding.sides
    if finding.verified.of_own_code:
        return f"{finding.origin}: {finding.verified}"
    return f"{candidate} diverges from {reference}: {finding.operator}, {finding.first.heading} ({finding.first.stage})"


def _verdict(finding: Finding) -> list[str]:
    if not finding.verdict:
        return []
    line, *numbers = finding.verdict
    verdict_lines = [
        f"Verdict:    {line}" + (f" [{finding.blame}]" if finding.blame in ("candidate", "reference") else "")
    ]
    for number in numbers:
        verdict_lines += textwrap.wrap(number, WIDTH, initial_indent="  - ", subsequent_indent="    ")
    return [*verdict_lines, ""]


def _program(finding: Finding) -> list[str]:
    if finding.program is None:
        return []
    lines = program_text(finding.program, finding.marked, [item.name for item in finding.mismatches]).splitlines()
    hidden = len(lines) - LINES
    if hidden > 0:
        lines = [*lines[: LINES // 2], f"... {hidden} more lines ...", *lines[-(LINES - LINES // 2) :]]
    return ["Program:", *("    " + line for line in lines), *_contents_of_inputs(finding.program), ""]


def _contents_of_inputs(program: Program) -> list[str]:
    """Return the contents of small inputs, which the program text does not show."""
    own, pushed = names(program), cotangents(program)
    lines = []
    for call in program.inputs():
        data = program.arrays[call.args[0].index].data
        if data.size <= SMALL and call.slot not in pushed:
            few = {"floatmode": "unique"} if _seem_rounder(data) else {"precision": 6}
            held = np.array2string(data, separator=", ", **few).replace("\n", "")
            lines.append(f"    # {own[call.slot]} holds {' '.join(held.split())}")
    return lines if len(lines) <= SMALL else []


def _seem_rounder(data: np.ndarray[Any, Any]) -> bool:
    """Return whether six digits show a number as a rounder one than it is, such as 2 for the number below 2."""
    if data.dtype.kind != "f":
        return False
    if data.dtype.itemsize < 4:
        data = data.astype(np.float32)  # half precision reaches neither the bounds nor what rounding multiplies by
    ordinary = data[(np.abs(data) >= 1e-3) & (np.abs(data) < 1e6)]
    shown = np.round(ordinary, 6)
    return bool(((shown != ordinary) & (np.round(shown, 3) == shown)).any())


def _mismatches(finding: Finding) -> list[str]:
    lines: list[str] = []
    for mismatch in finding.mismatches[:SHOWN]:
        for number, line in enumerate(mismatch.message.splitlines()):
            first = "  - " if not number else "    "
            lines += textwrap.wrap(line, WIDTH, initial_indent=first, subsequent_indent="    ") or [""]
    hidden = len(finding.mismatches) - SHOWN
    return [*lines, f"  - and {hidden} more"] if hidden > 0 else lines


def _reproducer(finding: Finding, place: str) -> list[str]:
    if finding.script is None:
        return [f"Reproducer: none; {finding.verified}", f"Kept in:    {place}"]
    return [f"Reproducer: {reproduce(place)} ({finding.verified})"]


def _origin(finding: Finding) -> list[str]:
    if finding.index < 0:
        return [f"Found by:   {finding.origin}"]
    return [
        f"Test:       {finding.origin} (seed {finding.seed})",
        f"Only this:  {_alone(finding.index, finding.base_seed)}",
    ]


def own_failure(index: int, base_seed: int) -> str:
    """Return the note on an exception raised by the test body itself."""
    return (
        f"autotest: raised by the test itself in trial {index} of base seed {base_seed}. "
        f"Only this: {_alone(index, base_seed)}"
    )


def _alone(index: int, base_seed: int) -> str:
    """Return how to run one trial alone."""
    return f"AUTOTEST_SEED={base_seed} AUTOTEST_TRIAL={index} and the test's own command"


def nothing_compared(seed: int, index: int, other_tests: Sequence[str] = ()) -> str:
    """Return the message about a trial that compared nothing; `other_tests` are tests that its body called."""
    if other_tests:
        other = other_tests[0]
        instead = (
            f"Its body called {other}, which is a decorated test and ran trials of its own: call "
            f"{other.rpartition('.')[2]}.__wrapped__(...) and return its result, or remove @autotest from it."
        )
    else:
        instead = "Call a function of the dual torch and return its result."
    return (
        f"trial {index} (seed {seed}) compared nothing, so it proves nothing. Expected at least one dual call with a "
        f"result, got none. {instead}"
    )


def gradient_not_compared(seed: int, index: int, complaint: str) -> str:
    """Return the message about a trial that forgot its gradients."""
    return f"trial {index} (seed {seed}) compared no gradients: {complaint}."


def nothing_in_graph_mode(left_out: collections.Counter[str], mode: str) -> str:
    """Return the message about a test with `check_graph` of which nothing could run in graph mode, by reason."""
    reasons = ", ".join(f"{reason} ({several(count, 'trial')})" for reason, count in left_out.most_common(5))
    return (
        f"check_graph=True compared nothing, because {mode} cannot contain what the test does: {reasons}. Take that "
        "out of the test, or leave out check_graph"
    )


def too_few_accepted(
    accepted: int, needed: int, rejections: collections.Counter[str], places: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return why a test gave up: the most frequent reasons for refusals, and their lines of the test."""
    total = sum(rejections.values())
    verdict_lines = rejections.most_common(5)
    tried, verb = several(accepted + total, "trial"), are(needed)
    lines = [f"the reference accepted {accepted} of {tried}; {needed} {verb} needed. It refused:"]
    lines += [f"  {count:4d} x {refused_at(reason, places.get(reason, ''))}" for reason, count in verdict_lines]
    return "\n".join([*lines, *dict.fromkeys(advice_on(reason) for reason, _ in verdict_lines)])


def stale_entries(entries: Sequence[LedgerEntry]) -> str:
    """Return the message about ledger entries that no trial met."""
    listed = [f"  {entry.key}: {entry.symptom}, {entry.reason}" for entry in entries]
    return "\n".join(
        [
            "the ledger expects divergences that no trial showed:",
            *listed,
            "If the divergence is fixed, delete the entry and its reproducer. If it is not fixed, check that the test",
            "still reaches it. If only some runs reach it, write `strict = false` in the entry.",
        ]
    )
