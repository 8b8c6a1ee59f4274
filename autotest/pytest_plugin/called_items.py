"""The names of the tests that pytest collected: the same as in campaigns, and unique."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence

import pytest

from autotest.sources.pytest_items import arguments_of, name_of
from autotest.sources.test_names import CollectedName, labels


def names(items: Sequence[pytest.Item]) -> dict[str, CollectedName]:
    """Return the name of each of some autotests, by its node id."""
    plain = {item.nodeid: name_of(item) for item in items}
    needed = labels((called.file, called.name) for called in plain.values())
    seen: collections.Counter[str] = collections.Counter()
    named = {}
    for item in items:
        called = plain[item.nodeid]
        called = dataclasses.replace(called, label=needed.get((called.file, called.name), ""))
        known = called.id((), arguments_of(item))
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
