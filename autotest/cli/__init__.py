"""The command `autotest`: parses the command line, calls the other packages, and sets the exit status.

Each subcommand stands in a file of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import importlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn

from autotest.base.errors import AutotestError, FrameworkMissing, UsageError
from autotest.cli.output import checked_output, discard
from autotest.cli.status import EXPLAINED, FAILED, USAGE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit status."""
    try:
        with checked_output():
            _check_folder()
            chosen = _parsed(arguments)
            with _project_of(chosen), _candidate_of(chosen):
                _check_project()
                status: int = chosen.run(chosen)
    except (UsageError, FrameworkMissing) as error:
        _tell(f"autotest: {error}")
        return USAGE
    except AutotestError as error:
        if str(error):
            _tell(f"autotest: {error}")
        return FAILED
    except KeyboardInterrupt:
        _tell("autotest: interrupted")
        return FAILED
    except OSError as error:
        lacking = _LIMITS.get(error.errno or 0)
        if lacking is None:
            _tell_failure()
        else:
            _tell(f"autotest: {error.strerror}: the run needs {lacking}. What was found before is stored")
        return FAILED
    except Exception:  # noqa: BLE001 - the exit status must differ from that of a finding
        _tell_failure()
        return FAILED
    return status


#: What a run lacks when the system refuses a call with these errors.
_LIMITS: Final = MappingProxyType(
    {
        errno.EMFILE: "more open files (`ulimit -n`), or fewer --jobs",
        errno.ENFILE: "more open files (`sysctl fs.file-max`), or fewer --jobs",
        errno.EAGAIN: "more processes (`ulimit -u`, or the limit of the container), or fewer --jobs",
        errno.ENOMEM: "more memory, or fewer --jobs",
        errno.ENOSPC: "room in the temporary folder (TMPDIR) and in the folder of stored failures (AUTOTEST_DIR)",
    }
)


def _tell_failure() -> None:
    """Print the exception that is being handled: nothing is known about it."""
    _tell(f"{traceback.format_exc()}autotest: the tool itself failed; this is not a finding. Please report it.")


def _tell(text: str) -> None:
    """Print `text` on the standard error; if that is full or closed, only the exit status says what happened."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def _check_folder() -> None:
    """Raise an error if the working folder was deleted: everything else asks for it."""
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the working folder cannot be read: {error.strerror}; change to the folder of your project and run again"
        ) from error


def _candidate_of(arguments: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    """Return a context manager that sets the candidate of `--candidate` while the command runs."""
    from autotest.cli.candidates import candidate_in_environment

    return candidate_in_environment(arguments)


def _project_of(arguments: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    """Return a context manager that applies the settings of the tests' project, as pytest does."""
    from autotest.base import options, project
    from autotest.base.environment import variables

    there = None if os.environ.get(options.PROJECT) else project.with_table(getattr(arguments, "paths", ()))
    if there is None or there.file == options.working_project().file:
        return contextlib.nullcontext()
    return variables({options.PROJECT: str(there.file)})


def _check_project() -> None:
    """Raise an error for wrong settings of the project before anything is run; only warn about unknown keys."""
    from autotest.base import options, project

    found = options.active_project()
    options.from_project(found)
    for said in options.misspelt(os.environ):
        _tell(f"autotest: {said}")
    for key in found.unknown:
        _tell(f"autotest: {project.unknown_key(key, found.file)}")


class _Parser(argparse.ArgumentParser):
    """An argument parser that accepts no abbreviated options: `--n 3` would be taken for another option."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        if message.endswith("expected one argument"):  # for example, `--time -5s`
            message += "; a value that begins with - is written with an equals sign, as in --option=-value"
        super().error(message)


#: The commands: the module of this package in which each stands, and its line in the list of all commands.
_COMMANDS: Final = MappingProxyType(
    {
        "init": ("init", "write a first test file, settings and a CI workflow into a project"),
        "fuzz": ("fuzz", "run random trials of decorated tests and report differences"),
        "sweep": (
            "sweep",
            "test every operator that both frameworks have, without test files, and write a map of the results",
        ),
        "harvest": ("harvest", "run a torch program, and record its distinct calls for `autotest sweep --calls`"),
        "list": ("stored", "list the stored failures"),
        "show": ("stored", "print the report of a failure"),
        "replay": ("stored", "run reproducers again: still diverges, fixed, or changed"),
        "export": ("stored", "print a failure as a bug report in Markdown"),
        "merge": ("stored", "merge the results of other runs, such as shards, into the stored results of this folder"),
        "recover": ("stored", "diagnose trials in which an earlier process died"),
        "ledger": ("ledgers", "manage ledgers of known divergences"),
        "gradients": ("gradients", "list for which operators gradients are compared, exempt (and why) or missing"),
        "verdicts": ("verdicts", "measure how often verdicts are right"),
        "align": ("align", "compare a model of the reference with a port of it, module by module"),
        "conformance": ("conformance", "check the adapter of a framework"),
        "adapter": ("conformance", "start an adapter for another framework"),
    }
)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line. The imports are in here because they take a moment, in which Ctrl-C must work too."""
    from autotest import __version__

    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="autotest",
        description="Differential autotesting of two deep-learning frameworks.",
        epilog=f"`autotest COMMAND --help` explains a command. {EXPLAINED}",
    )
    parser.add_argument("--version", action="version", version=f"dual-autotest {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, dest="subcommand", parser_class=_Parser)
    first = given[0] if given else ""
    if first and first not in _COMMANDS and not first.startswith("-"):
        parser.error(f"there is no command {first!r}. {_meant(first)} `autotest --help` lists all commands")
    if any(one in _COMMANDS for one in given):
        # The import of all modules takes half a second. Only a command behind an unknown option needs it.
        needed = [_COMMANDS[first]] if first in _COMMANDS else _COMMANDS.values()
        for module in dict.fromkeys(module for module, _ in needed):
            importlib.import_module(f"{__name__}.{module}").add_to(commands)
    else:  # `--help`, `--version`, or an error
        for name, said in _COMMANDS.items():
            commands.add_parser(name, help=said[1])
    chosen, unknown = parser.parse_known_args(arguments)
    if unknown:
        part_of = commands.choices[chosen.subcommand]
        part_of.error(f"unrecognized arguments: {' '.join(unknown)}{_suggestion(unknown[0], part_of.format_help())}")
    return chosen


def _meant(first: str) -> str:
    """Return what to write instead of the unknown command `first`."""
    if Path(first).exists():
        return f"Write `autotest fuzz {first}` for random trials of tests with new seeds, or `pytest {first}`."
    near = difflib.get_close_matches(first, _COMMANDS, 1, 0.65)
    return f"Did you mean {near[0]!r}?" if near else "`pytest` runs tests, and `autotest fuzz` explores with new seeds."


def _suggestion(unknown: str, described: str) -> str:
    """Return a suggestion for an unrecognized argument: a similar option, or `-k` for a name."""
    if unknown.startswith("-"):
        near = difflib.get_close_matches(unknown.strip("-"), re.findall(r"--([\w-]+)", described), 1, 0.65)
        return f". Did you mean --{near[0]}?" if near else ""
    return f". Write -k {unknown} to choose by name" if re.search(r"^ +-k ", described, re.MULTILINE) else ""
