"""``autotest gradients PATH``: lists which operators of a test suite have their gradients compared and which do not."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

from autotest.base import options
from autotest.campaigns.gradient_account import account_of
from autotest.campaigns.gradient_workers import account_in_workers
from autotest.campaigns.workers import default_jobs
from autotest.cli import candidates, executors
from autotest.cli.argument_types import positive, whole
from autotest.cli.collecting import tests_against
from autotest.cli.status import FINDINGS, NOTHING_NEW, USAGE
from autotest.clusters.sweeps_and_gradients import account_on
from autotest.frameworks import chosen_names
from autotest.report import gradients as report
from autotest.results.gradient_account import GradientAccount
from autotest.results.tasks import Conditions, Where
from autotest.sources.collection import Collection
from autotest.sources.pytest_session import sessions_kept
from autotest.storage.stored_account import AccountRequest, StoredAccount


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "gradients",
        description="Run some trials of the tests decorated with @autotest, and list for each operator whether its "
        "gradient is compared.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="test files, or folders that contain some")
    candidates.add_to(parser)
    parser.add_argument(
        "--trials", type=positive, default=3, metavar="N", help="number of trials of each test (default %(default)s)"
    )
    parser.add_argument(
        "-k", metavar="EXPR", default="", help="only tests whose name matches EXPR, such as 'conv and not transpose'"
    )
    parser.add_argument(
        "--jobs",
        type=whole,
        metavar="N",
        help=f"number of worker processes (default {default_jobs()}); 0 runs trials in this process, which a crash "
        "then ends",
    )
    executors.add_executor(parser)
    parser.add_argument(
        "--resume", action="store_true", help="continue the last run, which had the same --trials and --candidate"
    )
    parser.add_argument(
        "--fail-missing", action="store_true", help="exit with status 1 if the gradient of an operator is missing"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    candidate = chosen_names()[1]
    candidates.must_run_call_by_call(
        candidate, "gradients of one that runs whole programs are compared by pytest and autotest fuzz"
    )
    collected = tests_against(candidate, arguments.paths, arguments.k)
    environment = options.from_environment()
    conditions = Conditions(environment.directory, chosen_names(), environment.ledger)
    kept = StoredAccount(
        conditions.directory, AccountRequest(arguments.trials, chosen_names()[1]), resume=arguments.resume
    )
    with contextlib.closing(kept):
        account = _account(arguments, collected, conditions, kept)
    print(report.account_table(account))
    if kept.trouble:
        print(kept.trouble)
    for item in collected.broken:
        print(f"{item.name}: {item.why}")
    for test, why in collected.mistaken:
        print(f"{test.id}: {why}")
    for item in collected.left_out:
        print(f"not run: {item.name}: {item.why}")
    if account.broken or account.died or collected.broken or collected.mistaken:
        return USAGE
    missing = bool(account.of("missing") or account.refused)
    return FINDINGS if missing and arguments.fail_missing else NOTHING_NEW


def _account(
    arguments: argparse.Namespace, collected: Collection, conditions: Conditions, kept: StoredAccount
) -> GradientAccount:
    """Return the account of all tests; tests whose account is in `kept` already are not run again."""
    tests = {Where(test.file, test.id, 0): test for test in collected.tests}
    cluster = executors.cluster(arguments, conditions, {test.file for test in collected.tests}, "gradients")
    if cluster is not None:
        groups = account_on(cluster, list(tests), arguments.trials, kept)
        if arguments.each_group:
            print(report.by_group(groups) + "\n")
        for line in cluster.machines_left_out():
            print(line)
        account = GradientAccount()
        for one in groups.values():
            account.take(one)
        return account
    kept.begin()
    account = kept.all_of(list(tests))
    left = {where: test for where, test in tests.items() if kept.account(where) is None}
    if arguments.jobs == 0:
        with sessions_kept():
            for where, test in left.items():
                own = account_of([test], arguments.trials)
                kept.add(where, own)
                account.take(own)
    elif left:
        jobs = arguments.jobs or default_jobs()
        account.take(account_in_workers(list(left), arguments.trials, jobs, kept=kept.add))
    return account
