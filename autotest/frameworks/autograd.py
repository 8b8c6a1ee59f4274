"""The gradients of a framework: the part of its protocol that runs and reads backward passes."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Sequence
from typing import Any


class Autograd(abc.ABC):
    """Gradients of tensors. A framework without them says so in `has_gradients`."""

    name: str
    #: Whether it computes gradients. If not, a trial runs no backward of its own.
    has_gradients: bool = True

    def records_gradients(self) -> bool:
        """Return whether calls are recorded for gradients; False inside ``no_grad`` and similar contexts."""
        return True

    @abc.abstractmethod
    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        """Return the gradients of `inputs` for `cotangents` of `outputs`, without accumulating into any tensor.

        The gradient of an input that no output depends on is None. `create_graph` is for gradients of gradients.
        """

    @abc.abstractmethod
    def gradient(self, tensor: Any) -> Any:
        """Return the gradient that autograd has accumulated in `tensor`, or None."""

    @abc.abstractmethod
    def holds_gradient(self, tensor: Any) -> bool:
        """Return whether autograd accumulates into `tensor`: a leaf that requires grad, or one that retains it."""

    @abc.abstractmethod
    def can_backpropagate(self, tensor: Any) -> bool:
        """Return whether `tensor` is floating or complex and belongs to an autograd graph."""

    def retain_gradient(self, tensor: Any) -> None:
        """Make autograd keep the gradient of `tensor`, which can be backpropagated and is not a leaf."""
        raise NotImplementedError(f"{self.name} cannot keep the gradient of a tensor that is not a leaf")

    def keep_gradient(self, tensor: Any) -> None:
        """Make autograd keep the gradient of `tensor`, which can be backpropagated, if it does not yet and can."""
        if not self.holds_gradient(tensor):
            with contextlib.suppress(NotImplementedError):
                self.retain_gradient(tensor)

    def forget_gradient(self, tensor: Any) -> None:
        """Clear the gradient of `tensor`, a leaf or one that retains it, as if nothing had been backpropagated."""
        if tensor.is_leaf or self.holds_gradient(tensor):
            tensor.grad = None

    def node(self, tensor: Any) -> Any:
        """Return the autograd node that computed `tensor`, or None if unknown. An in-place write changes the node."""
        return None
