"""Scripts that reproduce the death of a process: one run, or many runs, whichever is seen to die."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from autotest.base.errors import NotReplayable
from autotest.diagnosis.graph_death import GraphDeath
from autotest.diagnosis.native_script import native_crash_script
from autotest.diagnosis.verification import interpreter_started_early, verify
from autotest.emission import emit
from autotest.emission.checker import OFTEN, ONCE, Runs
from autotest.emission.shared_memory import sharing
from autotest.frameworks import registry
from autotest.results.finding import Finding
from autotest.results.tasks import Conditions
from autotest.results.verification import Verification

#: Seconds without an answer after which a script reports a hang. The hang was already seen for the whole deadline.
HANGS = 5.0


def ways_to_run(finding: Finding, conditions: Conditions, *, sometimes: bool = False) -> tuple[Runs, ...]:
    """Return the kinds of runs that scripts of `finding` may make, the cheapest first.

    A fork inherits the imports of its parent, which saves seconds. But a program may need threads, which a fork lacks.

    Args:
        finding: the death.
        conditions: the conditions of the run.
        sometimes: whether to return only kinds with many runs, because the program does not always die.
    """
    plain = (OFTEN,) if sometimes else (ONCE, OFTEN)
    pair = registry.pair(*conditions.frameworks)
    if finding.first.symptom != "crash" or not pair.forkable:
        return plain
    return (*(runs._replace(forked=True) for runs in plain), *plain)


def scripted(
    finding: Finding, death: GraphDeath | None, conditions: Conditions, ways: Sequence[Runs]
) -> tuple[Finding, list[str]]:
    """Return `finding` with the first script of its program, and the list of all scripts, one for each of `ways`."""
    if finding.program is None:
        return dataclasses.replace(finding, verified=Verification.lacking("the program cannot be replayed")), []
    try:
        scripts = _single(finding, conditions, ways) if death is None else _of_graph(death, ways)
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=Verification.lacking(str(error))), []
    return dataclasses.replace(finding, script=scripts[0], verified=Verification()), scripts


def _single(finding: Finding, conditions: Conditions, ways: Sequence[Runs]) -> list[str]:
    assert finding.program is not None
    scripts = [_script(finding, conditions, runs) for runs in ways]
    # A framework rounds up the memory that it allocates, which may hide an access past the end. In these scripts the
    # tensors use the exact memory of their arrays, as those of the trial did.
    exact = dataclasses.replace(finding, program=sharing(finding.program))
    scripts += [_script(exact, conditions, runs) for runs in ways if not (runs.often or runs.forked)]
    native = None
    if finding.first.symptom == "crash" and not all(runs.often for runs in ways):
        native = native_crash_script(finding, registry.pair(*conditions.frameworks))
    return list(dict.fromkeys([*([] if native is None else [native]), *scripts]))


def _script(finding: Finding, conditions: Conditions, runs: Runs) -> str:
    assert finding.program is not None
    one, other = registry.pair(*conditions.frameworks).scripts(finding.program)
    # The script runs the side that died in a child process, and then reports whether the other side dies as well.
    sides = (other, one) if finding.first.side == "reference" else (one, other)
    if finding.first.symptom != "hang":
        patience = max(60.0, conditions.deadline)
    elif runs.often:  # each child imports the frameworks first, which takes many seconds on a busy machine
        patience = conditions.deadline + 20.0
    else:
        patience = min(HANGS, conditions.deadline)
    return emit(finding, sides, runs._replace(timeout=patience))


def _of_graph(death: GraphDeath, ways: Sequence[Runs]) -> list[str]:
    if death.lacking:
        raise NotReplayable(death.lacking)
    # A fork has none of the graph's threads.
    return [death.often if runs.often else death.once for runs in ways if not runs.forked]


@contextlib.contextmanager
def interpreter_ready_for(finding: Finding, conditions: Conditions) -> Iterator[None]:
    """Start an interpreter that imports what the scripts of `finding` import, while the scripts are being found."""
    if not conditions.verify or finding.program is None:
        yield
        return
    with interpreter_started_early(*registry.pair(*conditions.frameworks).script_imports(finding.program)):
        yield


def verified(finding: Finding, scripts: Sequence[str], conditions: Conditions) -> Finding:
    """Return `finding` with the first of `scripts` that dies in a fresh interpreter (else the last), and the result."""
    if not conditions.verify:
        return finding
    for script in scripts:
        finding = dataclasses.replace(finding, script=script, verified=verify(script))
        if finding.verified.holds:
            break
    return finding
