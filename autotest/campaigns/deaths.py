"""From a process that died in a trial to a finding with a reproducer that dies.

Enters where a process was last seen, leaves a `Finding`, after the trial was run once more in a process of its
own. Stands alone because campaigns, the next run of a test and `autotest recover` all come across deaths. The
trial itself is never run in this process.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from autotest import breadcrumb, collection, ledger
from autotest.breadcrumb import Position
from autotest.comparison import Mismatch, Symptom
from autotest.diagnosis import failed_trial
from autotest.diagnosis.verification import verify
from autotest.emission import emit
from autotest.errors import AutotestError, NotReplayable
from autotest.finding import Finding
from autotest.frameworks import chosen
from autotest.identity import trial_seed
from autotest.options import Options
from autotest.program import operator_of, refs
from autotest.storage.keeping import keep, key_of_identity, shortened
from autotest.storage.store import Store
from autotest.tasks import (
    DEADLY,
    NOT_LOOKED_INTO,
    SURVIVED,
    Conditions,
    DiagnoseDeath,
    Found,
    Identity,
    Known,
    Where,
    death_of,
)
from autotest.tracing import Traced, trace
from autotest.trial import COMPARED_AT_ONCE
from autotest.verdict import Evidence, judge


def settle(task: DiagnoseDeath, conditions: Conditions) -> Found | Known:
    """Keep the finding that a death is. A thorough look may say that it is another one, or one that is known.

    Three steps, each a task of its own: what the trail says; running the trial once more, and the script that this
    gives; a smaller program, for which there may be no time.
    """

    def kept(finding: Finding, identity: Identity) -> Found:
        return keep(finding, identity, task.where, conditions.directory)

    if not task.thorough:
        return kept(_bare(task, conditions), task.identity)
    if task.shrink:
        before = Store(conditions.directory).load(key_of_identity(task.identity)).finding
        return kept(_smaller(before, conditions), task.identity)
    autopsy = _autopsy(task, conditions)
    if autopsy is None:
        # A death is worth telling although nobody can say yet what brings it back.
        return kept(dataclasses.replace(_bare(task, conditions), verified=SURVIVED), task.identity)
    finding, identity = autopsy
    known = ledger.find(task.where.file, chosen().candidate.name)
    entry = known.expects(task.where.test, finding.first, identity.operator)
    if entry is None:
        kept(finding, identity)  # before its script is run, which takes long
    if entry is not None or identity != task.identity:
        with contextlib.suppress(AutotestError):
            Store(conditions.directory).remove(key_of_identity(task.identity))
    return kept(_verified(finding, conditions), identity) if entry is None else Known(entry.key)


def _autopsy(task: DiagnoseDeath, conditions: Conditions) -> tuple[Finding, Identity] | None:
    """Run the trial again in a process of its own; None when it survives.

    Leaves the finding with a script that was not run yet, and which death it was: the trail of the process that
    died first knows the call only nearly.
    """
    traced = trace(
        task.where.file,
        task.where.test,
        task.where.base_seed,
        range(max(0, task.index - task.back), task.index + 1),
        check_errors=conditions.check_errors,
        deadline=conditions.deadline,
        memory=conditions.memory,
    )
    if not traced.death:
        return None
    bare = _bare(dataclasses.replace(task, index=traced.index), conditions)
    symptom = _symptom(bare.first.symptom, traced)
    operator = _operator(traced, bare.first.name)
    identity = death_of(operator, symptom, bare.first.stage, traced.side, traced.death, traced.last_words)
    return _described(bare, symptom, traced, conditions), identity


def task_of(position: Position) -> DiagnoseDeath:
    """What to do about a trail that a process left: how it died is found out by doing it again."""
    operator = position.operator or "tensor"
    identity = Identity(operator, "crash", position.stage, position.side, "left a trail", "")
    where = Where(position.file, position.test, position.base_seed)
    message = f"{operator}: the process ended in the middle of trial {position.index}"
    back = COMPARED_AT_ONCE - 1 if chosen().candidate.asynchronous else 0
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
    )


def _symptom(supposed: Symptom, traced: Traced) -> Symptom:
    if traced.hangs:
        return "hang"
    if traced.death == "SIGKILL":
        return "out of memory"
    return "crash" if supposed not in DEADLY or supposed == "hang" else supposed


def _operator(traced: Traced, otherwise: str) -> str:
    """What the program died of; of a backward call, what it goes back through."""
    calls = () if traced.program is None else traced.program.calls
    if not calls:
        return otherwise
    last = calls[-1]
    if last.target in ("backward", "autograd.backward"):
        return operator_of(calls, next((ref.slot for ref in refs(last)), last.slot)) or otherwise
    return operator_of(calls, last.slot) or otherwise


def _described(finding: Finding, symptom: Symptom, traced: Traced, conditions: Conditions) -> Finding:
    """Add what tracing the trial gave: symptom, program, script."""
    pair = chosen()
    slot = 0 if traced.program is None else max(0, len(traced.program.calls) - 1)
    operator = _operator(traced, finding.first.name)
    words = f": {traced.last_words}" if traced.last_words else ""
    refuses = f"{pair.sides[0]} refuses ({traced.refusal[:200]}), " if traced.refusal else ""
    ours = traced.side == "reference"
    dead = pair.reference.name if ours else pair.candidate.name
    message = (
        f"{operator}: {refuses}{dead} {'hangs' if traced.hangs else 'dies'} ({traced.death}){words}. "
        f"expected={pair.sides[0]} actual={pair.sides[1]}"
    )
    first = dataclasses.replace(
        finding.first, name=operator, slot=slot, message=message, symptom=symptom, side=traced.side
    )
    finding = dataclasses.replace(
        finding,
        mismatches=(first,),
        program=traced.program,
        verdict=(_verdict(symptom, pair.sides, traced),),
        blame=traced.side,
    )
    return _scripted(finding, conditions)


def _scripted(finding: Finding, conditions: Conditions) -> Finding:
    """With the script of its program."""
    if finding.program is None:
        return dataclasses.replace(finding, verified="the program cannot be replayed")
    try:
        one, other = chosen().scripts(finding.program)
        # The script runs in a child of its own whoever dies, and says whether the other one does as well.
        sides = (other, one) if finding.first.side == "reference" else (one, other)
        # Its child has to import the frameworks first, which takes many seconds on a busy machine.
        patience = conditions.deadline + 20.0 if finding.first.symptom == "hang" else max(60.0, conditions.deadline)
        script = emit(finding, sides, isolated=True, timeout=patience)
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=str(error))
    return dataclasses.replace(finding, script=script, verified="")


def _verified(finding: Finding, conditions: Conditions) -> Finding:
    """With what a fresh interpreter says of its script."""
    if finding.script is None or not conditions.verify:
        return finding
    return dataclasses.replace(finding, verified=verify(finding.script))


def _verdict(symptom: str, sides: tuple[str, str], traced: Traced) -> str:
    if traced.side == "reference":
        return f"{sides[0]}: {symptom}, before {sides[1]} was asked"
    if traced.refusal:
        return f"{sides[1]}: {symptom}, where {sides[0]} refuses"
    return judge(Evidence(symptom, sides)).line


def _smaller(finding: Finding, conditions: Conditions) -> Finding:
    """With a smaller program that dies alike, and the script of that, where there is one."""
    first = finding.first
    if (
        finding.program is None
        or not conditions.shrink
        or first.symptom == "out of memory"
        or first.side == "reference"
    ):
        return finding
    try:
        # Every success costs the start of a process, so that seconds buy less here than elsewhere.
        from autotest.diagnosis import crashing  # brings thread pools, which a run without a death does not need

        smaller = crashing.shrink(finding.program, seconds=4 * conditions.shrink, deadline=conditions.deadline)
    except (OSError, NotReplayable) as error:
        return dataclasses.replace(finding, shrinking=(f"Shrunk:     not at all ({error})",))
    if smaller is None:
        line = "Shrunk:     not at all, since its program alone survives"
        return dataclasses.replace(finding, shrinking=(line,))
    line = failed_trial.sizes(finding.program, smaller.program, smaller.executions, smaller.complete)
    first = dataclasses.replace(first, slot=max(0, len(smaller.program.calls) - 1))
    less = dataclasses.replace(finding, mismatches=(first,), program=smaller.program, shrinking=(line,))
    less = _verified(_scripted(less, conditions), conditions)
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
        conditions = conditions_of(position, options.directory, options.verify)
        autopsy = _autopsy(task, conditions)
        if autopsy is None:
            return None
        finding, identity = autopsy
        finding = _smaller(_verified(finding, conditions), conditions)
        return finding, keep(finding, identity, task.where, options.directory)
    finally:
        path.unlink(missing_ok=True)
