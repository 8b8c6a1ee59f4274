"""Plans how to repeat a trial that killed a process: alone, many times, and after trials that ran before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autotest.base.plural import several
from autotest.results.tasks import DiagnoseDeath, RanTrials, Where

#: TIMES: how often a fresh process runs a trial that survived one run. BEFORE: numbers of earlier trials of the test to
#: run before it, in turn. RAN_BEFORE: numbers of trials of any test that the worker ran before it.
TIMES, BEFORE, RAN_BEFORE = 20, (5, 100), (300, 2000)


class Attempt(NamedTuple):
    """The trials that one process runs, of which one may kill it."""

    indices: range
    #: How often to run them. A trial that survives one run may still die occasionally.
    times: int = 1
    #: Whether the death needs the programs of all trials together.
    together: bool = False
    #: The trials to run before these.
    before: tuple[RanTrials, ...] = ()

    def parts(self, where: Where) -> tuple[RanTrials, ...]:
        """Return all runs in order for the test at `where`. The end of the last one is the result."""
        return (*self.before, RanTrials(where, self.indices))

    def only_after(self, index: int) -> tuple[str, ...]:
        """Return the note that trial `index` dies only after earlier trials, or nothing if it needs none."""
        if not self.together:
            return ()
        trials = index - self.indices.start + sum(len(ran.indices) for ran in self.before)
        tests = len({ran.where for ran in self.before})
        of = f" of {several(tests, 'test')}" if tests > 1 else ""
        return (f"only after {several(trials, 'earlier trial')}{of} in the same process",) if trials else ()


def attempts(task: DiagnoseDeath) -> Iterator[Attempt]:
    """Yield the attempts to make in turn: cheap and likely ones first."""
    alone = range(max(0, task.index - task.back), task.index + 1)
    often = Attempt(alone, max(2, TIMES // len(alone)))
    yield Attempt(alone)
    yield often
    for many in BEFORE:
        before = range(max(0, alone.start - many), alone.stop)
        if before != alone:
            yield Attempt(before, together=True)
    if any(ran.where != task.where for ran in task.before):
        for ran_before in dict.fromkeys(last(task.before, many) for many in RAN_BEFORE):
            yield Attempt(range(task.index, task.index + 1), together=True, before=ran_before)
    yield often


def last(ran: Sequence[RanTrials], many: int) -> tuple[RanTrials, ...]:
    """Return the last `many` trials of `ran`."""
    found: list[RanTrials] = []
    for where, indices in reversed(ran):
        if many <= 0:
            break
        found.append(RanTrials(where, indices[-many:]))
        many -= len(indices)
    return tuple(reversed(found))
