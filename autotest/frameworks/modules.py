"""The modules and optimizers of a framework: the part of its protocol that reads and sets their state."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from autotest.frameworks.states import Shapes
from autotest.program import Array


class Modules(abc.ABC):
    """Modules, and the optimizers of their parameters."""

    name: str

    @abc.abstractmethod
    def parameters(self, module: Any) -> dict[str, Any]:
        """Return the module's parameters by name; those of submodules have dotted names."""

    @abc.abstractmethod
    def buffers(self, module: Any) -> dict[str, Any]:
        """Return the module's buffers by name; those of submodules have dotted names."""

    def state(self, module: Any) -> dict[str, Any]:
        """Return the state of a module by name: its parameters, then its buffers."""
        return {**self.parameters(module), **self.buffers(module)}

    @abc.abstractmethod
    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        """Copy `state` into the parameters and buffers of the same names, in place and not recorded by autograd."""

    def expect_state(  # noqa: B027 - only a framework in another process takes note
        self, module: Any, parameters: Shapes, buffers: Shapes
    ) -> None:
        """Take note of the state shapes of the reference's new module, which `module` corresponds to.

        A framework in another process may assume that `module` has the same state, instead of asking. If the assumption
        is false, making `module` counts as failed with `StateDiffers`, which is raised when the process is waited for.
        """

    def children(self, module: Any) -> Mapping[str, Any]:
        """Return the direct submodules of `module` by name; None for a name that is registered without a module."""
        return module._modules  # type: ignore[no-any-return]

    def modules(self, model: Any) -> dict[str, Any]:
        """Return `model` and all its submodules by dotted path; the path of `model` is ""."""
        found = {"": model}
        for name, child in self.children(model).items():
            inner = {} if child is None else self.modules(child)
            found |= {f"{name}.{path}".rstrip("."): module for path, module in inner.items()}
        return found

    def calls_of_modules(
        self, model: Any, seen: Callable[[str, Any, Any, Any], None]
    ) -> contextlib.AbstractContextManager[None]:
        """Return a context in which each call of a module in `model` is reported to `seen`.

        `seen` is called with the module's path, the module, its arguments and its result.
        """
        raise NotImplementedError(f"{self.name} does not report the calls of modules")

    def is_training(self, module: Any) -> bool:
        """Return whether `module` is in training mode."""
        return bool(module.training)

    def training_modes(self, model: Any) -> dict[str, bool]:
        """Return by path whether `model` and each of its submodules are in training mode; empty if this is unknown."""
        return {path: self.is_training(module) for path, module in self.modules(model).items()}

    def attributes(self, owner: Any) -> dict[str, Any]:
        """Return the public attributes of an object that are no tensors and no modules; empty if they are unknown."""
        return {name: value for name, value in getattr(owner, "__dict__", {}).items() if not name.startswith("_")}

    def works_in_place(self, value: Any) -> bool:
        """Return whether `value` is a module that changes its argument in place."""
        return bool(getattr(value, "inplace", False))

    def draws(self, module: Any) -> bool:
        """Return whether a call of `module`, in its present mode, draws random numbers."""
        return False

    def optimized(self, optimizer: Any) -> list[Any]:
        """Return the tensors that a step of `optimizer` changes; an empty list if it is not an optimizer."""
        return [tensor for group in getattr(optimizer, "param_groups", ()) for tensor in group["params"]]

    def hyperparameters(self, optimizer: Any) -> list[Mapping[str, Any]]:
        """Return the arguments of each group of `optimizer` by name; an empty list if it is not an optimizer."""
        return [{**group} for group in getattr(optimizer, "param_groups", ())]

    def learning_rates(self, optimizer: Any) -> list[float]:
        """Return the learning rates of the groups of `optimizer`; an empty list if it is not an optimizer."""
        return [float(group["lr"]) for group in self.hyperparameters(optimizer) if "lr" in group]

    def memories(self, optimizer: Any) -> list[Mapping[str, Any]]:
        """Return what `optimizer` remembers of earlier steps of each of its tensors, such as a momentum, by name."""
        states = getattr(optimizer, "state", None) or {}
        return [
            {name: value for name, value in states.get(tensor, {}).items() if value is not None}
            for tensor in self.optimized(optimizer)
        ]

    def remembers_steps(self, optimizer: Any) -> bool:
        """Return whether `optimizer` has state of its earlier steps, such as a momentum."""
        return any(self.memories(optimizer))
