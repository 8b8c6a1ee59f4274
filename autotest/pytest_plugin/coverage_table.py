"""The table of `--autotest-coverage`, with the optional arguments that the reference's signatures have."""

from __future__ import annotations

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.frameworks import all_chosen_names, framework
from autotest.report.coverage import table
from autotest.results.coverage import Coverage
from autotest.results.optional_arguments import OptionalArgument, OptionalArguments, calling


def lines(coverage: Coverage) -> list[str]:
    """Return the table of what operators were given. Other runs look up no signature."""
    return table(coverage, signatures(coverage))


def signatures(coverage: Coverage) -> OptionalArguments:
    """Return the optional arguments of the operators in `coverage`; none if the reference cannot be imported."""
    try:
        reference = framework(all_chosen_names()[0])
    except (FrameworkMissing, UsageError):  # the tests could not run either, and have said so
        return {}
    found: dict[str, dict[str, OptionalArgument]] = {}
    for operator, features in coverage.items():
        for called_as in calling(features):
            found.setdefault(operator, {}).update(reference.optional_arguments(operator, called_as))
    return found
