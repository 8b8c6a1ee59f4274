"""Backward hooks of a module: the graph is cut around each call of it, so that they see its own gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autotest.program import Scope
from autotest.recording.dual import Value
from autotest.recording.gradient_hooks import GradientHook, cut_at, gradient_hooks_of, unhooked
from autotest.recording.module_table import Hooks
from autotest.recording.push import Push, PushedGradient
from autotest.recording.recorder import Recorder


class AroundCall:
    """The backward hooks around one call of a module.

    Those before the backward get the gradients of the outputs; those after it get those of the inputs and outputs.
    `outside` is the path of the module that makes the call.
    """

    def __init__(self, recorder: Recorder, module: Any, hooks: Hooks, outside: Scope | None) -> None:
        self._recorder, self._module, self._outside = recorder, module, outside
        self._before = [hook for hook, _ in hooks.before_backward.values()]
        self._after = [hook for hook, _ in hooks.after_backward.values()]
        self._cuts = recorder.records_gradients()
        self._began = len(recorder.calls)
        self._inputs = _Cut()

    def entering(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments to call the module with."""
        cuts = self._cuts and bool(self._after)
        positional = tuple(self._cut(one, self._inputs, cuts) for one in args)
        named = {name: self._cut(one, self._inputs, cuts) for name, one in kwargs.items()}
        return (positional, named) if cuts else (tuple(args), dict(kwargs))

    def leaving(self, result: Any) -> Any:
        """Return the result of the call, for which the hooks will run."""
        outputs, ended, cuts = _Cut(), len(self._recorder.calls), self._cuts and bool(self._before)
        behind = self._cut(result, outputs, cuts)
        can = self._recorder.pair.reference.can_backpropagate
        differentiable = [at for at, one in enumerate(outputs.before) if isinstance(one, Value) and can(one._expected)]
        if differentiable:
            outputs = _Cut([outputs.before[at] for at in differentiable], [outputs.behind[at] for at in differentiable])
            of_outputs = _OutputHooks((ended, 0), self._module, outputs, self._before)
            of_inputs = _InputHooks((self._began, 1), self._module, self._inputs, self._after, of_outputs)
            gradient_hooks_of(self._recorder).all += [of_outputs, of_inputs]
        return behind if cuts else result

    def _cut(self, value: Any, into: _Cut, cuts: bool) -> Any:
        """Return `value` with its tensors replaced by leaves if `cuts`, and add all that is in it to `into`."""
        held = type(value._expected) if isinstance(value, Value) else type(value)
        if held in (tuple, list):
            return held([self._cut(one, into, cuts) for one in value])
        behind = self._leaf(value) if cuts else value
        into.before.append(unhooked(self._recorder, value))
        into.behind.append(into.before[-1] if behind is value else unhooked(self._recorder, behind))
        return behind

    def _leaf(self, value: Any) -> Any:
        """Return a leaf instead of `value` if a gradient passes it. The module is not said to have made the leaf."""
        recorder, inside = self._recorder, self._recorder.scope
        if not isinstance(value, Value) or not recorder.pair.reference.can_backpropagate(value._expected):
            return value
        recorder.scope = self._outside
        try:
            return cut_at(recorder, value)
        finally:
            recorder.scope = inside


@dataclasses.dataclass(slots=True)
class _Cut:
    """Arguments or results before the cut, and what replaces each of them behind it."""

    before: list[Any] = dataclasses.field(default_factory=list)
    behind: list[Any] = dataclasses.field(default_factory=list)

    def pushed(self, gradients: Sequence[Any]) -> list[PushedGradient]:
        """Return what to push before the cut; torch drops what a hook returns for any other tensor."""
        rows = zip(self.before, self.behind, gradients, strict=True)
        return [(one, new) for one, leaf, new in rows if new is not None and one is not leaf]


@dataclasses.dataclass(slots=True)
class _HooksOfCall(GradientHook):
    """Hooks of one call of a module, which see the gradients at one of its cuts; no other record needs them."""

    key: tuple[int, int]
    module: Any
    cut: _Cut
    hooks: Sequence[Callable[..., Any]]

    @property
    def order_key(self) -> tuple[int, int]:
        return self.key

    @property
    def tensors(self) -> Sequence[Any]:
        return self.cut.behind

    def carried(self, recorder: Recorder, slots: Mapping[int, int]) -> None:
        return None


@dataclasses.dataclass(slots=True)
class _OutputHooks(_HooksOfCall):
    """The hooks that run before the backward of a call."""

    #: The gradients of the outputs in the backward that runs, as the hooks changed them.
    given: tuple[Any, ...] = ()

    def run(self, push: Push) -> Iterable[PushedGradient]:
        self.given = tuple(push.gradients(self.cut.behind))
        if not self.hooks or all(one is None for one in self.given):
            return []
        with push.quietly():
            for hook in self.hooks:
                self.given = _listed(hook(self.module, self.given), self.given)
        return self.cut.pushed(self.given)


@dataclasses.dataclass(slots=True)
class _InputHooks(_HooksOfCall):
    """The hooks that run after the backward of a call."""

    of_outputs: _OutputHooks

    def run(self, push: Push) -> Iterable[PushedGradient]:
        given = self.of_outputs.given
        if not self.hooks:
            return []
        passed = tuple(push.gradients(self.cut.behind))
        if any(one is not None for one in given):
            with push.quietly():
                for hook in self.hooks:
                    passed = _listed(hook(self.module, passed, given), passed)
        return self.cut.pushed(passed)


def _listed(changed: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    if changed is None:
        return given
    return changed if isinstance(changed, tuple) else (changed,)
