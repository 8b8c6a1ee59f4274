"""A trial's program in the candidate's graph mode, in a process that may die of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.diagnosis.agreement import agree
from autotest.diagnosis.graph_finding import script_of
from autotest.emission.checker import OFTEN, ONCE, Runs, often
from autotest.emission.graph_script import ComparedResult
from autotest.frameworks import Pair
from autotest.program import Program, operator_of
from autotest.replaying import graph_check
from autotest.replaying.graph_capture import DividedProgram, divide
from autotest.replaying.graph_setup import CannotDivide
from autotest.trials.trial import Outcome

_FILE = "graph.json"


class GraphDeath(NamedTuple):
    """What a process left that died in a graph."""

    #: What the graph mode is called.
    mode: str
    #: The script that runs the graph once, and the one that does so often; empty where there is none.
    once: str
    often: str
    #: Why there is none.
    lacking: str


def run_graph(outcome: Outcome, settings: Settings, origin: str, folder: Path) -> None:
    """Run the graph of a trial that found nothing, where its test asks for that. `origin` says which trial it is."""
    record = outcome.recorder
    if not record.pair.checks_graph(settings.check_graph) or record.rejection is not None or outcome.mismatches:
        return
    try:
        divided = divide(record)
    except CannotDivide:
        return  # there is no graph of it, here or elsewhere
    left = _left(divided, origin)
    (folder / _FILE).write_text(json.dumps(left), encoding="utf-8")
    graph_check.check([record], settings)
    record.pair.candidate.synchronize()
    (folder / _FILE).unlink()


def of_program(program: Program, pair: Pair, settings: Settings, origin: str) -> GraphDeath:
    """The same of a program that may be run in this process, in eager mode."""
    try:
        return _left(divide(agree(program, pair, settings).record), origin)
    except CannotDivide as error:
        return GraphDeath(pair.candidate.graph_mode, "", "", f"no script: {error}")


def _left(divided: DividedProgram, origin: str) -> GraphDeath:
    candidate = divided.record.pair.candidate
    mode = candidate.graph_mode
    try:
        if candidate.script().graph:
            return GraphDeath(mode, _script(divided, ONCE, origin), _script(divided, OFTEN, origin), "")
    except NotReplayable as error:
        return GraphDeath(mode, "", "", str(error))
    return GraphDeath(mode, "", "", f"no script is written for {mode}")


def in_graph(folder: Path) -> bool:
    """Whether the process that uses `folder` is running a graph."""
    return (folder / _FILE).exists()


def read(folder: Path) -> GraphDeath | None:
    """What the process left that used `folder`; None when it did not die in a graph."""
    return GraphDeath(*json.loads((folder / _FILE).read_text(encoding="utf-8"))) if in_graph(folder) else None


def _script(divided: DividedProgram, runs: Runs, origin: str) -> str:
    record, pair = divided.record, divided.record.pair
    last = max(call.slot for call in divided.inside)
    compared = [ComparedResult(name, 0.0, 0.0) for name, _ in graph_check.results(divided)]
    versions = ", ".join(f"{side.name} {side.version}" for side in (pair.reference, pair.candidate))
    mode = f"{pair.candidate.graph_mode} of {pair.candidate.name}"
    title = f"{operator_of(record.calls, last)}: {mode} ends its process, where eager mode returns."
    notes = [f"{versions}; {origin}.", *([often(runs)] if runs.often else [])]
    return script_of(divided, compared, title, notes, runs)


__all__ = ["GraphDeath", "in_graph", "of_program", "read", "run_graph"]
