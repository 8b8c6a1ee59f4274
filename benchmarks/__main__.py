"""``python -m benchmarks``: measure, print the table, write JSON, Markdown and a chart.

Exit status 0 when every goal holds, 1 when one falls short. Say how busy the machine is: the table does.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import (
    cluster,
    deaths,
    elsewhere,
    harvesting,
    machine,
    networks,
    parts,
    report,
    revisions,
    trials,
    whole,
)
from benchmarks.contenders import Contenders
from benchmarks.results import Row

GROUPS = (
    "small",
    "large",
    "graph",
    "parts",
    "networks",
    "elsewhere",
    "harvest",
    "processes",
    "whole",
    "cluster",
    "revisions",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"what to measure: {', '.join(GROUPS)} (all)")
    parser.add_argument("--rounds", type=int, default=21, help="turns of each contender (default %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name holds this")
    parser.add_argument("--output", type=Path, default=Path(".benchmarks"), help="folder for the files (%(default)s)")
    told = "another checkout of this repository, whose library is measured, too (processes, revisions)"
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help=told)
    chosen = parser.parse_args()
    if unknown := set(chosen.groups) - set(GROUPS):
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(GROUPS)}")
    if "revisions" in chosen.groups and chosen.beside is None:
        parser.error("revisions: expected --beside FOLDER, the checkout to compare with")
    about = machine.describe()
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUTOTEST_DIR"] = folder  # so that findings of earlier runs are not used
        for row in measured(
            chosen.groups or GROUPS, chosen.rounds, chosen.only, chosen.beside and chosen.beside.absolute()
        ):
            if not rows or rows[-1].section != row.section:
                print(report.heading(row.section))
            rows.append(row)
            print(report.line(row), flush=True)
    chosen.output.mkdir(parents=True, exist_ok=True)
    report.write_json(chosen.output / "results.json", rows, about)
    (chosen.output / "results.md").write_text(report.markdown(rows, about), encoding="utf-8")
    if not report.draw(chosen.output / "trials.svg", rows):
        print("\nno chart: it needs Matplotlib (the dependency group `bench`) and timed trials", file=sys.stderr)
    short = [row for row in rows if row.holds is False]
    print(f"\n{len(rows)} measures, {len(short)} fall short. Files are in {chosen.output}")
    return 1 if short else 0


def measured(groups: list[str] | tuple[str, ...], rounds: int, only: str, beside: Path | None = None) -> Iterator[Row]:
    """Yield the rows of these groups as they are measured; the group "processes" also measures checkout `beside`."""
    if {"small", "large", "graph"} & set(groups):
        contenders = Contenders()
        if "small" in groups:
            yield from _grouped(trials.eager(contenders, rounds, None, only))
            yield from trials.left_open(contenders, rounds, only)
        if "large" in groups:
            yield from _grouped(trials.eager(contenders, rounds, trials.LARGE, only))
        if "graph" in groups:
            yield from trials.graph(contenders, max(3, rounds // 3), only)
    if "networks" in groups:
        yield from networks.networks(max(3, rounds // 3), only)
    if "elsewhere" in groups:
        yield from _grouped(elsewhere.elsewhere(rounds, only))
    if "harvest" in groups:
        yield from harvesting.harvesting(max(3, rounds // 3), only)
    if "parts" in groups:
        for part in (parts.drawing, parts.dual_call, parts.comparing, parts.emitting):
            yield from _grouped(part(rounds))
    if "processes" in groups:
        # Six minutes on an idle machine, and four more for another checkout.
        yield from deaths.replacing(3)
        yield from deaths.script_seconds(2)
        for root in filter(None, (deaths.ROOT, beside)):
            yield from deaths.reporting(2, root)
        for measure, seconds in ((deaths.diagnosis_rate, 30.0), (deaths.six, 60.0), (deaths.campaign, 60.0)):
            for root in filter(None, (deaths.ROOT, beside)):
                yield from measure(seconds, root)
        yield from whole.isolation(1000, 4000, 3)
    if "whole" in groups:
        yield from whole.importing(5)
        yield from whole.memory(10_000)
        yield from whole.workers(10.0, 3)
        yield from whole.isolation(2000, 12_000, 3)
    if "revisions" in groups and beside is not None:
        yield from revisions.revisions(beside, rounds, only)
    if "cluster" in groups:
        yield from cluster.by_itself(20.0)
        yield from cluster.coordination(20.0)
        yield from cluster.beside_local(20.0, 3)


def _grouped(rows: Iterator[Row]) -> list[Row]:
    """Return `rows`, whose sections alternate, ordered by section."""
    found = list(rows)
    sections = list(dict.fromkeys(row.section for row in found))
    return [row for section in sections for row in found if row.section == section]


if __name__ == "__main__":
    sys.exit(main())
