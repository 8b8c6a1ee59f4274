"""What a record knows of the modules in it: which dual object stands for which, their hooks, and where they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from autotest.program import Scope


@dataclasses.dataclass(slots=True)
class Hooks:
    """Functions with dual bodies to be called around a module's own call, by the order of their registration."""

    before: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)
    after: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)
    #: The same around its backward.
    before_backward: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)
    after_backward: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)

    def copied(self) -> Hooks:
        """The same functions, for a copy of the module."""
        return Hooks(dict(self.before), dict(self.after), dict(self.before_backward), dict(self.after_backward))


class ModuleTable:
    """All of it by the id of the reference's module (or parameter), which its dual object keeps alive."""

    __slots__ = ("copies", "duals", "gradient_hooks", "hooks", "networks", "scopes")

    def __init__(self) -> None:
        self.duals: dict[int, Any] = {}
        self.hooks: dict[int, Hooks] = {}
        #: Modules that stand for instances of the test's own classes.
        self.networks: set[int] = set()
        #: Modules that a copy made of such, with what they are copies of.
        self.copies: dict[int, Any] = {}
        #: While a network is called: the path of each module in it, beginning with the name of the outermost class.
        self.scopes: dict[int, Scope] = {}
        #: What is to be done with gradients as they pass, see `autotest.recording.gradient_hooks`; None if nothing is.
        self.gradient_hooks: Any = None

    @property
    def plain(self) -> bool:
        """Whether the frameworks can call every module by themselves."""
        return not (self.networks or self.hooks)

    def take_over(self, other: ModuleTable) -> None:
        """Know what `other` knows, too."""
        self.duals.update(other.duals)
        self.hooks.update(other.hooks)
        self.networks |= other.networks
        self.copies.update(other.copies)


class ModuleClass(Protocol):
    """The class of the dual objects of modules, as far as other dual objects need to know it."""

    def holding(self, recorder: Any, slot: int) -> Any:
        """The dual object of the module in `slot` of `recorder`."""

    def on_gradient(self, recorder: Any, tensor: Any, hook: Callable[..., Any]) -> Any:
        """Let `hook` have the gradient of the dual `tensor` in each backward; returns what takes it away again."""

    def as_base(self, path: str) -> type:
        """What stands for the framework's class at `path` where a test writes it as a base class."""
