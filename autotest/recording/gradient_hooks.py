"""Runs gradient hooks, and the backward of custom autograd functions, before each backward, by recorded calls.

The graph is cut at each tensor that a hook watches: later calls read a leaf with the same contents. So the gradient
that a hook returns is itself pushed into the tensor before the cut, and none has to be taken back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from autotest.program import Call
from autotest.program.semantics import writes_first_operand
from autotest.recording.changed_gradients import leaving, returning
from autotest.recording.dual import Value, torch
from autotest.recording.push import Push, PushedGradient, RecorderCall
from autotest.recording.recorder import Recorder

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
_COTANGENTS = ("gradient", "grad_tensors", "grad_variables", "grad_outputs")
_ROOTS = frozenset((*_COTANGENTS, "tensors", "outputs", "only_inputs"))


class GradientHook(Protocol):
    """Something that reads or changes gradients as a backward passes certain tensors."""

    @property
    def order_key(self) -> tuple[int, int]:
        """Sort key: hooks run in descending order, the last part of the forward first, of equals the last one."""

    @property
    def tensors(self) -> Sequence[Any]:
        """The tensors whose gradients the hook reads; it may read others, too."""

    def run(self, push: Push) -> Iterable[PushedGradient]:
        """Return what to push in addition, so that the backward continues before the cut."""

    def carried(self, recorder: Recorder, slots: Mapping[int, int]) -> GradientHook | None:
        """Return the same hook for a record that imported its tensor, or None if the record does not need it.

        `slots` contains, by the id of the reference's tensor, the slots of the imported values.
        """


@dataclasses.dataclass(slots=True)
class GradientHooks:
    """The gradient hooks of one record."""

    all: list[GradientHook] = dataclasses.field(default_factory=list)
    #: ids of tensors that are leaves only because the graph is cut before them.
    cut: set[int] = dataclasses.field(default_factory=set)
    #: id of a tensor with hooks -> the slot of the leaf that later calls read instead.
    continued: dict[int, int] = dataclasses.field(default_factory=dict)
    #: id of a leaf at which the graph is cut -> makes a tensor behind it that can be written into.
    behind: dict[int, Callable[[], Value]] = dataclasses.field(default_factory=dict)
    busy: bool = False

    def with_hooks(self, recorder: Recorder, asked: RecorderCall) -> RecorderCall:
        """Run all hooks, and return the call to make instead of `asked`. Returns `asked` if it pushes no gradients."""
        kind, target, args, kwargs, owner = asked
        names = _PARAMETERS.get((kind, target))
        if names is None and self.behind:
            return self._behind_the_cut(recorder, asked)
        if names is None or self.busy:
            return asked
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        self.busy = True
        try:
            asked_for = [one for hook in self.all for one in hook.tensors if is_leaf(recorder, one)]
            graph, returns = bool(given.get("create_graph")), target == "autograd.grad"
            roots = _roots(recorder, given, owner)
            push = Push(recorder, roots, asked_for, create_graph=graph, returns=returns)
            before = len(push.roots)
            order = sorted(enumerate(self.all), key=lambda one: (one[1].order_key, one[0]), reverse=True)
            for _, hook in order:
                push.add(hook.run(push))
            pushing = asked if len(push.roots) == before else _pushing(push, target, given)
            if returns:
                return returning(push, pushing, _listed(given["inputs"]))
            return leaving(push, pushing, _listed(given.get("inputs")))
        finally:
            self.busy = False

    def _behind_the_cut(self, recorder: Recorder, asked: RecorderCall) -> RecorderCall:
        """Return `asked`, on a tensor behind the leaf at which the graph is cut if it writes into that leaf."""
        kind, target, args, kwargs, owner = asked
        made = Call(kind, target, (owner, *args) if owner is not None else tuple(args), dict(kwargs), 0)
        if not (made.args and recorder.recording_gradients and writes_first_operand(made)):
            return asked
        written = made.args[0]
        leaf = owner[0] if owner is not None else written._expected if isinstance(written, Value) else None
        if id(leaf) not in self.behind:
            return asked
        behind = self.behind[id(leaf)]()
        if owner is not None:
            return kind, target, args, kwargs, behind._lower(recorder)
        return kind, target, (behind, *args[1:]), kwargs, None

    def carry_to(self, recorder: Recorder, slots: Mapping[int, int]) -> None:
        """Put the hooks on tensors into the record of `recorder`, which imported the tensors into `slots`."""
        carried = [hook.carried(recorder, slots) for hook in self.all]
        gradient_hooks_of(recorder).all += [hook for hook in carried if hook is not None]


def _pushing(push: Push, target: str, given: Mapping[str, Any]) -> RecorderCall:
    """Return the call that pushes all roots, with the other arguments `given` to the call of `target`."""
    outputs, cotangents = (list(side) for side in zip(*push.roots, strict=True))
    rest = {name: value for name, value in given.items() if name not in _ROOTS}
    if target == "autograd.grad":
        inputs = rest.pop("inputs")
        return "function", target, (outputs, inputs, cotangents), rest, None
    return "function", "autograd.backward", (outputs, cotangents), rest, None


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


def is_leaf(recorder: Recorder, tensor: Any) -> bool:
    """Return whether `tensor` requires a gradient and is at the end of the graph, maybe because the graph is cut."""
    reference = recorder.pair.reference
    can = isinstance(tensor, Value) and reference.can_backpropagate(tensor._expected)
    return can and bool(reference.invoke("getattr", "is_leaf", [tensor._expected], {}))


def gradient_hooks_of(recorder: Recorder) -> GradientHooks:
    """Return the hooks of the record of `recorder`, and create them if it has none."""
    hooks = recorder.modules.gradient_hooks
    if not isinstance(hooks, GradientHooks):
        hooks = recorder.modules.gradient_hooks = GradientHooks()
    return hooks


def unhooked(recorder: Recorder, value: Any) -> Any:
    """Return another dual object for the same tensor: a hook that is registered later moves the body's own object."""
    return Value(recorder, value._lower(recorder)[2].slot) if isinstance(value, Value) else value


def behind_cut(cut: Value) -> Value:
    """Return a tensor that is computed from the leaf `cut` and shares its memory.

    As `cut` is a leaf, autograd allows no write into it or into a view of it. A detached tensor becomes part of the
    graph if another one is added to it in place. To minus zero, because this changes no number, minus zero included.
    """
    contents, behind = cut.clone(), cut.detach()
    behind.fill_(-0.0)
    return behind.add_(contents)  # type: ignore[no-any-return]


def cut_at(recorder: Recorder, tensor: Value) -> Value:
    """Return a leaf with the contents of `tensor`. The hook that asks for it pushes gradients into `tensor` itself."""
    cut: Value = tensor.detach().requires_grad_()
    gradient_hooks_of(recorder).cut.add(id(cut._expected))
    return cut
