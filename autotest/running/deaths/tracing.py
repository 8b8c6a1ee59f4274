"""Runs trials in a process of their own that may die, and finds out what the process was doing."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import shutil
import socket
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.library_folder import PACKAGE
from autotest.base.temporary_folders import TRACES, temporary_folder
from autotest.comparison import Side
from autotest.diagnosis import graph_death
from autotest.diagnosis.graph_death import GraphDeath
from autotest.processes.client import START_UP, Process, Server
from autotest.processes.endings import (
    ProcessDeath,
    TimeoutEstimate,
    death_from_status,
    killed_for_memory,
    last_words,
    limit_memory,
    timeout_death,
)
from autotest.processes.python_stack import Frame, answering_requests, recording_death, stack_at_death, stack_of
from autotest.program import Call, Program, serialisation
from autotest.program.rewriting import chained
from autotest.recording.call_observer import notifying
from autotest.recording.recorder import Recorder
from autotest.results.tasks import Conditions, RanTrials, Where
from autotest.running.deaths.attempts import Attempt
from autotest.sources import collection
from autotest.sources.test_names import trial_seed
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.driver import driven_by
from autotest.trials.trial import run_trial

_PROGRAM, _REFUSAL, _SURVIVED = "program.json", "refusal.txt", "survived"
#: The folder of the program's arrays, with one file for each.
_ARRAYS = "arrays"
#: The Python exception that ended the child.
_RAISED = "raised.txt"
#: Contains the number of the part that runs, the index of its trial, and the repetition.
_INDEX = "index"
#: Prefix of the folders with the programs of earlier trials.
_KEPT = "before-"
#: The Python stacks of the child.
_STACK = "stack.txt"
#: The Python stack with which the child died.
_LAST_STACK = "last-stack.txt"
#: Exists while the reference makes the call.
_OF_REFERENCE = "of-reference"


@dataclasses.dataclass(frozen=True, slots=True)
class TracedTrial:
    """The end of a traced trial."""

    #: None if the process survived.
    death: ProcessDeath | None
    #: The program that was running; None if nothing was written, or the program is not data.
    program: Program | None
    #: The last meaningful line of its standard error.
    last_words: str
    #: The reference's exception for the call that the process died in, or "".
    refusal: str = ""
    #: The side that was making the last call of the program.
    side: Side = "candidate"
    #: Index of the trial that was running.
    index: int = 0
    #: The files left by a death in the candidate's graph mode.
    graph: GraphDeath | None = None
    #: The exception by which the trials could not run: of the test, or of this library about its use.
    raised: str = ""
    #: The line of the test that was running at the death or at the deadline, outside of all recorded calls, or "".
    own_code: str = ""


class _Ended(NamedTuple):
    """How the child ended: by a death, or at the deadline outside of all recorded calls, which is none.

    `own_code` is the line of the test that was running then, if no recorded call was.
    """

    death: ProcessDeath | None
    own_code: str = ""


def trace(
    where: Where, attempt: Attempt, conditions: Conditions, server: Server, *, hangs: bool = False
) -> TracedTrial:
    """Make an `attempt` at the test at `where` in a child of `server`, until a trial kills the child.

    Args:
        where: the test.
        attempt: the trials to run.
        conditions: the conditions of the run. Its deadline applies to each trial.
        server: forks the child.
        hangs: whether the trial was seen to hang. Then a call that takes many times longer than the trial before it
            counts as a hang, before the deadline.

    Raises:
        OSError: no process can be started.
    """
    where = where._replace(file=where.file.absolute())
    parts = attempt.parts(where)

    def traced() -> TracedTrial:
        with temporary_folder(TRACES) as folder:
            errors = folder / "errors.txt"
            errors.touch()
            with contextlib.closing(server.process(_run, where, attempt, conditions, folder, log=errors)) as process:
                ended = _wait(process, folder, where.file, conditions.deadline, hangs=hangs)
            return _left_behind(folder, parts, ended, last_words(errors.read_text(errors="replace")))

    return server.retried(traced)


def _left_behind(folder: Path, parts: Sequence[RanTrials], ended: _Ended, words: str) -> TracedTrial:
    """Return what a child that ran `parts` left in `folder`; `words` are its last ones."""
    raised = _text(folder / _RAISED)
    part, index = map(int, (_text(folder / _INDEX) or f"0 {parts[0].indices.stop - 1} 0").split()[:2])
    # The end of another test than before says nothing about the death to reproduce.
    of_other = part < len(parts) - 1
    lived = (folder / _SURVIVED).exists() or bool(raised) or of_other
    side: Side = "reference" if (folder / _OF_REFERENCE).exists() else "candidate"
    return TracedTrial(
        None if lived else ended.death,
        _read_all(folder),
        words,
        _text(folder / _REFUSAL),
        side,
        index,
        graph_death.read(folder),
        raised,
        "" if lived else ended.own_code,
    )


def _wait(process: Process, folder: Path, test_file: Path, deadline: float, *, hangs: bool) -> _Ended:
    """Wait for `process`, and return how it ended. A trial's deadline starts when it has written its first call."""
    running, call = "", 0
    killed_before = killed_for_memory()
    since = called = time.monotonic()
    while True:
        status = process.status(0.1)
        if status is not None:
            line = _own_line(stack_at_death(folder / _LAST_STACK), test_file)
            return _Ended(death_from_status(status, killed_before), line)
        now, written = time.monotonic(), _written(folder)
        trial = _text(folder / _INDEX) if written else ""
        if trial != running:
            running, since = trial, now
        if written != call:
            call, called = written, now
        # In graph mode the whole trial is repeated, and a long time there may be compilation.
        if hangs and running and not graph_death.in_graph(folder):
            late = now - called > TimeoutEstimate().timeout(called - since, deadline)
        else:
            late = now - since > (deadline if running else START_UP)
        if late:
            line = _own_line(stack_of(process.pid(), folder / _STACK), test_file)
            if not line:
                return _Ended(timeout_death(deadline))
            if now - since > deadline:
                return _Ended(None, line)
            called = now  # The next call, which may be the one that hangs, is not made yet.


