"""Serves an adapter to another interpreter: runs the calls that it sends, and answers its questions."""

from __future__ import annotations

import dataclasses
import itertools
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autotest.base.errors import AutotestError, FrameworkMissing
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import Absent
from autotest.frameworks.freezing import freeze
from autotest.frameworks.registry import framework
from autotest.frameworks.remote.wire import LARGE, AnsweringEnd, Link, Name, RemoteFailure
from autotest.frameworks.states import StateDiffers, difference
from autotest.program import Array, CallKind, map_operand

#: Stands for a value that was in a process that ended, before this process replaced it.
_LOST: Final = RemoteFailure("", "", "lost")


class _Failed(Exception):
    """Raised if an operand is the result of a call that raised."""

    def __init__(self, failure: RemoteFailure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class Served:
    """A framework and its values, which requests refer to by number."""

    def __init__(self, adapter: Framework) -> None:
        self.framework = adapter
        self.values: dict[int, Any] = {}
        #: Numbers of the calls that raised since `failures` was last called, with their failures.
        self.failed: dict[int, RemoteFailure] = {}

    # -- requests, which have no answer ------------------------------------------------------------------

    def do(self, request: Sequence[Any]) -> None:
        """Run one request. If it raises, the failure becomes the value of its number."""
        name, key, *details = request
        try:
            made = _DONE[name](self, *details)
        except _Failed as error:
            self.values[key] = error.failure
        except Exception as error:  # noqa: BLE001 - a framework may raise any exception
            self.values[key] = self.failed[key] = _failure(error)
        else:
            self.values[key] = made

    def value(self, key: int) -> Any:
        found = self.values.get(key, _LOST)
        if type(found) is RemoteFailure:
            raise _Failed(found)
        return found

    def _asked_for(self, key: int) -> Any:
        """Return the value of number `key`, or the failure that stands for it.

        Raises:
            _Failed: if the process that had the value has ended.
        """
        found = self.values.get(key, _LOST)
        if type(found) is RemoteFailure and found.kind == "lost":
            raise _Failed(found)
        return found

    def live(self, operand: Any) -> Any:
        """Return an operand of a call with each `Link` and `Name` in it replaced by the object that it stands for."""

        def leaf(item: Any) -> Any:
            if type(item) is Link:
                return self.value(item.key)
            if type(item) is np.ndarray and item.nbytes >= LARGE:
                return item.copy()  # the framework may keep a reference; adapters copy only to make tensors
            return self.framework.resolve(item.path) if type(item) is Name else item

        return map_operand(operand, leaf)

    def call(self, kind: CallKind, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
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
        """Replace `module` by a failure if its parameters and buffers differ from these in names or shapes."""
        value = self.value(module)
        unlike = difference(dict([*parameters, *buffers]), dict(itertools.chain(*self._state(value))))
        if unlike is not None:
            self.values[module] = self.failed[module] = _failure(StateDiffers(unlike))

    def forget(self, tensor: int) -> None:
        self.framework.forget_gradient(self.value(tensor))

    def seed(self, seed: int) -> None:
        self.framework.seed(seed)

    def modes(self) -> Any:
        return self.framework.modes()

    def restore(self, modes: int) -> None:
        self.framework.restore(self.value(modes))

    def drop(self, keys: Sequence[int]) -> None:
        """Forget values in the midst of other requests, because later calls depend on their end."""
        for key in keys:
            self.values.pop(key, None)

    def gradients(
        self, outputs: Sequence[int], inputs: Sequence[int], cotangents: Sequence[int], create_graph: bool
    ) -> list[Any]:
        given = [[self.value(key) for key in keys] for keys in (outputs, inputs, cotangents)]
        return self.framework.gradients(*given, create_graph=create_graph)

    # -- questions, which have an answer -----------------------------------------------------------------

    def answer(self, question: str, *details: Any) -> Any:
        """Return the answer to one question, or a `RemoteFailure` if it raises."""
        try:
            return _ANSWERED[question](self, *details)
        except _Failed as error:
            return error.failure
        except Exception as error:  # noqa: BLE001 - any exception is sent to the other process
            return _failure(error)

    def hello(self) -> dict[str, Any]:
        return {"version": self.framework.version, "python": platform.python_version()}

    def read(self, keys: Sequence[int]) -> list[Any]:
        """Return the data of each value, None for a value whose call failed."""
        present = [key for key in keys if type(self._asked_for(key)) is not RemoteFailure]
        frozen = iter(freeze(self.framework, [self.values[key] for key in present]))
        taken = set(present)
        return [next(frozen) if key in taken else None for key in keys]

    def failures(self) -> dict[int, RemoteFailure]:
        found, self.failed = self.failed, {}
        return found

    def provides(self, kind: CallKind, target: str, owner: int | None) -> tuple[bool, bool]:
        """Return whether the operation exists, and whether the other process must wait for its result at each call.

        It must for classes, so that errors of their constructors are raised at once. Module classes are an exception:
        their modules are constructed as the reference's are.
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

    def own_calls(self) -> int | None:
        return self.framework.own_calls

    def declares(self, name: str, modules: bool) -> bool:
        return self.framework.declares(name, modules=modules)

    def held(self, module: int) -> tuple[list[tuple[str, tuple[int, ...]]], list[tuple[str, tuple[int, ...]]]]:
        """Return names and shapes of a module's parameters, and of its buffers."""
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
        """Return the properties of a value that need no read of its contents, such as a tensor's shape."""
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
    """Return `value` as plain data that both processes have, or None if it is an object of the framework."""
    if isinstance(value, (bool, int, float, complex, str, np.ndarray)) or value is None:
        return value
    if isinstance(value, (list, tuple)) and not hasattr(value, "shape"):
        items = map(_plain, value)
        return tuple(items) if isinstance(value, tuple) else list(items)  # a torch.Size becomes a plain tuple
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
    "modes": Served.modes,
    "restore": Served.restore,
    "drop": Served.drop,
    "gradients": Served.gradients,
}
_ANSWERED: Final[Mapping[str, Callable[..., Any]]] = {
    name: getattr(Served, name) for name in "hello read provides exists declares own_calls same held facts".split()
}


def main(name: str, files: Sequence[Any]) -> None:
    """Serve the framework called `name` until the other process ends.

    Args:
        name: the name of the framework.
        files: file descriptors that the other process opened for this one, the arguments of `AnsweringEnd`.
    """
    asked = AnsweringEnd(*files)
    warnings.simplefilter("ignore")
    try:
        served = Served(framework(name))
    except AutotestError as error:  # without a framework, this is the answer to any question
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
            served.drop(dropped)
