"""A framework against itself: 2,000 trials of the alignment bodies without a false alarm.

The candidate is torch under another name. Bodies that draw random numbers inside of an operation are included: their
random contents are not compared, and everything else must agree.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from autotest import decorator
from autotest.results.ledger import Ledger
from autotest.sources.collection import collect
from autotest.sources.pytest_session import sessions_kept
from tests.support import faults

ALIGNMENT = Path(__file__).parents[1] / "alignment"
TRIALS = 2000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # warnings of torch are not compared
def test_torch_against_torch_is_never_accused(against, monkeypatch):
    against(faults.none())
    # The ledger of OneFlow must not excuse torch.
    monkeypatch.setattr(decorator, "_ledger", lambda *place: Ledger())
    found = collect([ALIGNMENT])
    assert not found.broken
    each = math.ceil(TRIALS / len(found.tests))
    monkeypatch.setenv("AUTOTEST_N", str(each))
    accused = {}
    with sessions_kept():
        for test in found.tests:
            try:
                test.call()
            except AssertionError as error:  # noqa: PERF203 - every one of them is to be told
                accused[test.id] = str(error)
    assert not accused, "\n\n".join(accused.values())
    assert each * len(found.tests) >= TRIALS
