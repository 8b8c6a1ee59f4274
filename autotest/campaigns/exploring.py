"""Performs the tasks of a campaign: runs trials of collected tests, and diagnoses those that failed."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Sequence

from autotest.base.errors import FrameworkMissing, SkipsItself
from autotest.base.options import DEFAULT_PAIR, Options
from autotest.base.working_folder import working_folder, working_from
from autotest.campaigns.set_aside_calls import observing
from autotest.campaigns.task_tally import TaskTally
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.diagnosis.scripted_finding import scripted
from autotest.frameworks import Pair
from autotest.processes.breadcrumb import Breadcrumb
from autotest.processes.client import Server
from autotest.processes.endings import room_to_judge
from autotest.replaying import graph_check
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY
from autotest.results.tasks import (
    Conditions,
    Diagnose,
    ExpectedDeath,
    Explore,
    Explored,
    FindingRecord,
    Result,
    Task,
    Undiagnosed,
    Vanished,
    Where,
)
from autotest.results.verification import State, Verification
from autotest.running.deaths import death_finding
from autotest.sources import collection
from autotest.sources.test_names import trial_seed
from autotest.storage.keeping import forget, keep
from autotest.trials.body_errors import brief_traceback
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.driver import Driver, driven_by
from autotest.trials.memory import free, holds_large_arrays
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial


def run_task(task: Task, conditions: Conditions, crumb: Breadcrumb | None, server: Server) -> Result:
    """Perform one task and return its result. Errors of the test body are returned as text, not raised.

    `crumb` records the current trial and call, in case the process dies. `server` starts the processes in which deaths
    are diagnosed. Paths are relative to the working directory, which a test may change.
    """
    conditions = conditions.absolute()
    with working_from(working_folder()):
        if isinstance(task, Explore):
            return _explore(task, conditions, crumb)
        if isinstance(task, Diagnose):
            return _diagnose(task, conditions, crumb)
        return death_finding.diagnose(task, conditions, server)


def _explore(task: Explore, conditions: Conditions, crumb: Breadcrumb | None) -> Explored:
    result = Explored()
    start = time.perf_counter()

    def drive(test: Test, context: RunContext) -> None:
        result.set_up = result.set_up or time.perf_counter() - start
        test, pair = _strict(test, conditions), context.pair
        tally = TaskTally(test, context, result, task.counted, task.drawn)
        agreeing: list[tuple[int, Outcome]] = []
        with observing(task.where, crumb, conditions, task.set_aside, task.watched):
            for index in task.indices[result.done :]:
                outcome = _trial(test, pair, task, index, crumb)
                with _room_to_judge(outcome, conditions):
                    tally.add(outcome, index)
                result.done += 1
                if task.until_refused and result.last_refused:
                    break
                large, shared = holds_large_arrays(outcome.recorder), bool(outcome.recorder.imported)
                if _should_check_graph(outcome, test, pair) and pair.candidate.graph_mode not in task.set_aside:
                    agreeing.append((index, outcome))
                del outcome
                if large:
                    free()
                if time.perf_counter() - start > result.set_up + task.seconds or len(agreeing) == graph_check.AT_ONCE:
                    break
                if agreeing and shared:  # what it shares with other trials may change in the next one
                    break
            if agreeing:
                _note_graph_trials(crumb, task.where, conditions, pair, [index for index, _ in agreeing])
                tally.add_graphs(agreeing)

    try:
        result.broken = _call(task.where, drive)
    except SkipsItself as error:
        result.skips = str(error)
    result.seconds = time.perf_counter() - start
    return result


def _should_check_graph(outcome: Outcome, test: Test, pair: Pair) -> bool:
    """Return whether a trial agreed in eager mode and is to be run again in the candidate's graph mode."""
    agrees = outcome.recorder.rejection is None and not outcome.mismatches
    return bool(agrees and pair.checks_graph(test.settings.check_graph))


def _note_graph_trials(
    crumb: Breadcrumb | None, where: Where, conditions: Conditions, pair: Pair, indices: Sequence[int]
) -> None:
    """Note in the breadcrumb file that a death is one of graph mode from now on, in one of these trials."""
    if crumb is not None:
        graphs = (pair.candidate.graph_mode, indices[-1] - indices[0])
        crumb.test(where.file, where.test, where.base_seed, check_errors=conditions.check_errors, graph=graphs)
        crumb.trial(indices[-1])


