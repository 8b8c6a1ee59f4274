"""Formats what pytest shows about a session: header, summary, and how to reproduce one failure."""

from __future__ import annotations

import collections
import shlex
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypedDict

from autotest.base.plural import several
from autotest.report import coverage, trial_counts
from autotest.report.cleared import rounding
from autotest.results.coverage import Coverage, merged

#: Maximum number of reasons and findings that are listed; the rest is counted.
SHOWN = 10


class FindingSummary(TypedDict):
    """A finding, with the fields that one line needs."""

    candidate: str
    what: str
    place: str
    #: The command that runs its script; empty if there is no script.
    reproducer: str
    verified: str
    seed: int
    trial: int


class CandidateSummary(TypedDict):
    """The outcome of one item with one candidate."""

    accepted: int
    #: Trials that need something the candidate does not have.
    absent: int
    #: The folder of its finding; empty if there is none.
    found: str
    #: Whether it computes gradients; otherwise only results were compared.
    gradients: bool


class TestSummary(TypedDict):
    """The outcome of one item. It contains only JSON values, because reports pass through pytest-xdist."""

    #: The test's own id, and the outcome of its trials.
    test: str
    accepted: int
    rejections: dict[str, int]
    expected: dict[str, int]
    #: What graph mode cannot contain, and the number of trials that were left out of it, completely or in part.
    left_out: dict[str, int]
    #: Mismatches that the referee explains by rounding.
    cleared: int
    base_seed: int
    versions: dict[str, str]
    #: One finding for each candidate that differs.
    found: list[FindingSummary]
    #: The values that operators were given, see `autotest.results.coverage`.
    covered: Coverage
    #: The outcome by candidate.
    candidates: dict[str, CandidateSummary]
    #: Whether pytest itself reports that it failed or was skipped.
    told: bool


def empty_summary(test: str, base_seed: int, versions: Mapping[str, str]) -> TestSummary:
    """Return the summary of an item of which no trial has run."""
    return {
        "test": test,
        "accepted": 0,
        "rejections": {},
        "expected": {},
        "left_out": {},
        "cleared": 0,
        "base_seed": base_seed,
        "versions": dict(versions),
        "found": [],
        "covered": {},
        "candidates": {},
        "told": False,
    }


def header(tests: int, others: int, sides: str, base_seed: str, isolated: bool) -> str:
    """Return the line below the number of collected tests."""
    counted = several(tests, "test") + (f" (and {several(others, 'test')} of other kinds)" if others else "")
    where = ", trials in a worker process" if isolated else ""
    return f"autotest: {counted} of {sides}, base seed {base_seed}{where}"


def against_itself(candidates: Collection[str], reference: str) -> str:
    """Return what a run says if `reference` is one of its `candidates`, too, as in a run that checks tests; else ""."""
    return f" ({reference} against itself checks only the tests)" if reference in candidates else ""


def without_gradients(candidates: Iterable[str]) -> str:
    """Return what a run says of `candidates` that compute no gradients; "" if there are none."""
    names = ", ".join(dict.fromkeys(candidates))
    return f"only results are compared: {names} has no gradients" if names else ""


def summary(items: Sequence[TestSummary], width: int = 120) -> list[str]:
    """Return the lines of the closing section, in `width` columns except for commands, which are to be copied."""
    return [part for line in _summary(items) for part in _fitted(line, max(width, 40))]


def _versions_in_words(versions: Mapping[str, str]) -> str:
    """Return the frameworks with their versions; "" if no framework could be imported."""
    return ", ".join(" ".join(pair).rstrip() for pair in versions.items())


