"""Reads pytest's marks of a test: whether it is skipped, and the arguments it is called with."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One call of a test, as requested by `parametrize`."""

    arguments: dict[str, Any]
    #: pytest's names for arguments without a name of their own: ``shape0``, ``shape1``.
    labels: dict[str, str]
    #: Why it is not to be run; None if it is.
    why: str | None
    #: Why it is expected to fail; None if it is not.
    failing: str | None


def marks_of(holder: Any) -> list[Any]:
    marks = getattr(holder, "pytestmark", [])
    return [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, (list, tuple)) else [marks])]


def skip_mark(marks: Sequence[Any]) -> str | None:
    """Return why pytest's marks skip the test; None if they do not."""
    for mark in marks:
        name, args = getattr(mark, "name", ""), getattr(mark, "args", ())
        if name == "skip":
            return f"skipped: {mark.kwargs.get('reason', args[0] if args else '')}"
        if name == "skipif" and args and not isinstance(args[0], str) and args[0]:
            return f"skipped: {mark.kwargs.get('reason', '')}"
    return None


def xfail_mark(marks: Sequence[Any]) -> str | None:
    """Return why pytest's marks expect the test to fail; None if they do not.

    A condition that is a string is not evaluated; the test then counts as one that is expected to pass.
    """
    for mark in marks:
        name, args = getattr(mark, "name", ""), getattr(mark, "args", ())
        if name == "xfail":
            condition = mark.kwargs.get("condition", args[0] if args else True)
            if condition and not isinstance(condition, str):
                return f"expected to fail: {mark.kwargs.get('reason', '')}".removesuffix(": ")
    return None


def own_skip(error: BaseException) -> str | None:
    """Return why the test that raised `error` skips itself; None if `error` is no skip of pytest or unittest."""
    for kind in type(error).__mro__:
        if (kind.__module__, kind.__name__) in _SKIPS:
            return str(error) or "without a reason"
        if (kind.__module__, kind.__name__) == ("_pytest.outcomes", "XFailed"):
            return f"expected to fail: {error}"
    return None


#: By name, because neither module is imported unless it is used. pytest claims that its own class is a builtin.
_SKIPS = frozenset((("unittest.case", "SkipTest"), ("_pytest.outcomes", "Skipped"), ("builtins", "Skipped")))


class Parametrized(NamedTuple):
    """What a `parametrize` mark says."""

    #: The arguments that it names, and those of them that it gives to fixtures.
    names: list[str]
    fixtures: list[str]
    #: The values of the arguments, one row for each case.
    rows: Iterable[Any]


def parametrized(mark: Any) -> Parametrized:
    """Read a `parametrize` mark."""
    given = dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False)) | mark.kwargs
    names = given["argnames"]
    names = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    through, values = given.get("indirect") or (), given["argvalues"]
    if isinstance(values, Iterator) and isinstance(values, Hashable):
        values = _read_once(values)
    return Parametrized(names, [name for name in names if through is True or name in through], values)


@functools.cache  # an iterator gives its values only once, and every task lists the tests of a file
def _read_once(values: Iterator[Any]) -> Sequence[Any]:
    return tuple(values)


def cases(marks: list[Any]) -> Iterator[Case]:
    """Yield the cases that `parametrize` marks define; one without arguments if there are no such marks."""
    axes: list[list[Case]] = []
    for mark in marks:
        if getattr(mark, "name", "") != "parametrize":
            continue
        names, fixtures, rows = parametrized(mark)
        needs = f"needs the fixtures {', '.join(fixtures)}" if fixtures else None
        axis: list[Case] = []
        for position, value in enumerate(rows):
            own = hasattr(value, "marks") and hasattr(value, "values")  # a pytest.param
            row = value.values if own else ((value,) if len(names) == 1 else value)
            its = [getattr(one, "mark", one) for one in value.marks] if own else []
            labels = {name: f"{name}{position}" for name in names}
            axis.append(Case(dict(zip(names, row, strict=True)), labels, needs or skip_mark(its), xfail_mark(its)))
        axes.append(axis)
    for combination in itertools.product(*axes):
        arguments = {key: value for case in combination for key, value in case.arguments.items()}
        labels = {key: value for case in combination for key, value in case.labels.items()}
        why = next((case.why for case in combination if case.why), None)
        yield Case(arguments, labels, why, next((case.failing for case in combination if case.failing), None))
