"""`autotest harvest`: runs an unchanged torch program, and stores the distinct calls that it makes."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from autotest.base.errors import UsageError
from autotest.base.plural import several
from autotest.cli.argument_types import positive
from autotest.frameworks import harvesting
from autotest.sources import calls_file

#: Default path of the file for the calls.
CALLS: Final = Path("calls.jsonl")


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "harvest",
        description="Run a torch program unchanged, and write the distinct public calls that it makes into a file. "
        "The exit status is the program's.",
        usage="autotest harvest [-h] [-o FILE] [--limit N] -- COMMAND ...",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=CALLS, metavar="FILE", help="output file (default %(default)s)"
    )
    parser.add_argument(
        "--limit", type=positive, metavar="N", help="maximum number of distinct calls of one name (default 100)"
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="the command to run, such as: python train.py --lr 1",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the program and return its exit status."""
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise UsageError("expected a command. Write it after two dashes: autotest harvest -- python train.py")
    if command[0].endswith(".py") and not os.access(command[0], os.X_OK):
        command = [sys.executable, *command]
    # A mistyped command must not overwrite the file of an earlier harvest.
    if shutil.which(command[0]) is None and not Path(command[0]).exists():
        raise UsageError(f"{command[0]}: command not found; write it as you type it: python train.py")
    output: Path = arguments.output
    with _previous_file_kept(output):
        harvesting.begin(output)
        try:
            status = _run(command, harvesting.environment(output, arguments.limit))
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be run: {error.strerror}") from error
        print(f"autotest: {_summary(output, command)}", file=sys.stderr)
    # After a signal, the exit status is the one that a shell gives.
    return status if status >= 0 else 128 - status


@contextlib.contextmanager
def _previous_file_kept(output: Path) -> Iterator[None]:
    """Move an existing file at `output` aside; if nothing is recorded, move it back and print a message.

    If there was none, and nothing is recorded, none is left: `autotest sweep --calls` cannot use an empty file.
    """
    aside = output.with_name(f"{output.name}.earlier")
    new = not output.exists()
    there = output.is_file() and output.stat().st_size > 0
    with contextlib.suppress(OSError):  # the process that writes the file reports the error
        if there:
            output.replace(aside)
    try:
        yield
    finally:
        recorded = output.exists() and output.stat().st_size > 0
        if new and output.exists() and not recorded:
            output.unlink()
        if there and aside.exists():
            if recorded:
                aside.unlink()
            else:
                aside.replace(output)
                print(f"autotest: {output} still contains what an earlier run recorded", file=sys.stderr)


def _run(command: list[str], environment: dict[str, str]) -> int:
    sys.stdout.flush()
    with subprocess.Popen(command, env=environment) as process, _forwarding_signals(process):
        return process.wait()


@contextlib.contextmanager
def _forwarding_signals(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ignore Ctrl-C, which the program receives itself and handles, and forward SIGTERM to the program."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda number, frame: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, frame: process.terminate()),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _summary(output: Path, command: list[str]) -> str:
    if not output.stat().st_size:
        return (
            f"nothing was recorded. If no reason is given above, {command[0]} did not import torch, or its Python "
            "ignores PYTHONPATH and sitecustomize (as python -I, -E and -S do)"
        )
    found = calls_file.read(output)
    names = len({call.name for call in found.calls})
    lines = [f"{several(len(found.calls), 'distinct call')} of {several(names, 'name')} in {output}"]
    if found.left_out:
        most = sorted(found.left_out.items(), key=lambda item: -item[1])[:3]
        shown = ", ".join(f"{name} {times:,}" for name, times in most)
        lines.append(f"  calls not kept (beyond --limit, or with arguments that cannot be stored), by name: {shown}")
    lines.append(f"  to test them on another framework: autotest sweep --calls {output}")
    return "\n".join(lines)
