"""From a process that died in a trial to a finding with a reproducer that dies."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from autotest.base.errors import AutotestError, NotReplayable
from autotest.base.options import Options
from autotest.comparison import Mismatch, Stage, Symptom
from autotest.diagnosis import failed_trial
from autotest.diagnosis.verdict import Evidence, judge
from autotest.diagnosis.verification import VERIFIED, in_some_runs, verify
from autotest.emission.checker import OFTEN, ONCE
from autotest.frameworks import chosen
from autotest.processes import breadcrumb
from autotest.processes.breadcrumb import Position
from autotest.processes.client import Server
from autotest.program import operator_of, refs
from autotest.program.semantics import is_backward
from autotest.replaying import graph_check
from autotest.results import ledger
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY, Identity, death_of
from autotest.results.tasks import (
    CANNOT_REPEAT,
    NOT_LOOKED_INTO,
    SURVIVED,
    Conditions,
    DiagnoseDeath,
    Found,
    Known,
    Where,
)
from autotest.running.death_scripts import scripted, verified
from autotest.running.tracing import Traced, trace
from autotest.sources import collection
from autotest.sources.identity import trial_seed
from autotest.storage.keeping import keep, shortened
from autotest.storage.store import Store
from autotest.trials.trial import COMPARED_AT_ONCE

#: Fresh processes that a trial is run in until one dies of it, and how often all but the first run it.
ATTEMPTS, TIMES = 3, 20


def settle(task: DiagnoseDeath, conditions: Conditions, server: Server) -> Found | Known:
    """Keep the finding that a death is. A thorough look may say that it is another one, or one that is known.

    Three steps, each a task of its own: what the trail says; running the trial once more, and the script that this
    gives; a smaller program, for which there may be no time.
    """

    def kept(finding: Finding) -> Found:
        return keep(finding, task.where, conditions.directory)

    if not task.thorough:
        return kept(_bare(task, conditions))
    if task.shrink:
        before = Store(conditions.directory).load(task.identity.key).finding
        return kept(_smaller(before, conditions, server))
    autopsy = _autopsy(task, conditions, server)
    if isinstance(autopsy, str):
        # A death is worth telling although nobody can say yet what brings it back.
        return kept(dataclasses.replace(_bare(task, conditions), verified=autopsy))
    finding, scripts = autopsy
    identity = finding.identity
    known = ledger.find(task.where.file, chosen().candidate.name)
    entry = known.expects(task.where.test, finding.first, identity.operator)
    if entry is None:
        kept(finding)  # before its script is run, which takes long
    if entry is not None or identity != task.identity:
        with contextlib.suppress(AutotestError):
            Store(conditions.directory).remove(task.identity.key)
    return kept(verified(finding, scripts, conditions)) if entry is None else Known(entry.key)


class _Autopsy(NamedTuple):
    finding: Finding
    #: The scripts that may show it, the plainest first.
    scripts: Sequence[str]


def _autopsy(task: DiagnoseDeath, conditions: Conditions, server: Server) -> _Autopsy | str:
    """Run the trial again in processes of their own until one dies of it; why there is nothing, when none does.

    Leaves the finding with a script that was not run yet, and which death it was: the trail of the process that
    died first knows the call only nearly.
    """
    indices = range(max(0, task.index - task.back), task.index + 1)
    for attempt in range(ATTEMPTS):
        traced = trace(
            task.where.file,
            task.where.test,
            task.where.base_seed,
            indices,
            server,
            check_errors=conditions.check_errors,
            deadline=conditions.deadline,
            memory=conditions.memory,
            times=max(1, TIMES // len(indices)) if attempt else 1,
        )
        if traced.raised:
            return f"{CANNOT_REPEAT}: {traced.raised.partition(chr(10))[0][:300]}"
        if traced.death:
            break
    else:
        return SURVIVED
    bare = _bare(dataclasses.replace(task, index=traced.index), conditions)
    symptom = _symptom(bare.first.symptom, traced)
    operator = _operator(traced, bare.first.name)
    finding = _described(bare, operator, symptom, traced)
    first = finding.first
    identity = death_of(operator, symptom, first.stage, traced.side, traced.death, traced.last_words)
    finding = dataclasses.replace(finding, shown=identity)
    # What the first attempt survived does not die every time.
    finding, scripts = scripted(finding, traced.graph, conditions, (OFTEN,) if attempt else (ONCE, OFTEN))
    return _Autopsy(finding, scripts)


def task_of(position: Position) -> DiagnoseDeath:
    """What to do about a trail that a process left: how it died is found out by doing it again."""
    operator = position.operator or "tensor"
    identity = Identity(operator, "crash", position.stage, position.side, "left a trail", "")
    where = Where(position.file, position.test, position.base_seed)
    message = f"{operator}: the process ended in the middle of trial {position.index}"
    back = COMPARED_AT_ONCE - 1 if chosen().candidate.asynchronous else 0
    if collection.find(position.file, position.test).settings.check_graph and chosen().candidate.graph_mode:
        back = graph_check.AT_ONCE - 1  # it may be any of those that were in the graph
    return DiagnoseDeath(where, position.index, identity, message, thorough=True, back=back)


def conditions_of(position: Position, directory: Path, verify: bool) -> Conditions:
    """What held in the process that left a trail."""
    return Conditions(directory, check_errors=bool(position.settings.get("check_errors")), verify=verify)


def _bare(task: DiagnoseDeath, conditions: Conditions) -> Finding:
    """What is known of a death before anybody looked into it."""
    settings = collection.find(task.where.file, task.where.test).settings
    pair, identity = chosen(), task.identity
    first = Mismatch(identity.operator, 0, identity.symptom, identity.stage, identity.side, task.message)  # type: ignore[arg-type]
    return Finding(
        test=task.where.test,
        base_seed=task.where.base_seed,
        index=task.index,
        seed=trial_seed(task.where.base_seed, task.where.test, task.index),
        mismatches=(first,),
        sides=pair.sides,
        program=None,
        versions={side.name: side.version for side in (pair.reference, pair.candidate)},
        settings={**dataclasses.asdict(settings), "check_errors": conditions.check_errors},
        verified=NOT_LOOKED_INTO,
        shown=identity,
    )


def _symptom(supposed: Symptom, traced: Traced) -> Symptom:
    if traced.hangs:
        return "hang"
    if traced.death == "SIGKILL":
        return "out of memory"
    return "crash" if supposed not in DEADLY or supposed == "hang" else supposed


def _slot(traced: Traced) -> int:
    """Which call it died in: of a graph, the last one that has a result, since no more is known."""
    calls = () if traced.program is None else traced.program.calls
    last = max(0, len(calls) - 1)
    if traced.graph is None:
        return last
    return next((call.slot for call in reversed(calls) if call.kind != "tensor" and not is_backward(call)), last)


def _operator(traced: Traced, otherwise: str) -> str:
    """What the program died of; of a backward call, what it goes back through."""
    calls = () if traced.program is None else traced.program.calls
    if not calls:
        return otherwise
    call = calls[_slot(traced)]
    if is_backward(call):
        return operator_of(calls, next((ref.slot for ref in refs(call)), call.slot)) or otherwise
    return operator_of(calls, call.slot) or otherwise


def _stage(traced: Traced, otherwise: Stage) -> Stage:
    """Where it died: an asynchronous candidate may do so while the trail is at a later call already."""
    if traced.graph is not None:
        return "replay"
    if traced.program is None or not traced.program.calls:
        return otherwise
    return "backward" if is_backward(traced.program.calls[-1]) else "forward"


def _described(finding: Finding, operator: str, symptom: Symptom, traced: Traced) -> Finding:
    """Add what tracing the trial gave: symptom, program, whose it is."""
    pair = chosen()
    words = f": {traced.last_words}" if traced.last_words else ""
    refuses = f"{pair.sides[0]} refuses ({traced.refusal[:200]}), " if traced.refusal else ""
    ours = traced.side == "reference"
    dead = pair.reference.name if ours else pair.candidate.name
    where = f" in {traced.graph.mode}, not in eager mode" if traced.graph is not None else ""
    message = (
        f"{operator}: {refuses}{dead} {'hangs' if traced.hangs else 'dies'}{where} ({traced.death}){words}. "
        f"expected={pair.sides[0]} actual={pair.sides[1]}"
    )
    first = dataclasses.replace(
        finding.first,
        name=operator,
        slot=_slot(traced),
        message=message,
        symptom=symptom,
        side=traced.side,
        stage=_stage(traced, finding.first.stage),
    )
    return dataclasses.replace(
        finding,
        mismatches=(first,),
        program=traced.program,
        verdict=(_verdict(symptom, pair.sides, traced),),
        blame=traced.side,
    )


def _verdict(symptom: str, sides: tuple[str, str], traced: Traced) -> str:
    if traced.side == "reference":
        return f"{sides[0]}: {symptom}, before {sides[1]} was asked"
    if traced.graph is not None:
        return f"{sides[1]}: {symptom} in {traced.graph.mode}, where its eager mode agrees with {sides[0]}"
    if traced.refusal:
        return f"{sides[1]}: {symptom}, where {sides[0]} refuses"
    return judge(Evidence(symptom, sides)).line


def _smaller(finding: Finding, conditions: Conditions, server: Server) -> Finding:
    """With a smaller program that dies alike, and the script of that, where there is one."""
    first = finding.first
    if (
        finding.program is None
        or not conditions.shrink
        or first.symptom == "out of memory"
        or first.side == "reference"
    ):
        return finding
    if first.stage == "replay":
        return dataclasses.replace(finding, shrinking=("Shrunk:     not at all, since it dies in a graph",))
    often = in_some_runs(finding.verified)
    try:
        # Every success costs a process, so that seconds buy less here than elsewhere.
        from autotest.diagnosis import crashing  # brings thread pools, which a run without a death does not need

        smaller = crashing.shrink(
            finding.program,
            server,
            seconds=4 * conditions.shrink,
            deadline=conditions.deadline,
            times=OFTEN.calls if often else 1,
        )
    except (OSError, NotReplayable) as error:
        return dataclasses.replace(finding, shrinking=(f"Shrunk:     not at all ({error})",))
    if smaller is None:
        line = "Shrunk:     not at all, since its program alone survives"
        return dataclasses.replace(finding, shrinking=(line,))
    line = failed_trial.sizes(finding.program, smaller.program, smaller.executions, smaller.complete)
    first = dataclasses.replace(first, slot=max(0, len(smaller.program.calls) - 1))
    less = dataclasses.replace(finding, mismatches=(first,), program=smaller.program, shrinking=(line,))
    less = verified(*scripted(less, None, conditions, (OFTEN if often else ONCE,)), conditions)
    # A long script that was seen to fail goes before a short one that was not.
    return less if less.verified.startswith("verified") or not conditions.verify else finding


def known(test: str, options: Options) -> Iterator[tuple[Finding, str]]:
    """What earlier processes died of in `test`, with where it is kept: new trails, then what was stored.

    Whatever does not happen any more is passed over. Each takes a process or two, so some seconds.
    """
    traced: set[str] = set()
    for path, position in breadcrumb.dead(breadcrumb.folder(options.directory)):
        if position.test == test:
            found = recover(path, position, options)
            if not isinstance(found, str):
                traced.add(found[1].key)
                yield found[0], found[1].place
    for record in Store(options.directory).for_test(test):
        finding = record.finding
        if finding.first.symptom in DEADLY and finding.script is not None and record.key not in traced:
            state = verify(finding.script)
            if state.startswith(VERIFIED):
                yield dataclasses.replace(finding, verified=state), shortened(record.path)


def recover(path: Path, position: Position, options: Options) -> tuple[Finding, Found] | str:
    """Find out what the process that left the trail at `path` died of, and keep that; or why there is nothing to keep.

    Raises `UsageError` when the test is not there any more. The trail is gone afterwards either way.
    """
    try:
        task = task_of(position)
        conditions = conditions_of(position, options.directory, options.verify)
        with contextlib.closing(Server()) as server:
            autopsy = _autopsy(task, conditions, server)
            if isinstance(autopsy, str):
                return autopsy
            finding = verified(autopsy.finding, autopsy.scripts, conditions)
            finding = _smaller(finding, conditions, server)
        return finding, keep(finding, task.where, options.directory)
    finally:
        path.unlink(missing_ok=True)
