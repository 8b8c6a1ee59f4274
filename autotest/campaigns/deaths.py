"""From a process that died in a trial to a finding with a reproducer that dies.

Enters where a process was last seen, leaves a `Finding`, after the trial was run once more in a process of its
own. Stands alone because campaigns, the next run of a test and `autotest recover` all come across deaths. The
trial itself is never run in this process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

from autotest import breadcrumb, collection
from autotest.breadcrumb import Position
from autotest.comparison import Mismatch, Symptom
from autotest.diagnosis import failed_trial
from autotest.diagnosis.verification import verify
from autotest.emission import emit
from autotest.errors import NotReplayable
from autotest.finding import Finding
from autotest.frameworks import chosen
from autotest.identity import trial_seed
from autotest.options import Options
from autotest.program import operator_of
from autotest.settings import Settings
from autotest.storage.keeping import keep, shortened
from autotest.storage.store import Store
from autotest.tasks import DEADLY, NOT_LOOKED_INTO, Conditions, DiagnoseDeath, Found, Identity, Where
from autotest.tracing import Traced, trace
from autotest.verdict import Evidence, judge


def finding_of(
    task: DiagnoseDeath, conditions: Conditions, interim: Callable[[Finding], object] = lambda finding: None
) -> Finding | None:
    """The finding that a death is; with its program and script when `task.thorough`, unless it survives then.

    `interim` is given it with a script before it is shrunk and verified, which takes long.
    """
    item = collection.find(task.where.file, task.where.test)
    finding = _bare(task, conditions, item.settings)
    if not task.thorough:
        return finding
    traced = trace(
        task.where.file,
        task.where.test,
        task.where.base_seed,
        task.index,
        check_errors=conditions.check_errors,
        deadline=conditions.deadline,
        memory=conditions.memory,
    )
    if not traced.death:
        return None
    symptom = _symptom(finding.first.symptom, traced)
    interim(_described(finding, symptom, traced, (), dataclasses.replace(conditions, verify=False)))
    return _described(finding, symptom, *_shrunk(traced, symptom, conditions), conditions)


def task_of(position: Position) -> DiagnoseDeath:
    """What to do about a trail that a process left: how it died is found out by doing it again."""
    operator = position.operator or "tensor"
    identity = Identity(operator, "crash", position.stage, "candidate", "left a trail", "")
    where = Where(position.file, position.test, position.base_seed)
    message = f"{operator}: the process ended in the middle of trial {position.index}"
    return DiagnoseDeath(where, position.index, identity, message, thorough=True)


def conditions_of(position: Position, directory: Path, verify: bool) -> Conditions:
    """What held in the process that left a trail."""
    return Conditions(directory, check_errors=bool(position.settings.get("check_errors")), verify=verify)


def _bare(task: DiagnoseDeath, conditions: Conditions, settings: Settings) -> Finding:
    pair, identity = chosen(), task.identity
    first = Mismatch(identity.operator, 0, identity.symptom, identity.stage, "candidate", task.message)  # type: ignore[arg-type]
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
    )


def _symptom(supposed: Symptom, traced: Traced) -> Symptom:
    if traced.hangs:
        return "hang"
    if traced.death == "SIGKILL":
        return "out of memory"
    return "crash" if supposed not in DEADLY or supposed == "hang" else supposed


def _described(
    finding: Finding, symptom: Symptom, traced: Traced, shrinking: tuple[str, ...], conditions: Conditions
) -> Finding:
    """Add what tracing the trial gave: symptom, program, script, verification."""
    pair = chosen()
    calls = () if traced.program is None else traced.program.calls
    slot = max(0, len(calls) - 1)
    operator = (operator_of(calls, slot) if calls else "") or finding.first.name
    words = f": {traced.last_words}" if traced.last_words else ""
    refuses = f"{pair.sides[0]} refuses ({traced.refusal[:200]}), " if traced.refusal else ""
    message = (
        f"{operator}: {refuses}{pair.candidate.name} {'hangs' if traced.hangs else 'dies'} ({traced.death}){words}. "
        f"expected={pair.sides[0]} actual={pair.sides[1]}"
    )
    first = dataclasses.replace(finding.first, name=operator, slot=slot, message=message, symptom=symptom)
    finding = dataclasses.replace(
        finding,
        mismatches=(first,),
        program=traced.program,
        shrinking=shrinking,
        verdict=(_verdict(symptom, pair.sides, traced.refusal),),
        blame="candidate",
    )
    if traced.program is None:
        return dataclasses.replace(finding, verified="the program cannot be replayed")
    try:
        sides = pair.scripts(traced.program)
        script = emit(finding, sides, isolated=True, timeout=conditions.deadline)
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=str(error))
    return dataclasses.replace(finding, script=script, verified=verify(script) if conditions.verify else "")


def _verdict(symptom: str, sides: tuple[str, str], refusal: str) -> str:
    if refusal:
        return f"{sides[1]}: {symptom}, where {sides[0]} refuses"
    return judge(Evidence(symptom, sides)).line


def _shrunk(traced: Traced, symptom: str, conditions: Conditions) -> tuple[Traced, tuple[str, ...]]:
    """`traced` with a smaller program that dies alike, and how it came about."""
    if traced.program is None or not conditions.shrink or symptom == "out of memory":
        return traced, ()
    try:
        # Every success costs the start of a process, so that seconds buy less here than elsewhere.
        from autotest.diagnosis import crashing  # brings thread pools, which a run without a death does not need

        smaller = crashing.shrink(traced.program, seconds=4 * conditions.shrink, deadline=conditions.deadline)
    except (OSError, NotReplayable) as error:
        return traced, (f"Shrunk:     not at all ({error})",)
    if smaller is None:
        return traced, ("Shrunk:     not at all, since its program alone survives",)
    line = failed_trial.sizes(traced.program, smaller.program, smaller.executions, smaller.complete)
    return dataclasses.replace(traced, program=smaller.program), (line,)


def known(test: str, options: Options) -> Iterator[tuple[Finding, str]]:
    """What earlier processes died of in `test`, with where it is kept: new trails, then what was stored.

    Whatever does not happen any more is passed over. Each takes a process or two, so some seconds.
    """
    traced: set[str] = set()
    for path, position in breadcrumb.dead(breadcrumb.folder(options.directory)):
        if position.test == test:
            found = recover(path, position, options)
            if found is not None:
                traced.add(found[1].key)
                yield found[0], found[1].place
    for record in Store(options.directory).for_test(test):
        finding = record.finding
        if finding.first.symptom in DEADLY and finding.script is not None and record.key not in traced:
            verified = verify(finding.script)
            if verified.startswith("verified"):
                yield dataclasses.replace(finding, verified=verified), shortened(record.path)


def recover(path: Path, position: Position, options: Options) -> tuple[Finding, Found] | None:
    """Find out what the process that left the trail at `path` died of, and keep that; None if it is nothing.

    Raises `UsageError` when the test is not there any more. The trail is gone afterwards either way.
    """
    task = task_of(position)
    try:
        finding = finding_of(task, conditions_of(position, options.directory, options.verify))
        if finding is None:
            return None
        identity = task.identity._replace(operator=finding.operator, symptom=finding.first.symptom)
        return finding, keep(finding, identity, task.where, options.directory)
    finally:
        path.unlink(missing_ok=True)
