"""The handle of a hook removes this hook only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest.recording.modules import Handle


def first() -> None: ...


def second() -> None: ...


def test_a_handle_that_is_removed_twice_leaves_a_later_hook_alone() -> None:
    hooks: dict[int, tuple[Callable[..., Any], bool]] = {}
    with Handle(hooks, first) as handle:
        handle.remove()
        Handle(hooks, second)
    assert [hook for hook, _ in hooks.values()] == [second]


def test_a_hook_that_is_registered_twice_is_removed_once() -> None:
    hooks: dict[int, tuple[Callable[..., Any], bool]] = {}
    one, _ = Handle(hooks, first), Handle(hooks, first)
    one.remove()
    assert len(hooks) == 1
