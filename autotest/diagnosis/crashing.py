"""Shrinks a program that crashes the process it runs in."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import itertools
import time
from collections.abc import Iterator, Sequence

from autotest.diagnosis.attribution.locating import operands
from autotest.diagnosis.shrinking.probing import HANG, Ending, Probe, ProbeOptions
from autotest.frameworks import Framework, Pair
from autotest.processes.client import Server
from autotest.processes.endings import TimeoutEstimate
from autotest.program import Program, call_reduction, content_reduction, operator_of, reduction, shape_reduction
from autotest.program.isolation import isolated

_USUAL = ProbeOptions()
#: How often forks run a program that does not always crash, before processes are used that take seconds to start.
_CHANCES = 5


@dataclasses.dataclass(frozen=True, slots=True)
class SmallestCrash:
    """The smallest program that crashes in the same way as the first one."""

    program: Program
    executions: int
    complete: bool
    #: Whether it was found in forks of this process, which lack the threads of this process.
    in_forks: bool = False


def shrink(
    program: Program,
    pair: Pair,
    server: Server,
    *,
    options: ProbeOptions = _USUAL,
    seconds: float,
    jobs: int = 2,
    hangs: bool = False,
) -> SmallestCrash | None:
    """Shrink `program`, whose last call crashes the candidate.

    After the first run, a program counts as hanging if it takes many times longer than other programs.

    Args:
        program: the program, which ends with the call that crashes.
        pair: the reference and the candidate. The reference computes the operands of the last call. If this process
            has imported both and the program crashes in a fork, programs run in forks of this process, which are cheap.
        server: starts the processes in which programs run otherwise.
        options: how programs are run. In graph mode, it is not known which call crashes.
        seconds: the time limit for shrinking after the first run.
        jobs: the number of processes at the same time.
        hangs: whether the program is known to hang for the whole deadline, so that this need not be repeated.

    Returns:
        The smallest program found, or None if `program` does not crash here.
    """
    graph = options.graph
    # Graphs may be compiled: the time of one says little about another.
    timeouts = TimeoutEstimate() if graph is None else None
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(jobs))
        # A fork of this process lacks the threads that run a graph, and might wait for them forever.
        forks = _forks(pair, stack) if graph is None and not hangs else []
        for one in (*forks, server):
            children = [
                stack.enter_context(contextlib.closing(Probe(one, options, timeouts if hangs else None)))
                for _ in range(jobs)
            ]
            chances = _CHANCES if one is not server and options.times > 1 else 1
            wanted, took = _ending(program, children[0], chances)
            if wanted.death == HANG and one is not server:
                continue  # it may hang because a fork lacks a thread
            if timeouts is not None and not hangs:
                timeouts.record(took)
            for child in children:
                child.timeouts = timeouts
            if wanted.death is not None:
                operator = operator_of(program.calls, len(program.calls) - 1) if graph is None else ""
                search = _DeathSearch(program, wanted, operator, children, pool, time.monotonic() + seconds)
                found = search.run(_alone(program, pair.reference) if operator else [])
                return dataclasses.replace(found, in_forks=one is not server)
    return None


def _ending(program: Program, probe: Probe, chances: int) -> tuple[Ending, float]:
    """Return how `program` ends, in the first of up to `chances` runs in which it dies, and the seconds of that run."""
    for _ in range(chances):
        begun = time.monotonic()
        ending = probe.run(program)
        if ending.death is not None:
            break
    return ending, time.monotonic() - begun


def _forks(pair: Pair, stack: contextlib.ExitStack) -> list[Server]:
    if not (pair.forkable and pair.reference.imported and pair.candidate.imported):
        return []
    pair.candidate.synchronize()
    return [stack.enter_context(contextlib.closing(Server(frameworks=pair.names_elsewhere(), fork=True)))]


def _alone(program: Program, reference: Framework) -> list[Program]:
    """Return a program of the last call alone, on the reference's operands, in a list; empty if there is none."""
    last = len(program.calls) - 1
    with contextlib.suppress(Exception):  # without such a program, the whole one is shrunk
        held, _ = operands(program, reference, last)
        return [isolated(program, last, held)[0]]
    return []


@dataclasses.dataclass
class _DeathSearch:
    """The search for the smallest program that ends in the same way."""

    best: Program
    wanted: Ending
    #: The operator that the last call must have; "" for any.
    operator: str
    children: Sequence[Probe]
    pool: concurrent.futures.ThreadPoolExecutor
    #: When it must end, as `time.monotonic` counts.
    end: float
    seen: set[bytes] = dataclasses.field(default_factory=set)
    executions: int = 0

    def run(self, first: list[Program]) -> SmallestCrash:
        """Try the programs in `first`, then run all passes until none of them finds a smaller program."""
        self._step(lambda program: iter(first))
        improved = True
        while improved and time.monotonic() < self.end:
            improved = False
            for one in (_fewer_calls, *_REST):
                while self._step(one):
                    improved = True
        return SmallestCrash(self.best, self.executions + 1, time.monotonic() < self.end)

    def _step(self, one: reduction.Pass) -> bool:
        """Make the first candidate of a pass that crashes alike the best program; return whether there was one."""
        fresh = self._fresh(one)
        while time.monotonic() < self.end:
            batch = list(itertools.islice(fresh, len(self.children)))
            if not batch:
                return False
            self.executions += len(batch)
            endings = list(self.pool.map(lambda pair: pair[0].run(pair[1]), zip(self.children, batch, strict=False)))
            for program, ending in zip(batch, endings, strict=True):
                if ending == self.wanted:
                    self.best = program
                    return True
        return False

    def _fresh(self, one: reduction.Pass) -> Iterator[Program]:
        for program in reduction.candidates(one, self.best):
            if not program.calls:
                continue
            if self.operator and operator_of(program.calls, len(program.calls) - 1) != self.operator:
                continue
            digest = reduction.digest(program)
            if digest not in self.seen and reduction.is_simpler(program, self.best):
                self.seen.add(digest)
                yield program


def _fewer_calls(program: Program) -> Iterator[Program]:
    yield call_reduction.only(program, [len(program.calls) - 1])
    yield from call_reduction.calls(program, {})


_REST = (
    reduction.in_class(shape_reduction.shapes),
    reduction.in_class(reduction.arguments),
    reduction.kinds,
    content_reduction.contents,
)
