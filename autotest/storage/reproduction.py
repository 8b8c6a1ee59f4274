"""Checks whether a stored finding still happens."""

from __future__ import annotations

from typing import Literal, NamedTuple

from autotest.base.errors import AutotestError
from autotest.diagnosis.verification import run_script
from autotest.emission.script_output import shows
from autotest.frameworks import framework
from autotest.results.finding import Finding


class Reproduction(NamedTuple):
    """The result of running the script of a finding again."""

    state: Literal["still diverges", "fixed", "changed", "cannot tell"]
    #: The output of the script, or the reason why it could not be run.
    output: str


def reproduce(finding: Finding) -> Reproduction:
    """Run the script of `finding`.

    The state is ``changed`` if the script still shows a divergence, but not the one of the finding.
    """
    if finding.script is None:
        why = finding.verified if finding.verified.tried else "the program cannot be written as data"
        return Reproduction("cannot tell", f"there is no script: {why}")
    status, output = run_script(finding.script, ahead=_passive_imports(finding))
    if status == 0:
        return Reproduction("fixed", output)
    if status != 1:
        return Reproduction("cannot tell", output or f"the script ended with status {status}")
    return Reproduction("still diverges" if shows(output, finding) else "changed", output)


def _passive_imports(finding: Finding) -> tuple[str, ...]:
    """Return the imports that may run once for the scripts of many findings; see `Framework.passive_imports`."""
    try:
        return framework(finding.sides[0]).passive_imports
    except AutotestError:  # another machine has found it, with a reference that is not known here
        return ()
