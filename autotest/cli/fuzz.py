"""`autotest fuzz`: runs random trials of decorated tests under fresh seeds, and reports the findings."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from autotest.base import options
from autotest.base.project import variable_of
from autotest.base.units import duration, size
from autotest.campaigns.campaign import Campaign, Plan, progress_of
from autotest.campaigns.executor import Observer
from autotest.campaigns.history import History
from autotest.cli import candidates, executors, fuzz_each, fuzz_groups, fuzz_reports
from autotest.cli.argument_types import argument_type, must_be_writable, positive, seed, shard
from autotest.cli.collecting import tests_against
from autotest.cli.display import display
from autotest.cli.fuzz_groups import CampaignShard, CampaignsOfHistory
from autotest.cli.status import EXPLAINED, FAILED, FINDINGS, NOTHING_NEW, USAGE
from autotest.cli.termination import terminated
from autotest.frameworks import all_chosen_names, chosen_names, chosen_pair
from autotest.report import campaign as report
from autotest.report.campaign_troubles import mistakes
from autotest.results.progress import CampaignProgress
from autotest.results.tasks import Conditions
from autotest.results.verification import State, Verification
from autotest.sources.collection import Collection
from autotest.sources.pytest_session import sessions_kept


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "fuzz",
        description="Run random trials of the tests decorated with @autotest with new seeds, report differences, and "
        "store a script for each.",
        epilog=EXPLAINED,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="test files, or folders that contain some")
    candidates.add_to(parser, several=True)
    parser.add_argument(
        "--time", type=argument_type(duration), metavar="60s", help="time limit, such as 30s, 10m or 2h (default 60s)"
    )
    parser.add_argument(
        "--trials",
        type=positive,
        metavar="N",
        help="run the trials 0 to N - 1 of each test, whatever the reference refuses, instead of a time limit; the "
        "same seed gives the same trials with any number of workers",
    )
    parser.add_argument(
        "--seed", type=seed, help="base seed, a whole number or random (default: AUTOTEST_SEED, or else random)"
    )
    parser.add_argument(
        "-k", metavar="EXPR", default="", help="only tests whose name matches EXPR, such as 'conv and not transpose'"
    )
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="I/K", help="run the I-th of K equal parts")
    parser.add_argument("--resume", action="store_true", help="continue the last campaign, or the last one with --seed")
    parser.add_argument("--junitxml", type=Path, metavar="FILE", help="write a JUnit report")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write the results of each test as one HTML page that works offline"
    )
    parser.add_argument("--fail-fast", action="store_true", help="stop exploring at the first finding")
    executors.add_to(parser)
    parser.add_argument(
        "--deadline", type=argument_type(duration), metavar="20s", help="time limit of a trial; a longer one is a hang"
    )
    parser.add_argument("--memory", type=argument_type(size), metavar="4G", help="memory limit of a worker")
    parser.add_argument(
        "--no-error-parity", action="store_true", help="do not run calls on the candidate that the reference refuses"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the campaign, or one for each candidate, and return the exit status."""
    for path in (arguments.json, arguments.junitxml, arguments.html):
        if path is not None:
            must_be_writable(path)
    if arguments.seed is None:  # a project's table sets the seed of the tests, and exploring needs new ones
        new = os.environ.get(variable_of("seed"), "") in ("", "random")
        arguments.seed = "random" if new else options.from_environment().seed
    names = all_chosen_names()[1]
    with terminated():  # until the reports are written, too
        if len(names) > 1:
            return fuzz_each.run(arguments, names, _campaign)
        return _campaign(arguments)[0]


