"""``autotest verdicts PATH``: counts how often verdicts name the side that is known to be wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotest.base.errors import UsageError
from autotest.base.plural import are, several

if TYPE_CHECKING:
    from autotest.diagnosis.attribution.verdict_score import Label
    from autotest.results.ledger import LedgerEntry


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "verdicts",
        description="Judge the reproducers of a ledger, and compare the verdicts with the labels in verdicts.toml "
        "beside it.",
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a folder with a ledger.toml and a verdicts.toml")
    parser.add_argument("-k", metavar="TEXT", default="", help="only entries whose key contains TEXT")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all verdicts, not only wrong and open ones")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status, which is 1 if a verdict is wrong."""
    from autotest.cli.status import FINDINGS, NOTHING_NEW
    from autotest.diagnosis.attribution import verdict_score
    from autotest.frameworks import chosen_pair, warnings_ignored

    known, entries = _labels_and_entries(arguments)

    def print_score(score: verdict_score.Score) -> None:
        if arguments.verbose or not score.right:
            word = "right" if score.right else "open " if score.open else "WRONG"
            said = score.trouble if score.verdict is None else score.verdict.line
            print(f"{word} {score.key}: {said} [{score.known.wrong} is wrong: {score.known.because}]", flush=True)

    sides = chosen_pair()
    with sides.around_trials(), warnings_ignored():
        found = verdict_score.scores(entries, known, arguments.path, sides, print_score)
    right, wrong = (sum(score.right for score in found), sum(not (score.right or score.open) for score in found))
    share = f" ({100 * right / len(found):.0f} %)" if found else ""
    print(
        f"{right} of {several(len(found), 'verdict')} {are(len(found))} right{share}, {wrong} wrong, "
        f"{len(found) - right - wrong} open"
    )
    specified = sum(score.right and score.verdict is not None and score.verdict.weak for score in found)
    print(
        f"{specified} of the right ones rest only on {sides.sides[0]} being the specification, because no "
        "independent oracle could decide"
    )
    return FINDINGS if wrong else NOTHING_NEW


def _labels_and_entries(arguments: argparse.Namespace) -> tuple[dict[str, Label], Sequence[LedgerEntry]]:
    """Read the labels and the chosen entries of the ledger; raise `UsageError` if no verdict can be measured."""
    from autotest.diagnosis.attribution import verdict_score
    from autotest.results import ledger

    for name in (ledger.FILE, verdict_score.FILE):
        if not (arguments.path / name).is_file():
            said = "expected a folder with a ledger.toml and, beside it, a verdicts.toml that says which side is wrong"
            raise UsageError(f"{arguments.path / name}: no such file; {said}")
    known = verdict_score.read(arguments.path / verdict_score.FILE)
    every = ledger.read(arguments.path / ledger.FILE)
    entries = [item for item in every if arguments.k in item.key]
    if not entries:
        what = f"-k {arguments.k!r} matches none of" if every else "there are no entries in"
        raise UsageError(f"{what} {arguments.path / ledger.FILE}: no verdict can be measured")
    if not any(item.key in known for item in entries):
        raise UsageError(
            f"{arguments.path / verdict_score.FILE} has no label for {several(len(entries), 'entry', 'entries')} of "
            f"the ledger, such as {entries[0].key!r}: no verdict can be measured"
        )
    return known, entries
