"""The options for the executor of a campaign: this process, worker processes on this machine, or a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from autotest.base.errors import UsageError
from autotest.campaigns import workers
from autotest.campaigns.executor import Executor
from autotest.campaigns.workers import Workers
from autotest.cli.argument_types import whole
from autotest.results.tasks import Conditions

if TYPE_CHECKING:
    from autotest.clusters.cluster import Cluster
    from autotest.clusters.messages import Work
    from autotest.sweeping.worker import Databases

LOCAL, RAY = "local", "ray"


class Prepared(Executor, Protocol):
    """An executor that must be prepared before it is used, and closed afterwards."""

    def prepare(self) -> None: ...

    def machines(self) -> list[str]:
        """Return lines about the machines that it worked on."""

    def close(self) -> None: ...


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs` and the options of `add_executor` to a subcommand's parser."""
    parser.add_argument(
        "--jobs",
        type=whole,
        metavar="N",
        help=f"number of worker processes (default {workers.default_jobs()}; on a running cluster as many as fit); 0 "
        "runs trials in this process, which a crash then ends",
    )
    add_executor(parser)


def add_executor(parser: argparse.ArgumentParser) -> None:
    """Add the options for the executor, but not `--jobs`, which some subcommands define themselves."""
    parser.add_argument(
        "--executor",
        default=LOCAL,
        metavar="WHERE",
        help="where worker processes run: local (default); ray starts a Ray cluster on this machine; ray://HOST:PORT "
        "uses a running cluster; ray://auto uses the cluster that this machine belongs to",
    )
    parser.add_argument(
        "--group",
        default="",
        metavar="TEXT",
        help="on a cluster, use only machines whose frameworks and devices, as the report shows them, contain TEXT, "
        "such as cuda",
    )
    parser.add_argument(
        "--each-group",
        action="store_true",
        help="on a cluster of machines with different frameworks or devices, run the same trials on each group of "
        "identical machines, and report one column for each group; without it, only the group with most workers "
        "is used",
    )


def chosen_executor(arguments: argparse.Namespace, conditions: Conditions, files: Iterable[Path]) -> Prepared:
    """Return the executor that the arguments ask for; `files` are the test files. Raises `UsageError`."""
    found = cluster(arguments, conditions, files)
    if found is not None:
        return found
    if arguments.jobs == 0:
        from autotest.campaigns.in_process import InProcess  # imports what runs and diagnoses trials, as workers do

        return InProcess(conditions)
    return Workers(conditions, arguments.jobs or workers.default_jobs())


def cluster(
    arguments: argparse.Namespace,
    conditions: Conditions,
    files: Iterable[Path] = (),
    work: Work = "campaign",
    databases: Databases | None = None,
) -> Cluster | None:
    """Return the cluster that the arguments ask for, not yet connected; None for a local executor.

    `databases` are those of a sweep, the reference's own if left out. Raises `UsageError`.
    """
    where, _, address = str(arguments.executor).partition("://")
    if where not in (LOCAL, RAY) or (where == LOCAL and address) or str(arguments.executor).endswith("://"):
        raise UsageError(f"--executor {arguments.executor}: expected local, ray, ray://HOST:PORT or ray://auto")
    if where == LOCAL:
        if arguments.each_group or arguments.group:
            option = "--each-group" if arguments.each_group else f"--group {arguments.group}"
            raise UsageError(f"{option} needs --executor ray: all workers on one machine are identical")
        return None
    if arguments.jobs == 0:
        raise UsageError("--jobs 0 runs trials in this process; with --executor ray, use 1 or more")
    # These take longer to import than all else that a campaign on this machine needs.
    from autotest.clusters.cluster import Cluster
    from autotest.clusters.packing import package
    from autotest.clusters.ray_engine import RayEngine

    engine = RayEngine(address, None if address else arguments.jobs or workers.default_jobs())
    given = package(conditions, sorted(files), None if engine.brings_files else Path.cwd(), work, databases)
    return Cluster(engine, given, conditions.directory, arguments.jobs, arguments.group, each=arguments.each_group)
