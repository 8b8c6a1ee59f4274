"""Diagnoses a gradient that finite differences found wrong: shrinks its program, and writes a reproducer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from autotest.base.errors import NotReplayable
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.diagnosis.shrinking.fitting_cotangents import with_fitting_cotangents
from autotest.diagnosis.shrinking.shrinker import AgreementFunction, ProgramJudge
from autotest.diagnosis.shrinking.shrunk_finding import shrunk
from autotest.diagnosis.verification import verify
from autotest.emission.derivative import Derivative, derivative_script, forward_script
from autotest.frameworks import Framework, Pair
from autotest.gradients.forward_mode import in_forward_mode, parts_of, wrong_tangent
from autotest.gradients.larger_inputs import with_larger_inputs
from autotest.gradients.numeric_check import verdict
from autotest.gradients.reverse_mode import WrongElement, in_reverse_mode, of_finite_results, wrong_gradient
from autotest.gradients.rule import RULE
from autotest.program import Program
from autotest.program.paths import gradient_of
from autotest.program.rewriting import WIDER
from autotest.program.semantics import differentiated_slots, pushed_slots, pushes_gradients
from autotest.recording.record import Record
from autotest.replaying.agreement import Agreement
from autotest.replaying.replay import replay
from autotest.report import gradients as report
from autotest.results.finding import Finding
from autotest.results.verification import Verification
from autotest.trials.context import RunContext
from autotest.trials.special_values import with_ordinary_numbers


def is_numeric(mismatch: Mismatch) -> bool:
    """Whether finite differences found `mismatch`, not a comparison with the other side."""
    return mismatch.symptom == "gradient" and mismatch.stage == "replay"


def diagnosed(finding: Finding, context: RunContext, settings: Settings) -> Finding:
    """Return `finding` with its verdict, and, if its program can be replayed, with a smaller program and a script."""
    pair, options = context.pair, context.options
    framework = pair.reference if finding.first.side == "reference" else pair.candidate
    finding = dataclasses.replace(finding, verdict=(verdict(finding.first, pair),))
    try:
        # A smaller program must not move to the edge of a domain, where a gradient is NaN, unless the original did.
        for finite in (True, False):
            for started, judge in _starts(finding, pair, framework, settings, finite):
                smaller = _shrunk(finding, started, ProgramJudge(pair, settings, judge), options.shrink)
                return _scripted(smaller, pair, framework, options)
        return dataclasses.replace(
            finding, verified=Verification.lacking("the wrong gradient does not show with the cotangents of this trial")
        )
    except NotReplayable as error:
        return dataclasses.replace(finding, verified=Verification.lacking(str(error)))
    except Exception as error:  # noqa: BLE001 - an error of the diagnosis must not hide the failure itself
        return dataclasses.replace(finding, verified=Verification.lacking(f"{type(error).__name__}: {error}"))


def _starts(
    finding: Finding, pair: Pair, framework: Framework, settings: Settings, finite: bool
) -> Iterator[tuple[Agreement, AgreementFunction]]:
    """Yield the forms of the recorded program that show the fault, and the function that judges them.

    The forms are the program as drawn and on larger inputs, in reverse mode of each order or in forward mode. If some
    results are not finite, a form with the finite results alone is tried. The last forms have ordinary numbers in
    place of special ones.
    """
    assert finding.program is not None
    larger = with_larger_inputs(finding.program, pair.reference)
    judge = _judge(framework, finding.first, finite)
    drawn = [finding.program, *([larger.program] if larger is not None and str(larger) else [])]
    ordinary = [with_ordinary_numbers(program) for program in drawn]
    for program in (*drawn, *(one for one, like in zip(ordinary, drawn, strict=True) if one is not like)):
        forms = [in_reverse_mode(program, framework, order) for order in range(1, settings.grad_order + 1)]
        mended = [with_fitting_cotangents(form, framework) for form in forms if form is not None]
        parts = [None if form is None else of_finite_results(form, framework) for form in mended]
        forward = in_forward_mode(program, framework) if settings.check_grad == "forward" else ()
        for form in (*mended, *parts, *forward):
            found = None if form is None else judge(form, pair, settings)
            if found is not None and found.mismatches:
                yield found, judge


def _judge(framework: Framework, first: Mismatch, finite: bool) -> AgreementFunction:
    """Return the function that replaces `agree` if finite differences judge a program; `first` is the trial's."""

    def judge(program: Program, pair: Pair, settings: Settings) -> Agreement:
        wrong = _wrong(program, framework, finite)
        if wrong is not None:
            return Agreement(program, Record(pair), [_mismatch(wrong, framework, first)])
        if any(array.dtype in WIDER for array in program.arrays):
            return Agreement(program, Record(pair), [], "finite differences need double precision")
        error = replay(program, framework).error
        return Agreement(program, Record(pair), [], "" if error is None else str(error) or type(error).__name__)

    return judge


def _wrong(program: Program, framework: Framework, finite: bool = False) -> WrongElement | None:
    """Return the wrong element of the gradient of `program`, in reverse or forward mode; None if there is none."""
    if any(map(pushes_gradients, program.calls)):
        return wrong_gradient(program, framework, finite=finite)
    return wrong_tangent(program, framework, finite=finite)


def _mismatch(wrong: WrongElement, framework: Framework, first: Mismatch) -> Mismatch:
    failure_text = report.failure([wrong.row], f"{wrong.name}.grad of {framework.name}")
    message = (
        f"{failure_text}\n(of the sum of the outputs that backward starts from, by central differences in float64)"
    )
    name, slot, place = gradient_of(wrong.name), wrong.leaf.slot, gradient_of(wrong.leaf.suffix)
    return dataclasses.replace(first, name=name, slot=slot, message=message, place=place)


def _shrunk(finding: Finding, start: Agreement, judging: ProgramJudge, seconds: float) -> Finding:
    """Return `finding` about the smallest program found that fails in the same way."""
    first = start.mismatches[0]
    failure = FailureSignature(first.symptom, first.stage, first.side, first.operator, message="")
    finding, found = shrunk(finding, start, failure, judging, seconds)
    forward = parts_of(found.program)
    return dataclasses.replace(finding, divergent=None if forward is None else forward.first)


def _scripted(finding: Finding, pair: Pair, framework: Framework, options: Options) -> Finding:
    """Return `finding` with its script, and the result of running that in a fresh interpreter."""
    program = finding.program
    assert program is not None
    wrong = _wrong(program, framework)
    assert wrong is not None
    scripts = pair.scripts(program)
    sides = scripts[:1] if finding.first.side == "reference" else scripts
    push = next((call for call in reversed(program.calls) if pushes_gradients(call)), None)
    what = gradient_of(wrong.name) if push is not None else "forward mode"
    title = f"{finding.operator}: {what} of {framework.name} is not the derivative of its own forward."
    header = (finding.provenance,)
    parts = parts_of(program) if push is None else None
    array = wrong.leaf.index if parts is None else parts.leaf.index
    about = Derivative(program, sides, array, title, header, RULE.eps, RULE.atol, RULE.rtol)
    if parts is not None:
        script = forward_script(about, along=parts.along, results=parts.results, tangents=parts.tangents)
    else:
        assert push is not None
        leaf = wrong.leaf.slot, wrong.leaf.suffix
        outputs, pushed = differentiated_slots(push), pushed_slots(push)
        script = derivative_script(about, leaf=leaf, results=outputs, cotangents=pushed)
    finding = dataclasses.replace(finding, script=script, blame=finding.first.side)
    return dataclasses.replace(finding, verified=verify(script)) if options.verify else finding
