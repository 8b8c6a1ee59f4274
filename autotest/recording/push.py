"""One backward while gradient hooks run: what is pushed into which tensor, and the gradients so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from autotest.recording.dual import Value, torch, wrap
from autotest.recording.reached_inputs import reached_inputs
from autotest.recording.recorder import Recorder

#: Arguments of ``Recorder.call``: kind, target, positional arguments, keyword arguments, and the owner of a method.
RecorderCall: TypeAlias = tuple[Any, str, Sequence[Any], Mapping[str, Any], Any]
#: A tensor, and the cotangent that is pushed into it.
PushedGradient: TypeAlias = tuple[Value, Value]


class Push:
    """One backward while hooks run: the tensors, and the cotangents that are pushed into them."""

    def __init__(
        self, recorder: Recorder, roots: list[PushedGradient], leaves: list[Value], *, create_graph: bool, returns: bool
    ) -> None:
        self.recorder, self.roots, self.create_graph = recorder, roots, create_graph
        #: Whether the backward returns the gradients, and does not leave them in ``.grad``.
        self.returns = returns
        self._leaves = leaves
        #: Tensors at which the graph ends, with the gradients that hooks made of those that reach them.
        self.changed: list[PushedGradient] = []

    def add(self, roots: Iterable[PushedGradient]) -> None:
        """Push `roots`, too."""
        self.roots = [*self.roots, *roots]

    def gradients(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the gradients of `tensors` from all roots, None for a tensor without one."""
        # OneFlow 0.9.0 keeps the gradient of a leaf that is not requested, and adds it to the next result for that
        # leaf. So all leaves are requested.
        unasked = [leaf for leaf in self._leaves if all(one is not leaf for one in tensors)]
        tensors = [*tensors, *unasked]
        outputs, cotangents = [one for one, _ in self.roots], [one for _, one in self.roots]
        found: list[Any] = [None] * (len(tensors) - len(unasked))
        can = [at for at, one in enumerate(tensors) if self.passes(one)]
        if not can or not outputs:
            return found
        # OneFlow refuses inputs that the outputs do not depend on, so the reference finds these first.
        live = [[one._sides()[0] for one in some] for some in (outputs, [tensors[at] for at in can], cotangents)]
        can = [at for at, reached in zip(can, reached_inputs(self.recorder, *live), strict=True) if reached]
        if not can:
            return found
        named = {"retain_graph": True, **({"create_graph": True} if self.create_graph else {})}
        given = (outputs, [tensors[at] for at in can], cotangents)
        taken = Value(self.recorder, self.recorder.call("function", "autograd.grad", given, named))
        for number, at in enumerate(can):
            if at >= len(found):
                break
            found[at] = wrap(self.recorder, self.recorder.operate("getitem", (taken, number)))
        return found

    def passes(self, tensor: Any) -> bool:
        """Return whether a backward continues from `tensor`."""
        return isinstance(tensor, Value) and self.recorder.pair.reference.can_backpropagate(tensor._expected)

    def quietly(self) -> Any:
        """Return the context in which hooks run. It records gradients only if a graph of them is requested."""
        return contextlib.nullcontext() if self.create_graph else torch.no_grad()
