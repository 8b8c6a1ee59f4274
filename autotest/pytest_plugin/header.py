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
    given = environment_now()
    asked = (given.get("AUTOTEST_REFERENCE"), given.get("AUTOTEST_CANDIDATE"))
    reference, usual = (name or default for name, default in zip(asked, DEFAULT_PAIR, strict=True))
    named: dict[str, None] = {}
    pairs = False
    for test in tests:
        if test.has_pair:
            pairs = True
            continue
        candidates = test.candidate if takes_own(test.candidate) else usual
        named |= dict.fromkeys(name.strip() for name in candidates.split(","))
    candidates = ", ".join(map(_with_version, named))
    against = f"{candidates} against {_with_version(reference)}{against_itself(named, reference)}" if named else ""
    return " and of ".join([*([against] if named else []), *(["pairs of their own"] if pairs else [])])


def _with_version(name: str) -> str:
    """Return a framework's name with its installed version; importing the framework would take seconds."""
    return f"{name} {installed(name)}".rstrip()
