"""The names of the tests that pytest collected: the same as in campaigns, and unique."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from autotest.sources.test_names import CollectedName, labels
from autotest.sources.with_fixtures import direct_arguments


def names(items: Sequence[pytest.Item]) -> dict[str, CollectedName]:
    """Return the name of each of some autotests, by its node id."""
    plain = {item.nodeid: _called(item) for item in items}
    needed = labels((called.file, called.name) for called in plain.values())
    seen: collections.Counter[str] = collections.Counter()
    named = {}
    for item in items:
        called = plain[item.nodeid]
        called = dataclasses.replace(called, label=needed.get((called.file, called.name), ""))
        known = called.id((), _arguments(item))
        seen[known] += 1
        named[item.nodeid] = dataclasses.replace(called, number=seen[known])
    return named


def renamed(named: Mapping[str, CollectedName]) -> list[str]:
    """Return a line for each test whose name was changed because another test has the same name."""
    return [
        f"{node} is listed as {called.label or called.file.name}::{called.name}"
        + (f"#{called.number}" if called.number > 1 else "")
        + ", because another test has the same name"
        for node, called in named.items()
        if called.label or called.number > 1
    ]


def _called(item: pytest.Item) -> CollectedName:
    owners = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    name = getattr(item, "originalname", None) or item.name
    positions = getattr(getattr(item, "callspec", None), "indices", {})
    shown = {argument: f"{argument}{position}" for argument, position in positions.items()}
    fixtures = frozenset(getattr(item, "fixturenames", ())) - direct_arguments(item.iter_markers("parametrize"))
    function = getattr(item, "function", None)
    return CollectedName(function, item.path, ".".join([*owners, name]), arguments=shown, fixtures=fixtures)


def _arguments(item: pytest.Item) -> dict[str, Any]:
    return dict(getattr(getattr(item, "callspec", None), "params", {}))
