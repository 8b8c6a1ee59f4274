"""`autotest sweep`: judge every operator that both frameworks have, and draw the map of what agrees."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from autotest.base import options
from autotest.base.errors import UsageError
from autotest.base.units import duration, size
from autotest.campaigns.workers import default_jobs
from autotest.cli.reading import positive, shard, told
from autotest.cli.status import FINDINGS, NOTHING_NEW
from autotest.report import sweep_calls, sweep_html, sweep_markdown, sweep_text
from autotest.results import ledger
from autotest.results.sweep import CellKey
from autotest.results.sweep_findings import SweepFinding, findings, known
from autotest.results.sweep_format import Baseline, as_data, baseline
from autotest.results.sweep_gate import Change, Changes, changes
from autotest.sources import calls_file, harvested
from autotest.sweeping import verifying
from autotest.sweeping.engine import Engine
from autotest.sweeping.explaining import explained
from autotest.sweeping.session import Plan, Progress, Session
from autotest.sweeping.units import digest

#: Where `--bless` writes and `--against` reads unless they are told.
BASELINE: Final = "sweep.json"
#: Seconds between two lines of a log.
_LOG_EVERY: Final = 10.0


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "sweep",
        help="judge every operator of both frameworks, without tests, and draw the map of what agrees",
        description="Judge every operator that both frameworks have, cell by cell: operator, form, dtype, check.",
    )
    parser.add_argument(
        "-k", metavar="EXPR", default="", help="only cells whose name operator/form/dtype fits: 'pool or softmax'"
    )
    parser.add_argument(
        "--calls", type=Path, metavar="FILE", help="judge the calls that `autotest harvest` recorded, and nothing else"
    )
    parser.add_argument("--time", type=told(duration), metavar="120s", help="how long; without it everything is run")
    parser.add_argument("--jobs", type=positive, default=default_jobs(), metavar="N", help="worker processes")
    parser.add_argument("--seed", type=int, default=0, help="seed of all samples (default 0)")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/K", help="run the I-th of K equal parts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the map as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="draw the map as one page that needs no network")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the map as a Markdown page")
    parser.add_argument(
        "--against", type=Path, nargs="?", const=Path(BASELINE), metavar="FILE",
        help=f"fail on what got worse since this map (default {BASELINE}), and on nothing else",
    )  # fmt: skip
    parser.add_argument(
        "--bless", type=Path, nargs="?", const=Path(BASELINE), metavar="FILE",
        help=f"write the map to compare later ones with (default {BASELINE}); what is found is no failure",
    )  # fmt: skip
    parser.add_argument(
        "--explain", type=told(duration), default=60.0, metavar="60s",
        help="how long to look into findings, for a verdict and a script (default 60s)",
    )  # fmt: skip
    parser.add_argument("--no-explain", action="store_true", help="do not look into findings")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="a ledger.toml that gives reasons for findings")
    parser.add_argument("--deadline", type=told(duration), metavar="20s", help="a longer sample is a hang")
    parser.add_argument("--memory", type=told(size), metavar="4G", help="memory that a worker may take")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep; returns the exit status."""
    plan = Plan(arguments.k, arguments.time, arguments.seed, arguments.shard)
    chosen = plan.chosen()
    before = None if arguments.against is None else _read(arguments.against)
    entries = [] if arguments.ledger is None else ledger.read(arguments.ledger)
    for path in (arguments.json, arguments.html, arguments.markdown, arguments.bless):
        _writable(path)
    harvest = None if arguments.calls is None else calls_file.read(arguments.calls)
    databases = None if arguments.calls is None else [harvested.database(arguments.calls)]
    environment = options.from_environment()
    with Engine(
        arguments.jobs, arguments.deadline or environment.deadline, arguments.memory or environment.memory, databases
    ) as engine:
        session = Session(plan, engine.listed(), _command(), dt.datetime.now(dt.timezone.utc).date().isoformat())
        if harvest is not None:
            session.map.notes += harvest.notes(arguments.calls)
        interrupted: BaseException | None = None
        try:
            session.run(engine, _Log())
        except KeyboardInterrupt as error:
            interrupted = error
        flaky: list[Change] = []
        compared: Changes | None = None
        if before is not None:

            def asked(key: CellKey) -> bool:
                return chosen(str(key)) and digest(plan.seed, str(key)) % plan.shard[1] == plan.shard[0] - 1

            compared = changes(session.map, before, asked)
            if interrupted is None:
                compared, flaky = _tried_again(session, engine, before, asked, compared)
        found = findings(session.map)
        if interrupted is None and found and not arguments.no_explain:
            explained(found, engine.server, arguments.jobs, arguments.explain)
            verifying.verify(found, engine.server, arguments.jobs, arguments.explain)
        verifying.kept(found, environment.directory, plan.seed)
    if arguments.ledger is not None:
        known(found, entries)
    print(sweep_text.summary(session.map, found))
    if arguments.calls is not None:
        print("\n" + sweep_calls.answer(session.map, found))
    if compared is not None:
        print("\n" + sweep_text.changed(compared, flaky))
    _write_all(arguments, session, found, compared)
    if interrupted is not None:
        raise interrupted
    if arguments.bless is not None:
        return NOTHING_NEW
    if compared is not None:
        return FINDINGS if compared.worse else NOTHING_NEW
    return FINDINGS if found else NOTHING_NEW


