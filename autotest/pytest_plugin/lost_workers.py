"""Reports how a worker of pytest-xdist died.

It imports the rest of the library only when one has died, because every session registers it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from autotest.processes.breadcrumb import Position


class LostWorkers:
    """A plugin that runs the trial again in which a worker died, and adds what it finds to the worker's report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: object) -> None:
        """Report how a worker of pytest-xdist died, with a reproducer."""
        from autotest.base import options
        from autotest.frameworks import chosen_pair
        from autotest.processes import breadcrumb
        from autotest.pytest_plugin import reproduction, summaries
        from autotest.results.verification import Verification
        from autotest.running.deaths import death_finding

        asked = options.from_environment()
        for path, position in breadcrumb.dead(breadcrumb.folder(asked.directory)):
            if not _is_item(crashitem, self._config.rootpath, position):
                continue
            try:
                recovered = death_finding.recover_any(path, position, asked, chosen_pair)
            except Exception as error:  # noqa: BLE001 - importing a test file may raise anything; the session continues
                report.sections.append(("autotest", f"trial {position.index} cannot be run again: {error!r}"))
                continue
            if isinstance(recovered, Verification):
                report.sections.append(("autotest", f"trial {position.index} died, and {recovered}"))
                continue
            finding, kept = recovered
            report.longrepr = f"{report.longrepr}\n\n{kept.report}"
            report.autotest = summary = summaries.of_death(finding, kept.place)  # type: ignore[attr-defined]
            reproduction.add_reproduction(report, summary["found"], self._config)


def _is_item(node: str, root: Path, position: Position) -> bool:
    """Return whether a process died in the test of the item `node`, or in one that differs in its arguments only.

    Node ids and ids of tests spell arguments differently. pytest-xdist appends the group of a test to its node id:
    ``test_x.py::test_it@group``.
    """
    file, _, name = node.partition("::")
    plain = re.split(r"[\[@]", name)[0].replace("::", ".")
    own = re.split(r"[\[#]", position.test.partition("::")[2])[0]
    return plain == own and (root / file).resolve() == position.file.resolve()
