"""Diagnoses the findings of a sweep: a smaller program, a verdict, and a standalone script that reproduces each."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from typing import Final

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.comparison import Mismatch, Symptom
from autotest.diagnosis import graph_death, graph_finding
from autotest.diagnosis.attribution.referee import Opinion, examine
from autotest.diagnosis.native_script import native_script
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker
from autotest.diagnosis.shrinking.shrunk_trial import failure_of
from autotest.emission import emit, program_text
from autotest.emission.checker import ONCE
from autotest.frameworks import Pair, chosen_pair
from autotest.processes.client import Process, Server
from autotest.program import Program
from autotest.replaying import graph_check
from autotest.replaying.agreement import Agreement, agree
from autotest.results.finding import Finding
from autotest.results.sweep import Check
from autotest.results.sweep_findings import SweepFinding
from autotest.sweeping import hidden_differences
from autotest.trials.context import RunContext

#: Seconds for shrinking one program, and for diagnosing one finding in total.
_SHRINK: Final = 1.0
_LONGEST: Final = 30.0


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """One finding to be diagnosed, as it is sent to a worker process."""

    check: Check
    message: str
    sample: str
    program: Program
    #: Whether the candidate, if it did not survive, hung.
    hangs: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The diagnosis of one finding, as a worker process sends it back."""

    verdict: tuple[str, ...]
    blame: str
    text: str
    script: str
    finding: Finding | None = None


def explain(connection: Connection, server: socket.socket) -> None:
    """Diagnose the findings that are received, until the connection ends."""
    pair = chosen_pair()
    with pair.around_trials(), np.errstate(all="ignore"):
        while True:
            question: Question = connection.recv()
            try:
                connection.send(answer(question, pair))
            except Exception as error:  # noqa: BLE001 - an error in the diagnosis must not hide the finding itself
                verdict = f"no verdict: {type(error).__name__}: {error}"
                connection.send(Answer((verdict,), "", program_text(question.program), ""))


def answer(question: Question, pair: Pair) -> Answer:
    """Diagnose one finding in this process."""
    settings = Settings(check_errors=True)
    if question.check == "survives":
        return _death(question, pair)
    if question.check in ("strides", "repeat"):
        return _hidden_difference(question, pair)
    agreement = agree(question.program, pair, settings)
    if agreement.mismatches:
        return _difference(question, agreement, pair, settings)
    if pair.candidate.always_in_graph:
        return _difference_in_graph(question, agreement, pair, settings)
    if question.check == "alias":
        return _hidden_difference(question, pair)
    return Answer((), "", program_text(question.program), "")


def _death(question: Question, pair: Pair) -> Answer:
    """Answer for a call that ends the candidate's process, and so is not made here."""
    program, last = question.program, len(question.program.calls) - 1
    symptom: Symptom = "hang" if question.hangs else "crash"
    mismatch = Mismatch("results", last, symptom, "forward", "candidate", question.message)
    died = dataclasses.replace(_finding(question, program, (mismatch,), pair), blame="candidate")
    if pair.candidate.always_in_graph:  # its eager mode is torch, which survives
        script = graph_death.of_program(program, pair, Settings(), f"autotest sweep, {question.sample}").once
    else:
        script = _script(died, pair, isolated=True)
    died = dataclasses.replace(died, script=script or None)
    return Answer((), "candidate", program_text(program, last), script, died)


def _difference(question: Question, agreement: Agreement, pair: Pair, settings: Settings) -> Answer:
    """Answer for a difference that `agreement` shows, with a smaller program if its verdict is the same."""
    opinion = examine(agreement, pair, settings)
    smaller = _smaller(agreement, opinion, pair, settings)
    if smaller is not agreement:
        again = examine(smaller, pair, settings)
        if again.verdict.blame == opinion.verdict.blame:
            agreement, opinion = smaller, again
    finding = _finding(question, agreement.program, tuple(agreement.mismatches), pair)
    divergent = opinion.located.beginning
    verdict = (opinion.verdict.line, *opinion.verdict.numbers)
    finding = dataclasses.replace(finding, verdict=verdict, blame=opinion.verdict.blame, divergent=divergent)
    text = program_text(agreement.program, divergent)
    script = _script(finding, pair)
    finding = dataclasses.replace(finding, script=script or None)
    return Answer(verdict, opinion.verdict.blame, text, script, finding)


