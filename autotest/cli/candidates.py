"""The option `--candidate`, with which a command runs against another framework than the project's own."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Final

from autotest.base.environment import variables
from autotest.base.errors import AutotestError, UsageError
from autotest.frameworks.registry import candidates_in, framework, must_be_known_candidates
from autotest.results.identity import without_interpreter

_VARIABLE: Final = "AUTOTEST_CANDIDATE"


def add_to(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the option to the parser of a command that runs trials."""
    parser.add_argument(
        "--candidate",
        metavar="NAME",
        dest="under_test",
        help="the framework under test: a registered name or MODULE:FACTORY"
        + ("; separate several by commas" if several else ""),
    )


def add_filter(parser: argparse.ArgumentParser) -> None:
    """Add the option to the parser of a command that works on stored failures."""
    parser.add_argument("--candidate", metavar="NAME", default="", help="only failures of this candidate")


@contextlib.contextmanager
def candidate_in_environment(arguments: argparse.Namespace) -> Iterator[None]:
    """Set the environment variable for `--candidate` while the command runs, so that worker processes inherit it.

    Raises `UsageError` for an unknown name.
    """
    asked = getattr(arguments, "under_test", None)
    if asked is None:
        yield
        return
    must_be_known_candidates(asked)
    with variables({_VARIABLE: asked}):
        yield


def must_run_call_by_call(candidate: str, otherwise: str) -> None:
    """Raise `UsageError` if a candidate runs whole programs: the command would compare its tensors, which are torch's.

    Args:
        candidate: the candidate's name.
        otherwise: what compares such a candidate.
    """
    if framework(candidate).always_in_graph:
        raise UsageError(f"candidate {candidate!r}: expected a framework that runs call by call; {otherwise}")


def stored_names(asked: str) -> frozenset[str]:
    """Return the names under which findings of the candidates in `asked` are stored.

    A name that is not registered is returned unchanged.
    """
    return frozenset(one for name in candidates_in(asked) for one in (without_interpreter(name), _own_name(name)))


def _own_name(name: str) -> str:
    try:
        return without_interpreter(framework(name).name)
    except AutotestError:
        return without_interpreter(name)