def _fitted(line: str, width: int) -> list[str]:
    if "/repro.py" in line:
        return [line]
    return textwrap.wrap(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _summary(items: Sequence[TestSummary]) -> list[str]:
    accepted = sum(item["accepted"] for item in items)
    rejections = _total(item["rejections"] for item in items)
    expected = _total(item["expected"] for item in items)
    found = [one for item in items for one in item["found"]]
    cleared = sum(item["cleared"] for item in items)
    versions = {name: version for item in items for name, version in item["versions"].items()}
    seeds = sorted({item["base_seed"] for item in items})
    absent = sum(map(_absent, items))
    ran = f"{several(len(items), 'test')} ran {several(sum(map(_trials, items)), 'trial')}"
    lines = [
        f"{ran}: {trial_counts.counts(accepted + len(found), rejections.total() - absent, absent)}",
        "; ".join(filter(None, [f"base seed {', '.join(map(str, seeds))}", _versions_in_words(versions)])),
    ]
    forward_only = (name for item in items for name, one in item["candidates"].items() if not one["gradients"])
    lines += filter(None, [without_gradients(forward_only)])
    if rejections:
        lines += ["rejected most often:", *_counted(rejections)]
    lines += _by_candidate(items)
    if cleared:
        lines.append(rounding(cleared))
    if expected:
        lines += ["diverged as the ledger expects:", *_counted(expected)]
    left_out = _total(item["left_out"] for item in items)
    if left_out:
        lines += ["left out of graph mode:", *_counted(left_out)]
    if found:
        several_sides = len({name for item in items for name in item["candidates"]}) > 1
        lines += _findings(found, several_sides=several_sides)
    # pytest reports failures itself; a test without an accepted trial would pass unnoticed.
    lost = (item for item in items if not (item["accepted"] or item["found"] or item["told"]))
    never = list(dict.fromkeys(item["test"] for item in lost))
    if never:
        lines += [f"{several(len(never), 'test')} had no accepted trial:", *(f"  {name}" for name in never)]
    lines += coverage.closing(merged(item["covered"] for item in items))
    return lines


def _findings(found: Sequence[FindingSummary], *, several_sides: bool) -> list[str]:
    """Return a line for each distinct finding, with the number of tests that met it."""
    met: collections.Counter[str] = collections.Counter()
    for one in found:
        whose = f"{one['candidate']}, " if several_sides else ""
        met[f"  {whose}{one['what']}: {one['reproducer'] or one['place']}"] += 1
    lines = [several(len(met), "finding") + ":"]
    lines += [line + (f"  (in {times} tests)" if times > 1 else "") for line, times in [*met.items()][:SHOWN]]
    return [*lines, f"  and {len(met) - SHOWN} more"] if len(met) > SHOWN else lines


def _by_candidate(items: Sequence[TestSummary]) -> list[str]:
    """Return a line for each candidate if there are several."""
    names = list(dict.fromkeys(name for item in items for name in item["candidates"]))
    if len(names) < 2:
        return []
    lines = ["by candidate:"]
    for name in names:
        own = [item["candidates"][name] for item in items if name in item["candidates"]]
        found = sum(bool(one["found"]) for one in own)
        lacks = sum(bool(one["absent"]) and not one["accepted"] for one in own)
        trials = several(sum(one["accepted"] for one in own), "trial")
        differing = f"{found} of {several(len(own), 'test')} {'differs' if found == 1 else 'differ'}"
        lines.append(f"  {name}: {differing}, {lacks} need what it lacks; {trials} accepted")
    return lines


def reproduction(found: Sequence[FindingSummary], node: str, candidate: str = "", special_values: str = "") -> str:
    """Return a failed test's own section.

    Args:
        found: the findings of the test.
        node: the id of the test.
        candidate: the value of the run's option for it.
        special_values: the value of the run's variable for them.
    """
    given = f" AUTOTEST_SPECIAL_VALUES={special_values}" if special_values else ""
    lines: dict[str, None] = {}  # ordered and unique: the commands for one trial are listed once
    for one in found:
        state = f"  ({one['verified']})" if one["verified"] else ""
        if one["reproducer"]:
            lines[f"reproducer  {one['reproducer']}{state}"] = None
        lines[f"kept in     {one['place']}"] = None
    for one in found:
        if one["trial"] < 0:  # an operator of a sweep
            name = node.rpartition("::")[2]
            said, command = "only this", f"pytest --autotest-sweep={shlex.quote(name)}"
        else:
            variables = f"AUTOTEST_SEED={one['seed']} AUTOTEST_TRIAL={one['trial']}{given}"
            said, command = "this trial", f"{variables} pytest {shlex.quote(node)}"
        chosen = f" --autotest-candidate {shlex.quote(candidate)}" if candidate else ""
        lines[f"{said.ljust(10)}  {command}{chosen}"] = None
    return "\n".join(lines)


def properties(item: TestSummary) -> list[tuple[str, str]]:
    """Return the properties of the test for JUnit files."""
    rows = [
        ("seed", item["base_seed"]),
        ("trials", _trials(item)),
        ("rejected", sum(item["rejections"].values()) - _absent(item)),
        ("absent", _absent(item)),
        ("versions", _versions_in_words(item["versions"])),
    ]
    if item["expected"]:
        rows.append(("expected", ", ".join(item["expected"])))
    for found in item["found"]:
        rows += [("finding", found["what"]), ("trial", found["trial"]), ("place", found["place"])]
        rows += [("reproducer", found["reproducer"])] if found["reproducer"] else []
    return [(f"autotest.{name}", str(value)) for name, value in rows]


def _trials(item: TestSummary) -> int:
    """Return the number of trials. A trial that ends in a finding is not counted among the accepted ones."""
    return item["accepted"] + sum(item["rejections"].values()) + len(item["found"])


def _absent(item: TestSummary) -> int:
    """Return the number of trials that need what a candidate lacks."""
    return sum(one["absent"] for one in item["candidates"].values())


def _total(counts: Iterable[Mapping[str, int]]) -> collections.Counter[str]:
    total: collections.Counter[str] = collections.Counter()
    for one in counts:
        total.update(one)
    return total


def _counted(counts: collections.Counter[str]) -> list[str]:
    lines = [f"{count:5d} x {what}" for what, count in counts.most_common(SHOWN)]
    return [*lines, f"      and {len(counts) - SHOWN} more"] if len(counts) > SHOWN else lines