def _tried_again(
    session: Session, engine: Engine, before: Baseline, asked: Callable[[CellKey], bool], compared: Changes
) -> tuple[Changes, list[Change]]:
    """What got worse is judged once more: what is as it was then is flaky."""
    keys = {change.key for change in compared.worse if change.key in session.map.rows}
    if not keys:
        return compared, []
    kept = {key: session.map.rows[key].cell for key in keys}
    for key, cell in session.again(engine, keys).items():
        session.map.rows[key].cell = cell
    still = {change.key for change in changes(session.map, before, asked).worse}
    for key, cell in kept.items():
        session.map.rows[key].cell = cell
    worse = [change for change in compared.worse if change.key in still or change.key not in keys]
    return compared._replace(worse=worse), [change for change in compared.worse if change not in worse]


def _write_all(
    arguments: argparse.Namespace, session: Session, found: list[SweepFinding], compared: Changes | None
) -> None:
    document = as_data(session.map, found)
    if compared is not None:
        document["changes"] = compared.as_data()
    if arguments.html is not None:
        _write(arguments.html, sweep_html.page(document))
    for path in (arguments.json, arguments.bless):
        if path is not None:
            _write(path, json.dumps(document) + "\n")
    page = sweep_markdown.page(session.map, found)
    if arguments.markdown is not None:
        _write(arguments.markdown, page)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if os.environ.get("GITHUB_ACTIONS") == "true" and summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(page)


def _read(path: Path) -> Baseline:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); `autotest sweep --bless {path}` writes it"
        ) from error
    except ValueError as error:
        raise UsageError(f"{path} is no map of `autotest sweep --json`: {error}") from error
    return baseline(document, str(path))


def _writable(path: Path | None) -> None:
    """Say before a long run that what it finds could not be written."""
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.parent}")


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all, so that a full disk costs no earlier map."""
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _command() -> str:
    arguments = sys.argv[1:] if sys.argv[1:2] == ["sweep"] else ["sweep"]
    return shlex.join(["autotest", *arguments])


class _Log:
    """Prints a line from time to time."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LOG_EVERY

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LOG_EVERY
        rate = progress.samples / progress.seconds if progress.seconds else 0.0
        print(
            f"{progress.seconds:4.0f} s: {progress.done:,} of {progress.units:,} units, {progress.samples:,} samples "
            f"({rate:,.0f}/s), {progress.divergences:,} divergences",
            flush=True,
        )
