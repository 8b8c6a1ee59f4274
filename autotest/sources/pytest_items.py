"""The names of pytest's items, which are the same as those of the tests that a campaign collects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autotest.sources.pytest_marks import parametrized
from autotest.sources.test_names import CollectedName, variant_of


def name_of(item: Any) -> CollectedName:
    """Return the name of an item, which does not depend on the other items that are collected or selected."""
    import pytest

    owners = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    name = getattr(item, "originalname", None) or item.name
    marks = list(item.iter_markers("parametrize"))
    fixtures = frozenset(getattr(item, "fixturenames", ())) - direct_arguments(marks)
    positions: Mapping[str, int] = getattr(getattr(item, "callspec", None), "indices", {})
    return CollectedName(
        getattr(item, "function", None),
        item.path,
        ".".join([*owners, name]),
        arguments=_labels(marks, arguments_of(item)),
        fixtures=fixtures,
        variant=variant_of({key: position for key, position in positions.items() if key in fixtures}),
    )


def arguments_of(item: Any) -> dict[str, Any]:
    """Return the arguments of an item, and the parameters of its fixtures."""
    return dict(getattr(getattr(item, "callspec", None), "params", {}))


def direct_arguments(marks: Iterable[Any]) -> set[str]:
    """Return the names that `parametrize` marks pass directly to a test, not to its fixtures."""
    names: set[str] = set()
    for mark in marks:
        own, fixtures, _ = parametrized(mark)
        names |= {name for name in own if name not in fixtures}
    return names


def _labels(marks: Iterable[Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of `Case.labels` for the arguments of one item.

    pytest counts the positions of arguments over all items of the test, not within their mark.
    """
    labels: dict[str, str] = {}
    for mark in marks:
        names, _, rows = parametrized(mark)
        for position, row in enumerate(rows):
            values = getattr(row, "values", None) if hasattr(row, "marks") else None
            given = values if values is not None else ((row,) if len(names) == 1 else row)
            if all(arguments.get(name) is value for name, value in zip(names, given, strict=False)):
                labels |= {name: f"{name}{position}" for name in names}
                break
    return labels
