"""The handle of a hook removes this hook only, and hooks that would never run are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import torch
from autotest.base.errors import UsageError
from autotest.recording.modules import Handle
from tests.support.running import trial


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


def test_a_hook_that_is_to_run_after_an_exception_is_refused() -> None:
    def body() -> None:
        torch.nn.ReLU().register_forward_hook(lambda module, given, result: None, always_call=True)

    with pytest.raises(UsageError, match=r"always_call=True.*Omit always_call"):
        trial(body)
