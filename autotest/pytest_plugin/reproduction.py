"""The section of a report with the commands that bring a difference back."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from autotest.report import session
from autotest.report.session import FindingSummary


def add_reproduction(report: pytest.TestReport, found: Sequence[FindingSummary], config: pytest.Config) -> None:
    """Add the section that says how to run the found differences again."""
    asked = config.getoption("autotest_candidate") or ""
    # The variable takes precedence over the test, so that the trial would draw other numbers without it.
    special = os.environ.get("AUTOTEST_SPECIAL_VALUES", "") if config.getini("autotest_special_values") else ""
    report.sections.append(("autotest", session.reproduction(found, _from_here(report.nodeid, config), asked, special)))


def _from_here(node: str, config: pytest.Config) -> str:
    """Return the id of a node as it is to be typed in the folder where pytest was started, which may not be its root.

    `config.cwd_relative_nodeid` does so for a text or for an object, depending on pytest's version.
    """
    if config.invocation_params.dir == config.rootpath:
        return node
    file, colons, name = node.partition("::")
    return os.path.relpath(config.rootpath / file, config.invocation_params.dir) + colons + name
