"""A namespace with torch's names on top of any adapter, for the programs of reproducers."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT
from autotest.program import Array, CallKind, Root, map_operand


class TorchLike:
    """torch's namespace below `path`, implemented by `framework`."""

    def __init__(self, framework: Framework, path: str = "") -> None:
        self._framework, self._path = framework, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return TorchLike(self._framework, f"{self._path}.{name}" if self._path else name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._path == "tensor" and args and isinstance(args[0], np.ndarray):  # an input of the program
            return self._tensor(*args, **kwargs)
        return _invoke(self._framework, "function", self._path, args, kwargs)

    def _tensor(
        self, data: np.ndarray[Any, Any], *, dtype: Any = None, device: str = "cpu", requires_grad: bool = False
    ) -> Any:
        name = str(data.dtype) if dtype is None else dtype._path
        made = self._framework.tensor(Array(data, name), device=device, requires_grad=requires_grad)
        return TorchLikeValue(self._framework, made)


#: Members of only one of the two kinds. By them, scripts tell tensors from modules.
_OF_TENSORS, _OF_MODULES = ("requires_grad", "tolist"), ("named_parameters", "named_buffers")


class TorchLikeValue:
    """A tensor, module or context manager of an adapter's framework, with torch's names for its methods."""

    __array_ufunc__ = None

    def __init__(self, framework: Framework, value: Any) -> None:
        object.__setattr__(self, "_framework", framework)
        object.__setattr__(self, "_value", value)

    def __getattr__(self, name: str) -> Any:
        framework, value = self._framework, self._value
        tensor = isinstance(value, framework.tensor_types)
        if name.startswith("__") or name in (_OF_MODULES if tensor else _OF_TENSORS):
            raise AttributeError(name)
        if tensor and name == "shape":
            return framework.shape(value)
        if tensor and name == "dtype":
            return framework.dtype_of(value)
        if tensor and name == "device":
            return _Device(framework.device_type(value))
        if name in _OF_MODULES:
            held = framework.parameters(value) if name == "named_parameters" else framework.buffers(value)
            return lambda: [(key, TorchLikeValue(framework, item)) for key, item in held.items()]
        if framework.provides("getattr", name, value) and not framework.is_method(value, name):
            return _closed(framework, framework.invoke("getattr", name, (value,), {}))
        held = {} if tensor else framework.parameters(value) if isinstance(value, framework.module_types) else {}
        if name in held:
            return TorchLikeValue(framework, held[name])
        return functools.partial(self._method, name)

    def _method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return _invoke(self._framework, "method", name, (self, *args), kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        _invoke(self._framework, "setattr", name, (self, value), {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._method("__call__", *args, **kwargs)

    def __setitem__(self, key: Any, value: Any) -> None:
        _invoke(self._framework, "operator", "setitem", (self, key, value), {})

    def __enter__(self) -> Any:
        _invoke(self._framework, "enter", "", (self,), {})
        return self

    def __exit__(self, *details: Any) -> None:
        _invoke(self._framework, "exit", "", (self, *details), {})

    def __len__(self) -> int:
        return int(_invoke(self._framework, "builtin", "len", (self,), {}))

    def __iter__(self) -> Any:
        return iter(_invoke(self._framework, "builtin", "list", (self,), {}))

    def __float__(self) -> float:
        return float(_invoke(self._framework, "builtin", "float", (self,), {}))

    def __bool__(self) -> bool:
        return bool(_invoke(self._framework, "builtin", "bool", (self,), {}))

    __hash__ = object.__hash__


class _Device:
    """The device of a tensor."""

    def __init__(self, kind: str) -> None:
        self.type = kind


def _install_operators() -> None:
    def forward(name: str) -> Any:
        return lambda self, *others: _invoke(self._framework, "operator", name, (self, *others), {})

    def reflected(name: str) -> Any:
        return lambda self, other: _invoke(self._framework, "operator", name, (other, self), {})

    binary = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split()
    for name in (*binary, *"neg pos abs invert lt le gt ge eq ne getitem".split()):
        setattr(TorchLikeValue, f"__{name.rstrip('_')}__", forward(name))
    for name in binary:
        special = name.rstrip("_")
        setattr(TorchLikeValue, f"__r{special}__", reflected(name))
        if hasattr(operator, f"i{special}"):
            setattr(TorchLikeValue, f"__i{special}__", forward(f"i{special}"))
    TorchLikeValue.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]  # __eq__ took it away


_install_operators()


def _invoke(framework: Framework, kind: CallKind, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def opened(value: Any) -> Any:
        if isinstance(value, TorchLikeValue):
            return value._value
        return framework.resolve(value._path) if isinstance(value, TorchLike) else value

    given = tuple(map_operand(item, opened) for item in args)
    named = {key: map_operand(item, opened) for key, item in kwargs.items()}
    return _closed(framework, framework.invoke(kind, target, given, named))


def _closed(framework: Framework, value: Any) -> Any:
    """Return the object that a program gets for a result of the framework."""
    value = framework.known(value)
    if isinstance(value, (tuple, list)) and not isinstance(value, framework.tensor_types):
        items = [_closed(framework, item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, (*framework.tensor_types, *framework.module_types)) or hasattr(value, "__enter__"):
        return TorchLikeValue(framework, value)
    neutral = framework.literal(value)
    return neutral.path if isinstance(neutral, Root) else value if neutral is ABSENT else neutral
