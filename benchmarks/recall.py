"""``python -m benchmarks.recall LEDGER MAP``: which divergences of a ledger a sweep's map (its JSON) shows, too.

The sweep must not have been given the ledger. An entry is found when a finding is about the same operator and has the
same symptom; a module and the function of its name are one operator.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from autotest.results import ledger
from autotest.results.ledger import LedgerEntry
from autotest.results.sweep_findings import symptoms_of

#: What the share of divergences that are found should reach.
GOAL = 0.85


class Known(NamedTuple):
    """One divergence of a ledger, as far as a sweep can show it."""

    entry: LedgerEntry
    operators: frozenset[str]


def folded(name: str) -> str:
    """`name` without its package and spelling: ``nn.LeakyReLU`` and ``nn.functional.leaky_relu_`` are one."""
    return name.rpartition(".")[2].replace("_", "").lower()


def spelt(name: str) -> tuple[str, str]:
    """How a cell may be called that is about `name`: as the module, as the function."""
    last = name.rpartition(".")[2]
    return last, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower().rstrip("_")


def known(entry: LedgerEntry, folder: Path) -> Known:
    """What `entry` is about: the operator that it or the first line of its reproducer names."""
    names = {entry.operator} - {"", "tensor"}
    if entry.reproducer:
        first = (folder / entry.reproducer).read_text(encoding="utf-8").partition("\n")[0]
        names.add(first.strip('"').partition(":")[0])
    return Known(entry, frozenset(names))


def shows(finding: Mapping[str, Any], about: Known) -> bool:
    """Whether `finding`, of a map, is about the same operator and has the same symptom."""
    names = [finding["operator"].partition(":")[0], *finding.get("calls", ())]
    symptoms = symptoms_of(finding["check"])
    symptom = about.entry.symptom
    if (
        symptom in ("shape", "dtype")
        and "gradient" in finding["check"]
        and f"expected {symptom}" not in finding["message"]
    ):
        return False  # another difference of a gradient
    return not set(map(folded, about.operators)).isdisjoint(map(folded, names)) and symptom in symptoms


def says_the_same(finding: Mapping[str, Any], about: Known) -> bool:
    """Whether its message is one that the ledger's entry waits for, besides."""
    return re.search(about.entry.match, finding["message"]) is not None


def missed(entries: Iterable[Known], findings: Sequence[Mapping[str, Any]]) -> list[Known]:
    """The entries that no finding shows."""
    return [about for about in entries if not any(shows(finding, about) for finding in findings)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("ledger", type=Path)
    parser.add_argument(
        "map", type=Path, nargs="?", help="what `autotest sweep --json` wrote; without it, print its -k"
    )
    chosen = parser.parse_args()
    entries = [known(entry, chosen.ledger.parent) for entry in ledger.read(chosen.ledger)]
    if chosen.map is None:
        names = sorted({name for about in entries for own in about.operators for name in spelt(own)})
        print(" or ".join(f"{name}/ or {name}:" for name in names))
        return 0
    findings = json.loads(chosen.map.read_text(encoding="utf-8"))["findings"]
    without = missed(entries, findings)
    for about in without:
        print(f"missed: {about.entry.key} ({', '.join(sorted(about.operators))}; {about.entry.symptom})")
    worded = sum(any(shows(f, about) and says_the_same(f, about) for f in findings) for about in entries)
    share = 1 - len(without) / len(entries)
    print(f"{len(entries) - len(without)} of {len(entries)} are found ({share:.1%}); {worded} with the ledger's words")
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
