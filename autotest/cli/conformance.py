"""`autotest conformance` and `autotest adapter new`: checks an adapter, and writes the skeleton of one."""

from __future__ import annotations

import argparse
import collections
import re
from pathlib import Path
from typing import Any

from autotest.base.errors import UsageError
from autotest.cli.adapter_templates import FUNCTIONS, KERNELS, NAMESPACE
from autotest.cli.status import FINDINGS, NOTHING_NEW


def add_to(commands: Any) -> None:
    """Add the subcommands to an argparse parser."""
    parser = commands.add_parser(
        "conformance",
        description="Check an adapter: round trips, views, in-place calls, gradients, exceptions, names. The exit "
        "status is 1 if a check fails, crashes or hangs. A check of something that the framework does not have counts "
        "as absent.",
    )
    parser.add_argument("name", metavar="NAME", help="a registered name, or MODULE:FACTORY")
    parser.set_defaults(run=run)
    adapter = commands.add_parser("adapter", description="Start an adapter, with which a framework can be tested.")
    kinds = adapter.add_subparsers(metavar="ACTION", required=True)
    new = kinds.add_parser(
        "new",
        help="write the skeleton of an adapter",
        description="Write the skeleton of an adapter to NAME_adapter.py. `autotest conformance` checks it.",
    )
    new.add_argument("name", metavar="NAME", help="the module that the framework is imported as")
    kind = new.add_mutually_exclusive_group()
    kind.add_argument(
        "--functions",
        action="store_const",
        dest="template",
        const=FUNCTIONS,
        default=NAMESPACE,
        help="for a framework of functions on immutable arrays; without it, for a framework with torch's names",
    )
    kind.add_argument(
        "--kernels",
        action="store_const",
        dest="template",
        const=KERNELS,
        help="for functions of NumPy's arrays with backward functions written by hand",
    )
    new.set_defaults(run=write)


def run(arguments: argparse.Namespace) -> int:
    """Print each check when it is done, and return the exit status."""
    from autotest.frameworks import framework
    from autotest.running.conformance.checking import check_names
    from autotest.running.conformance.in_processes import conformance_in_processes

    width = max(map(len, check_names()))
    outcomes = collections.Counter[str]()
    for version, item in conformance_in_processes(arguments.name):
        if not outcomes:
            print(f"{framework(arguments.name).name} {version}")
        outcomes[item.outcome] += 1
        # At once, because a check that hangs takes a minute.
        print(f"  {item.name.ljust(width)}  {item.outcome}{'  ' + item.why if item.why else ''}", flush=True)
    print(f"{outcomes.total()} checks: {outcomes['WRONG']} wrong, {outcomes['absent']} absent")
    return FINDINGS if outcomes["WRONG"] else NOTHING_NEW


def write(arguments: argparse.Namespace) -> int:
    """Write the skeleton into a new file and return the exit status; an existing file is not overwritten."""
    name = arguments.name
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        such = re.sub(r"\W", "_", name)
        such = such if re.fullmatch(r"[A-Za-z_]\w*", such) else "mine"
        raise UsageError(f"adapter new {name!r}: expected the name of a Python module, such as {such}")
    path = Path(f"{name}_adapter.py")
    if path.exists():
        raise UsageError(f"{path} exists already and was not changed; remove it first, or give another name")
    path.write_text(
        arguments.template.format(name=name, title=name.strip("_").title().replace("_", "")), encoding="utf-8"
    )
    print(f"wrote {path}\nNext: autotest conformance {path.stem}:factory")
    return NOTHING_NEW