def _difference_in_graph(question: Question, agreement: Agreement, pair: Pair, settings: Settings) -> Answer:
    """Answer for a difference of the candidate's graph mode, whose eager mode agrees."""
    found = graph_check.alone(agreement.record, settings)
    if not found:
        return Answer((), "", program_text(question.program), "")
    context = RunContext(pair, Options(verify=False, shrink=_SHRINK))
    finding = graph_finding.diagnosed(_finding(question, question.program, tuple(found), pair), context, settings)
    text = program_text(finding.program or question.program, finding.first.slot)
    return Answer(finding.verdict, finding.blame, text, finding.script or "", finding)


def _hidden_difference(question: Question, pair: Pair) -> Answer:
    """Diagnose a difference that a comparison of values does not detect."""
    about = f"autotest sweep, {question.sample}"
    found = hidden_differences.hidden_finding(question.check, question.message, about, question.program, pair)
    script = found.script or "" if found is not None else ""
    text = program_text(question.program, None if found is None else found.divergent)
    return Answer((), "", text, script, found)


def _smaller(agreement: Agreement, opinion: Opinion, pair: Pair, settings: Settings) -> Agreement:
    """Return the same failure in a smaller program if time permits; skip programs that may crash the process."""
    if pair.candidate.fragile and len(agreement.program.calls) <= 4:
        return agreement
    failure = failure_of(agreement, opinion, pair, settings)
    return Shrinker(agreement, failure, ProgramJudge(pair, settings), _SHRINK).shrink().agreement


def _finding(question: Question, program: Program, mismatches: tuple[Mismatch, ...], pair: Pair) -> Finding:
    about = f"autotest sweep, {question.sample}"
    return Finding(about, 0, -1, 0, mismatches, pair.sides, program, pair.versions, {})


def _script(finding: Finding, pair: Pair, *, isolated: bool = False) -> str:
    assert finding.program is not None
    own = None if isolated else native_script(finding, pair)
    if own is not None:
        return own
    with contextlib.suppress(NotReplayable):
        return emit(finding, pair.scripts(finding.program), ONCE if isolated else None)
    return ""


class _Explainer:
    """A worker process that diagnoses findings, and its current finding."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.process: Process = server.process(explain)
        self.question: SweepFinding | None = None
        self.since = time.monotonic()

    def ask(self, finding: SweepFinding) -> None:
        assert finding.program is not None
        self.question, self.since = finding, time.monotonic()
        about = finding.check, finding.message, finding.sample
        question = Question(*about, finding.program, hangs=finding.hangs)
        with contextlib.suppress(OSError):
            self.process.connection.send(question)

    def replace(self) -> None:
        self.process.close()
        self.process = self._server.process(explain)


def explained(findings: Sequence[SweepFinding], server: Server, jobs: int, seconds: float) -> None:
    """Fill in verdict, blame, text and script of `findings`, smallest programs first, within `seconds`."""
    waiting = sorted((item for item in findings if item.program is not None), key=lambda item: -item.size)
    end = time.monotonic() + seconds
    explainers = [_Explainer(server) for _ in range(min(jobs, len(waiting)))]
    try:
        while time.monotonic() < end and (waiting or any(one.question for one in explainers)):
            for one in explainers:
                if one.question is None and waiting:
                    one.ask(waiting.pop())
            _gather(explainers)
    finally:
        for one in explainers:
            one.process.close()
        fill_in_texts(findings)


def fill_in_texts(findings: Sequence[SweepFinding]) -> None:
    """Fill in the text of the findings that were not diagnosed."""
    for finding in findings:
        if not finding.text and finding.program is not None:
            finding.text = program_text(finding.program)


def _gather(explainers: Sequence[_Explainer]) -> None:
    """Store the answers that have arrived, and replace processes that died or took too long."""
    asked = {id(one.process.connection): one for one in explainers if one.question is not None}
    ready = wait([one.process.connection for one in asked.values()], timeout=0.5)
    for one in [asked[id(connection)] for connection in ready]:
        assert one.question is not None
        try:
            found: Answer = one.process.connection.recv()
            one.question.verdict, one.question.blame = found.verdict, found.blame
            one.question.text, one.question.script = found.text, found.script
            one.question.finding = found.finding
        except (EOFError, OSError):
            one.question.verdict = ("no verdict: the diagnosis ended its process",)
            one.replace()
        one.question = None
    for one in explainers:
        if one.question is not None and time.monotonic() - one.since > _LONGEST:
            one.question.verdict = (f"no verdict within {_LONGEST:g} s",)
            one.question = None
            one.replace()
