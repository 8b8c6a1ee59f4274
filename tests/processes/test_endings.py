"""How long a process is waited for that may hang."""

from __future__ import annotations

import pytest

from autotest.processes.endings import Pace


@pytest.mark.parametrize(
    ("took", "expected", "patience"),
    [
        ((), 0.0, Pace.LEAST),
        ((), 0.1, 0.1 * Pace.TIMES),
        ((0.2,), 0.1, 0.2 * Pace.TIMES),
        ((0.2, 0.1), 0.0, 0.2 * Pace.TIMES),
        ((9.0,), 0.0, 20.0),
    ],
    ids=[
        "some seconds at least",
        "by what it should take",
        "by what another took",
        "the longest",
        "the deadline at most",
    ],
)
def test_what_hangs_is_known_by_how_long_others_take(took, expected, patience):
    pace = Pace()
    for seconds in took:
        pace.took(seconds)
    assert pace.patience(expected, most=20.0) == patience
