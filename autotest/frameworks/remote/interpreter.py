"""A candidate in another interpreter: calls are queued in this process and run in the other one, in batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks import registry
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT, CandidateDied
from autotest.frameworks.remote.remote_client import RemoteFramework
from autotest.frameworks.remote.remote_values import RemoteName, RemoteValue, linked
from autotest.frameworks.remote.wire import can_be_sent
from autotest.frameworks.shown_values import shown
from autotest.frameworks.states import Shapes
from autotest.program import Array, Call, CallKind, Operand, Root, map_operand
from autotest.program.semantics import reparametrizes


class Interpreter(RemoteFramework):
    """The framework called `inner` in the interpreter `python`."""

    tensor_types = (RemoteValue,)
    module_types = (RemoteValue,)

    def __init__(self, python: str, inner: str = "torch") -> None:
        super().__init__(python, inner)
        known = _known_here(inner)
        if known is not None:
            self.translates, self.has_strides = known.translates, known.has_strides
            self.holds_values, self.has_gradients = known.holds_values, known.has_gradients
        self._counts_own_calls = known is None or known.own_calls is not None
        self.name = self.alias = f"{inner}@{Path(python).parent.parent.name or python}"
        self._known: dict[tuple[str, str], tuple[bool, bool]] = {}
        self._paths: dict[str, bool] = {}
        self._declared: dict[tuple[str, bool], bool] = {}

    @property
    def own_calls(self) -> int | None:  # type: ignore[override]
        if not self._counts_own_calls:
            return None
        try:
            counted: int | None = self._ask("own_calls")
        except CandidateDied:  # the trial whose call it was reports it
            return -1
        self._counts_own_calls = counted is not None
        return counted

    @property
    def absolute_path(self) -> str:
        """The absolute path of the interpreter, valid in any working directory; its name if it is found on PATH."""
        return str(Path(self.python).absolute()) if os.sep in self.python else self.python

    # -- calls --------------------------------------------------------------------------------------------

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        known = self._known.get((kind, target))
        if known is None:
            known = self._known[kind, target] = self._ask_statelessly("provides", kind, target, None)
        there, waits = known
        if not there:
            raise AttributeError(f"{self.name} has no {target}")

        changes_names = kind == "setattr" or reparametrizes(Call(kind, target, (), {}, slot=0))

        def call(*args: Any, **kwargs: Any) -> Any:
            if kind == "exit":  # the details of an exception exist in this process only
                args = args[:1]
            if changes_names:  # the call may change the names in a module's state: forget the known ones
                for item in args:
                    if type(item) is RemoteValue:
                        item.held = None
            given = tuple([map_operand(item, linked) for item in args])
            made = self._queue_request(
                "call", kind, target, given, {key: map_operand(it, linked) for key, it in kwargs.items()}
            )
            if waits:
                self._raise_failure(made)
            return made

        return call

    def provides(self, kind: CallKind, target: str, owner: Any) -> bool:
        return bool(self._ask("provides", kind, target, owner.key if isinstance(owner, RemoteValue) else None)[0])

    def declares(self, name: str, *, modules: bool = False) -> bool:
        if (name, modules) not in self._declared:
            self._declared[name, modules] = bool(self._ask_statelessly("declares", name, modules))
        return self._declared[name, modules]

    def is_method(self, owner: Any, name: str) -> bool:
        return False

    def resolve(self, path: str) -> Any:
        if path not in self._paths:
            self._paths[path] = self._ask_statelessly("exists", path)
        if not self._paths[path]:
            raise AttributeError(f"{self.name} has no {path}")
        return RemoteName(path)

    def literal(self, value: Any) -> Operand:
        return Root(value.path) if isinstance(value, RemoteName) else ABSENT

    # -- tensors ------------------------------------------------------------------------------------------

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        return self._queue_request_with(array, "tensor", device, requires_grad)

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        read: list[TensorValue] = self._ask("read", [tensor.key for tensor in tensors])
        return read

    def _raise_failure(self, value: Any) -> None:
        """Raise the exception of the call that made `value`, if that call failed."""
        failure = self.first_failure([value])
        if failure is not None:
            raise failure[1]

    def known(self, value: Any) -> Any:
        if not isinstance(value, RemoteValue):
            return value
        self._raise_failure(value)
        facts = self._facts(value)
        if "length" in facts:
            item = self.operation("operator", "getitem")
            return tuple([self.known(item(value, at)) for at in range(facts["length"])])
        return facts["plain"] if facts["known"] else value

    def shown(self, value: Any) -> str:
        return shown(self, value)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, RemoteValue) and bool(self._facts(value)["tensor"])

    def takes(self, value: Any) -> bool:
        return can_be_sent(value)

    def same(self, one: Any, other: Any) -> bool:
        return bool(self._ask("same", one.key, other.key))

    def identity(self, value: Any) -> int | None:
        return None  # a member gets a new stand-in with each call that returns it

    def _facts(self, tensor: Any) -> dict[str, Any]:
        facts: dict[str, Any] = self._ask("facts", tensor.key)
        return facts

    def shape(self, tensor: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = tensor.facts["shape"] if tensor.facts else self._facts(tensor)["shape"]
        return shape

    def strides(self, tensor: Any) -> tuple[int, ...]:
        strides: tuple[int, ...] = self._facts(tensor)["strides"]
        return strides

    def dtype_of(self, tensor: Any) -> str:
        return str(self._facts(tensor)["dtype"])

    def device_type(self, tensor: Any) -> str:
        return str(self._facts(tensor)["device"])

    def is_dense(self, tensor: Any) -> bool:
        return True

    def overwrite(self, tensor: Any, array: Array) -> None:
        self._queue_request_with(array, "overwrite", tensor.key)

    # -- gradients ----------------------------------------------------------------------------------------

    def gradient(self, tensor: Any) -> Any:
        return self._queue_request("gradient", tensor.key)

    def holds_gradient(self, tensor: Any) -> bool:
        return True  # the other process checks it when the gradient is requested

    def keep_gradient(self, tensor: Any) -> None:
        self._queue_request("keep", tensor.key)

    def can_backpropagate(self, tensor: Any) -> bool:
        return bool(self._facts(tensor).get("floating"))

    def forget_gradient(self, tensor: Any) -> None:
        self._queue_request("forget", tensor.key)

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        keys = [[tensor.key for tensor in tensors] for tensors in (outputs, inputs, cotangents)]
        made = self._queue_request("gradients", *keys, create_graph)
        self._raise_failure(made)
        each = [self.invoke("operator", "getitem", (made, at), {}) for at in range(len(inputs))]
        return [one if self._facts(one)["tensor"] else None for one in each]

    # -- modules ------------------------------------------------------------------------------------------

    def parameters(self, module: Any) -> dict[str, Any]:
        return dict(self._held(module)[0])

    def buffers(self, module: Any) -> dict[str, Any]:
        # Requested again each time: `double()` replaces the buffers by new tensors, while parameters remain the same
        # objects.
        return self._parts(module, self._held(module)[1])

    def expect_state(self, module: Any, parameters: Shapes, buffers: Shapes) -> None:
        # Asking about each module would make the processes wait for each other in the middle of every trial.
        if module.held is None:
            expected = [[*parameters.items()], [*buffers.items()]]
            self._queue_request("expect", module.key, *expected)
            module.held = self._parts(module, expected[0]), expected[1]

    def _held(self, module: RemoteValue) -> tuple[dict[str, RemoteValue], list[tuple[str, tuple[int, ...]]]]:
        """Return the parameters of `module`, and the names and shapes of its buffers."""
        if module.held is None:
            parameters, buffers = self._ask("held", module.key)
            module.held = self._parts(module, parameters), buffers
        return module.held

    def _parts(self, module: RemoteValue, listed: Iterable[tuple[str, tuple[int, ...]]]) -> dict[str, RemoteValue]:
        made: dict[str, RemoteValue] = {}
        for name, shape in listed:
            made[name] = self._queue_request("part", module.key, name)
            made[name].facts = {"shape": shape}
        return made

    def is_training(self, module: Any) -> bool:
        return True

    def training_modes(self, model: Any) -> dict[str, bool]:
        return {}

    def attributes(self, owner: Any) -> dict[str, Any]:
        return {}

    def works_in_place(self, value: Any) -> bool:
        return False

    def optimized(self, optimizer: Any) -> list[Any]:
        return []

    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        self._queue_request(
            "load_state", module.key, {name: (array.data.copy(), array.dtype) for name, array in state.items()}
        )

    # -- the rest -----------------------------------------------------------------------------------------

    @property
    def version(self) -> str:
        hello = self._ask_statelessly("hello")
        return f"{hello['version']} (Python {hello['python']})"

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    def seed(self, seed: int) -> None:
        self._queue_request("seed", seed)

    def modes(self) -> Any:
        return self._queue_request("modes")  # they stay in the other process: asking for them would take a round trip

    def restore(self, modes: Any) -> None:
        self._queue_request("restore", modes.key)

    def synchronize(self) -> None:
        self._ask("read", ())

    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        return {}

    def script(self) -> Script:
        place = f"python:{Path(self.python).absolute()}" + ("" if self.inner == "torch" else f":{self.inner}")
        lines = ("from autotest.frameworks import speaking_torch", f"other = speaking_torch({place!r})")
        return Script(self.name, lines, "other")


def _known_here(inner: str) -> Framework | None:
    """Return the adapter of the framework called `inner`, or None if this process has none.

    This process need not be able to import the framework itself. Raises `UsageError` if the framework is compared in
    its graph mode, because programs of this process cannot be passed to a graph in another one.
    """
    try:
        adapter = registry.framework(inner)
    except (FrameworkMissing, UsageError):  # the other process will report it
        return None
    if adapter.always_in_graph:
        raise UsageError(
            f"python:PATH:{inner}: it runs whole programs, which needs its own process; run pytest or autotest with "
            f"that interpreter, and {inner} as the candidate"
        )
    return adapter


def _path_and_name(place: str) -> tuple[str, str]:
    """Split ``PATH:NAME``. Both parts may contain colons: the folder of PATH, or ``torch:meta``, ``MODULE:FACTORY``."""
    parts = place.split(":")
    ends = [at for at in range(len(parts), 0, -1) if Path(":".join(parts[:at])).exists()]
    end = next(iter(ends), 1)
    return ":".join(parts[:end]), ":".join(parts[end:]) or "torch"


def framework(place: str) -> Interpreter:
    """Return the adapter for a candidate called ``python:PLACE``.

    Args:
        place: ``PATH`` for torch in the interpreter at that path, or ``PATH:NAME`` for the framework NAME. PATH may
            also be the folder of a virtual environment.

    Raises:
        UsageError: if there is no path, or the framework is compared in its graph mode.
        FrameworkMissing: if there is no file at the path.
    """
    path, inner = _path_and_name(place)
    if not path:
        raise UsageError("python: expected python:PATH of an interpreter, such as python:.venv/bin/python")
    if Path(path).is_dir():
        path = str(Path(path) / "bin" / "python")
    if os.sep in path and not Path(path).exists():
        raise FrameworkMissing(f"python:{path}: no such file; give the path of a Python interpreter")
    return Interpreter(path, inner)
