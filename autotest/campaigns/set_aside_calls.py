"""Ends trials before calls that killed too many worker processes, and notes the arguments of calls that killed one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from autotest.base.errors import TrialEnd
from autotest.campaigns.signatures import signature
from autotest.comparison import Side
from autotest.comparison.rejection import Rejection
from autotest.processes.breadcrumb import Breadcrumb, called
from autotest.program import Call
from autotest.program.semantics import pushes_gradients
from autotest.recording.call_observer import notifying
from autotest.recording.recorder import Recorder
from autotest.results.tasks import EVERY_CALL, SET_ASIDE, Conditions, Where, fatal_call


@contextlib.contextmanager
def observing(
    where: Where,
    crumb: Breadcrumb | None,
    conditions: Conditions,
    set_aside: frozenset[str] = frozenset(),
    watched_calls: frozenset[str] = frozenset(),
) -> Iterator[None]:
    """While the trials of one test run, write each call to the breadcrumb file before it is made.

    Args:
        where: the test.
        crumb: the breadcrumb file; None in a process whose death ends the run anyway.
        conditions: the conditions of the campaign.
        set_aside: calls that end their trial, named as by `fatal_call` or by their signatures.
        watched_calls: calls whose arguments are noted, too, or `EVERY_CALL`.
    """
    if crumb is None:
        yield
        return
    asked = {"check_errors": conditions.check_errors, "frameworks": [conditions.frameworks]}
    crumb.test(where.file, where.test, where.base_seed, **asked)
    with notifying(Guard(crumb, set_aside, watched_calls) if set_aside or watched_calls else crumb):
        yield
    crumb.idle()


class Guard:
    """A `CallObserver` that ends a trial before a call that is set aside, and notes the arguments of watched calls."""

    def __init__(self, crumb: Breadcrumb, set_aside: frozenset[str], watched_calls: frozenset[str]) -> None:
        self._crumb, self._set_aside, self._watched = crumb, set_aside, watched_calls
        self._all = EVERY_CALL in watched_calls

    def before_call(self, recorder: Recorder, side: Side, call: Call) -> None:
        self._check_set_aside(recorder, call, refused=side == "candidate" and recorder.rejection is not None)
        self._crumb.before_call(recorder, side, call)

    def _check_set_aside(self, recorder: Recorder, call: Call, *, refused: bool) -> None:
        backward = pushes_gradients(call)
        if backward:
            call = _last_operator(recorder, otherwise=call)
        name = called(recorder, call)
        operator, fatal = (fatal_call(name, rejected, backward=backward) for rejected in (False, refused))
        if self._all or fatal in self._watched:
            known = fatal_call(signature(recorder, call, refused=refused), refused=False, backward=backward)
            self._crumb.note(operator, known)
        else:
            known = ""
        if fatal not in self._set_aside and known not in self._set_aside:
            return
        if not refused:  # the reference has already rejected a refused trial
            recorder.rejection = Rejection(operator, SET_ASIDE, "kills the process")
        raise TrialEnd


def _last_operator(recorder: Recorder, otherwise: Call) -> Call:
    """Return the call after which a breadcrumb file names a backward pass."""
    operators = (call for call in reversed(recorder.calls) if call.kind != "tensor" and not pushes_gradients(call))
    return next(operators, otherwise)
