"""A framework whose objects only its adapter may use: any other access to them raises.

Tensors have no ``shape``, no ``grad``, no ``==`` and no truth value, modules have no ``training``, and dtypes are
opaque objects, too. The framework computes with torch, which is not visible outside of this file. As the reference, it
shows that the layers above the adapters do not access the reference's objects either.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from autotest.emission import Script
from autotest.frameworks import Framework
from autotest.frameworks.torch import TorchFramework


class Touched(BaseException):
    """An object of the framework was accessed outside of its adapter.

    It is not an `Exception`, because that could be taken for a refusal.
    """


class Handle:
    """An object of the framework."""

    __slots__ = ("__weakref__", "_inside")

    def __init__(self, inside: Any) -> None:
        object.__setattr__(self, "_inside", inside)

    def _touched(self, *details: Any) -> NoReturn:
        raise Touched(f"{type(self).__name__} was asked for {details}")

    __getattr__ = __setattr__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _touched
    __bool__ = __len__ = __iter__ = __getitem__ = __setitem__ = __contains__ = __call__ = __hash__ = _touched
    __int__ = __float__ = __index__ = __array__ = __str__ = __repr__ = __format__ = __deepcopy__ = _touched
    __add__ = __radd__ = __sub__ = __mul__ = __matmul__ = __enter__ = __exit__ = __dlpack__ = _touched


class TensorHandle(Handle):
    """A tensor."""

    __slots__ = ()


class ModuleHandle(Handle):
    """A module."""

    __slots__ = ()


class Opaque(Framework):
    """The adapter. It delegates everything to `inner`."""

    tensor_types = (TensorHandle,)
    module_types = (ModuleHandle,)
    forkable = True

    def __init__(self, inner: TorchFramework | None = None, made_by: str = "framework") -> None:
        self._inner = inner or TorchFramework()
        self.name, self.alias, self._made_by = "opaque", "opaque", made_by
        self._handles: weakref.WeakValueDictionary[int, Handle] = weakref.WeakValueDictionary()

    def closed(self, value: Any) -> Any:
        """Return torch's `value` wrapped for use outside of the adapter; the same value gives the same handle."""
        torch = self._inner.root
        if isinstance(value, (Handle, torch.Size)):
            return value
        if isinstance(value, (list, tuple, dict)):
            return _of_items(value, self.closed)
        if isinstance(value, type):
            made = lambda _, *args, **named: self.closed(self._called(value, args, named))  # noqa: E731
            return type(value.__name__, (), {"__new__": made})
        own = type(value).__module__.partition(".")[0] == "torch"
        if own or isinstance(value, (torch.Tensor, torch.nn.Module, torch.optim.Optimizer)):
            return self._handle(value)
        if callable(value):
            return lambda *args, **named: self.closed(self._called(value, args, named))
        return value

    def _handle(self, value: Any) -> Handle:
        found = self._handles.get(id(value))
        if found is None:
            torch = self._inner.root
            kinds = {torch.Tensor: TensorHandle, torch.nn.Module: ModuleHandle, object: Handle}
            found = next(kind for of, kind in kinds.items() if isinstance(value, of))(value)
            self._handles[id(value)] = found
        return found

    def opened(self, value: Any) -> Any:
        """Return `value` with handles replaced by torch's objects."""
        if isinstance(value, Handle):
            return object.__getattribute__(value, "_inside")
        return _of_items(value, self.opened) if isinstance(value, (list, tuple, dict)) else value

    def _called(self, function: Callable[..., Any], args: Any, named: Any) -> Any:
        return function(*map(self.opened, args), **self.opened(dict(named)))

    def script(self) -> Script:
        module = "tests.support.opaque"
        lines = ("import torch", f"import {module}", f"opaque = {module}.{self._made_by}()._inner.root")
        return Script(name=self.name, lines=lines, namespace="opaque")

    def sample_databases(self) -> tuple[()]:
        return ()

    def around_trials(self) -> contextlib.AbstractContextManager[None]:
        return self._inner.around_trials()

    @contextlib.contextmanager
    def calls_of_modules(self, model: Any, seen: Callable[[str, Any, Any, Any], None]) -> Iterator[None]:
        def told(path: str, module: Any, given: Any, result: Any) -> None:
            seen(path, *map(self.closed, (module, given, result)))

        with self._inner.calls_of_modules(self.opened(model), told):
            yield

    @property
    def version(self) -> str:
        return self._inner.version


def _of_items(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of the container `value` with ``change(item)`` for each item."""
    if isinstance(value, dict):
        return type(value)((key, change(item)) for key, item in value.items())
    return getattr(type(value), "_make", type(value))(map(change, value))


def _forwarded(name: str) -> Callable[..., Any]:
    def method(self: Opaque, *args: Any, **named: Any) -> Any:
        return self.closed(self._called(getattr(self._inner, name), args, named))

    return method


#: Methods that are not delegated. The others call `inner` with opened arguments and return the closed result.
_OWN = frozenset(
    (*vars(Opaque), "load", "import_around", "first_failure", "known", "is_tensor", "transcribing", "text_of")
)
for _name in {*dir(Framework), *dir(TorchFramework)}:
    if not _name.startswith("_") and _name not in _OWN and callable(getattr(Framework, _name, None)):
        setattr(Opaque, _name, _forwarded(_name))
Opaque.__abstractmethods__ = frozenset()


def framework() -> Opaque:
    """Return the framework without faults."""
    return Opaque()
