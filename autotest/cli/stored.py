"""`autotest list`, `show`, `replay`, `export`, `merge`, `recover`: commands on the findings of earlier runs."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.base import options
from autotest.base.errors import UsageError
from autotest.base.plural import several
from autotest.campaigns.history import History
from autotest.cli import candidates
from autotest.cli.argument_types import write
from autotest.cli.display import show_report
from autotest.cli.status import FAILED, FINDINGS, NOTHING_NEW, USAGE
from autotest.frameworks import chosen_pair
from autotest.frameworks.registry import must_be_known_candidates
from autotest.processes import breadcrumb
from autotest.report import markdown, text
from autotest.results.identity import without_interpreter
from autotest.results.verification import State, Verification
from autotest.running.deaths import death_finding
from autotest.storage.reproduction import reproduce
from autotest.storage.store import Damaged, Store, Stored

#: Help of an argument that names a failure.
KEY = "the key of a stored failure, or its beginning"


def add_to(commands: Any) -> None:
    """Add the subcommands to an argparse parser."""
    parser = commands.add_parser(
        "list",
        description="List the stored failures: key, date, finding, test, and whether its script was verified.",
    )
    candidates.add_filter(parser)
    parser.set_defaults(run=show_all)

    parser = commands.add_parser("show", description="Print the whole report of a stored failure.")
    parser.add_argument("key", metavar="KEY", help=KEY)
    candidates.add_filter(parser)
    parser.set_defaults(run=show)

    parser = commands.add_parser(
        "replay",
        description="Run the scripts of stored failures again. The exit status is 0 if all are fixed, 1 if one still "
        "diverges or has changed, and 3 if one cannot tell.",
    )
    parser.add_argument("keys", nargs="*", metavar="KEY", help=KEY)
    parser.add_argument("--all", action="store_true", help="all stored failures")
    candidates.add_filter(parser)
    parser.set_defaults(run=replay)

    parser = commands.add_parser(
        "export",
        description="Print a stored failure as a bug report for the developers of the candidate, in Markdown.",
    )
    parser.add_argument("key", metavar="KEY", help=KEY)
    candidates.add_filter(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the report to this file")
    parser.set_defaults(run=export)

    parser = commands.add_parser(
        "merge",
        description="Copy the failures and the campaigns of other folders into the stored results of this folder.",
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="a folder such as shard-1/.autotest")
    parser.set_defaults(run=merge)

    parser = commands.add_parser(
        "recover",
        description="Diagnose the trials whose trail files, in the folder of stored failures, say that a process died "
        "in them, for example a run of pytest. The next run of such a test does the same.",
    )
    candidates.add_to(parser)
    parser.set_defaults(run=recover)


def _store() -> Store:
    return Store(options.from_environment().directory)


def find(store: Store, key: str, candidate: str = "") -> Stored:
    """Return the failure whose key is `key`, or the only one whose key begins with it.

    The beginning may leave out the candidate's name. With a `candidate`, only its failures are searched.
    """
    keys = [entry.key for entry in _of(store.list(), candidate)]
    if candidate and not keys:
        raise UsageError(_message_for_none(store, candidate))
    fitting = [known for known in keys if known.startswith(key)] or [known for known in keys if f"-{key}" in known]
    if len(fitting) > 1 and key not in fitting:
        raise UsageError(f"{key!r} is the beginning of several keys: {', '.join(fitting)}; give more of one")
    return store.load(fitting[0] if len(fitting) == 1 else key)


def show_all(arguments: argparse.Namespace) -> int:
    kept = _store().list()
    entries = _of(kept, arguments.candidate)
    width = max((len(entry.key) for entry in entries), default=0)
    for entry in entries:
        if isinstance(entry, Damaged):
            print(f"{entry.key:{width}}  DAMAGED, skipped: {entry.why}")
            continue
        finding = entry.finding
        what = f"{finding.operator}: {finding.first.heading} ({finding.first.stage})"
        print(f"{entry.key:{width}}  {entry.date[:10]}  {what}; {finding.test}; {finding.verified}")
    if arguments.candidate and not entries:
        print(_message_for_none(_store(), arguments.candidate))
    elif not entries:
        print(f"no failures are stored in {_store().failures}")
    return NOTHING_NEW


def _of(entries: Sequence[Stored | Damaged], candidate: str) -> list[Stored | Damaged]:
    """Return the failures of `candidate`, or all if it is ""; damaged entries are always included."""
    if not candidate:
        return list(entries)
    names = candidates.stored_names(candidate)
    return [
        item for item in entries if isinstance(item, Damaged) or without_interpreter(item.finding.sides[1]) in names
    ]


def _message_for_none(store: Store, candidate: str) -> str:
    """Return the message that no failures of `candidate` are stored.

    Raises `UsageError` if the store is empty and `candidate` is not the name of a framework.
    """
    there = ", ".join(sorted({item.finding.sides[1] for item in store.list() if isinstance(item, Stored)}))
    if not there:
        must_be_known_candidates(candidate)
    hint = f"; there are failures of {there}" if there else ""
    return f"no failures of {candidate} are stored in {store.failures}{hint}"


def show(arguments: argparse.Namespace) -> int:
    show_report(find(_store(), arguments.key, arguments.candidate).report)
    return NOTHING_NEW


def replay(arguments: argparse.Namespace) -> int:
    """Run reproducers; the exit status is 1 if any of them diverges, 3 if the result of one is unclear."""
    store = _store()
    if arguments.all == bool(arguments.keys):
        raise UsageError("autotest replay: name the failures to replay, or give --all")
    asked = arguments.candidate
    entries = _of(store.list(), asked) if arguments.all else [find(store, key, asked) for key in arguments.keys]
    states = set()
    for entry in entries:
        if isinstance(entry, Damaged):
            print(f"{entry.key}: DAMAGED, skipped: {entry.why}")
            continue
        verdict = reproduce(entry.finding)
        states.add(verdict.state)
        print(f"{entry.key}: {verdict.state}", flush=True)
        if not arguments.all or verdict.state in ("changed", "cannot tell"):
            print("".join(f"    {line}\n" for line in verdict.output.strip().splitlines()[-20:]), end="")
        if verdict.state == "still diverges" and not entry.finding.verified.holds:
            _note_verified(store, entry)
    if states & {"still diverges", "changed"}:
        return FINDINGS
    return FAILED if "cannot tell" in states else NOTHING_NEW


def _note_verified(store: Store, entry: Stored) -> None:
    finding = dataclasses.replace(entry.finding, verified=Verification(State.VERIFIED))
    store.save(finding, lambda folder: text.divergence(finding, str(folder), ""))


def export(arguments: argparse.Namespace) -> int:
    entry = find(_store(), arguments.key, arguments.candidate)
    report = markdown.bug_report(entry.finding, entry.date)
    if arguments.output is None:
        print(report, end="")
    else:
        write(arguments.output, report)
    return NOTHING_NEW


def merge(arguments: argparse.Namespace) -> int:
    """Copy failures that are missing or not verified in this store, and the history of campaigns."""
    for folder in arguments.folders:  # before anything is copied
        _must_have_results(folder)
    directory = options.from_environment().directory
    store = Store(directory)
    known = {entry.key: entry for entry in store.list()}
    added, damaged, campaigns = 0, 0, 0
    for folder in arguments.folders:
        for entry in Store(folder).list():
            if isinstance(entry, Damaged):
                print(f"{folder}: {entry.key} is damaged and skipped: {entry.why}")
                damaged += 1
                continue
            here = known.get(entry.key)
            if isinstance(here, Stored) and (here.finding.verified.tried or not entry.finding.verified.tried):
                continue
            store.save(entry.finding, entry.report)
            known[entry.key] = entry
            added += 1
        with contextlib.closing(History(directory)) as history:
            campaigns += history.merge(folder / History.FILE)
    new = f"{several(added, 'failure')} and {several(campaigns, 'campaign')}"
    print(f"new: {new}; {store.failures} has {several(len(known), 'failure')} now")
    return USAGE if damaged else NOTHING_NEW


def _must_have_results(folder: Path) -> None:
    """Raise `UsageError` if `folder` is not one in which a run stores its results; a run without failures has few."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give a folder such as shard-1/.autotest")
    if not _has_results(folder):
        inside = folder / ".autotest"
        meant = f"did you mean {inside}?" if _has_results(inside) else "give a folder such as shard-1/.autotest"
        raise UsageError(
            f"{folder}: expected a folder with the results of a run, which has stored failures (failures/) or a "
            f"history of campaigns ({History.FILE}); {meant}"
        )


def _has_results(folder: Path) -> bool:
    parts = (Store(folder).failures, breadcrumb.folder(folder), folder / History.FILE)
    return (folder.name == ".autotest" and folder.is_dir()) or any(part.exists() for part in parts)


def recover(arguments: argparse.Namespace) -> int:
    """Diagnose the trials in which processes died; the exit status is 1 if there is a finding."""
    asked = options.from_environment()
    folder = breadcrumb.folder(asked.directory)
    status, dead = NOTHING_NEW, list(breadcrumb.dead(folder))
    for path, position in dead:
        where = f"{position.test}, trial {position.index} of base seed {position.base_seed}"
        print(f"process {position.pid} died in {where}: running that trial again in a new process", flush=True)
        try:
            found = death_finding.recover_any(path, position, asked, chosen_pair)
        except UsageError as error:
            print(f"  {error}")
            continue
        if isinstance(found, Verification) and found.state is State.SURVIVED:
            print(f"  {found}: the process was killed from outside, or by an earlier trial or test")
        elif isinstance(found, Verification):
            print(f"  {found}")
        else:
            print(found[1].report)
            status = FINDINGS
    if not dead:
        print(f"nothing to recover in {folder}")
    return status
