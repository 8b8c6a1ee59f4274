"""Diagnoses a difference between graph mode and eager mode: shrinks the program, and writes a reproducer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.diagnosis.rounding.double_precision import DoublePrecision
from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.diagnosis.shrinking.shrinker import AgreementFunction, ProgramJudge
from autotest.diagnosis.shrinking.shrunk_finding import shrunk
from autotest.diagnosis.verification import verify
from autotest.emission.graph_script import ComparedResult, Division, Shown, graph_script
from autotest.emission.script_subject import ScriptSubject
from autotest.frameworks import Pair
from autotest.program import Program, operator_of
from autotest.program.paths import is_gradient
from autotest.recording.record import Record
from autotest.replaying import graph_check
from autotest.replaying.agreement import Agreement, agree
from autotest.replaying.divided_program import DividedProgram, pushed_by
from autotest.replaying.graph_capture import divide
from autotest.replaying.graph_setup import CannotDivide
from autotest.results.finding import Finding
from autotest.results.verification import Verification
from autotest.trials.context import RunContext


def diagnosed(finding: Finding, context: RunContext, settings: Settings) -> Finding:
    """Return `finding` with its verdict, and, if its program can be replayed, with a smaller program and a script."""
    pair, options = context.pair, context.options
    program, mode = finding.program, pair.candidate.graph_mode
    assert program is not None
    agrees = f"{pair.candidate.name}: its eager mode agrees with {pair.reference.name}, {mode}"
    does = "overwrites results when it is called again" if finding.first.detail == "overwritten" else "does not"
    finding = dataclasses.replace(finding, verdict=(f"{agrees} {does}",))
    try:
        judge = _judge(program, finding.first)
        found = judge(program, pair, settings)
        if not found.mismatches:
            why = "the recorded program alone agrees, or cannot run again"
            return dataclasses.replace(finding, verified=Verification.lacking(why))
        judging = ProgramJudge(pair, settings, judge)
        finding, found = shrunk(finding, found, _failure(found), judging, options.shrink)
        told = (*finding.verdict[:1], *_three_ways(found, pair, settings))
        finding = dataclasses.replace(finding, verdict=told, blame="candidate")
        return _scripted(finding, found, pair, settings, options)
    except (NotReplayable, CannotDivide) as error:
        return dataclasses.replace(finding, verified=Verification.lacking(str(error)))
    except Exception as error:  # noqa: BLE001 - an error of the diagnosis must not hide the failure itself
        return dataclasses.replace(finding, verified=Verification.lacking(f"{type(error).__name__}: {error}"))


def _three_ways(found: Agreement, pair: Pair, settings: Settings) -> list[str]:
    """Return a line on which of eager mode, graph mode and double precision agree at the greatest difference."""
    first = found.mismatches[0]
    numbers = first.statistics
    if numbers is None or not np.isfinite(numbers.greatest_abs):
        return []
    double = DoublePrecision(found, pair, settings)
    wide = double.sides[0].get(double.wide_place(first.at))
    if not isinstance(wide, TensorValue) or wide.data.ndim != len(numbers.abs_index):
        return []
    truth = wide.data[numbers.abs_index].item()  # NumPy subtracts no booleans, and small integers wrap around
    allowed = numbers.atol + numbers.rtol * abs(truth)
    off = [float(abs(value - truth)) for value in (numbers.abs_expected, numbers.abs_actual)]
    modes = ("eager mode", pair.candidate.graph_mode)
    agreeing = [*(mode for mode, error in zip(modes, off, strict=True) if error <= allowed), "double precision"]
    told = f"{' and '.join(agreeing)} agree" if len(agreeing) > 1 else "neither mode agrees with double precision"
    at = f" at {numbers.abs_index}" if numbers.abs_index else ""
    errors = f"{modes[0]} is off by {off[0]:.3g} and {modes[1]} by {off[1]:.3g} ({allowed:.3g} allowed)"
    return [f"{told}: the result{at} in double precision is {truth:.6g}; {errors}"]


def _judge(first: Program, wanted: Mismatch) -> AgreementFunction:
    """Return the function that replaces `agree` to judge graph mode; it only finds failures like `wanted`."""
    empty = _has_empty(first)

    def judge(program: Program, pair: Pair, settings: Settings) -> Agreement:
        if _has_empty(program) and not empty:  # OneFlow's graphs crash on empty tensors
            return Agreement(program, Record(pair), [], "a tensor has no elements")
        eager = agree(program, pair, settings)
        if eager.mismatches or eager.refused:
            return Agreement(program, eager.record, [], eager.refused or "the eager modes differ")
        try:
            found = graph_check.alone(eager.record, settings)
        except CannotDivide:
            found = []
        alike = [item for item in found if _way(item) == _way(wanted)]
        return Agreement(program, eager.record, alike)

    return judge


def _way(mismatch: Mismatch) -> tuple[bool, bool, bool]:
    """Return how a graph failed: whether it raised or overwrites results, and whether a gradient differs."""
    return mismatch.detail == "raised", mismatch.detail == "overwritten", is_gradient(mismatch.name)


def _has_empty(program: Program) -> bool:
    return any(0 in array.data.shape for array in program.arrays)


def _failure(start: Agreement) -> FailureSignature:
    first = start.mismatches[0]
    # The wrong gradient of a leaf does not say which call between the result and the leaf is wrong.
    operator = "" if is_gradient(first.name) else operator_of(start.program.calls, first.slot)
    return FailureSignature(first.symptom, first.stage, first.side, operator=operator, message="")


def _scripted(finding: Finding, found: Agreement, pair: Pair, settings: Settings, options: Options) -> Finding:
    """Return `finding` with its script, and the result of running that in a fresh interpreter."""
    if not pair.candidate.script().graph:
        raise NotReplayable(f"scripts for {pair.candidate.graph_mode} are not supported")
    divided = divide(found.record)
    names = [mismatch.name for mismatch in found.mismatches]
    raised = found.mismatches[0].detail == "raised"
    results = graph_check.results(divided)
    tolerance = settings.tolerance.relaxed_to(dtype for _, dtype in results)
    limits = {name: tolerance.of(dtype) for name, dtype in results}
    compared = [
        ComparedResult(name, *limit, values=settings.check_values and not raised)
        for name, limit in limits.items()
        if raised or name in names
    ]
    mode = f"{finding.operator}: {pair.candidate.graph_mode} of {pair.candidate.name}"
    if found.mismatches[0].detail == "overwritten":
        title = f"{mode} overwrites its results when it is called again."
        script = script_of(divided, compared, title, [finding.provenance], "overwriting")
    else:
        title = f"{mode} differs from its eager mode."
        script = script_of(divided, compared, title, [finding.provenance])
    finding = dataclasses.replace(finding, script=script)
    return dataclasses.replace(finding, verified=verify(script)) if options.verify else finding


def script_of(
    divided: DividedProgram,
    compared: Sequence[ComparedResult],
    title: str,
    notes: Sequence[str],
    shows: Shown = "difference",
) -> str:
    """Return the script for a divided program.

    Args:
        divided: the program, divided into the parts inside and outside of the graph.
        compared: the results that the script compares, with their tolerances.
        title: the first line of the script's docstring.
        notes: further lines on the origin of the script.
        shows: how the graph fails; for a crash, how often it runs.
    """
    pair = divided.record.pair
    about = ScriptSubject(divided.record.program(), (pair.reference.script(), pair.candidate.script()), title, notes)
    return graph_script(about, _division(divided), compared, shows)


def _division(divided: DividedProgram) -> Division:
    first: dict[int, int] = {}
    for slot, module in divided.modules.items():
        first.setdefault(id(module), slot)
    given = {slot: first[id(module)] for slot, module in divided.modules.items()}
    return Division(
        before=divided.before,
        tensors=[*divided.leaves, *divided.inputs],
        leaves=[*divided.leaves],
        modules=[*first.values()],
        members=divided.members,
        aliases={**{slot: one for slot, one in given.items() if slot != one}, **divided.aliases},
        constants=divided.constants,
        inside=[call.slot for call in divided.inside],
        pushed=[pair for call in divided.backward for pair in pushed_by(call)],
    )
