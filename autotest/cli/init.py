"""`autotest init`: writes a first test file, settings and a CI workflow into an existing project."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autotest.base.errors import UsageError
from autotest.base.options import DEFAULT_PAIR
from autotest.cli import init_templates
from autotest.cli.argument_types import append
from autotest.cli.status import NOTHING_NEW
from autotest.frameworks.registry import must_be_known

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DISTRIBUTION = "dual-autotest"
TESTS, SETTINGS, WORKFLOW = "test_alignment.py", "pyproject.toml", ".github/workflows/autotest.yml"


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "init",
        description="Write a first test file, a table [tool.autotest] in pyproject.toml and a workflow for GitHub's CI "
        "into an existing project. Existing content is not changed.",
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="the project (default .)"
    )
    parser.add_argument(
        "--candidate", default=DEFAULT_PAIR[1], metavar="NAME", help="the framework under test (default %(default)s)"
    )
    parser.add_argument(
        "--tests", default="tests", metavar="FOLDER", help="where the project's tests are (default %(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the files and return the exit status."""
    folder: Path = arguments.folder
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; create it first")
    must_be_known(arguments.candidate)
    tests = folder / arguments.tests / TESTS
    try:
        for line in _written(folder, tests, arguments.candidate, arguments.tests):
            print(line)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written: {error.strerror}") from error
    print(f"\nNext: pytest {shlex.quote(str(tests))}")
    return NOTHING_NEW


def _written(folder: Path, tests: Path, candidate: str, where: str) -> Iterator[str]:
    yield _new(tests, init_templates.tests(candidate))
    yield _settings(folder / SETTINGS, candidate)
    needed, is_local = requirement(candidate), "dir_info" in _origin()
    created = _new(folder / WORKFLOW, init_templates.workflow(shlex.quote(where), needed, is_local=is_local))
    yield created
    if is_local and created.startswith("wrote"):
        yield (
            f"         {DISTRIBUTION} was installed from a folder of this machine: write there where CI can install "
            "it from"
        )
    yield _ignored(folder / ".gitignore")


def _new(path: Path, text: str) -> str:
    if path.exists():
        return f"left     {path}: it exists already"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"wrote    {path}"


def _settings(path: Path, candidate: str) -> str:
    """Append our table to a `pyproject.toml`, or create the file."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        known = "autotest" in tomllib.loads(before).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML, so nothing can be added: {error}") from error
    if known:
        return f"left     {path}: it has a table [tool.autotest] already"
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    added = gap + init_templates.settings(candidate)
    try:
        tomllib.loads(before + added)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: a table [tool.autotest] cannot be added at its end: {error}") from error
    append(path, added)
    return f"{'extended' if before else 'wrote   '} {path}: [tool.autotest]"


def _ignored(path: Path) -> str:
    """Add the folder of stored failures to `.gitignore`."""
    before = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    if ".autotest/" in before.splitlines():
        return f"left     {path}: it contains .autotest/ already"
    gap = "" if not before or before.endswith("\n") else "\n"
    append(path, gap + ".autotest/\n")
    return f"{'extended' if before else 'wrote   '} {path}: .autotest/, where failures are stored"


def requirement(candidate: str) -> str:
    """Return the requirement with which `pip install` installs this library.

    If the library was installed from a repository, the requirement names that repository and commit.
    """
    extras = f"fuzz,{candidate}" if candidate == DEFAULT_PAIR[1] else "fuzz"  # the default one has an extra of its name
    plain = f"{DISTRIBUTION}[{extras}]"
    origin = _origin()
    version = origin.get("vcs_info")
    return f"{plain} @ {version['vcs']}+{origin['url']}@{version['commit_id']}" if version else plain


def _origin() -> dict[str, Any]:
    """Return where this library was installed from, as pip records it; empty if that was a package index.

    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
        text = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        origin: dict[str, Any] = json.loads(text or "{}")
        return origin
    return {}
