"""`autotest ledger`: adds a known divergence to a ledger, and lists the entries that others hid."""

from __future__ import annotations

import argparse
import collections
import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

from autotest.base import options
from autotest.base.errors import FrameworkMissing, SkipsItself, UsageError
from autotest.cli.argument_types import append, make_folder, must_be_writable, write
from autotest.cli.collecting import tests_in
from autotest.cli.status import FINDINGS, NOTHING_NEW
from autotest.cli.stored import KEY, find
from autotest.emission.native_script import without_place
from autotest.report import hidden as report
from autotest.results import ledger
from autotest.results.finding import Finding
from autotest.results.identity import without_interpreter
from autotest.running.run_hooks import run_hook
from autotest.running.tally import Tally
from autotest.sources.collected import Collected
from autotest.sources.collection import files_below
from autotest.sources.pytest_session import sessions_kept
from autotest.storage.store import Store


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser("ledger", description="Manage ledgers: files of known divergences, with reasons.")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    adding = actions.add_parser(
        "add",
        help="add a stored failure to a ledger, as a known divergence",
        description="Add a stored failure to a ledger, and its script to the folder reproducers beside it; that of a "
        "candidate other than the default one to a folder of its name in there. Runs no longer fail because of this "
        "divergence, and fail when it is gone.",
    )
    adding.add_argument("key", metavar="KEY", help=KEY)
    adding.add_argument("--reason", required=True, help="why this divergence is known; it is written into the ledger")
    adding.add_argument("--link", default="", help="URL of an issue with more information")
    adding.add_argument(
        "--match", default="", metavar="REGEX", help="only if the message matches this regular expression"
    )
    adding.add_argument(
        "--test",
        default="",
        metavar="GLOB",
        help="glob for the ids of the tests that show it; without [arguments] it covers all arguments of a test "
        "(default: the test where it was found, with its arguments)",
    )
    adding.add_argument("--ledger", type=Path, metavar="FILE", help="the ledger.toml (default: beside the test)")
    adding.set_defaults(run=add)
    hiding = actions.add_parser(
        "hidden",
        help="list known divergences that others had hidden",
        description="Run the tests of some paths, and list the ledger entries that a trial showed after another "
        "entry. A run that stops at the first difference of a trial would not see them.",
    )
    hiding.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="test files, or folders that contain some")
    hiding.add_argument(
        "-k", metavar="EXPR", default="", help="only tests whose name matches EXPR, such as 'conv and not transpose'"
    )
    hiding.set_defaults(run=hidden)


def add(arguments: argparse.Namespace) -> int:
    """Append an entry to the ledger, and put the reproducer beside it."""
    entry = find(Store(options.from_environment().directory), arguments.key)
    if not arguments.reason.strip():
        raise UsageError("--reason is empty: write why this divergence is known")
    candidate = without_interpreter(entry.finding.sides[1])
    path = arguments.ledger or _ledger_path(entry.finding, candidate)
    known = ledger.read(path) if path.exists() else []
    if entry.key in {item.key for item in known}:
        raise UsageError(
            f"{path} already has an entry {entry.key}; if another test shows it too, extend the `test` pattern of "
            "that entry"
        )
    facts = {
        "key": entry.key,
        "test": arguments.test or entry.finding.test,
        "symptom": entry.finding.identity.symptom,
        "operator": entry.finding.identity.operator,
        "match": arguments.match,
        "reason": arguments.reason,
        "link": arguments.link,
        "reproducer": "",
        **_releases(entry.finding, candidate),
    }
    script, refused = entry.finding.script, entry.finding.first.detail == "refused"
    if script is not None:
        facts["reproducer"] = Path("reproducers", _name_in_paths(candidate), f"{entry.key}.py").as_posix()
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    head = f"candidate = {_quoted(candidate)}\n" if not before and candidate != options.DEFAULT_PAIR[1] else ""
    added = head + entry_text(facts, separate=bool((before + head).strip()), refused=refused)
    known = ledger.parsed(before + added, path)  # before anything is written: no test runs with a wrong ledger
    if arguments.test:
        _must_apply(known[-1], entry.finding.test)
    make_folder(path.parent)
    must_be_writable(path)
    if script is not None:
        place = path.parent / facts["reproducer"]
        make_folder(place.parent)
        write(place, without_place(script))
    append(path, added)
    print(f"{path}: {entry.key} is expected from now on, in {facts['test']}{_hint_for_parameters(facts['test'])}")
    return NOTHING_NEW


