"""The modules of a record: their dual objects, their hooks, and their paths."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from autotest.program import Scope


@dataclasses.dataclass(slots=True)
class Hooks:
    """Hooks around the calls of a module, in the order of their registration."""

    before: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)
    after: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)
    #: Hooks around the module's backward.
    before_backward: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)
    after_backward: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)

    @property
    def around_backward(self) -> bool:
        """Whether there is a hook around the module's backward."""
        return bool(self.before_backward or self.after_backward)

    def copied(self) -> Hooks:
        """Return a copy with the same functions, for a copy of the module."""
        return Hooks(dict(self.before), dict(self.after), dict(self.before_backward), dict(self.after_backward))


class ModuleTable:
    """Tables by the id of the reference's module or parameter, which its dual object keeps alive."""

    __slots__ = ("copies", "duals", "gradient_hooks", "hooks", "networks", "scopes")

    def __init__(self) -> None:
        self.duals: dict[int, Any] = {}
        self.hooks: dict[int, Hooks] = {}
        #: Modules that represent instances of the test's own classes.
        self.networks: set[int] = set()
        #: Modules that were made by copying a network -> the original.
        self.copies: dict[int, Any] = {}
        #: While a network is called: the path of each module in it, which begins with the class name of the outermost
        #: one.
        self.scopes: dict[int, Scope] = {}
        #: The record's `GradientHooks`, see `autotest.recording.gradient_hooks`, or None if it has none.
        self.gradient_hooks: Any = None

    @property
    def plain(self) -> bool:
        """Whether the frameworks can call every module directly."""
        return not (self.networks or self.hooks)

    def take_over(self, other: ModuleTable) -> None:
        """Add the entries of `other`."""
        self.duals.update(other.duals)
        self.hooks.update(other.hooks)
        self.networks |= other.networks
        self.copies.update(other.copies)


class ModuleClass(Protocol):
    """The part of the interface of dual modules' class that other dual objects need."""

    def holding(self, recorder: Any, slot: int) -> Any:
        """Return the dual object of the module in `slot` of `recorder`."""

    def on_gradient(self, recorder: Any, tensor: Any, hook: Callable[..., Any]) -> Any:
        """Call `hook` with the gradient of the dual `tensor` in each backward. Returns a handle to remove it."""

    def as_base(self, path: str) -> type:
        """Return the base class to use instead of the framework's class at `path`."""
