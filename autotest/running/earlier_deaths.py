"""Deaths of earlier processes in a test, which no trial of this process can report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from autotest.processes import breadcrumb
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY
from autotest.results.verification import Verification
from autotest.storage.keeping import shortened
from autotest.storage.store import Store
from autotest.trials.context import RunContext


def earlier_deaths(test: str, context: RunContext, store: Store) -> Iterator[tuple[Finding, str]]:
    """Yield the deaths of earlier processes in `test`, each with its place: new breadcrumb files, then `store`.

    Deaths that do not happen any more are left out. Each check starts one or two processes, which takes some seconds.
    """
    traced: set[str] = set()
    for path, position in breadcrumb.dead(breadcrumb.folder(context.options.directory)):
        if position.test == test:
            from autotest.running.deaths import recover  # imports diagnosis code, rarely needed

            found = recover(path, position, context)
            if not isinstance(found, Verification):
                traced.add(found[1].key)
                yield found[0], found[1].place
    for record in store.for_test(test):
        finding = record.finding
        if finding.first.symptom in DEADLY and finding.script is not None and record.key not in traced:
            from autotest.diagnosis.verification import verify

            state = verify(finding.script)
            if state.holds:
                yield dataclasses.replace(finding, verified=state), shortened(record.path)


__all__ = ["earlier_deaths"]
