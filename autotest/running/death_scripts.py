"""The scripts of a death: one that dies at once, or one that tries often, whichever is seen to die."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from autotest.base.errors import NotReplayable
from autotest.diagnosis.graph_death import GraphDeath
from autotest.diagnosis.verification import expecting_a_script, verify
from autotest.emission import emit
from autotest.emission.checker import ONCE, Runs
from autotest.frameworks import registry
from autotest.results.finding import Finding
from autotest.results.tasks import Conditions
from autotest.results.verification import Verification


def scripted(
    finding: Finding, death: GraphDeath | None, conditions: Conditions, kinds: Sequence[Runs]
) -> tuple[Finding, list[str]]:
    """With the first of the scripts of its program, one for each of `kinds`; and all of them."""
    if finding.program is None:
        return dataclasses.replace(finding, verified=Verification.lacking("the program cannot be replayed")), []
    try:
        if death is not None:
            scripts = _of_graph(death, kinds)
        else:
            scripts = [_script(finding, conditions, runs) for runs in kinds]
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=Verification.lacking(str(error))), []
    return dataclasses.replace(finding, script=scripts[0], verified=Verification()), scripts


def _script(finding: Finding, conditions: Conditions, runs: Runs) -> str:
    assert finding.program is not None
    one, other = registry.pair(*conditions.frameworks).scripts(finding.program)
    # The script runs in a child of its own whoever dies, and says whether the other one does as well.
    sides = (other, one) if finding.first.side == "reference" else (one, other)
    # Its child has to import the frameworks first, which takes many seconds on a busy machine.
    patience = conditions.deadline + 20.0 if finding.first.symptom == "hang" else max(60.0, conditions.deadline)
    return emit(finding, sides, isolated=True, timeout=patience, runs=runs)


def _of_graph(death: GraphDeath, kinds: Sequence[Runs]) -> list[str]:
    if death.lacking:
        raise NotReplayable(death.lacking)
    return [death.once if runs == ONCE else death.often for runs in kinds]


@contextlib.contextmanager
def expecting(finding: Finding, conditions: Conditions) -> Iterator[None]:
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


__all__ = ["expecting", "scripted", "verified"]
