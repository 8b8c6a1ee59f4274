"""Runs trials in a process of their own that may die, and tells what it was doing then."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import shutil
import socket
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.comparison import Side
from autotest.diagnosis import graph_death
from autotest.diagnosis.graph_death import GraphDeath
from autotest.processes.client import START_UP, Process, Server
from autotest.processes.endings import (
    Pace,
    ProcessDeath,
    death_from_status,
    killed_for_memory,
    last_words,
    limit_memory,
    timeout_death,
)
from autotest.program import Call, Program, serialisation
from autotest.program.rewriting import chained
from autotest.recording.recorder import Recorder
from autotest.recording.watching import watched
from autotest.results.tasks import Conditions, Ran, Where
from autotest.running.attempts import Attempt
from autotest.sources import collection
from autotest.sources.called_tests import trial_seed
from autotest.trials.context import RunContext
from autotest.trials.driver import driven_by
from autotest.trials.trial import Test, run_trial

_PROGRAM, _REFUSAL, _SURVIVED = "program.json", "refusal.txt", "survived"
#: The folder of the program's arrays, a file each.
_ARRAYS = "arrays"
#: What Python raised in the child, which then ended by its own will.
_RAISED = "raised.txt"
#: Holds which part of what was asked for is run, the index of its trial, and for which time.
_INDEX = "index"
#: How folders are called that hold what an earlier trial did.
_KEPT = "before-"
#: Is there while the reference is asked.
_OF_REFERENCE = "of-reference"


@dataclasses.dataclass(frozen=True, slots=True)
class TracedTrial:
    """How a traced trial ended."""

    #: None when it survived.
    death: ProcessDeath | None
    #: What it was doing; None when nothing was written, or the program is no data.
    program: Program | None
    #: The last line that it wrote to its standard error and that says something.
    last_words: str
    #: What the reference raised for the call that the process died in, if it did.
    refusal: str = ""
    #: Who was making the last call of the program.
    side: Side = "candidate"
    #: The trial that it was running.
    index: int = 0
    #: What it left for that, if it died in the candidate's graph mode.
    graph: GraphDeath | None = None
    #: What was raised, where the trials could not be run: by the test itself, or by this library about its use.
    raised: str = ""


def trace(
    where: Where, attempt: Attempt, conditions: Conditions, server: Server, *, hangs: bool = False
) -> TracedTrial:
    """Make an `attempt` at the test at `where` in a child of `server`, until it dies of a trial.

    Each trial gets the deadline of `conditions`. Where one was seen to hang (`hangs`) it is taken to do so again when a
    call takes many times what all of the trial before it took. Raises `OSError` when there is no process to run it in.
    """
    where = where._replace(file=where.file.absolute())
    return server.tried(lambda: _traced(where, attempt, conditions, server, hangs=hangs))


def _traced(where: Where, attempt: Attempt, conditions: Conditions, server: Server, *, hangs: bool) -> TracedTrial:
    parts = attempt.parts(where)
    with tempfile.TemporaryDirectory(prefix="autotest-") as name:
        folder = Path(name)
        errors = folder / "errors.txt"
        errors.touch()
        with contextlib.closing(server.process(_run, where, attempt, conditions, folder, log=errors)) as process:
            ended = _wait(process, folder, conditions.deadline, hangs=hangs)
        raised = _text(folder / _RAISED)
        part, index = map(int, (_text(folder / _INDEX) or f"0 {parts[0].indices.stop - 1} 0").split()[:2])
        # What dies in another test than it did before tells nothing of that death.
        lived = (folder / _SURVIVED).exists() or bool(raised) or part < len(parts) - 1
        side: Side = "reference" if (folder / _OF_REFERENCE).exists() else "candidate"
        words = last_words(errors.read_text(errors="replace"))
        return TracedTrial(
            None if lived else ended,
            _read_all(folder),
            words,
            _text(folder / _REFUSAL),
            side,
            index,
            graph_death.read(folder),
            raised,
        )


def _wait(process: Process, folder: Path, deadline: float, *, hangs: bool) -> ProcessDeath:
    """How `process` ended; the deadline of a trial begins when it has written its first call."""
    running, call = "", 0
    killed_before = killed_for_memory()
    since = called = time.monotonic()
    while True:
        status = process.status(0.1)
        if status is not None:
            return death_from_status(status, killed_before)
        now, written = time.monotonic(), _written(folder)
        trial = _text(folder / _INDEX) if written else ""
        if trial != running:
            running, since = trial, now
        if written != call:
            call, called = written, now
        # In graph mode all of a trial is done once more, and what takes long there may be compiling.
        if hangs and running and not graph_death.in_graph(folder):
            late = now - called > Pace().patience(called - since, deadline)
        else:
            late = now - since > (deadline if running else START_UP)
        if late:
            return timeout_death(deadline)


def _written(folder: Path) -> int:
    """Which call was written last, as a number that is another one for each; 0 before the first."""
    with contextlib.suppress(FileNotFoundError):
        return (folder / _PROGRAM).stat().st_mtime_ns
    return 0


def _text(file: Path) -> str:
    """What the child wrote there; empty before it did."""
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _read_all(folder: Path) -> Program | None:
    """The program that was running, after those of the trials before it where these were kept."""
    last = _read(folder)
    before = [_read(kept) for kept in sorted(folder.glob(f"{_KEPT}*"))]
    return None if last is None else chained([*(program for program in before if program is not None), last])


def _read(folder: Path) -> Program | None:
    arrays = {}
    for file in (folder / _ARRAYS).glob("*.npy"):
        with contextlib.suppress(OSError, ValueError, EOFError):  # the last may be half written: no program has it
            arrays[file.stem] = np.load(file, allow_pickle=False)
    try:
        return serialisation.from_json(json.loads((folder / _PROGRAM).read_text()), arrays)
    except (OSError, ValueError):
        return None


# -- the child ------------------------------------------------------------------------------------------------


class _Writer:
    """Writes the program, with the call that is about to be made, before either side is asked for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept = 0
        #: Whose arrays are written, and how many of them: each is written once, since it may be large.
        self._of: Recorder | None = None
        self._arrays = 0

    def about_to(self, recorder: Recorder, side: Side, call: Call) -> None:
        # An asynchronous candidate dies of its last call here, while that is the last one written.
        recorder.pair.candidate.synchronize()
        if side == "reference":
            self._write(recorder, call)
            (self.folder / _OF_REFERENCE).touch()
            return
        if recorder.rejection is not None:
            first = recorder.rejection.text.partition("\n")[0]
            (self.folder / _REFUSAL).write_text(f"{recorder.rejection.type}: {first}", encoding="utf-8")
        else:
            (self.folder / _REFUSAL).unlink(missing_ok=True)  # an earlier trial's
        self._write(recorder, call)
        (self.folder / _OF_REFERENCE).unlink(missing_ok=True)

    def whole(self, recorder: Recorder) -> None:
        """All of the trial is the program of what comes after it."""
        self._write(recorder)
        (self.folder / _OF_REFERENCE).unlink(missing_ok=True)

    def keep(self) -> None:
        """That program is part of those of later trials."""
        folder = self.folder / f"{_KEPT}{self._kept:09}"
        folder.mkdir()
        self._kept += 1
        for name in (_ARRAYS, _PROGRAM):
            with contextlib.suppress(FileNotFoundError):  # a trial that is no data
                (self.folder / name).replace(folder / name)

    def _write(self, recorder: Recorder, *call: Call) -> None:
        made = recorder.snapshot()
        program = Program((*made.calls, *call), tuple(recorder.arrays), made.undefined)
        with contextlib.suppress(NotReplayable):
            document = serialisation.to_json(program)
            self._write_arrays(recorder)
            fresh = self.folder / f"{_PROGRAM}.new"
            fresh.write_text(json.dumps(document))
            fresh.replace(self.folder / _PROGRAM)

    def _write_arrays(self, recorder: Recorder) -> None:
        folder = self.folder / _ARRAYS
        if recorder is not self._of:
            # Of an earlier trial, whose program goes first: it would be read with other arrays.
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
    """In the child: run the trials, and leave in `folder` what they are doing."""
    writer = _Writer(folder)
    try:
        *before, last = attempt.parts(where)
        for number, part in enumerate(before):
            with contextlib.suppress(Exception):  # another test's own
                _run_part(number, part, attempt, conditions, writer)
        _run_part(len(before), last, attempt, conditions, writer)
    except Exception as error:  # noqa: BLE001 - a body may raise whatever it likes, and no exception is a death
        (folder / _RAISED).write_text(f"{type(error).__name__}: {error}", encoding="utf-8")


def _run_part(number: int, part: Ran, attempt: Attempt, conditions: Conditions, writer: _Writer) -> None:
    where, indices = part
    folder, last = writer.folder, number == len(attempt.before)

    def drive(test: Test, context: RunContext) -> None:
        pair = context.pair
        strict = conditions.check_errors or test.settings.check_errors
        settings = dataclasses.replace(test.settings, check_errors=strict)
        if conditions.memory is not None and number == 0:
            limit_memory(pair, conditions.memory)
        with pair.around_trials(), watched(writer):
            for turn, index in itertools.product(range(attempt.times if last else 1), indices):
                (folder / _INDEX).write_text(f"{number} {index} {turn}", encoding="utf-8")
                outcome = run_trial(test.body, trial_seed(where.base_seed, test.id, index), settings, pair)
                pair.candidate.synchronize()  # it may die of what nobody has read
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


__all__ = ["TracedTrial", "trace"]
