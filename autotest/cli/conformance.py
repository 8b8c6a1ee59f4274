"""`autotest conformance` and `autotest adapter new`: what an adapter does right, and the skeleton of one."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from autotest.base.errors import UsageError
from autotest.cli.status import FINDINGS, NOTHING_NEW

SKELETON = '''\
"""The adapter of {name}."""

from __future__ import annotations

from autotest.frameworks import Namespace


class {title}(Namespace):
    """{name}, whose names are torch's.

    Override what differs: from_numpy, to_numpy, seed, synchronize, literal, resolve, operation. For a framework of
    functions on immutable arrays, subclass autotest.frameworks.functional.Functional instead.
    """

    #: What it has no name for is absent, and no finding. Leave this out if it claims to have all of torch's names.
    translates = True


def factory() -> {title}:
    return {title}("{name}", module="{name}")
'''


def add_to(commands: Any) -> None:
    """Add the subcommands to an argparse parser."""
    parser = commands.add_parser(
        "conformance",
        help="check what an adapter of a framework must do right",
        description="Check an adapter: round trips, views, calls in place, gradients, refusals, names. Exits 1 when "
        "something is wrong; what the framework does not have is absent.",
    )
    parser.add_argument("name", metavar="NAME", help="a registered name, or MODULE:FACTORY")
    parser.set_defaults(run=run)
    adapter = commands.add_parser("adapter", help="start an adapter for another framework")
    kinds = adapter.add_subparsers(metavar="ACTION", required=True)
    new = kinds.add_parser("new", help="write the skeleton of an adapter")
    new.add_argument("name", metavar="NAME", help="the module that the framework is imported as")
    new.set_defaults(run=write)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; returns the exit status."""
    from autotest.frameworks import framework
    from autotest.running.conformance import conformance

    adapter = framework(arguments.name)
    checked = conformance(adapter)
    width = max(len(item.name) for item in checked)
    print(f"{adapter.name} {adapter.version}")
    for item in checked:
        print(f"  {item.name.ljust(width)}  {item.outcome}{'  ' + item.why if item.why else ''}")
    wrong = sum(item.outcome == "WRONG" for item in checked)
    print(f"{len(checked)} checks: {wrong} wrong, {sum(item.outcome == 'absent' for item in checked)} absent")
    return FINDINGS if wrong else NOTHING_NEW


def write(arguments: argparse.Namespace) -> int:
    """Write the skeleton beside what is there; returns the exit status."""
    name = arguments.name
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise UsageError(f"adapter new {name!r}: expected the name of a module, such as mine")
    path = Path(f"{name}_adapter.py")
    if path.exists():
        raise UsageError(f"{path} is there already; it is left as it is")
    path.write_text(SKELETON.format(name=name, title=name.strip("_").title().replace("_", "")), encoding="utf-8")
    print(f"wrote {path}\nNext: autotest conformance {path.stem}:factory")
    return NOTHING_NEW