def _diagnose(
    task: Diagnose, conditions: Conditions, crumb: Breadcrumb | None
) -> FindingRecord | ExpectedDeath | Vanished | Undiagnosed:
    found: list[FindingRecord | ExpectedDeath] = []
    rejections: list[str] = []
    options = Options(
        seed=task.where.base_seed,
        exploring=True,
        directory=conditions.directory,
        verify=task.thorough and conditions.verify,
        shrink=conditions.shrink if task.thorough and task.shrink else 0.0,
    )

    def drive(test: Test, context: RunContext) -> None:
        test, pair = _strict(test, conditions), context.pair
        context = dataclasses.replace(context, options=options)
        with observing(task.where, crumb, conditions):
            outcome = _trial(test, pair, task, task.index, crumb)
            if _should_check_graph(outcome, test, pair):
                _note_graph_trials(crumb, task.where, conditions, pair, [task.index])
                outcome.mismatches = graph_check.check([outcome.recorder], test.settings).mismatches[0]
        if outcome.mismatches:
            with _room_to_judge(outcome, conditions):
                finding = _diagnosed(FailedTrial(test, outcome, pair), context, task)
            if finding is not None:
                found.append(_stored(finding, task, context, conditions))
            elif outcome.rejection is not None:
                rejections.append(outcome.rejection.reason)

    raised = ""
    with contextlib.suppress(SkipsItself):
        raised = _call(task.where, drive)
    if found:
        return found[0]
    return Undiagnosed(raised) if raised else Vanished("".join(rejections))


def _room_to_judge(outcome: Outcome, conditions: Conditions) -> contextlib.AbstractContextManager[None]:
    """Return a context that allows more memory while `outcome` is judged.

    It allows no more if a side ran out of memory: each replay would use up all of it.
    """
    lacked = any(mismatch.symptom == "out of memory" for mismatch in outcome.mismatches)
    return room_to_judge(None if lacked else conditions.memory)


def _diagnosed(trial: FailedTrial, context: RunContext, task: Diagnose) -> Finding | None:
    """Return the finding of a trial that failed again; None if the reference does not agree with itself this time."""

    def is_rounding() -> bool:
        trial.cleared()  # which keeps the mismatches that count, after which the finding is named
        return False

    trial.judged(context.ledger, is_rounding)
    if not trial.outcome.mismatches:
        return None
    if task.thorough and task.shrink:
        return trial.diagnosed(context, task.index)
    # The finding is stored before it is examined further, because that runs the candidate again, which may crash.
    finding = trial.recorded(context, task.index)
    if task.trouble:
        finding = dataclasses.replace(finding, verdict=(f"no verdict: the diagnosis failed: {task.trouble}",))
    if finding.first.symptom == "graph" and finding.program is not None:  # its script is a part of its diagnosis
        return dataclasses.replace(finding, verified=Verification(State.WAITING))
    return finding if finding.program is None else scripted(finding, context)


def _stored(
    finding: Finding, task: Diagnose, context: RunContext, conditions: Conditions
) -> FindingRecord | ExpectedDeath:
    """Store `finding`, in place of the finding that the task had stored before.

    A death that the ledger expects is not stored.
    """
    if task.identity is not None and finding.first.symptom in DEADLY:
        forget(conditions.directory, task.identity.key)
        entry = context.ledger.expects(task.where.test, finding.first, finding.identity.operator)
        if entry is not None:
            return ExpectedDeath(entry.key)
    return keep(finding, task.where, conditions.directory)


def _strict(test: Test, conditions: Conditions) -> Test:
    if not conditions.check_errors:
        return test
    return dataclasses.replace(test, settings=dataclasses.replace(test.settings, check_errors=True))


def _trial(test: Test, pair: Pair, task: Explore | Diagnose, index: int, crumb: Breadcrumb | None) -> Outcome:
    if crumb is not None:
        crumb.trial(index)
    seed = trial_seed(task.where.base_seed, test.id, index)
    worker = os.getpid()
    try:
        outcome = run_trial(test.body, seed, test.settings, pair, all_require_grad=task.all_require_grad)
    finally:
        if os.getpid() != worker:  # the body forked, and this copy of the worker would send the same results again
            os._exit(0)
    # An asynchronous candidate may still be computing results that nothing has read. If that crashes, it must be in
    # this trial.
    pair.candidate.synchronize()
    if crumb is not None:
        crumb.judging()
    return outcome


def _call(where: Where, drive: Driver) -> str:
    """Call the test as unittest or pytest would, with `drive` as its loop of trials.

    Returns the traceback of the exception that the test raised, or "". Raises `SkipsItself` if the test skips itself.
    """

    def around(test: Test, context: RunContext) -> None:
        with context.pair.around_trials():
            drive(test, context)

    item = collection.find(where.file.absolute(), where.test)
    try:
        with driven_by(around, where.test):
            item.call()
    except (FrameworkMissing, SkipsItself, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - a body may raise anything, also pytest's outcomes
        return brief_traceback(error, _RUNNERS)
    return ""


#: Packages whose frames, between a worker process and the test's own lines, are left out of tracebacks.
_RUNNERS = ("multiprocessing", "unittest", "pytest", "_pytest", "pluggy", "numpy", *DEFAULT_PAIR)
