"""Plans how a trial that killed a process is run again: alone, often, and after what was run before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autotest.report.plural import several
from autotest.results.tasks import DiagnoseDeath, Ran, Where

#: How often a fresh process runs a trial that was survived once; how many of those before it in its test are then run,
#: too; and how many of those that the worker had run before it, of whatever tests.
TIMES, BEFORE, RAN_BEFORE = 20, (5, 100), (300, 2000)


class Attempt(NamedTuple):
    """What one process runs of which one may die."""

    indices: range
    #: More than once: then what is survived may still die now and then.
    times: int = 1
    #: Whether what dies is the program of all of them.
    together: bool = False
    #: What is run before them.
    before: tuple[Ran, ...] = ()

    def parts(self, where: Where) -> tuple[Ran, ...]:
        """What is run one after the other for the test at `where`; of interest is how the last of it ends."""
        return (*self.before, Ran(where, self.indices))

    def only_after(self, index: int) -> tuple[str, ...]:
        """What is said of a death in the trial `index` that needs those before it; nothing where there are none."""
        if not self.together:
            return ()
        trials = index - self.indices.start + sum(len(ran.indices) for ran in self.before)
        tests = len({ran.where for ran in self.before})
        of = f" of {several(tests, 'test')}" if tests > 1 else ""
        return (f"only after {several(trials, 'trial')}{of} before it, in the same process",) if trials else ()


def attempts(task: DiagnoseDeath) -> Iterator[Attempt]:
    """What to try one after the other: the cheapest and the likeliest first."""
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


def last(ran: Sequence[Ran], many: int) -> tuple[Ran, ...]:
    """The last `many` trials of `ran`."""
    found: list[Ran] = []
    for where, indices in reversed(ran):
        if many <= 0:
            break
        found.append(Ran(where, indices[-many:]))
        many -= len(indices)
    return tuple(reversed(found))


__all__ = ["RAN_BEFORE", "Attempt", "attempts", "last"]
