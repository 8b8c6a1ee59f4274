"""What is made of a gradient that numbers alone found wrong: a smaller program, and a script that shows it.

Enters the finding of a trial whose two sides agree, leaves it shrunk and scripted. Stands alone because all else in
this folder asks two sides; here one is held against its own forward, in the form in which the script will do it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from autotest.carrying import is_push
from autotest.comparison import Mismatch, Side
from autotest.diagnosis.agreement import Agreement
from autotest.diagnosis.explanation import sizes
from autotest.diagnosis.scouting import scout
from autotest.diagnosis.shrinking import Failure, Judge, Shrinker, mend
from autotest.diagnosis.verification import verify
from autotest.emission.derivative import derivative_script
from autotest.errors import NotReplayable
from autotest.finding import Finding
from autotest.frameworks import Framework, Pair
from autotest.gradients.enlarging import enlarged
from autotest.gradients.pushed import Wrong, pushing, wrong_gradient
from autotest.gradients.trials import RULE, verdict
from autotest.options import Options
from autotest.program import Program, Ref, leaves
from autotest.record import Record
from autotest.report import gradients as report
from autotest.settings import Settings


def is_numeric(mismatch: Mismatch) -> bool:
    """Whether differences were the judge, and not the other side."""
    return mismatch.symptom == "gradient" and mismatch.stage == "replay"


def understood(finding: Finding, pair: Pair, settings: Settings, options: Options) -> Finding:
    """`finding` with its verdict, and shrunk and scripted as far as its program bears it."""
    side = finding.first.side
    framework = pair.reference if side == "reference" else pair.candidate
    finding = dataclasses.replace(finding, verdict=(verdict(finding.first, pair),))
    try:
        # What is smaller must not slide to the edge of a domain, where a gradient is NaN: unless it was so before.
        for finite in (True, False):
            judge = _judge(framework, side, finite=finite)
            started = next(_starts(finding, pair, framework, settings, judge), None)
            if started is not None:
                break
        else:
            why = "no script: what is wrong shows in forward mode alone, or not along this trial's cotangents"
            return dataclasses.replace(finding, verified=why)
        return _scripted(_shrunk(finding, started, pair, settings, options, judge), pair, framework, options)
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=str(error))
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here must not hide the failure itself
        return dataclasses.replace(finding, verified=f"no script: {type(error).__name__}: {error}")


def _starts(
    finding: Finding, pair: Pair, framework: Framework, settings: Settings, judge: Judge
) -> Iterator[Agreement]:
    """The forms of the recorded program in which the fault shows: as drawn or on larger inputs, in either order."""
    assert finding.program is not None
    larger = enlarged(finding.program, pair.reference)
    for program in (finding.program, *([larger.program] if larger is not None and str(larger) else [])):
        for order in range(1, settings.grad_order + 1):
            pushed = pushing(program, framework, order)
            mended = None if pushed is None else mend(pushed, framework)
            if mended is None:
                continue
            found = judge(mended, pair, settings)
            if found.mismatches:
                yield found


def _judge(framework: Framework, side: Side, *, finite: bool) -> Judge:
    """What stands for `agree` where differences are the judge."""

    def judge(program: Program, pair: Pair, settings: Settings) -> Agreement:
        pushes = any(map(is_push, program.calls))
        wrong = wrong_gradient(program, framework, RULE, finite=finite) if pushes else None
        found = [] if wrong is None else [_mismatch(wrong, framework, side)]
        return Agreement(program, Record(pair), found)

    return judge


def _mismatch(wrong: Wrong, framework: Framework, side: Side) -> Mismatch:
    told = report.failure([wrong.row], f"{wrong.name}.grad of {framework.name}")
    message = f"{told}\n(of the sum of what is pushed back from, by central differences in float64)"
    return Mismatch(f"{wrong.name}.grad", wrong.place.slot, "gradient", "replay", side, message)


def _shrunk(
    finding: Finding, start: Agreement, pair: Pair, settings: Settings, options: Options, judge: Judge
) -> Finding:
    """`finding` about the smallest program found that fails alike."""
    assert finding.program is not None
    found = start
    told: tuple[str, ...] = ()
    if options.shrink:
        first = start.mismatches[0]
        # A gradient that is wrong for a leaf does not say which of the calls on the way there made it so.
        failure = Failure(first.symptom, first.stage, first.side, operator="", message="")
        with scout(pair) as survives:
            shrinker = Shrinker(start, failure, pair, settings, options.shrink, survives=survives, judge=judge)
            shrunk = shrinker.shrink()
        found = shrunk.agreement
        told = (sizes(finding.program, found.program, shrunk.executions, shrunk.complete),)
    return dataclasses.replace(
        finding, program=found.program, mismatches=tuple(found.mismatches), shrinking=told, divergent=None
    )


def _scripted(finding: Finding, pair: Pair, framework: Framework, options: Options) -> Finding:
    """`finding` with its script, and what a fresh interpreter says of that."""
    program = finding.program
    assert program is not None
    wrong = wrong_gradient(program, framework, RULE)
    assert wrong is not None
    push = next(call for call in reversed(program.calls) if is_push(call))
    roots, cotangents = ([item.slot for item in leaves(one) if type(item) is Ref] for one in (*push.args, ())[:2])
    scripts = pair.scripts(program)
    versions = ", ".join(f"{name} {version}" for name, version in finding.versions.items())
    script = derivative_script(
        program,
        scripts[:1] if finding.first.side == "reference" else scripts,
        leaf=(wrong.place.slot, wrong.place.suffix),
        array=wrong.place.index,
        results=roots,
        cotangents=cotangents,
        title=f"{finding.operator}: {wrong.name}.grad of {framework.name} is not the derivative of its own forward.",
        header=[f"{versions}; {finding.test}, trial {finding.index} of base seed {finding.base_seed}."],
        rule=(RULE.eps, RULE.atol, RULE.rtol),
    )
    finding = dataclasses.replace(finding, script=script, blame=finding.first.side)
    return dataclasses.replace(finding, verified=verify(script)) if options.verify else finding


__all__ = ["is_numeric", "understood"]
