"""Serves an adapter to another interpreter: carries out the calls that it sends, and answers its questions."""

from __future__ import annotations

import dataclasses
import itertools
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autotest.base.errors import AutotestError, FrameworkMissing
from autotest.frameworks.base import Absent, Framework
from autotest.frameworks.freezing import freeze
from autotest.frameworks.registry import framework
from autotest.frameworks.states import StateDiffers, difference
from autotest.frameworks.wire import LARGE, AnsweringEnd, Link, Name, RemoteFailure
from autotest.program import Array, map_operand

#: What stands for a value that another process had, before this one took its place.
_LOST: Final = RemoteFailure("", "", "lost")


class _Failed(Exception):
    """An operand is the result of a call that raised."""

    def __init__(self, failure: RemoteFailure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class Served:
    """The values of one framework, by number."""

    def __init__(self, adapter: Framework) -> None:
        self.framework = adapter
        self.values: dict[int, Any] = {}
        #: Numbers of calls that raised since they were last asked for.
        self.failed: dict[int, RemoteFailure] = {}

    # -- what is done without an answer ------------------------------------------------------------------

    def do(self, request: Sequence[Any]) -> None:
        """Carry out one request; what it raises becomes the value of its number."""
        name, key, *details = request
        try:
            made = _DONE[name](self, *details)
        except _Failed as error:
            self.values[key] = error.failure
        except Exception as error:  # noqa: BLE001 - the framework's, whatever it is
            self.values[key] = self.failed[key] = _failure(error)
        else:
            self.values[key] = made

    def value(self, key: int) -> Any:
        found = self.values.get(key, _LOST)
        if type(found) is RemoteFailure:
            raise _Failed(found)
        return found

    def _asked_for(self, key: int) -> Any:
        """What `value` gives, and what it raises only where the process that had it has ended."""
        found = self.values.get(key, _LOST)
        if type(found) is RemoteFailure and found.kind == "lost":
            raise _Failed(found)
        return found

    def live(self, operand: Any) -> Any:
        """An operand of a call with what the links in it stand for."""

        def leaf(item: Any) -> Any:
            if type(item) is Link:
                return self.value(item.key)
            if type(item) is np.ndarray and item.nbytes >= LARGE:
                return item.copy()  # a framework may keep it, where an adapter makes a tensor of a copy
            return self.framework.resolve(item.path) if type(item) is Name else item

        return map_operand(operand, leaf)

    def call(self, kind: Any, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = [self.live(item) for item in args]
        named = {key: self.live(item) for key, item in kwargs.items()}
        return self.framework.invoke(kind, target, given, named)

    def tensor(self, device: str, requires_grad: bool, data: Any, dtype: str) -> Any:
        return self.framework.tensor(Array(data, dtype), device=device, requires_grad=requires_grad)

    def overwrite(self, tensor: int, data: Any, dtype: str) -> None:
        self.framework.overwrite(self.value(tensor), Array(data, dtype))

    def load_state(self, module: int, state: Mapping[str, tuple[Any, str]]) -> None:
        arrays = {name: Array(data, dtype) for name, (data, dtype) in state.items()}
        self.framework.load_state(self.value(module), arrays)

    def gradient(self, tensor: int) -> Any:
        value = self.value(tensor)
        held = isinstance(value, self.framework.tensor_types) and self.framework.holds_gradient(value)
        return self.framework.gradient(value) if held else None

    def keep(self, tensor: int) -> None:
        self.framework.keep_gradient(self.value(tensor))

    def part(self, module: int, name: str) -> Any:
        return self.framework.state(self.value(module))[name]

    def expect(self, module: int, parameters: Sequence[tuple[str, Any]], buffers: Sequence[tuple[str, Any]]) -> None:
        """Let `module` count as not made where it holds other parameters and buffers than these."""
        value = self.value(module)
        told = difference(dict([*parameters, *buffers]), dict(itertools.chain(*self._state(value))))
        if told is not None:
            self.values[module] = self.failed[module] = _failure(StateDiffers(told))

    def forget(self, tensor: int) -> None:
        self.framework.forget_gradient(self.value(tensor))

    def seed(self, seed: int) -> None:
        self.framework.seed(seed)

    # -- what is answered --------------------------------------------------------------------------------

    def answer(self, question: str, *details: Any) -> Any:
        """The answer to one question; a `RemoteFailure` for what it raises."""
        try:
            return _ANSWERED[question](self, *details)
        except _Failed as error:
            return error.failure
        except Exception as error:  # noqa: BLE001 - told, whatever it is
            return _failure(error)

    def hello(self) -> dict[str, Any]:
        own = self.framework
        return {"name": own.name, "version": own.version, "python": platform.python_version(), "graph": own.graph_mode}

    def read(self, keys: Sequence[int]) -> list[Any]:
        """Each value as data; nothing for one that failed."""
        present = [key for key in keys if type(self._asked_for(key)) is not RemoteFailure]
        frozen = iter(freeze(self.framework, [self.values[key] for key in present]))
        taken = set(present)
        return [next(frozen) if key in taken else None for key in keys]

    def failures(self) -> dict[int, RemoteFailure]:
        found, self.failed = self.failed, {}
        return found

    def provides(self, kind: Any, target: str, owner: int | None) -> tuple[bool, bool]:
        """Whether there is such an operation, and whether what it refuses is to be known at once.

        That is so of classes, but for those of modules, which are made as the reference's are.
        """
        if owner is not None:
            return self.framework.provides(kind, target, self._asked_for(owner)), False
        try:
            found = self.framework.operation(kind, target)
        except AttributeError:
            return False, False
        return True, isinstance(found, type) and not issubclass(found, self.framework.module_types)

    def exists(self, path: str) -> bool:
        try:
            self.framework.resolve(path)
        except AttributeError:
            return False
        return True

    def same(self, one: int, other: int) -> bool:
        return self.framework.same(self._asked_for(one), self._asked_for(other))

    def declares(self, name: str, modules: bool) -> bool:
        return self.framework.declares(name, modules=modules)

    def held(self, module: int) -> tuple[list[tuple[str, tuple[int, ...]]], list[tuple[str, tuple[int, ...]]]]:
        """Names and shapes of a module's parameters and buffers."""
        return self._state(self._asked_for(module))

    def _state(self, value: Any) -> tuple[list[tuple[str, tuple[int, ...]]], list[tuple[str, tuple[int, ...]]]]:
        own = self.framework
        if not isinstance(value, own.module_types):
            return [], []
        parameters, buffers = own.parameters(value), own.buffers(value)
        return [(name, own.shape(one)) for name, one in parameters.items()], [
            (name, own.shape(one)) for name, one in buffers.items()
        ]

    def facts(self, key: int) -> dict[str, Any]:
        """What is known of a tensor without its contents."""
        value, own = self._asked_for(key), self.framework
        if not isinstance(value, own.tensor_types):
            if isinstance(value, (list, tuple)) and not _is_plain(value):
                return {"tensor": False, "known": False, "length": len(value)}
            plain = _plain(value)
            return {"tensor": False, "plain": plain, "known": plain is not None or value is None}
        return {
            "tensor": True,
            "known": False,
            "shape": own.shape(value),
            "strides": own.strides(value),
            "dtype": own.dtype_of(value),
            "device": own.device_type(value),
            "floating": own.can_backpropagate(value),
        }


def _failure(error: Exception) -> RemoteFailure:
    kinds: Final = {Absent: "absent", StateDiffers: "state", FrameworkMissing: "missing"}
    kind: Any = next((name for own, name in kinds.items() if isinstance(error, own)), "raised")
    return RemoteFailure(type(error).__name__, str(error), kind)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or _plain(value) is not None


def _plain(value: Any) -> Any:
    """`value` where both processes have such values, and nothing for an object of the framework's own."""
    if isinstance(value, (bool, int, float, complex, str, np.ndarray)) or value is None:
        return value
    if isinstance(value, (list, tuple)) and not hasattr(value, "shape"):
        items = map(_plain, value)
        return tuple(items) if isinstance(value, tuple) else list(items)  # a size, too, is a tuple of numbers
    return None


_DONE: Final[Mapping[str, Callable[..., Any]]] = {
    "call": Served.call,
    "tensor": Served.tensor,
    "overwrite": Served.overwrite,
    "load_state": Served.load_state,
    "gradient": Served.gradient,
    "keep": Served.keep,
    "expect": Served.expect,
    "part": Served.part,
    "forget": Served.forget,
    "seed": Served.seed,
}
_ANSWERED: Final[Mapping[str, Callable[..., Any]]] = {
    name: getattr(Served, name) for name in ("hello", "read", "provides", "exists", "declares", "same", "held", "facts")
}


def main(name: str, files: Sequence[Any]) -> None:
    """Serve the framework called `name` until the other side is gone, which has opened `files` for it."""
    asked = AnsweringEnd(*files)
    warnings.simplefilter("ignore")
    try:
        served = Served(framework(name))
    except AutotestError as error:  # which is all that there is to say, whatever was asked
        asked.receive()
        asked.send((dataclasses.replace(_failure(error), kind="missing"), {}))
        return
    with served.framework.around_trials(), np.errstate(all="ignore"):
        while True:
            try:
                done, dropped, question = asked.receive()
            except EOFError:
                return
            for request in done:
                served.do(request)
            if question is not None:
                asked.send((served.answer(*question), served.failures()))
            for key in dropped:
                served.values.pop(key, None)
