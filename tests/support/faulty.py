"""torch with planted faults, for use as the candidate (or the reference) of a pair.

A replacement is a function of the original: ``{"nn.functional.relu": lambda relu: lambda x: relu(x) + 1}``. The
argument `tensors` replaces methods, operators and calls inside of modules. Its keys are the names of tensor methods in
torch's ``__torch_function__`` protocol: ``{"add": ...}`` covers ``x + y``, ``x.add(y)`` and ``torch.add(x, y)``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks.torch import TorchFramework

Replacement = Callable[[Any], Any]


class FaultyTorch(TorchFramework):
    """torch with replaced functions.

    Args:
        replace: dotted path below torch -> function that turns the original into its replacement.
        missing: dotted paths that are removed.
        tensors: name of a tensor function -> the same kind of function, applied to tensors of this side.
        gradient: ``gradient(tensor)`` returns the gradient that the adapter reads for the tensor.
        value: ``value(frozen)`` returns the contents and attributes that the adapter reads for a tensor.
        name: name and alias of the framework.
        origin: ``"module:factory"`` of this fault, for reproducers that run in another process.
    """

    def __init__(
        self,
        replace: Mapping[str, Replacement] | None = None,
        *,
        missing: Iterable[str] = (),
        tensors: Mapping[str, Replacement] | None = None,
        gradient: Callable[[Any], Any] | None = None,
        value: Callable[[TensorValue], TensorValue] | None = None,
        name: str = "faulty",
        origin: str = "",
    ) -> None:
        super().__init__(name, alias=name)
        self._replace = dict(replace or {})
        self._missing = tuple(missing)
        self._tensors = dict(tensors or {})
        self._gradient = gradient
        self._value = value
        self._origin = origin

    def import_root(self) -> ModuleType:
        torch = super().import_root()
        root = Overlay(torch)
        if self._tensors:
            faulty_tensor = _tensor_class(torch, self._tensors)
            for maker in ("from_numpy", "tensor"):
                root.replace(maker, functools.partial(_made_faulty, faulty_tensor))
        for path, replacement in self._replace.items():
            root.replace(path, replacement)
        for path in self._missing:
            root.remove(path)
        return root

    def gradient(self, tensor: Any) -> Any:
        return super().gradient(tensor) if self._gradient is None else self._gradient(tensor)

    def values(self, tensors: Any) -> list[TensorValue]:
        frozen = super().values(tensors)
        return frozen if self._value is None else [self._value(item) for item in frozen]

    def script(self) -> Script:
        if not self._origin:
            return super().script()
        module, _, factory = self._origin.partition(":")
        lines = ("import torch", f"import {module}", f"faulty = {module}.{factory}().root")
        return Script(name=self.name, lines=lines, namespace="faulty")


class Overlay(ModuleType):
    """A module with some attributes of its own, and all others from another module."""

    def __init__(self, real: Any) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(_real=real, _removed=set())

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_removed"]:
            raise AttributeError(f"{self.__name__} has no {name}")
        return getattr(self.__dict__["_real"], name)

    def replace(self, path: str, replacement: Replacement) -> None:
        """Put ``replacement(original)`` at dotted `path`, without changing the underlying module."""
        parent, last = self._parent(path)
        parent.__dict__[last] = replacement(getattr(parent, last))

    def remove(self, path: str) -> None:
        """Make the look-up of dotted `path` fail."""
        parent, last = self._parent(path)
        parent.__dict__["_removed"].add(last)

    def _parent(self, path: str) -> tuple[Overlay, str]:
        first, _, rest = path.partition(".")
        if not rest:
            return self, first
        present = getattr(self, first)
        inner = self.__dict__[first] = present if isinstance(present, Overlay) else Overlay(present)
        return inner._parent(rest)


def _made_faulty(faulty_tensor: Any, make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: make(*args, **kwargs).as_subclass(faulty_tensor)


def _tensor_class(torch: Any, replacements: Mapping[str, Replacement]) -> Any:
    """Return a tensor class that calls `replacements`, and whose results have this class, too."""

    class FaultyTensor(torch.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            original = functools.partial(_plain, super().__torch_function__, func, types)
            replacement = replacements.get(func.__name__)
            if replacement is None:
                return original(*args, **(kwargs or {}))
            # Without this, the replacement's own operations on the result would call this method again.
            with torch._C.DisableTorchFunctionSubclass():
                result = replacement(original)(*args, **(kwargs or {}))
            plain = isinstance(result, torch.Tensor) and not isinstance(result, cls)
            return result.as_subclass(cls) if plain else result

    return FaultyTensor


def _plain(dispatch: Any, func: Any, types: Any, *args: Any, **kwargs: Any) -> Any:
    return dispatch(func, types, args, kwargs)


def plus(amount: float) -> Replacement:
    """Return a replacement whose result is off by `amount`."""
    return lambda original: lambda *args, **kwargs: original(*args, **kwargs) + amount


def returning(value: Callable[[Any], Any]) -> Replacement:
    """Return a replacement whose result is ``value(result)``."""
    return lambda original: lambda *args, **kwargs: value(original(*args, **kwargs))


def raising(error: BaseException) -> Replacement:
    """Return a replacement that raises `error`."""

    def replacement(original: Any) -> Any:
        def raises(*args: Any, **kwargs: Any) -> Any:
            raise error

        return raises

    return replacement


def with_gradient(change: Callable[[Any], Any]) -> Replacement:
    """Return a replacement with the same result, whose gradient for the first argument is ``change(gradient)``."""

    def replacement(original: Any) -> Any:
        import torch

        class Through(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x.view_as(x)

            @staticmethod
            def backward(ctx: Any, gradient: Any) -> Any:
                return change(gradient)

        return lambda x, *args, **kwargs: original(Through.apply(x), *args, **kwargs)

    return replacement
