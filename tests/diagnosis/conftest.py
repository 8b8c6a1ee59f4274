"""Fixtures for tests of what a report says about a planted fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, autotest, skip_grad_check
from tests.support.faulty import FaultyTorch, Replacement


@pytest.fixture
def shrinking(quick: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the settings of an ordinary run, without verifying scripts."""
    monkeypatch.setenv("AUTOTEST_SHRINK", "20")


@pytest.fixture
def report(against: Callable[..., object]) -> Callable[..., str]:
    """Return a function that returns the report on the function `path` with a planted fault."""

    def reported(path: str, fault: Replacement, body: Callable[[], Any], **options: Any) -> str:
        against(FaultyTorch({path: fault}))
        with pytest.raises(Divergence) as caught:
            skip_grad_check(reason="planted faults")(autotest(**options)(body))()
        return str(caught.value)

    return reported


@pytest.fixture
def happens(report: Callable[..., str]) -> Callable[..., str]:
    """Return a function that returns the line on when such a failure happens; "" if there is none."""

    def told(*args: Any, **options: Any) -> str:
        found = re.search(r"^Happens: .*(?:\n {12}.*)*", report(*args, **options), re.MULTILINE)
        return "" if found is None else " ".join(found[0].split()).removeprefix("Happens: ")

    return told
