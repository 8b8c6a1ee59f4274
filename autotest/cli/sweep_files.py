"""The files that `autotest sweep` reads and writes: an earlier map, and the new map in all its forms."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autotest.base import options
from autotest.base.errors import UsageError
from autotest.cli.argument_types import must_be_writable
from autotest.cli.report_files import write_reports
from autotest.report import sweep_html, sweep_junit, sweep_markdown
from autotest.results.sweep import SweepMap
from autotest.results.sweep_findings import SweepFinding
from autotest.results.sweep_format import Baseline, as_data, baseline
from autotest.results.sweep_gate import Changes
from autotest.storage import trends

_OPTIONS = ("json", "html", "markdown", "junitxml", "bless")


def read(path: Path) -> Baseline:
    """Return the map stored in `path`. Raises `UsageError`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); `autotest sweep --bless {path}` writes it"
        ) from error
    except ValueError as error:
        raise UsageError(f"{path} is not a map written by `autotest sweep --json`: {error}") from error
    return baseline(document, str(path))


def check(arguments: argparse.Namespace) -> None:
    """Raise `UsageError` if an output file of the sweep cannot be written, or if two options name the same file."""
    asked: dict[Path, str] = {}
    # With `--bless`, the new map may replace the one it is compared with, so both options may name the same file.
    if arguments.against is not None and arguments.bless is None:
        asked[arguments.against.resolve()] = "against"
    for option in _OPTIONS:
        path = getattr(arguments, option)
        if path is None:
            continue
        must_be_writable(path)
        other = asked.setdefault(path.resolve(), option)
        if other != option:
            raise UsageError(f"--{other} and --{option} name the same file, {path}: give each its own file")


def write_all(
    arguments: argparse.Namespace, swept: SweepMap, found: Sequence[SweepFinding], compared: Changes | None
) -> None:
    """Write the map in every requested form. Raises `UsageError` after all forms that can be written are written."""
    document = as_data(swept, found)
    if not swept.incomplete:
        what = f"sweep -k {arguments.k!r} --calls {arguments.calls} --shard {arguments.shard} against {swept.sides[1]}"
        document["history"] = list(
            trends.append_run(options.from_environment().directory, what, swept.date, swept.counts())
        )
    if compared is not None:
        document["changes"] = compared.as_data()
    forms: Mapping[str, Callable[[], str]] = {
        "json": lambda: json.dumps(document) + "\n",
        "html": lambda: sweep_html.page(document),
        "markdown": lambda: sweep_markdown.page(swept, found),
        "junitxml": lambda: sweep_junit.as_xml(swept, found),
        "bless": lambda: json.dumps(document) + "\n",
    }
    write_reports([(getattr(arguments, option), forms[option]) for option in _OPTIONS], forms["markdown"])
