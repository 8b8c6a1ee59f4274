"""Makes a program smaller that kills the process it runs in."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import itertools
import json
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from autotest.diagnosis.locating import operands
from autotest.frameworks import chosen
from autotest.processes.endings import describe
from autotest.program import Program, call_reduction, operator_of, reduction, serialisation
from autotest.program.isolation import isolated
from autotest.program.rewriting import needed, without
from autotest.replaying.replay import replay

#: Seconds until a child has its frameworks.
_START_UP = 120.0
#: Lengths of the program's two parts, and how often it is run.
_HEAD = struct.Struct("<QQQ")
_READY, _ACCEPTS, _REFUSES, _LIVES = b"R", b"A", b"X", b"L"


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """What became of a program: how the candidate died (``""`` if it did not), and whether the reference ran it."""

    death: str
    accepted: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Smaller:
    """The smallest program that dies as the first one did."""

    program: Program
    executions: int
    complete: bool


def shrink(
    program: Program, *, seconds: float, deadline: float = 10.0, jobs: int = 2, times: int = 1
) -> Smaller | None:
    """Shrink `program`, whose last call kills the candidate; None when it does not do so here.

    Args:
        program: ends with the call that kills.
        seconds: after which the smallest so far is the answer.
        deadline: seconds after which a program counts as hanging.
        jobs: processes at once.
        times: how often a program is run before it counts as surviving.
    """
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(contextlib.closing(Child(deadline, times))) for _ in range(jobs)]
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(jobs))
        wanted = children[0].run(program)
        if not wanted.death:
            return None
        search = _Search(program, wanted, children, pool, end)
        return search.run(_alone(program))


def _alone(program: Program) -> list[Program]:
    """The last call on the operands that the reference gave it."""
    last = len(program.calls) - 1
    with contextlib.suppress(Exception):  # what cannot be had by itself is shrunk the long way
        held, _ = operands(program, chosen().reference, last)
        return [isolated(program, last, held)[0]]
    return []


class _Search:
    def __init__(
        self,
        program: Program,
        wanted: Ending,
        children: list[Child],
        pool: concurrent.futures.ThreadPoolExecutor,
        end: float,
    ) -> None:
        self._best, self._wanted = program, wanted
        self._children, self._pool, self._end = children, pool, end
        self._operator = operator_of(program.calls, len(program.calls) - 1)
        self._seen: set[str] = set()
        self._executions = 0

    def run(self, first: list[Program]) -> Smaller:
        """Try the programs in `first`, then go on until nothing smaller dies alike."""
        self._step(lambda program: iter(first))
        improved = True
        while improved and time.monotonic() < self._end:
            improved = False
            for one in (_fewer_calls, *_REST):
                improved = self._one_pass(one) or improved
        return Smaller(self._best, self._executions + 1, time.monotonic() < self._end)

    def _one_pass(self, one: reduction.Pass) -> bool:
        improved = False
        while self._step(one):
            improved = True
        return improved

    def _step(self, one: reduction.Pass) -> bool:
        """Go on with the first of a pass's candidates that dies alike; False when none does."""
        fresh = self._fresh(one)
        while time.monotonic() < self._end:
            batch = list(itertools.islice(fresh, len(self._children)))
            if not batch:
                return False
            self._executions += len(batch)
            endings = list(self._pool.map(lambda pair: pair[0].run(pair[1]), zip(self._children, batch, strict=False)))
            for program, ending in zip(batch, endings, strict=True):
                if ending == self._wanted:
                    self._best = program
                    return True
        return False

    def _fresh(self, one: reduction.Pass) -> Iterator[Program]:
        candidates = one(self._best)
        while True:
            try:
                program = next(candidates, None)
            except (ValueError, KeyError, IndexError, TypeError):
                return
            if program is None:
                return
            if not program.calls or operator_of(program.calls, len(program.calls) - 1) != self._operator:
                continue
            digest = repr((program.calls, [(a.dtype, a.data.shape, a.data.tobytes()) for a in program.arrays]))
            if digest not in self._seen and reduction.cost(program) < reduction.cost(self._best):
                self._seen.add(digest)
                yield program


def _fewer_calls(program: Program) -> Iterator[Program]:
    last = len(program.calls) - 1
    kept = needed(program, [last])
    if len(kept) <= last:
        yield without(program, [call.slot for call in program.calls if call.slot not in kept])
    yield from call_reduction.calls(program, {})


_REST = (
    reduction.in_class(reduction.shapes),
    reduction.in_class(reduction.arguments),
    reduction.kinds,
    reduction.contents,
)


class Child:
    """A process that runs programs until one kills it, and is then started anew."""

    def __init__(self, deadline: float, times: int = 1) -> None:
        self._deadline = deadline
        self._times = times
        self._spare = self._started()
        self._process = self._spare
        self._replace()

    def _replace(self) -> None:
        """Take the spare process, which had time to start, and start another."""
        self._process, self._ready = self._spare, False
        self._spare = self._started()

    @staticmethod
    def _started() -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.Popen(
            [sys.executable, "-m", "autotest.diagnosis.crashing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path},
        )

    def run(self, program: Program) -> Ending:
        """How `program` ends."""
        process = self._process
        assert process.stdin is not None
        document = json.dumps(serialisation.to_json(program)).encode()
        arrays = serialisation.pack_arrays(program)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(_HEAD.pack(len(document), len(arrays), self._times) + document + arrays)
            process.stdin.flush()
        if not self._ready:
            self._ready = self._answer(process, _START_UP) == _READY
            if not self._ready:
                raise OSError("a process to shrink a crash in did not start")
        accepted = self._answer(process, self._deadline) == _ACCEPTS
        answer = self._answer(process, self._deadline)
        if answer == _LIVES:
            return Ending("", accepted)
        hangs = answer is None
        process.kill()
        status = process.wait()
        _close_pipes(process)
        self._replace()
        return Ending("hangs" if hangs else describe(status), accepted)

    @staticmethod
    def _answer(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """One byte; ``b""`` from a dead process, None from one that takes too long."""
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        return os.read(process.stdout.fileno(), 1) if ready else None

    def close(self) -> None:
        """End the processes."""
        for process in (self._process, self._spare):
            process.kill()
            process.wait()
            _close_pipes(process)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


def _main() -> None:
    answers = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what a framework prints is no answer
    pair = chosen()
    for side in (pair.reference, pair.candidate):
        side.version  # noqa: B018 - reading it imports
    answers.write(_READY)
    while True:
        received = _received(sys.stdin.buffer)
        if received is None:
            os._exit(0)
        program, times = received
        answers.write(_ACCEPTS if replay(program, pair.reference).error is None else _REFUSES)
        for _ in range(times):
            with contextlib.suppress(Exception):
                replay(program, pair.candidate)
                pair.candidate.synchronize()
        answers.write(_LIVES)


def _received(stream: IO[bytes]) -> tuple[Program, int] | None:
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    document, arrays, times = _HEAD.unpack(head)
    text = stream.read(document)
    return serialisation.from_json(json.loads(text), serialisation.unpack_arrays(stream.read(arrays))), times


if __name__ == "__main__":
    _main()