def _campaign(arguments: argparse.Namespace) -> tuple[int, CampaignProgress]:
    """Run one campaign; return the exit status and its progress."""
    collected = tests_against(chosen_names()[1], arguments.paths, arguments.k)
    environment, pair = options.from_environment(), chosen_pair()
    part = CampaignShard(arguments.shard, arguments.each_group)
    with contextlib.closing(History(environment.directory)) as history:
        plan = _plan(arguments, environment, history, part)
        begun = CampaignsOfHistory(history, part, arguments.resume)
        executor = _executor(arguments, environment, plan, collected)
        with (
            display(plan, collected, pair) as shown,
            contextlib.closing(executor),
            sessions_kept(),  # for trials in this process; worker processes keep their own
        ):
            progress, failure = _explored(arguments, plan, executor, collected, shown, begun)
    for one in (progress, *progress.groups.values()):
        _refresh_findings(one)
    try:
        # Neither too narrow for the report nor wider than is easy to read.
        width = min(max(shutil.get_terminal_size((report.WIDTH, 24)).columns, 40), report.WIDTH)
        print(report.summary(progress, width), flush=True)
    finally:  # also if the output is a pipe that nobody reads any more, or is on a full disk
        fuzz_reports.write_all(progress, arguments)
    if failure is not None:
        raise failure
    return _status(progress), progress


def _plan(arguments: argparse.Namespace, environment: options.Options, history: History, part: CampaignShard) -> Plan:
    """Return what the campaign explores and how long; a resumed one continues with the seed of the last one."""
    if arguments.resume:
        base_seed = history.last(str(part), None if arguments.seed == "random" else arguments.seed)[1]
    else:
        base_seed = secrets.randbits(32) if arguments.seed == "random" else arguments.seed
    return Plan(
        base_seed,
        fuzz_each.DEFAULT_SECONDS if arguments.time is None and arguments.trials is None else arguments.time,
        arguments.trials,
        arguments.shard,
        arguments.fail_fast,
        candidate=chosen_pair().candidate.name,
        ledger=environment.ledger,
    )


def _executor(
    arguments: argparse.Namespace, environment: options.Options, plan: Plan, collected: Collection
) -> executors.Prepared:
    """Return what runs the campaign's trials: this process, worker processes, or a cluster."""
    pair, seconds = chosen_pair(), plan.seconds
    conditions = Conditions(
        environment.directory,
        chosen_names(),
        environment.ledger,
        own_import=any(pair.needs_own_import(test.settings.check_graph) for test in collected.tests),
        check_errors=arguments.jobs != 0 and not arguments.no_error_parity,
        shrink=environment.shrink if seconds is None else min(environment.shrink, max(2.0, seconds / 12)),
        verify=environment.verify,
        deadline=arguments.deadline or environment.deadline,
        deadlines={} if arguments.deadline else _own_deadlines(collected, environment),
        memory=arguments.memory or environment.memory,
    )
    return executors.chosen_executor(arguments, conditions, {test.file for test in collected.tests})


def _explored(
    arguments: argparse.Namespace,
    plan: Plan,
    executor: executors.Prepared,
    collected: Collection,
    shown: Observer,
    begun: CampaignsOfHistory,
) -> tuple[CampaignProgress, Exception | None]:
    """Run the campaign; return its progress, and the error that ended it early, after which findings are reported."""
    mode = chosen_pair().candidate.graph_mode
    progress, failure = progress_of(collected, plan.base_seed, mode), None
    executor.prepare()
    campaign = begun(progress)  # only when a worker is ready: --resume continues the last campaign in the history
    try:
        if arguments.each_group:
            progress, failure = fuzz_groups.run(executor, collected, plan, shown, begun, mode)
        else:
            Campaign(progress, plan, executor, shown, campaign).run()
    except Exception as error:  # noqa: BLE001 - raised after the findings so far are reported
        failure = error
    progress.machines = executor.machines()
    return progress, failure


def _status(progress: CampaignProgress) -> int:
    if progress.found:
        return FINDINGS
    if progress.interrupted or progress.undiagnosed:
        return FAILED
    return USAGE if mistakes(progress) else NOTHING_NEW


def _own_deadlines(collected: Collection, environment: options.Options) -> dict[str, float]:
    """Return the trial deadlines in seconds of the tests that set their own, by test id.

    Used only if the command line sets no deadline.
    """
    found = {test.id: environment.of_test(test.settings).deadline for test in collected.tests}
    return {test: seconds for test, seconds in found.items() if seconds != environment.deadline}


def _refresh_findings(progress: CampaignProgress) -> None:
    """Update findings for which a worker stored a script before it ran out of time."""
    for identity, found in progress.found.items():
        if found.verified.state is State.WAITING and (Path(found.place) / "repro.py").exists():
            progress.found[identity] = dataclasses.replace(found, verified=Verification(), has_script=True)