def _own_line(stack: Sequence[Frame], test_file: Path) -> str:
    """Return the line of `test_file` that is running, or "" if it has called this library, which called a framework.

    Args:
        stack: the Python stack of the child, innermost frame first.
        test_file: the file of the test.
    """
    for file, line, function in stack:
        if file == test_file:
            return f"{file.name}, line {line}, in {function}"
        if file.is_relative_to(PACKAGE):
            return ""
    return ""


def _written(folder: Path) -> int:
    """Return a number that identifies the last written call, or 0 before the first one."""
    with contextlib.suppress(FileNotFoundError):
        return (folder / _PROGRAM).stat().st_mtime_ns
    return 0


def _text(file: Path) -> str:
    """Return the text that the child wrote to `file`, or "" if there is none."""
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _read_all(folder: Path) -> Program | None:
    """Return the program that was running, after those of earlier trials if they were kept."""
    last = _read(folder)
    before = [_read(kept) for kept in sorted(folder.glob(f"{_KEPT}*"))]
    return None if last is None else chained([*(program for program in before if program is not None), last])


def _read(folder: Path) -> Program | None:
    arrays = {}
    for file in (folder / _ARRAYS).glob("*.npy"):
        with contextlib.suppress(OSError, ValueError, EOFError):  # an incomplete last file, which no program uses
            arrays[file.stem] = np.load(file, allow_pickle=False)
    try:
        return serialisation.from_json(json.loads((folder / _PROGRAM).read_text()), arrays)
    except (OSError, ValueError):
        return None


# -- the child ------------------------------------------------------------------------------------------------


