"""Tries a program on a candidate that may die of it, before this process does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from autotest.diagnosis.crashing import Child
from autotest.frameworks import Pair
from autotest.program import Program

#: Seconds after which a program counts as hanging.
_DEADLINE = 10.0


@contextlib.contextmanager
def scout(pair: Pair) -> Iterator[Callable[[Program], bool]]:
    """A function that tells whether the candidate survives a program, asked in a process of its own.

    A framework that is not known to die is not asked: its programs may run here at once.
    """
    if not pair.candidate.fragile:
        yield lambda program: True
        return
    with contextlib.closing(Child(_DEADLINE)) as child:

        def survives(program: Program) -> bool:
            try:
                return not child.run(program).death
            except OSError:  # no process to try it in: then it is not tried here either
                return False

        survives(Program((), ()))  # waits for the process to start, which is not to count as shrinking
        yield survives
