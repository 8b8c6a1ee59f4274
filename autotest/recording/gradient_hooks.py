"""Runs gradient hooks, and the backward of custom autograd functions, before each backward, by recorded calls."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from autotest.recording.dual import Value, torch, wrap
from autotest.recording.reached_inputs import reached_inputs
from autotest.recording.recorder import Recorder

#: Arguments of ``Recorder.call``: kind, target, positional arguments, keyword arguments, and the owner of a method.
RecorderCall: TypeAlias = tuple[Any, str, Sequence[Any], Mapping[str, Any], Any]
#: A tensor, and the cotangent that is pushed into it.
PushedGradient: TypeAlias = tuple[Value, Value]

#: The calls that push gradients, by kind and target, and the names of their parameters in order.
_PARAMETERS = {
    ("method", "backward"): ("gradient", "retain_graph", "create_graph", "inputs"),
    ("function", "autograd.backward"): (
        "tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs",
    ),
    ("function", "autograd.grad"): (
        "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused",
    ),
}  # fmt: skip


class GradientHook(Protocol):
    """Something that reads or changes gradients as a backward passes certain tensors."""

    @property
    def order_key(self) -> tuple[int, int]:
        """Sort key: hooks run in descending order, the last part of the forward first."""

    @property
    def tensors(self) -> Sequence[Any]:
        """The tensors whose gradients the hook reads; it may read others, too."""

    def run(self, push: Push) -> Iterable[PushedGradient]:
        """Return what to push in addition, so that the backward continues with the changed gradients."""


@dataclasses.dataclass(slots=True)
class GradientHooks:
    """The gradient hooks of one record."""

    all: list[GradientHook] = dataclasses.field(default_factory=list)
    #: ids of tensors that are leaves only because the backward of a custom function continues before them.
    cut: set[int] = dataclasses.field(default_factory=set)
    busy: bool = False

    def with_hooks(self, recorder: Recorder, asked: RecorderCall) -> RecorderCall:
        """Run all hooks, and return the call to make instead of `asked`. Returns `asked` if it pushes no gradients."""
        kind, target, args, kwargs, owner = asked
        names = _PARAMETERS.get((kind, target))
        if names is None or self.busy:
            return asked
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        self.busy = True
        try:
            asked_for = [one for hook in self.all for one in hook.tensors if _is_leaf(recorder, one)]
            push = Push(recorder, _roots(recorder, given, owner), asked_for, bool(given.get("create_graph")))
            before = len(push.roots)
            for hook in sorted(self.all, key=lambda one: one.order_key, reverse=True):
                push.add(hook.run(push))
        finally:
            self.busy = False
        if len(push.roots) == before:
            return asked
        outputs, cotangents = (list(side) for side in zip(*push.roots, strict=True))
        rest = {name: value for name, value in given.items() if name not in _ROOTS}
        if target == "autograd.grad":
            inputs = rest.pop("inputs")
            return "function", target, (outputs, inputs, cotangents), rest, None
        return "function", "autograd.backward", (outputs, cotangents), rest, None


_COTANGENTS = ("gradient", "grad_tensors", "grad_variables", "grad_outputs")
_ROOTS = frozenset((*_COTANGENTS, "tensors", "outputs", "only_inputs"))


def _roots(recorder: Recorder, given: Mapping[str, Any], owner: Any) -> list[PushedGradient]:
    outputs = (
        [Value(recorder, owner[2].slot)] if owner is not None else _listed(given.get("tensors", given.get("outputs")))
    )
    cotangents = _listed(next((given[name] for name in _COTANGENTS if given.get(name) is not None), None))
    cotangents += [None] * (len(outputs) - len(cotangents))
    pairs = zip(outputs, cotangents, strict=True)
    return [(output, torch.ones_like(output) if one is None else one) for output, one in pairs]


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, Value) and not isinstance(value._expected, (tuple, list)):
        return [value]
    return [*value]


class Push:
    """One backward while hooks run: the tensors, and the cotangents that are pushed into them."""

    def __init__(
        self, recorder: Recorder, roots: list[PushedGradient], leaves: list[Value], create_graph: bool
    ) -> None:
        self._recorder, self.roots, self._leaves, self._create_graph = recorder, roots, leaves, create_graph

    def add(self, roots: Iterable[PushedGradient]) -> None:
        """Push `roots`, too."""
        self.roots = [*self.roots, *roots]

    def gradients(self, tensors: Sequence[Any], roots: Sequence[PushedGradient] | None = None) -> list[Any]:
        """Return the gradients of `tensors` from `roots` (default: all roots), None for a tensor without one."""
        roots = self.roots if roots is None else roots
        # OneFlow 0.9.0 keeps the gradient of a leaf that is not requested, and adds it to the next result for that
        # leaf. So all leaves are requested.
        unasked = [leaf for leaf in self._leaves if all(one is not leaf for one in tensors)]
        tensors = [*tensors, *unasked]
        outputs, cotangents = [one for one, _ in roots], [one for _, one in roots]
        found: list[Any] = [None] * (len(tensors) - len(unasked))
        can = [at for at, one in enumerate(tensors) if self.passes(one)]
        if not can or not roots:
            return found
        # OneFlow refuses inputs that the outputs do not depend on, so the reference finds these first.
        live = [[one._sides()[0] for one in some] for some in (outputs, [tensors[at] for at in can], cotangents)]
        can = [at for at, reached in zip(can, reached_inputs(self._recorder, *live), strict=True) if reached]
        if not can:
            return found
        named = {"retain_graph": True, **({"create_graph": True} if self._create_graph else {})}
        given = (outputs, [tensors[at] for at in can], cotangents)
        taken = Value(self._recorder, self._recorder.call("function", "autograd.grad", given, named))
        for number, at in enumerate(can):
            if at >= len(found):
                break
            found[at] = wrap(self._recorder, self._recorder.operate("getitem", (taken, number)))
        return found

    def passes(self, tensor: Any) -> bool:
        """Return whether a backward continues from `tensor`."""
        return isinstance(tensor, Value) and self._recorder.pair.reference.can_backpropagate(tensor._expected)

    def quietly(self) -> Any:
        """Return the context in which hooks run. It records gradients only if a graph of them is requested."""
        return contextlib.nullcontext() if self._create_graph else torch.no_grad()


@dataclasses.dataclass(slots=True)
class TensorHooks:
    """Hooks of one tensor: ``hook(gradient)`` returns another gradient, or None."""

    tensor: Value
    is_leaf: bool
    hooks: dict[int, tuple[Callable[..., Any], bool]] = dataclasses.field(default_factory=dict)

    @property
    def tensors(self) -> Sequence[Any]:
        return [self.tensor]

    @property
    def order_key(self) -> tuple[int, int]:
        # The gradient of a leaf is complete only after all other hooks have run, whatever its slot is.
        return (-1, 0) if self.is_leaf else (self.tensor._slot, 2)

    def run(self, push: Push) -> Iterable[PushedGradient]:
        (gradient,) = push.gradients([self.tensor]) if self.hooks else [None]
        if gradient is None:
            return []
        now = gradient
        with push.quietly():
            for hook, _ in [*self.hooks.values()]:
                changed = hook(now)
                now = now if changed is None else changed
            return [] if now is gradient else [(self.tensor, now - gradient)]


@dataclasses.dataclass(slots=True)
class ModuleHooks:
    """Backward hooks around one call of a module.

    `before` hooks get the gradients of the outputs; `after` hooks get those of the inputs and of the outputs.
    """

    module: Any
    inputs: Sequence[Any]
    outputs: Sequence[Value]
    before: Sequence[Callable[..., Any]]
    after: Sequence[Callable[..., Any]]

    @property
    def tensors(self) -> Sequence[Any]:
        return self.inputs

    @property
    def order_key(self) -> tuple[int, int]:
        return max(one._slot for one in self.outputs), 1

    def run(self, push: Push) -> Iterable[PushedGradient]:
        given = tuple(push.gradients(self.outputs))
        if all(one is None for one in given):
            return []
        added: list[PushedGradient] = []
        with push.quietly():
            for hook in self.before:
                changed = hook(self.module, given)
                if changed is not None:
                    new = changed if isinstance(changed, tuple) else (changed,)
                    added += _differences(push, self.outputs, given, new)
                    given = new
        if not self.after:
            return added
        pushed = [(one, gradient) for one, gradient in zip(self.outputs, given, strict=True) if gradient is not None]
        passed = tuple(push.gradients(self.inputs, pushed))
        with push.quietly():
            for hook in self.after:
                changed = hook(self.module, passed, given)
                if changed is not None:
                    new = changed if isinstance(changed, tuple) else (changed,)
                    added += _differences(push, self.inputs, passed, new)
                    passed = new
        return added


def _differences(
    push: Push, tensors: Sequence[Any], old: Sequence[Any], new: Sequence[Any]
) -> Iterator[PushedGradient]:
    """Yield what to push so that the gradients `old` of `tensors` become `new`; None is no gradient."""
    for one, before, after in zip(tensors, old, new, strict=True):
        if after is before:
            continue
        if after is None:
            yield one, -before
        elif before is not None:
            yield one, after - before
        elif push.passes(one):  # torch drops what a hook returns for any other tensor
            yield one, after


def _is_leaf(recorder: Recorder, tensor: Any) -> bool:
    reference = recorder.pair.reference
    can = isinstance(tensor, Value) and reference.can_backpropagate(tensor._expected)
    return can and bool(reference.invoke("getattr", "is_leaf", [tensor._expected], {}))


def gradient_hooks_of(recorder: Recorder) -> GradientHooks:
    """Return the hooks of the record of `recorder`, and create them if it has none."""
    hooks = recorder.modules.gradient_hooks
    if not isinstance(hooks, GradientHooks):
        hooks = recorder.modules.gradient_hooks = GradientHooks()
    return hooks


def hooks_on(recorder: Recorder, tensor: Value) -> TensorHooks:
    """Return the hooks on `tensor`, to which more can be added."""
    hooks = gradient_hooks_of(recorder)
    for hook in hooks.all:
        if isinstance(hook, TensorHooks) and hook.tensor._expected is tensor._expected:
            return hook
    tensor._lower(recorder)
    made = TensorHooks(tensor, _is_leaf(recorder, tensor) and id(tensor._expected) not in hooks.cut)
    hooks.all.append(made)
    return made


def tensors_in(value: Any) -> list[Any]:
    """Return the tensors in the nested arguments or results of a module, in order, with other leaves as they are."""
    if isinstance(value, (tuple, list)) or (isinstance(value, Value) and isinstance(value._expected, (tuple, list))):
        return [item for part in value for item in tensors_in(part)]
    return [value]


__all__ = [
    "GradientHooks",
    "ModuleHooks",
    "Push",
    "PushedGradient",
    "TensorHooks",
    "gradient_hooks_of",
    "hooks_on",
    "tensors_in",
]
