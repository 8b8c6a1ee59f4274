"""`autotest ledger add`: expect a known divergence from now on."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

from autotest.base import options
from autotest.base.errors import UsageError
from autotest.cli.status import NOTHING_NEW
from autotest.cli.stored import find
from autotest.emission.own_terms import without_place
from autotest.results import ledger
from autotest.results.finding import Finding
from autotest.results.identity import placeless
from autotest.storage.store import Store


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser("ledger", help="expect known divergences")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    adding = actions.add_parser("add", help="expect a failure that is kept, from now on")
    adding.add_argument("key", metavar="KEY")
    adding.add_argument("--reason", required=True, help="why this is known, for whoever reads the ledger")
    adding.add_argument("--link", default="", help="an issue that tells more")
    adding.add_argument("--match", default="", metavar="REGEX", help="only where the message says this")
    adding.add_argument("--ledger", type=Path, metavar="FILE", help="the ledger.toml (default: beside the test)")
    adding.set_defaults(run=add)


def add(arguments: argparse.Namespace) -> int:
    """Append an entry, and put the reproducer beside the ledger."""
    entry = find(Store(options.from_environment().directory), arguments.key)
    if not arguments.reason.strip():
        raise UsageError("--reason: say why this divergence is known")
    candidate = placeless(entry.finding.sides[1])
    path = arguments.ledger or _beside(entry.finding, candidate)
    known = ledger.read(path) if path.exists() else []
    if entry.key in {item.key for item in known}:
        raise UsageError(f"{path} has an entry {entry.key} already")
    facts = {
        "key": entry.key,
        "test": entry.finding.test,
        "symptom": entry.finding.first.heading,
        "operator": entry.finding.identity.operator,
        "match": arguments.match,
        "reason": arguments.reason,
        "link": arguments.link,
        "reproducer": "",
        **_releases(entry.finding, candidate),
    }
    if entry.finding.script is not None:
        facts["reproducer"] = f"reproducers/{entry.key}.py"
        place = path.parent / facts["reproducer"]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(without_place(entry.finding.script), encoding="utf-8")
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if not before and candidate != options.DEFAULT_PAIR[1]:
        before = f"candidate = {_quoted(candidate)}\n"
    refused = entry.finding.first.detail == "refused"
    path.write_text(before + entry_text(facts, separate=bool(before.strip()), refused=refused), encoding="utf-8")
    ledger.read(path)
    print(f"{path}: {entry.key} is expected from now on")
    return NOTHING_NEW


def _releases(finding: Finding, candidate: str) -> dict[str, str]:
    """Of which releases it is said, where the candidate is the reference in another one."""
    if candidate != placeless(finding.sides[0]):
        return {}
    found = [re.match(r"\d+(?:\.\d+)*", finding.versions.get(side, "")) for side in finding.sides]
    names = ("reference_versions", "versions")
    return {name: f"=={release[0]}" for name, release in zip(names, found, strict=True) if release}


def entry_text(facts: dict[str, str], *, separate: bool, refused: bool = False) -> str:
    """One table of a ledger; what is empty is left out."""
    lines = ["[[divergence]]", *(f"{name} = {_quoted(value)}" for name, value in facts.items() if value)]
    lines += ["refused = true"] if refused else []
    lines.append(f"date = {dt.datetime.now(dt.timezone.utc).date().isoformat()}")
    return ("\n" if separate else "") + "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    # JSON's strings are TOML's basic strings, but for escapes of halves of characters.
    return re.sub(r"\\u[dD][89a-fA-F]\w\w", "?", json.dumps(value))


def _beside(finding: Finding, candidate: str) -> Path:
    """The candidate's ledger in the test's folder: the only file of that name below the working directory."""
    name = finding.test.partition("::")[0]
    files = [path for path in Path.cwd().rglob(name) if not any(part.startswith(".") for part in path.parts[1:])]
    if len(files) != 1:
        raise UsageError(
            f"{len(files)} files below this folder are called {name}; say with --ledger FILE which ledger is meant"
        )
    usual = candidate == options.DEFAULT_PAIR[1]
    own = "" if usual else re.sub(r"[^a-z0-9]+", "-", f"-{candidate.lower()}").rstrip("-")
    return files[0].parent / ledger.FILES.replace("*", own)
