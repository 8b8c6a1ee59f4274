"""`autotest sweep`: judges every operator that both frameworks have, and draws the map of the results."""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime as dt
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from autotest.base import options
from autotest.base.errors import AutotestError, UsageError
from autotest.base.plural import several, thousands, were
from autotest.base.units import duration, size
from autotest.campaigns.workers import default_jobs
from autotest.cli import candidates, executors, sweep_files
from autotest.cli.argument_types import argument_type, positive, shard, whole
from autotest.cli.output import OutputUnwritable
from autotest.cli.pacing import Pacing
from autotest.cli.status import EXPLAINED, FINDINGS, NOTHING_NEW
from autotest.cli.termination import terminated
from autotest.clusters.sweeps_and_gradients import SweepOnCluster
from autotest.frameworks import chosen_names
from autotest.frameworks.samples import SampleDatabase
from autotest.report import sweep_calls, sweep_text
from autotest.results import ledger
from autotest.results.sweep import Cell, CellKey, SweepMap
from autotest.results.sweep_findings import SweepFinding, findings, known
from autotest.results.sweep_format import Baseline
from autotest.results.sweep_gate import Change, Changes, changes
from autotest.results.tasks import Conditions
from autotest.sources import calls_file, harvested
from autotest.sources.stored_failures import StoredFailures
from autotest.sweeping import journal, verifying
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.journal import Journal, SweepRequest
from autotest.sweeping.regressions import without_flaky
from autotest.sweeping.session import Progress, SweepPlan, SweepSession
from autotest.sweeping.units import digest
from autotest.sweeping.worker import Databases

#: Default path for `--bless` and `--against`.
BASELINE: Final = "sweep.json"


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "sweep",
        description="Test every operator that both frameworks have. Each cell of the map is one operator in one "
        "form and dtype.",
        epilog=EXPLAINED,
    )
    parser.add_argument(
        "-k",
        metavar="EXPR",
        default="",
        help="only cells whose name operator/form/dtype matches EXPR, such as 'pool or softmax'",
    )
    candidates.add_to(parser)
    parser.add_argument(
        "--calls", type=Path, metavar="FILE", help="test only the calls that `autotest harvest` recorded"
    )
    parser.add_argument(
        "--time",
        type=argument_type(duration),
        metavar="120s",
        help="time limit, such as 60s, 10m or 2h; without it, everything runs once",
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help=f"number of worker processes (default {default_jobs()})"
    )
    executors.add_executor(parser)
    parser.add_argument("--seed", type=whole, metavar="N", help="seed of all samples (default 0)")
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/K", help="run the I-th of K equal parts")
    parser.add_argument("--resume", action="store_true", help="continue the last sweep, with its options")
    parser.add_argument("--junitxml", type=Path, metavar="FILE", help="write a JUnit report")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the map as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the map as one HTML page that works offline")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the map as a Markdown page")
    parser.add_argument(
        "--against", type=Path, nargs="?", const=Path(BASELINE), metavar="FILE",
        help=f"fail only on cells that got worse since this map (default {BASELINE})",
    )  # fmt: skip
    parser.add_argument(
        "--bless", type=Path, nargs="?", const=Path(BASELINE), metavar="FILE",
        help=f"write the map as the baseline of later runs (default {BASELINE}); findings do not fail this run",
    )  # fmt: skip
    parser.add_argument(
        "--explain", type=argument_type(duration), default=60.0, metavar="60s",
        help="time limit for verdicts on findings, and again for their scripts (default 60s)",
    )  # fmt: skip
    parser.add_argument("--no-explain", action="store_true", help="do not diagnose findings")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="a ledger.toml that gives reasons for findings")
    parser.add_argument(
        "--deadline", type=argument_type(duration), metavar="20s", help="time limit of a sample; a longer one is a hang"
    )
    parser.add_argument("--memory", type=argument_type(size), metavar="4G", help="memory limit of a worker")
    parser.set_defaults(run=run)


