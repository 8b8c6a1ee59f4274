"""Turns the death of a process in a trial into a finding with a script that reproduces the death."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autotest.base.errors import NotReplayable
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.diagnosis import graph_death
from autotest.diagnosis.explaining.explanation import shrunk_line
from autotest.diagnosis.shrinking.probing import ProbeOptions
from autotest.emission.checker import ONCE, Runs
from autotest.frameworks import Pair, registry
from autotest.processes import breadcrumb
from autotest.processes.breadcrumb import Position
from autotest.processes.client import Server
from autotest.replaying import graph_check
from autotest.results.finding import Finding
from autotest.results.identity import FatalCall, Identity, death_of, identity_name
from autotest.results.tasks import Conditions, DiagnoseDeath, ExpectedDeath, FindingRecord, Where
from autotest.results.verification import State, Verification
from autotest.running.deaths.attempts import Attempt, attempts
from autotest.running.deaths.deadly_backward import deadly_operator
from autotest.running.deaths.description import described, dies_in_backward, last_result, without_blame
from autotest.running.deaths.scripts import interpreter_ready_for, scripted, verified, ways_to_run
from autotest.running.deaths.tracing import TracedTrial, trace
from autotest.sources import collection
from autotest.sources.test_names import trial_seed
from autotest.storage.keeping import forget, keep, latest
from autotest.trials.comparing import COMPARED_AT_ONCE
from autotest.trials.context import RunContext, ledger_of

if TYPE_CHECKING:
    from autotest.diagnosis.crashing import SmallestCrash


def diagnose(task: DiagnoseDeath, conditions: Conditions, server: Server) -> FindingRecord | ExpectedDeath:
    """Store the finding for the death in `task`. A thorough diagnosis may find another death, or one that is known.

    There are three steps, each a task of its own. The first uses only the breadcrumb file. The second runs the trial
    again and writes its script. The third shrinks the program and runs the script in a fresh interpreter; it may take
    longer than the available time.
    """

    def kept(finding: Finding) -> FindingRecord:
        return keep(finding, task.where, conditions.directory)

    if not task.thorough:
        return kept(_unexamined(task, conditions))
    if task.verify:
        before = latest(conditions.directory, task.identity.key).finding
        shrinking = conditions if task.shrink else dataclasses.replace(conditions, shrink=0.0)
        return kept(_with_script(before, shrinking, server))
    found = _died_again(task, conditions, server)
    if isinstance(found, Verification):
        # Report the death, although it is not known yet how to reproduce it.
        bare = dataclasses.replace(_unexamined(task, conditions), verified=found)
        return kept(without_blame(bare) if found.of_own_code else bare)
    identity = found.identity
    known = ledger_of(task.where.file, pair_of(conditions), conditions.ledger)
    entry = known.expects(task.where.test, found.first, identity.operator)
    result = kept(found) if entry is None else ExpectedDeath(entry.key)
    if entry is not None or identity != task.identity:
        forget(conditions.directory, task.identity.key)
    return result


def _died_again(
    task: DiagnoseDeath, conditions: Conditions, server: Server, planned: Iterable[Attempt] | None = None
) -> Finding | Verification:
    """Run the trial again, each attempt in its own process, until a process dies.

    Args:
        task: the death to reproduce.
        conditions: the conditions of the run.
        server: forks the processes.
        planned: the attempts to make; by default those of `attempts`.

    Returns:
        The finding, with a script that was not run yet. Its identity is exact, while the breadcrumb file of the process
        that died first knows the call only approximately. If no attempt dies, the reason why there is no finding.
    """
    for attempt in attempts(task) if planned is None else planned:
        traced = trace(task.where, attempt, conditions, server, hangs=task.identity.symptom == "hang")
        if traced.raised:
            return Verification(State.UNREPEATABLE, traced.raised.partition("\n")[0][:300])
        if traced.own_code:
            return _of_own_code(traced)
        if traced.death is not None:
            break
    else:
        return Verification(State.SURVIVED)
    bare = _unexamined(dataclasses.replace(task, index=traced.index), conditions)
    finding = described(bare, traced, traced.death, pair_of(conditions), operator=_deadly_operator(traced, server))
    first = finding.first
    name = pair_of(conditions).candidate.name
    call = FatalCall(first.name, first.symptom, first.stage, traced.side)
    identity = death_of(call, traced.death.how, traced.last_words, name)
    happens = attempt.only_after(traced.index)
    finding = dataclasses.replace(finding, shown=identity, happens=happens)
    # A trial that survived a run of its own does not die every time.
    sometimes = attempt.times > 1 or (attempt.together and not happens)
    ways = ways_to_run(finding, conditions, sometimes=sometimes)
    finding, scripts = scripted(finding, traced.graph, conditions, ways)
    # Only here is it known how to divide the program into a graph and the code around it, so this script is verified
    # now.
    return finding if traced.graph is None else verified(finding, scripts, conditions)


def _deadly_operator(traced: TracedTrial, server: Server) -> str:
    """Return the operator whose backward killed the process; "" if that is unknown, or no backward did."""
    if traced.program is None or not dies_in_backward(traced) or traced.side == "reference":
        return ""
    with contextlib.suppress(OSError):  # no process can be started
        return deadly_operator(traced.program, ProbeOptions(), server)
    return ""


def _of_own_code(traced: TracedTrial) -> Verification:
    if traced.death is None:
        return Verification(State.OWN_HANG, f"{traced.own_code}. A longer --deadline gives it more time.")
    words = f": {traced.last_words}" if traced.last_words else ""
    return Verification(State.OWN_CRASH, f"{traced.own_code} ({traced.death.how}{words})")


def pair_of(conditions: Conditions) -> Pair:
    """Return the pair that the trials ran on."""
    return registry.pair(*conditions.frameworks)


def task_of(position: Position, pair: Pair) -> DiagnoseDeath:
    """Return the task for the breadcrumb file of a dead process. Repeating the trial shows how the process died."""
    operator = position.operator or "tensor"
    own = identity_name(pair.candidate.name)
    identity = Identity(operator, "crash", position.stage, position.side, "left a trail", "", own)
    where = Where(position.file, position.test, position.base_seed)
    message = f"{operator}: the process ended in the middle of trial {position.index}"
    back = COMPARED_AT_ONCE - 1 if pair.candidate.asynchronous else 0
    if pair.checks_graph(collection.find(position.file, position.test).settings.check_graph):
        back = graph_check.AT_ONCE - 1  # any trial that was in the graph may be the cause
    return DiagnoseDeath(where, position.index, identity, message, thorough=True, back=back)


def conditions_of(position: Position, context: RunContext) -> Conditions:
    """Return the conditions of the dead process, with the options of `context` for running its trials again."""
    check_errors = bool(position.settings.get("check_errors"))
    options, names = context.options, context.pair.names_elsewhere()
    # Finding the test imports its file, which only a test in such a graph mode needs here.
    own_import = not context.pair.candidate.graph_works_in_forks and context.pair.needs_own_import(
        collection.find(position.file, position.test).settings.check_graph
    )
    return Conditions(
        options.directory,
        names,
        options.ledger,
        own_import=own_import,
        check_errors=check_errors,
        shrink=options.shrink,
        verify=options.verify,
        deadline=options.deadline,
    )


def _unexamined(task: DiagnoseDeath, conditions: Conditions) -> Finding:
    """Return the finding that a death gives before its diagnosis."""
    settings = collection.find(task.where.file, task.where.test).settings
    pair, identity = pair_of(conditions), task.identity
    first = Mismatch(identity.operator, 0, identity.symptom, identity.stage, identity.side, task.message)  # type: ignore[arg-type]
    return Finding(
        test=task.where.test,
        base_seed=task.where.base_seed,
        index=task.index,
        seed=trial_seed(task.where.base_seed, task.where.test, task.index),
        mismatches=(first,),
        sides=pair.sides,
        program=None,
        versions=pair.versions,
        settings={**dataclasses.asdict(settings), "check_errors": conditions.check_errors},
        verified=Verification(State.WAITING),
        shown=identity,
        file=task.where.file,
    )


def _with_script(finding: Finding, conditions: Conditions, server: Server, *, forks: bool = True) -> Finding:
    """Return `finding` with a script that dies in a fresh interpreter: of a smaller program if that dies, too.

    If `forks` is False, it is known that forks survive, and that a process without a fork dies at once.
    """
    if finding.program is None:
        return finding
    if finding.first.stage == "replay":
        return _with_graph_script(finding, conditions, server)
    with interpreter_ready_for(finding, conditions):
        often = ways_to_run(finding, conditions, sometimes=True)
        is_often = finding.script in scripted(finding, None, conditions, often)[1]
        ways = often if is_often else ways_to_run(finding, conditions)
        ways = ways if forks else (ONCE,)
        notes, reduced, reduced_ways = _smaller(finding, conditions, server, ways)
        if reduced is not None:
            reduced = verified(*scripted(reduced, None, conditions, reduced_ways), conditions)
            if reduced.verified.holds or not conditions.verify:
                return reduced
        # A long script that was seen to fail is better than a short one that was not.
        whole = dataclasses.replace(finding, shrinking=notes)
        return _judged_by_script(verified(*scripted(whole, None, conditions, ways), conditions))


def _judged_by_script(finding: Finding) -> Finding:
    """Return `finding`, without blame if its program alone, which the script runs, survives."""
    if finding.verified.state is not State.MISSED:
        return finding
    line = (
        "inconclusive: the recorded calls alone do not crash or hang; the cause is something else in the test, or "
        "chance"
    )
    return dataclasses.replace(finding, verdict=(line,), blame="inconclusive")


def _with_graph_script(finding: Finding, conditions: Conditions, server: Server) -> Finding:
    """Return `finding`, whose script was run with its trial, or the one for a smaller program if that dies, too."""
    assert finding.program is not None
    if not conditions.shrink or finding.verified.state is State.MISSED:
        return finding
    settings = Settings(**finding.settings)
    options = ProbeOptions(conditions.deadline, graph=settings)
    smaller = _shrunk(finding, conditions, server, options, seconds=4 * conditions.shrink)
    if isinstance(smaller, str):
        return dataclasses.replace(finding, shrinking=(smaller,))
    line = shrunk_line(finding.program, smaller.program, smaller.executions, smaller.complete)
    first = dataclasses.replace(finding.first, slot=last_result(smaller.program.calls))
    reduced = dataclasses.replace(finding, mismatches=(first,), program=smaller.program, shrinking=(line,))
    death = graph_death.of_program(smaller.program, pair_of(conditions), settings, finding.origin)
    reduced = verified(*scripted(reduced, death, conditions, ways_to_run(reduced, conditions)), conditions)
    return reduced if reduced.verified.holds or death.lacking or not conditions.verify else finding


def _smaller(
    finding: Finding, conditions: Conditions, server: Server, ways: Sequence[Runs]
) -> tuple[tuple[str, ...], Finding | None, Sequence[Runs]]:
    """Return the notes on shrinking, the finding for a smaller program or None, and the `ways` in which it dies."""
    first = finding.first
    assert finding.program is not None
    if not conditions.shrink or first.symptom == "out of memory" or first.side == "reference":
        return (), None, ways
    # Every success costs a process, so shrinking is slower here than elsewhere. For a hang it also costs seconds.
    hangs = first.symptom == "hang"
    seconds = (2 if hangs else 4) * conditions.shrink
    said = ""
    for times in dict.fromkeys(runs.calls for runs in ways):
        options = ProbeOptions(conditions.deadline, times, lasting=not finding.happens)
        smaller = _shrunk(finding, conditions, server, options, seconds=seconds, hangs=hangs)
        if not isinstance(smaller, str):
            break
        said = smaller
    else:
        return (said,), None, ways
    dying = [runs for runs in ways if runs.calls == times and (smaller.in_forks or not runs.forked)]
    line = shrunk_line(finding.program, smaller.program, smaller.executions, smaller.complete)
    first = dataclasses.replace(first, slot=max(0, len(smaller.program.calls) - 1))
    return (), dataclasses.replace(finding, mismatches=(first,), program=smaller.program, shrinking=(line,)), dying


def _shrunk(
    finding: Finding,
    conditions: Conditions,
    server: Server,
    options: ProbeOptions,
    *,
    seconds: float,
    hangs: bool = False,
) -> SmallestCrash | str:
    """Return a smaller program that dies in the same way, or the reason why there is none. See `crashing.shrink`."""
    from autotest.diagnosis.crashing import shrink  # imports thread pools, needed only after a death

    assert finding.program is not None
    pair = pair_of(conditions)
    try:
        smaller = shrink(finding.program, pair, server, options=options, seconds=seconds, hangs=hangs)
    except (OSError, NotReplayable) as error:
        return f"Shrunk:     no ({error})"
    return "Shrunk:     no: the recorded program alone does not crash or hang" if smaller is None else smaller


def dies_again(position: Position, identity: Identity, context: RunContext) -> bool:
    """Return whether the trial at `position`, in which a process once died with this `identity`, kills one again."""
    task = dataclasses.replace(task_of(position, context.pair), identity=identity)
    conditions = conditions_of(position, context)
    for ahead in (True, False)[conditions.own_import :]:
        with contextlib.closing(Server(frameworks=conditions.frameworks, ahead=ahead)) as server:
            planned = itertools.islice(attempts(task), 2 if ahead else 1)
            if not isinstance(_died_again(task, conditions, server, planned), Verification):
                return True
    return False


def recover_any(
    path: Path, position: Position, options: Options, usual: Callable[[], Pair]
) -> tuple[Finding, FindingRecord] | Verification:
    """Do the same as `recover`, on the frameworks of the dead process; on those of `usual` if they are unknown."""
    pairs = [registry.pair(*names) for names in position.settings.get("frameworks", ())] or [usual()]
    for pair in pairs:
        found = recover(path, position, RunContext(pair, options), is_last=pair is pairs[-1])
        if not isinstance(found, Verification):
            break
    return found


def recover(
    path: Path, position: Position, context: RunContext, *, is_last: bool = True
) -> tuple[Finding, FindingRecord] | Verification:
    """Diagnose the death of the process that left the breadcrumb file at `path`, and store the finding.

    Args:
        path: the breadcrumb file. It is deleted, unless the user interrupts the diagnosis.
        position: the contents of the file.
        context: the context of this run.
        is_last: whether no other candidate can have died. Otherwise the file is kept if this one does not die again.

    Returns:
        The finding and where it is stored, or the reason why there is none.

    Raises:
        UsageError: the test does not exist any more.
    """
    try:
        found = _recovered(position, context)
    except Exception:
        breadcrumb.discard(path)
        raise
    if is_last or not isinstance(found, Verification):
        breadcrumb.discard(path)
    return found


def _recovered(position: Position, context: RunContext) -> tuple[Finding, FindingRecord] | Verification:
    task = task_of(position, context.pair)
    conditions = conditions_of(position, context)
    # The dead process had imported the frameworks itself. In a fork, the fatal call may only raise an exception.
    for ahead, forks in ((not conditions.own_import, True), (False, False)):
        with contextlib.closing(Server(frameworks=conditions.frameworks, ahead=ahead)) as server:
            found = _died_again(task, conditions, server, None if forks else [next(attempts(task))])
            if not isinstance(found, Verification):
                finding = _with_script(found, conditions, server, forks=forks)
                return finding, keep(finding, task.where, context.options.directory)
    assert isinstance(found, Verification)
    return found