class _Writer:
    """Observer that writes the program, with the call that is about to be made, before a side makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept = 0
        #: The record whose arrays are written, and their number. Each is written once, since it may be large.
        self._of: Recorder | None = None
        self._arrays = 0

    def before_call(self, recorder: Recorder, side: Side, call: Call) -> None:
        # Waits for an asynchronous candidate, so that it dies while its fatal call is the last one written.
        recorder.pair.candidate.synchronize()
        if side == "reference":
            self._write(recorder, call)
            (self.folder / _OF_REFERENCE).touch()
            return
        if recorder.rejection is not None:
            first = recorder.rejection.text.partition("\n")[0]
            (self.folder / _REFUSAL).write_text(f"{recorder.rejection.type}: {first}", encoding="utf-8")
        else:
            (self.folder / _REFUSAL).unlink(missing_ok=True)  # of an earlier trial
        self._write(recorder, call)
        (self.folder / _OF_REFERENCE).unlink(missing_ok=True)

    def whole(self, recorder: Recorder) -> None:
        """Write the whole program of a trial, for whatever comes after its last call."""
        self._write(recorder)
        (self.folder / _OF_REFERENCE).unlink(missing_ok=True)

    def keep(self) -> None:
        """Keep that program, as a part of the programs of later trials."""
        folder = self.folder / f"{_KEPT}{self._kept:09}"
        folder.mkdir()
        self._kept += 1
        for name in (_ARRAYS, _PROGRAM):
            with contextlib.suppress(FileNotFoundError):  # a trial whose program is not data
                (self.folder / name).replace(folder / name)

    def _write(self, recorder: Recorder, *call: Call) -> None:
        made = recorder.snapshot()
        program = Program((*made.calls, *call), tuple(recorder.arrays), made.undefined)
        try:
            document = json.dumps(serialisation.to_json(program))
        except NotReplayable:
            document = ""  # replaces the program of an earlier call or trial, which must not be taken for this one
        else:
            self._write_arrays(recorder)
        fresh = self.folder / f"{_PROGRAM}.new"
        fresh.write_text(document)
        fresh.replace(self.folder / _PROGRAM)

    def _write_arrays(self, recorder: Recorder) -> None:
        folder = self.folder / _ARRAYS
        if recorder is not self._of:
            # Remove the program of the earlier trial first: it must not be read with the arrays of this one.
            (self.folder / _PROGRAM).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            self._of, self._arrays = recorder, 0
        for name, data in serialisation.named_arrays(recorder.arrays, self._arrays):
            np.save(folder / f"{name}.npy", data)
        self._arrays = len(recorder.arrays)


def _run(
    connection: Connection, server: socket.socket, where: Where, attempt: Attempt, conditions: Conditions, folder: Path
) -> None:
    """Run the trials in the child, and write to `folder` what they are doing."""
    writer = _Writer(folder)
    try:
        with answering_requests(folder / _STACK), recording_death(folder / _LAST_STACK):
            *before, last = attempt.parts(where)
            for number, part in enumerate(before):
                with contextlib.suppress(Exception):  # an exception of another test
                    _run_part(number, part, attempt, conditions, writer)
            _run_part(len(before), last, attempt, conditions, writer)
    except (KeyboardInterrupt, SystemExit):  # they end a process, also if a framework raises them
        raise
    except BaseException as error:  # noqa: BLE001 - a body may raise whatever it likes, and no exception is a death
        (folder / _RAISED).write_text(f"{type(error).__name__}: {error}", encoding="utf-8")


def _run_part(number: int, part: RanTrials, attempt: Attempt, conditions: Conditions, writer: _Writer) -> None:
    where, indices = part
    folder, last = writer.folder, number == len(attempt.before)

    def drive(test: Test, context: RunContext) -> None:
        pair = context.pair
        strict = conditions.check_errors or test.settings.check_errors
        settings = dataclasses.replace(test.settings, check_errors=strict)
        if conditions.memory is not None and number == 0:
            limit_memory(pair, conditions.memory)
        with pair.around_trials(), notifying(writer):
            for turn, index in itertools.product(range(attempt.times if last else 1), indices):
                (folder / _INDEX).write_text(f"{number} {index} {turn}", encoding="utf-8")
                outcome = run_trial(test.body, trial_seed(where.base_seed, test.id, index), settings, pair)
                pair.candidate.synchronize()  # it may die of a call whose result was not read
                writer.whole(outcome.recorder)
                origin = f"{test.id}, trial {index} of base seed {where.base_seed}"
                if last:
                    graph_death.run_graph(outcome, settings, origin, folder)
                if attempt.together:
                    writer.keep()
        if last:
            (folder / _SURVIVED).touch()

    with driven_by(drive, where.test):
        collection.find(where.file, where.test).call()
