"""The scripts of a death: one that dies at once, or one that tries often, whichever is seen to die."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from autotest.base.errors import NotReplayable
from autotest.diagnosis.graph_death import GraphDeath
from autotest.diagnosis.verification import expecting_a_script, verify
from autotest.emission import emit
from autotest.emission.checker import OFTEN, ONCE, Runs
from autotest.emission.shared_memory import sharing
from autotest.frameworks import registry
from autotest.results.finding import Finding
from autotest.results.tasks import Conditions
from autotest.results.verification import Verification

#: Seconds without an answer by which a script shows again what was seen to give none for the whole deadline.
HANGS = 5.0


def ways_to_run(finding: Finding, conditions: Conditions, *, sometimes: bool = False) -> tuple[Runs, ...]:
    """The runs that scripts of `finding` may make, the cheapest first; with `sometimes`, only those that make many.

    A fork has what its parent has imported, which takes seconds; but a program may need threads that a fork lacks.
    """
    plain = (OFTEN,) if sometimes else (ONCE, OFTEN)
    pair = registry.pair(*conditions.frameworks)
    if finding.first.symptom != "crash" or not all(side.forkable for side in (pair.reference, pair.candidate)):
        return plain
    return (*(runs._replace(forked=True) for runs in plain), *plain)


def scripted(
    finding: Finding, death: GraphDeath | None, conditions: Conditions, ways: Sequence[Runs]
) -> tuple[Finding, list[str]]:
    """With the first of the scripts of its program, one for each of `ways`; and all of them."""
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
    # Tensors that a framework allocates itself may lie in more memory than those of the trial did.
    exact = dataclasses.replace(finding, program=sharing(finding.program))
    scripts += [_script(exact, conditions, runs) for runs in ways if not (runs.often or runs.forked)]
    return list(dict.fromkeys(scripts))


def _script(finding: Finding, conditions: Conditions, runs: Runs) -> str:
    assert finding.program is not None
    one, other = registry.pair(*conditions.frameworks).scripts(finding.program)
    # The script runs in a child of its own whoever dies, and says whether the other one does as well.
    sides = (other, one) if finding.first.side == "reference" else (one, other)
    if finding.first.symptom != "hang":
        patience = max(60.0, conditions.deadline)
    elif runs.often:  # each child has to import the frameworks first, which takes many seconds on a busy machine
        patience = conditions.deadline + 20.0
    else:
        patience = min(HANGS, conditions.deadline)
    return emit(finding, sides, runs._replace(timeout=patience))


def _of_graph(death: GraphDeath, ways: Sequence[Runs]) -> list[str]:
    if death.lacking:
        raise NotReplayable(death.lacking)
    # A fork has none of the threads of a graph.
    return [death.often if runs.often else death.once for runs in ways if not runs.forked]


@contextlib.contextmanager
def interpreter_ready_for(finding: Finding, conditions: Conditions) -> Iterator[None]:
    """Have an interpreter import what the scripts of `finding` will, while these are still being found."""
    if not conditions.verify or finding.program is None:
        yield
        return
    lines = [line for side in registry.pair(*conditions.frameworks).scripts(finding.program) for line in side.lines]
    with expecting_a_script(lines):
        yield


def verified(finding: Finding, scripts: Sequence[str], conditions: Conditions) -> Finding:
    """With the first of `scripts` that a fresh interpreter sees dying, or else the last; and what that says of it."""
    if not conditions.verify:
        return finding
    for script in scripts:
        finding = dataclasses.replace(finding, script=script, verified=verify(script))
        if finding.verified.holds:
            break
    return finding


__all__ = ["interpreter_ready_for", "scripted", "verified", "ways_to_run"]
