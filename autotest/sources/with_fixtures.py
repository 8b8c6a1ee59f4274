"""Calls a test that needs pytest's fixtures or set-up in a process where pytest is not running."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotest.base.errors import SkipsItself, UsageError
from autotest.sources.pytest_items import arguments_of, name_of
from autotest.sources.pytest_session import session_of
from autotest.sources.test_names import CollectedName


@dataclasses.dataclass(frozen=True, slots=True)
class WithFixtures:
    """Calls a test with its fixtures and arguments; the body of a `Collected` that only pytest can set up."""

    called: CollectedName
    arguments: Mapping[str, Any]

    def __call__(self) -> None:
        """Let pytest set up and call the test. An exception of the test is raised again.

        Raises:
            SkipsItself: The test or one of its fixtures skips the test.
            UsageError: pytest is not installed, does not call the test, or cannot set up its fixtures.
        """
        file, name = self.called.file, self.called.name
        with session_of(file) as session:
            collected = session.collected(file)
            outcome = session.call(collected, collected.item(self.called, self.arguments))
        if outcome.no_set_up:
            raise UsageError(f"{name}: its fixtures cannot be set up here: {outcome.no_set_up}")
        if outcome.raised is not None:
            raise outcome.raised
        if outcome.skips:
            raise SkipsItself(outcome.skips)
        if not outcome.called:
            raise UsageError(f"{file}: pytest does not call {name} ({outcome.skipped})")


def variants(file: Path) -> dict[str, list[str]]:
    """Return the variants of each test of `file` with which pytest calls it, by the test's name without a variant.

    A test has several if one of its fixtures has parameters, or if ``pytest_generate_tests`` parametrizes it. The dict
    is empty if pytest is not installed or cannot collect the file, which is told when the tests are called.
    """
    found: dict[str, list[str]] = {}
    try:
        with session_of(file) as session:
            for item in itertools.chain.from_iterable(session.collected(file).items.values()):
                called = name_of(item)
                plain = dataclasses.replace(called, variant="").within_file((), arguments_of(item))
                known = found.setdefault(plain, [])
                known += [called.variant] if called.variant not in known else []
    except UsageError:
        return {}
    return found