def _engine(arguments: argparse.Namespace, environment: options.Options) -> SweepEngine:
    """Return the engine that judges the units: worker processes on this machine, or a cluster."""
    own = arguments.calls is None
    # Earlier findings are tried again, as tests do.
    database: SampleDatabase = StoredFailures(environment.directory) if own else harvested.database(arguments.calls)
    jobs = arguments.jobs or default_jobs()
    deadline, memory = arguments.deadline or environment.deadline, arguments.memory or environment.memory
    conditions = Conditions(environment.directory, chosen_names(), environment.ledger, deadline=deadline, memory=memory)
    databases = Databases(own, (database,))
    cluster = executors.cluster(arguments, conditions, work="sweep", databases=databases)
    if cluster is None:
        return SweepEngine(jobs, deadline, memory, databases)
    return SweepOnCluster(cluster, jobs, deadline, memory, databases)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep and return the exit status."""
    with terminated():  # until the reports are written, too
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    before = None if arguments.against is None else sweep_files.read(arguments.against)
    entries = [] if arguments.ledger is None else ledger.read(arguments.ledger)
    sweep_files.check(arguments)
    environment = options.from_environment()
    place = journal.journal_path(environment.directory, arguments.shard)
    done: Mapping[str, Sequence[Cell]] = {}
    if arguments.resume:
        done = _resumed(arguments, place)
    # A map for comparisons must contain the same samples on a fast and on a slow machine.
    searching = arguments.against is None and arguments.bless is None
    plan = SweepPlan(arguments.k, arguments.time, arguments.seed or 0, arguments.shard, searching=searching)
    plan.cell_filter()  # raises the error of a wrong -k before anything is started
    harvest = None if arguments.calls is None else calls_file.read(arguments.calls)
    with _engine(arguments, environment) as engine:
        session = SweepSession(plan, engine.listed(), _command(), dt.datetime.now(dt.timezone.utc).date().isoformat())
        if harvest is not None:
            session.map.notes += harvest.notes(arguments.calls)
        sweep = _Sweep(arguments, plan, session, engine, before)
        sweep.check_comparable()
        with _journal(place, plan, arguments, session, done) as written:
            sweep.run(written)
        if isinstance(engine, SweepOnCluster):
            session.map.workers = engine.workers()
            session.map.notes += engine.machines()
        found = sweep.found if sweep.found is not None else findings(session.map)
        trouble = verifying.kept(found, environment.directory, plan.seed)
    session.map.notes += filter(None, [written.trouble, trouble])
    known(found, entries, session.map.sides, session.map.versions)
    _report(arguments, session.map, found, sweep)
    if sweep.interrupted is not None:
        raise sweep.interrupted
    _check_judged(session.map)
    return _status(arguments, session.map, found, sweep.compared)


def _report(arguments: argparse.Namespace, swept: SweepMap, found: Sequence[SweepFinding], sweep: _Sweep) -> None:
    """Print the summary and write the report files."""
    try:
        print(sweep_text.summary(swept, found), flush=True)
        if arguments.calls is not None:
            print("\n" + sweep_calls.answer(swept, found, harvested.database(arguments.calls).inside()))
        if sweep.compared is not None:
            print("\n" + sweep_text.changed(sweep.compared, sweep.flaky))
    finally:  # also if the output is a pipe that nobody reads any more, or is on a full disk
        sweep_files.write_all(arguments, swept, found, sweep.compared)


def _status(
    arguments: argparse.Namespace, swept: SweepMap, found: Sequence[SweepFinding], compared: Changes | None
) -> int:
    """Return the exit status: with ``--against`` only what became worse counts, with ``--bless`` nothing does."""
    if arguments.bless is not None:
        if swept.incomplete:
            print(
                f"\n{arguments.bless} is not complete: a later run may report cells as worse that this run did not "
                "reach"
            )
        return NOTHING_NEW
    if compared is not None:
        return FINDINGS if compared.worse else NOTHING_NEW
    return FINDINGS if any(not finding.known for finding in found) else NOTHING_NEW


def _check_judged(swept: SweepMap) -> None:
    """Raise `AutotestError` if nothing could be judged: such a run must not count as passed."""
    cells = [row.cell for row in swept.rows.values()]
    if all(cell.status == "left out" for cell in cells):
        reasons: collections.Counter[str] = sum((cell.left_out for cell in cells), collections.Counter())
        ((reason, count),) = reasons.most_common(1)
        raise AutotestError(
            f"nothing could be judged: {count:,} of {thousands(reasons.total(), 'sample')} {were(count)} left out for "
            f"this reason: {reason}"
        )


def _resumed(arguments: argparse.Namespace, place: Path) -> Mapping[str, Sequence[Cell]]:
    """Return the results of the last sweep, and set `arguments` to those of that sweep.

    Raises `UsageError` if `arguments` contradict them.
    """
    asked, done = journal.read(place)
    given = {"-k": arguments.k, "--seed": arguments.seed, "--calls": arguments.calls and str(arguments.calls)}
    for option, before in (("-k", asked.expression), ("--seed", asked.seed), ("--calls", asked.calls)):
        if given[option] not in (None, "", before):
            raise UsageError(
                f"the sweep to resume was run with {option} {before!r}, not {given[option]!r}; omit {option}, or run "
                "without --resume"
            )
    candidate = chosen_names()[1]
    if candidate != asked.candidate:
        raise UsageError(f"the sweep to resume tested {asked.candidate}, not {candidate}; run without --resume")
    arguments.k, arguments.seed = asked.expression, asked.seed
    arguments.calls = Path(asked.calls) if asked.calls else None
    return done


@contextlib.contextmanager
def _journal(
    place: Path,
    plan: SweepPlan,
    arguments: argparse.Namespace,
    session: SweepSession,
    done: Mapping[str, Sequence[Cell]],
) -> Iterator[Journal]:
    """Yield the journal to which the sweep writes its results; a resumed sweep appends to its earlier results."""
    written = Journal(place, resumed=arguments.resume)
    if arguments.resume:
        known_units = session.resume(done)
        print(f"resumed: {known_units:,} units were judged before, {len(session.units):,} are left", flush=True)
        written.resumed()
    else:
        calls = "" if arguments.calls is None else str(arguments.calls)
        written.begin(SweepRequest(plan.expression, plan.seed, calls, chosen_names()[1]))
    try:
        yield written
    finally:
        written.close()


class _Sweep:
    """One sweep, with the results that it had before an interrupt."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        plan: SweepPlan,
        session: SweepSession,
        engine: SweepEngine,
        before: Baseline | None,
    ) -> None:
        self._arguments, self._plan, self._session, self._engine = arguments, plan, session, engine
        self._before, self._chosen = before, plan.cell_filter()
        self.interrupted: BaseException | None = None
        self.compared: Changes | None = None
        self.flaky: list[Change] = []
        self.found: list[SweepFinding] | None = None

    def run(self, written: Journal) -> None:
        try:
            self._session.run(self._engine, _Log(), written)
            self._compare(again=True)
            self._diagnose_findings()
        except (KeyboardInterrupt, OutputUnwritable) as error:
            self.interrupted = error
            self._session.map.incomplete = self._session.map.incomplete or "interrupted while findings were diagnosed"
            self._compare(again=False)

    def _asked(self, key: CellKey) -> bool:
        number, parts = self._plan.shard
        return self._chosen(str(key)) and digest(self._plan.seed, str(key)) % parts == number - 1

    def check_comparable(self) -> None:
        """Raise `UsageError` if the earlier map has none of the requested cells; called before anything runs."""
        before = self._before
        if before is None or not self._session.units or any(map(self._asked, before.statuses)):
            return
        made = f" (made by `{before.command}`)" if before.command else ""
        raise UsageError(
            f"{self._arguments.against}{made} has {several(len(before.statuses), 'cell')}, but none of the requested "
            f"ones, such as {self._session.units[0].key}: nothing can be compared; write a map with the same -k and "
            "--calls by `autotest sweep --bless`"
        )

    def _compare(self, *, again: bool) -> None:
        if self._before is None or self.compared is not None:
            return
        compared = changes(self._session.map, self._before, self._asked, self._session.unfinished)
        if again:
            compared, self.flaky = without_flaky(self._session, self._engine, self._before, self._asked, compared)
        self.compared = compared

    def _diagnose_findings(self) -> None:
        self.found = findings(self._session.map)
        arguments = self._arguments
        if self.found and not arguments.no_explain:
            most = 2 * arguments.explain  # first for the verdicts, then for the scripts
            what = several(len(self.found), "distinct finding")
            print(f"diagnosing {what}, which takes at most {most:.0f} s (--explain, --no-explain)", flush=True)
            self._engine.diagnose_findings(self.found, arguments.explain, arguments.explain)


def _command() -> str:
    arguments = sys.argv[1:] if sys.argv[1:2] == ["sweep"] else ["sweep"]
    return shlex.join(["autotest", *arguments])


class _Log:
    """Callback that prints a progress line every `LOG_EVERY` seconds."""

    def __init__(self) -> None:
        self._pacing = Pacing()

    def __call__(self, progress: Progress) -> None:
        if not self._pacing.is_due():
            return
        rate = progress.samples / progress.seconds if progress.seconds else 0.0
        print(
            f"{progress.seconds:4.0f} s: {progress.done:,} of {thousands(progress.units, 'unit')}, "
            f"{thousands(progress.samples, 'sample')} ({rate:,.0f}/s), {thousands(progress.divergences, 'divergence')}",
            flush=True,
        )