def _hint_for_parameters(test: str) -> str:
    """Return how to expect the divergence with other arguments of a parametrized test too; "" for other tests."""
    name, bracket, _ = test.partition("[")
    if not bracket:
        return ""
    return (
        f" only; for all arguments, write `test = {_quoted(name)}` in its entry (or give --test). Each of them must "
        "show the difference then: if some do not, they fail, as the entry is stale, unless it says `strict = false`"
    )


def _must_apply(entry: ledger.LedgerEntry, test: str) -> None:
    """Raise `UsageError` if `entry` does not apply to the test with the id `test`, in which its failure was found."""
    file = test.partition("::")[0]
    folders = {path.as_posix().removesuffix(f"/{file}") for path in files_below(Path.cwd(), file)}
    # Without the file, the folders that the pattern names cannot be checked.
    folders = folders or {entry.test.partition("::")[0].rpartition("/")[0]}
    if not any(entry.applies_to_test(known) for known in (test, *(f"{folder}/{test}" for folder in folders))):
        raise UsageError(
            f"--test {entry.test!r} does not match {test}, where the failure was found, so that the entry would not "
            f"apply to it; expected a glob for this id, such as {test.partition('[')[0]!r}, or leave --test out"
        )


def hidden(arguments: argparse.Namespace) -> int:
    """Run the tests, and print which entries were met behind others. Returns 1 if a test failed."""
    tallies: list[Tally] = []
    failed: list[str] = []
    with run_hook(lambda test, context, tally: tallies.append(tally)), sessions_kept():
        for test in tests_in(arguments.paths, arguments.k).tests:
            failed += _failure(test)
    behind: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    expected: collections.Counter[str] = collections.Counter()
    for tally in tallies:
        expected.update(tally.expected)
        for key, others in tally.behind.items():
            behind[key].update(others)
    print("\n".join(report.hidden(behind, expected)))
    if failed:
        print("these tests failed, so not all of their trials ran:", *failed, sep="\n  ")
    return FINDINGS if failed else NOTHING_NEW


def _failure(test: Collected) -> list[str]:
    """Call one test; return a line if it failed, otherwise nothing."""
    try:
        test.call()
    except SkipsItself:
        return []
    except (FrameworkMissing, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - a body may raise anything, also pytest's outcomes
        return [f"{test.id}: {next(iter(str(error).splitlines()), type(error).__name__)}"]
    return []


def _releases(finding: Finding, candidate: str) -> dict[str, str]:
    """Return the releases that the entry is for, if the candidate is another release of the reference."""
    if candidate != without_interpreter(finding.sides[0]):
        return {}
    found = [re.match(r"\d+(?:\.\d+)*", finding.versions.get(side, "")) for side in finding.sides]
    names = ("reference_versions", "versions")
    return {name: f"=={release[0]}" for name, release in zip(names, found, strict=True) if release}


def entry_text(facts: dict[str, str], *, separate: bool, refused: bool = False) -> str:
    """Return one table of a ledger as text; empty facts are left out."""
    lines = ["[[divergence]]", *(f"{name} = {_quoted(value)}" for name, value in facts.items() if value)]
    lines += ["refused = true"] if refused else []
    lines.append(f"date = {dt.datetime.now(dt.timezone.utc).date().isoformat()}")
    return ("\n" if separate else "") + "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    # JSON's strings are TOML's basic strings, except for the escapes of surrogates.
    return re.sub(r"\\u[dD][89a-fA-F]\w\w", "?", json.dumps(value))


def _ledger_path(finding: Finding, candidate: str) -> Path:
    """Return the path of the candidate's ledger in the test's folder.

    The test's file must be the only file of its name below the working directory.
    """
    name = finding.test.partition("::")[0]
    files = sorted(path.relative_to(Path.cwd()) for path in files_below(Path.cwd(), name))
    if not files:
        raise UsageError(f"no file below this folder is named {name}; choose the ledger with --ledger FILE")
    if len(files) > 1:
        raise UsageError(
            f"{len(files)} files below this folder are named {name} ({', '.join(map(str, files))}); choose the ledger "
            "with --ledger FILE"
        )
    own = _name_in_paths(candidate)
    return files[0].parent / ledger.FILES.replace("*", own and f"-{own}")


def _name_in_paths(candidate: str) -> str:
    """Return the candidate's name in that of its ledger and of its folder of scripts; empty for the default one."""
    usual = candidate == options.DEFAULT_PAIR[1]
    return "" if usual else re.sub(r"[^a-z0-9]+", "-", candidate.lower()).strip("-")
