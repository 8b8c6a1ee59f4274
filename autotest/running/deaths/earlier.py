"""Deaths of earlier processes in a test, which no trial of this process can report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from autotest.base.errors import UsageError
from autotest.frameworks import Pair
from autotest.processes import breadcrumb
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY
from autotest.results.verification import Verification
from autotest.sources.test_names import is_same_test
from autotest.storage.keeping import shortened
from autotest.storage.store import Store
from autotest.storage.survivals import is_noted_as_survived, note_survival
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test


def earlier_deaths(test: Test, context: RunContext, store: Store) -> Iterator[tuple[Finding, str]]:
    """Yield the deaths of earlier processes in `test`, each with its place: new breadcrumb files, then `store`.

    Only those on the frameworks of `context` count.

    Deaths that do not happen any more are left out. Each check starts one or two processes, which takes some seconds,
    unless an earlier one found that the test, as it is now, survives.

    Raises:
        UsageError: a process died in `test`, and the pair of `context` was made by hand.
    """
    traced: set[str] = set()
    for path, position in breadcrumb.dead(breadcrumb.folder(context.options.directory)):
        ran = [*map(tuple, position.settings.get("frameworks", ()))]
        if is_same_test(test.id, test.file, position.test, position.file) and (not ran or context.pair.names in ran):
            _must_have_names(context.pair, path, position)
            from autotest.running.deaths.death_finding import recover  # imports diagnosis code, rarely needed

            # In a run against several candidates, the others look at the file after this one.
            found = recover(path, position, context, is_last=not ran or context.pair.names == ran[-1])
            if not isinstance(found, Verification):
                traced.add(found[1].key)
                yield found[0], found[1].place
    for record in store.for_test(test.id, test.file):
        finding = record.finding
        if finding.sides != context.pair.sides:
            continue
        if finding.first.symptom in DEADLY and finding.script is not None and record.key not in traced:
            from autotest.diagnosis.verification import verify

            versions = context.pair.versions
            if test.file is not None and is_noted_as_survived(record.path, test.file, versions):
                continue
            state = verify(finding.script, ahead=context.pair.reference.passive_imports)
            if state.holds and _is_still_of_test(finding, test, context):
                yield dataclasses.replace(finding, verified=state), shortened(record.path)
            elif state.holds and test.file is not None:
                note_survival(record.path, test.file, versions)


def _is_still_of_test(finding: Finding, test: Test, context: RunContext) -> bool:
    """Return whether the trial of a stored death still dies. The test may have been changed, which its script is not.

    True if that is unknown: no other process can run the trial, or it dies only after other trials.
    """
    only_after = any(said.startswith("only after ") for said in finding.happens)
    if test.file is None or context.pair.names is None or only_after:
        return True
    from autotest.running.deaths.death_finding import dies_again

    settings = {"check_errors": finding.settings.get("check_errors", False)}
    at = test.file, test.id, finding.base_seed, finding.index, 0, finding.operator, finding.first.stage, 0, settings
    try:
        return dies_again(breadcrumb.Position(*at), finding.identity, context)
    except (UsageError, OSError):  # no file contains the test, or no process can be started
        return True


def _must_have_names(pair: Pair, path: Path, position: breadcrumb.Position) -> None:
    """Raise `UsageError`, which tells of the death, if no other process can repeat it with `pair`; delete its file."""
    try:
        pair.names_elsewhere()
    except UsageError as error:
        breadcrumb.discard(path)
        raise UsageError(
            f"an earlier process ended in the middle of trial {position.index} of base seed {position.base_seed}, "
            f"maybe in {position.operator or 'tensor'} of {pair.sides[position.side != 'reference']}. It cannot be "
            f"repeated: {error}"
        ) from None
