"""torch's own second implementations of its operators, and the public function that computes a call's result."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autotest.frameworks.harvester.names import path_of
from autotest.frameworks.requests import FunctionCalled, Implementation
from autotest.frameworks.torch_names import FUNCTIONS

#: Namespace of a public function -> modules with its reference implementations, the likeliest first.
_PLACES: Mapping[str, tuple[str, ...]] = {
    "nn.functional": ("torch._refs.nn.functional", "torch._refs"),
    "special": ("torch._refs.special",),
    "linalg": ("torch._refs.linalg",),
    "fft": ("torch._refs.fft",),
    "": ("torch._refs",),
    "Tensor": ("torch._refs",),
}


class _CallLog(TorchFunctionMode):  # type: ignore[misc]  # torch has no types
    """Records the public functions that are called, with copies of their operands from before the call."""

    def __init__(self) -> None:
        super().__init__()
        #: Each function with its result, and whether an operand was the result of an earlier function.
        self.seen: list[tuple[FunctionCalled, Any, bool]] = []
        self._made: list[Any] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = public_path(function)
        with torch.no_grad():
            held = _copied((args, kwargs)) if name else ((), {})
        result = function(*args, **kwargs)
        operands, computed = _tensors((args, kwargs)), _tensors(result)
        # A result of no tensor operands, such as an initial state of zeros, is a constant.
        if operands and computed:
            if name:
                written = args[0] if args and (kwargs.get("inplace") is True or name.endswith("_")) else None
                fed = any(operand is one for operand in operands for one in self._made)
                self.seen.append((FunctionCalled(name, held[0], held[1], written), result, fed))
            self._made += computed
        return result


def public_path(function: Any) -> str:
    """Return the dotted path below torch of a public function: ``nn.functional.relu``, ``Tensor.add_``; else ""."""
    path = path_of(function)
    if path.endswith((".__get__", ".__set__", ".__delete__")):
        return ""
    folder, _, own = path.rpartition(".")
    if own.startswith("__") and own.endswith("__"):
        plain = own.strip("_")
        in_place = plain[:1] == "i" and plain[1:] in FUNCTIONS
        plain = plain[1:] if in_place else plain
        own = FUNCTIONS.get(plain, plain) + ("_" if in_place else "")
    return f"{folder}.{own}".lstrip(".")


def function_called(call: Callable[[], Any]) -> FunctionCalled | None:
    """Run `call` and return the one public function that computes its result, or None if several do.

    Functions that do not contribute to the result are ignored, such as the counting of batches in a BatchNorm.
    """
    with _CallLog() as log:
        returned = call()
    found = [(called, fed) for called, result, fed in log.seen if result is returned]
    return found[0][0] if len(found) == 1 and not found[0][1] else None


def reference_implementations(path: str) -> Iterator[Implementation]:
    """Yield other implementations of the function at `path`: compositions of other operators.

    They raise `LookupError` if they call the operator itself.
    """
    folder, _, name = path.rpartition(".")
    plain = name.rstrip("_")
    if plain.startswith("native_"):  # these also return statistics, which are rounded differently
        return
    for place in _PLACES.get(folder, ()):
        try:
            function = getattr(importlib.import_module(place), plain, None)
        except Exception:  # noqa: BLE001 - private modules, which may be missing or broken in any version
            continue
        if callable(function):
            yield Implementation(f"{place}.{plain}", _independent(function, plain))
            return
    packet = getattr(torch.ops.aten, plain, None)
    function = _decompositions().get(getattr(packet, "default", None))
    # A decomposition takes the reduction of a loss as a number, but the public function takes a name.
    if function is not None and "reduction" not in inspect.signature(function).parameters:
        yield Implementation(f"torch._decomp of {plain}", _independent(function, plain))


def _decompositions() -> Mapping[Any, Callable[..., Any]]:
    try:
        table: Mapping[Any, Callable[..., Any]] = importlib.import_module("torch._decomp").decomposition_table
    except Exception:  # noqa: BLE001 - private, as above
        return {}
    return table


class _Refusing(TorchDispatchMode):  # type: ignore[misc]
    """Raises if the operator `name` is called: code that calls it is not a second implementation of it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function.overloadpacket.__name__.strip("_").removeprefix("native_") == self._name:
            raise LookupError(f"{function} is the operator itself")
        return function(*args, **(kwargs or {}))


def _independent(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def computed(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("inplace", None)
        with torch.no_grad(), _Refusing(name):
            return function(*args, **kwargs)

    return computed


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list, dict)):
        return [one for item in (value.values() if isinstance(value, dict) else value) for one in _tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (tuple, list):
        return type(value)(_copied(item) for item in value)
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return value
