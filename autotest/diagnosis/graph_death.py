"""Runs a trial's program in the candidate's graph mode, in a process that it may crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.diagnosis.graph_finding import script_of
from autotest.emission.checker import OFTEN, ONCE, Runs, often
from autotest.emission.graph_script import ComparedResult
from autotest.frameworks import Pair
from autotest.program import Program, operator_of
from autotest.replaying import graph_check
from autotest.replaying.agreement import agree
from autotest.replaying.divided_program import DividedProgram
from autotest.replaying.graph_capture import divide
from autotest.replaying.graph_setup import CannotDivide
from autotest.trials.outcome import Outcome

_FILE = "graph.json"


class GraphDeath(NamedTuple):
    """The record of a graph that crashed its process, written before the graph ran."""

    #: The name of the graph mode.
    mode: str
    #: The script that runs the graph once, and the script that runs it repeatedly; "" if there are none.
    once: str
    often: str
    #: The reason why there are no scripts; "" if there are.
    lacking: str


def run_graph(outcome: Outcome, settings: Settings, origin: str, folder: Path) -> None:
    """Run the graph of a trial without mismatches, if its test checks graph mode.

    Args:
        outcome: the trial.
        settings: the settings of its test.
        origin: a description of the trial, for the script.
        folder: the folder where the record is kept while the graph runs.
    """
    record = outcome.recorder
    if not record.pair.checks_graph(settings.check_graph) or record.rejection is not None or outcome.mismatches:
        return
    try:
        divided = divide(record)
    except CannotDivide:
        return  # the program cannot be run as a graph
    left = _unexplained(divided, origin)
    (folder / _FILE).write_text(json.dumps(left), encoding="utf-8")
    graph_check.check([record], settings)
    record.pair.candidate.synchronize()
    (folder / _FILE).unlink()


def of_program(program: Program, pair: Pair, settings: Settings, origin: str) -> GraphDeath:
    """Return the record for a program that can safely run in this process, in eager mode."""
    try:
        return _unexplained(divide(agree(program, pair, settings).record), origin)
    except CannotDivide as error:
        return GraphDeath(pair.candidate.graph_mode, "", "", f"no script: {error}")


def _unexplained(divided: DividedProgram, origin: str) -> GraphDeath:
    candidate = divided.record.pair.candidate
    mode = candidate.graph_mode
    try:
        if candidate.script().graph:
            return GraphDeath(mode, _script(divided, ONCE, origin), _script(divided, OFTEN, origin), "")
    except NotReplayable as error:
        return GraphDeath(mode, "", "", str(error))
    return GraphDeath(mode, "", "", f"scripts for {mode} are not supported")


def in_graph(folder: Path) -> bool:
    """Return whether the process that uses `folder` is running a graph, or died while it did."""
    return (folder / _FILE).exists()


def read(folder: Path) -> GraphDeath | None:
    """Return the record left by the process that used `folder`; None if it did not die in a graph."""
    return GraphDeath(*json.loads((folder / _FILE).read_text(encoding="utf-8"))) if in_graph(folder) else None


def _script(divided: DividedProgram, runs: Runs, origin: str) -> str:
    record, pair = divided.record, divided.record.pair
    last = max(call.slot for call in divided.inside)
    compared = [ComparedResult(name, 0.0, 0.0) for name, _ in graph_check.results(divided)]
    versions = ", ".join(f"{side.name} {side.version}" for side in pair.frameworks)
    mode = f"{pair.candidate.graph_mode} of {pair.candidate.name}"
    title = f"{operator_of(record.calls, last)}: {mode} crashes or hangs; eager mode returns."
    notes = [f"{versions}; {origin}.", *([often(runs)] if runs.often else [])]
    return script_of(divided, compared, title, notes, runs)
