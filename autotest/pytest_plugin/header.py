"""The frameworks that the collected autotests compare, for the line that pytest shows below their number."""

from __future__ import annotations

from collections.abc import Iterable

from autotest.base.options import DEFAULT_PAIR, environment_now
from autotest.base.settings import Settings
from autotest.base.versions import installed
from autotest.frameworks.registry import takes_own
from autotest.report.session import against_itself


def sides(tests: Iterable[Settings]) -> str:
    """Return the candidates and the reference of `tests`, such as ``oneflow 0.9.0 against torch 2.0.1``."""
    tests = list(tests)
    reference, named = environment_now().get("AUTOTEST_REFERENCE") or DEFAULT_PAIR[0], candidates_of(tests)
    pairs = any(test.has_pair for test in tests)
    shown = ", ".join(map(_with_version, named))
    against = f"{shown} against {_with_version(reference)}{against_itself(named, reference)}" if named else ""
    return " and of ".join([*([against] if named else []), *(["pairs of their own"] if pairs else [])])


def candidates_of(tests: Iterable[Settings]) -> dict[str, None]:
    """Return the names of the candidates of those `tests` that have no pair of their own, in their order."""
    usual = environment_now().get("AUTOTEST_CANDIDATE") or DEFAULT_PAIR[1]
    named: dict[str, None] = {}
    for test in tests:
        if not test.has_pair:
            candidates = test.candidate if takes_own(test.candidate) else usual
            named |= dict.fromkeys(name.strip() for name in candidates.split(","))
    return named


def _with_version(name: str) -> str:
    """Return a framework's name with its installed version; importing the framework would take seconds."""
    return f"{name} {installed(name)}".rstrip()
