"""A candidate in another interpreter: calls are queued here and carried out there, a batch of trials at a time."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks import registry
from autotest.frameworks.base import ABSENT, Absent, CandidateDied, Framework
from autotest.frameworks.peer import START, Peer, PeerGone
from autotest.frameworks.remote import RemoteName, RemoteValue, linked
from autotest.frameworks.states import Shapes, StateDiffers
from autotest.frameworks.wire import LARGE, Failure
from autotest.program import Array, Call, CallKind, Operand, Root, map_operand
from autotest.program.semantics import reparametrizes

#: How many requests wait at most before they are sent: the other process carries them out while this one goes on.
AT_ONCE = 40


class OtherProcessError(RuntimeError):
    """An exception that the candidate raised in its own process; its class there stands in front of its text."""


class Interpreter(Framework):
    """The framework called `inner` in the interpreter `python`."""

    asynchronous = True
    tensor_types = (RemoteValue,)
    module_types = (RemoteValue,)

    def __init__(self, python: str, inner: str = "torch") -> None:
        self.python, self.inner = python, inner
        known = _known_here(inner)
        if known is not None:
            self.translates, self.has_strides = known.translates, known.has_strides
            self.holds_values = known.holds_values
        self.name = self.alias = f"{inner}@{Path(python).parent.parent.name or python}"
        #: Source that the other interpreter begins with.
        self.start = START
        self._peer: Peer | None = None
        self._close: Callable[[], Any] = lambda: None
        #: Whether it ever answered.
        self._met = False
        #: Why it cannot be started, which is not tried again for the next test.
        self._missing = ""
        self._keys = itertools.count()
        self._waiting: list[tuple[Any, ...]] = []
        #: Whether requests were sent since the last answer, which tells of those that failed.
        self._sent = False
        self._dropped: list[int] = []
        self._failed: dict[int, Failure] = {}
        self._known: dict[tuple[str, str], tuple[bool, bool]] = {}
        self._paths: dict[str, bool] = {}
        self._declared: dict[tuple[str, bool], bool] = {}

    @property
    def place(self) -> str:
        """Where the interpreter is, from anywhere."""
        return str(Path(self.python).absolute()) if os.sep in self.python else self.python

    # -- the process --------------------------------------------------------------------------------------

    @property
    def process(self) -> int | None:
        """The number of its process, once that was needed."""
        return None if self._peer is None else self._peer.process

    def _ask(self, *question: Any) -> Any:
        """Send what waits and one question; its answer. Raises `CandidateDied`, or `FrameworkMissing` at the start."""
        if self._missing:
            raise FrameworkMissing(self._missing)
        peer = self._peer
        fresh = peer is None or peer.closed
        if peer is None or peer.closed:
            self._close()
            peer = self._peer = Peer(self.python, self.inner, self.start)
            self._close = weakref.finalize(self, peer.close)
        self._sent = False
        try:
            answer, failed = peer.ask((*self._taken(), question))
        except PeerGone as gone:
            self._peer = None
            if fresh and not self._met:
                self._missing = _not_served(self.inner, self.python, gone)
                raise FrameworkMissing(self._missing) from gone
            raise CandidateDied(f"{self.name}: {gone}") from gone
        self._met = True
        self._failed |= failed
        if type(answer) is Failure:
            error = self._error(answer)
            if fresh and isinstance(error, FrameworkMissing):
                self._missing = str(error)
            raise error
        return answer

    def _taken(self) -> tuple[list[tuple[Any, ...]], list[int]]:
        """What waits to be sent, and the values that nobody asks for any more."""
        done, self._waiting = self._waiting, []
        dropped = self._dropped[:]
        del self._dropped[: len(dropped)]  # the list itself is every value's
        return done, dropped

    def _note(self, name: str, *details: Any) -> RemoteValue:
        """Have something done, at once or later."""
        made = RemoteValue(next(self._keys), self._dropped)
        self._waiting.append((name, made.key, *details))
        if len(self._waiting) >= AT_ONCE:
            self._send()
        return made

    def _note_with(self, array: Array, name: str, *details: Any) -> RemoteValue:
        """Have something done with what `array` holds now, which is copied unless it is large, and sent at once."""
        large = array.data.nbytes >= LARGE
        made = self._note(name, *details, array.data if large else array.data.copy(), array.dtype)
        if large:
            self._send()
        return made

    def _send(self) -> None:
        if self._peer is None or self._peer.closed:
            self._ask("read", ())  # which tells where there is no such process
        else:
            self._peer.tell((*self._taken(), None))
            self._sent = True

    def _error(self, failure: Failure) -> Exception:
        if failure.kind == "absent":
            error = Absent(self.name, "")
            error.args = (failure.text,)
            return error
        if failure.kind == "state":
            return StateDiffers(failure.text)
        if failure.kind == "missing":
            return FrameworkMissing(f"{self.inner!r} cannot be served by {self.python}: {failure.text}")
        return OtherProcessError(f"{failure.type}: {failure.text}")

    def first_failure(self, values: Sequence[Any]) -> tuple[int, Exception] | None:
        if self._waiting or self._sent:
            self._ask("read", ())
        if not self._failed:
            return None
        for slot, value in enumerate(values):
            if isinstance(value, RemoteValue) and value.key in self._failed:
                return slot, self._error(self._failed[value.key])
        return None

    # -- calls --------------------------------------------------------------------------------------------

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        known = self._known.get((kind, target))
        if known is None:
            known = self._known[kind, target] = self._ask("provides", kind, target, None)
        there, waits = known
        if not there:
            raise AttributeError(f"{self.name} has no {target}")

        changes_names = kind == "setattr" or reparametrizes(Call(kind, target, (), {}, slot=0))

        def call(*args: Any, **kwargs: Any) -> Any:
            if kind == "exit":  # why the body was left, this side alone can say
                args = args[:1]
            if changes_names:  # of what a module holds
                for item in args:
                    if type(item) is RemoteValue:
                        item.held = None
            given = tuple([map_operand(item, linked) for item in args])
            made = self._note("call", kind, target, given, {key: map_operand(it, linked) for key, it in kwargs.items()})
            if waits:
                failure = self.first_failure([made])
                if failure is not None:
                    raise failure[1]
            return made

        return call

    def provides(self, kind: CallKind, target: str, owner: Any) -> bool:
        return bool(self._ask("provides", kind, target, owner.key if isinstance(owner, RemoteValue) else None)[0])

    def declares(self, name: str, *, modules: bool = False) -> bool:
        if (name, modules) not in self._declared:
            self._declared[name, modules] = bool(self._ask("declares", name, modules))
        return self._declared[name, modules]

    def is_method(self, owner: Any, name: str) -> bool:
        return False

    def resolve(self, path: str) -> Any:
        if path not in self._paths:
            self._paths[path] = self._ask("exists", path)
        if not self._paths[path]:
            raise AttributeError(f"{self.name} has no {path}")
        return RemoteName(path)

    def literal(self, value: Any) -> Operand:
        return Root(value.path) if isinstance(value, RemoteName) else ABSENT

    # -- tensors ------------------------------------------------------------------------------------------

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        return self._note_with(array, "tensor", device, requires_grad)

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        read: list[TensorValue] = self._ask("read", [tensor.key for tensor in tensors])
        return read

    def known(self, value: Any) -> Any:
        if not isinstance(value, RemoteValue):
            return value
        failure = self.first_failure([value])
        if failure is not None:
            raise failure[1]
        facts = self._facts(value)
        if "length" in facts:
            item = self.operation("operator", "getitem")
            return tuple([self.known(item(value, at)) for at in range(facts["length"])])
        return facts["plain"] if facts["known"] else value

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, RemoteValue) and bool(self._facts(value)["tensor"])

    def same(self, one: Any, other: Any) -> bool:
        return bool(self._ask("same", one.key, other.key))

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
        self._note_with(array, "overwrite", tensor.key)

    # -- gradients ----------------------------------------------------------------------------------------

    def gradient(self, tensor: Any) -> Any:
        return self._note("gradient", tensor.key)

    def holds_gradient(self, tensor: Any) -> bool:
        return True  # which the other process looks at when it is asked for the gradient

    def keep_gradient(self, tensor: Any) -> None:
        self._note("keep", tensor.key)

    def can_backpropagate(self, tensor: Any) -> bool:
        return bool(self._facts(tensor).get("floating"))

    def forget_gradient(self, tensor: Any) -> None:
        self._note("forget", tensor.key)

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        named = {"create_graph": create_graph, "allow_unused": True}
        made = self.invoke("function", "autograd.grad", (list(outputs), list(inputs), list(cotangents)), named)
        failure = self.first_failure([made])
        if failure is not None:
            raise failure[1]
        each = [self.invoke("operator", "getitem", (made, at), {}) for at in range(len(inputs))]
        return [one if self._facts(one)["tensor"] else None for one in each]

    # -- modules ------------------------------------------------------------------------------------------

    def parameters(self, module: Any) -> dict[str, Any]:
        return dict(self._held(module)[0])

    def buffers(self, module: Any) -> dict[str, Any]:
        # As they are now: `double()` puts other tensors in their place, where parameters stay the same objects.
        return self._parts(module, self._held(module)[1])

    def expect_state(self, module: Any, parameters: Shapes, buffers: Shapes) -> None:
        # A question for each module would have the processes take turns in the middle of every trial.
        if module.held is None:
            expected = [[*parameters.items()], [*buffers.items()]]
            self._note("expect", module.key, *expected)
            module.held = self._parts(module, expected[0]), expected[1]

    def _held(self, module: RemoteValue) -> tuple[dict[str, RemoteValue], list[tuple[str, tuple[int, ...]]]]:
        """The parameters of `module`, and names and shapes of its buffers."""
        if module.held is None:
            parameters, buffers = self._ask("held", module.key)
            module.held = self._parts(module, parameters), buffers
        return module.held

    def _parts(self, module: RemoteValue, listed: Iterable[tuple[str, tuple[int, ...]]]) -> dict[str, RemoteValue]:
        made: dict[str, RemoteValue] = {}
        for name, shape in listed:
            made[name] = self._note("part", module.key, name)
            made[name].facts = {"shape": shape}
        return made

    def is_training(self, module: Any) -> bool:
        return True

    def works_in_place(self, value: Any) -> bool:
        return False

    def optimized(self, optimizer: Any) -> list[Any]:
        return []

    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        self._note("load_state", module.key, {name: (array.data.copy(), array.dtype) for name, array in state.items()})

    # -- the rest -----------------------------------------------------------------------------------------

    @property
    def version(self) -> str:
        told = self._ask("hello")
        return f"{told['version']} (Python {told['python']})"

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    def seed(self, seed: int) -> None:
        self._note("seed", seed)

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
    """The adapter of the framework called `inner`, which this side need not be able to import; None without one.

    Raises `UsageError` for one that is compared in its graph mode, to which programs of this side cannot be handed.
    """
    try:
        adapter = registry.framework(inner)
    except (FrameworkMissing, UsageError):  # which the other side will tell of
        return None
    if adapter.always_in_graph:
        raise UsageError(
            f"python:PATH:{inner}: what it does to a whole program is compared in its own process only; "
            f"run pytest or autotest by that interpreter, with {inner} as its candidate"
        )
    return adapter


def _not_served(inner: str, python: str, gone: PeerGone) -> str:
    """Why `python` cannot serve `inner`, and what to do."""
    place = f"give the interpreter of an environment that has {inner} and NumPy"
    advice = "install it and NumPy there" if gone.last_words else place
    return f"{inner!r} cannot be served by {python}: {gone}; {advice}"


def _path_and_name(place: str) -> tuple[str, str]:
    """What ``PATH:NAME`` consists of. Both may hold colons: ``torch:meta``, ``MODULE:FACTORY``, a folder that does."""
    parts = place.split(":")
    ends = [at for at in range(len(parts), 0, -1) if Path(":".join(parts[:at])).exists()]
    end = next(iter(ends), 1)
    return ":".join(parts[:end]), ":".join(parts[end:]) or "torch"


def framework(place: str) -> Interpreter:
    """The adapter for what follows ``python:`` in a candidate's name: ``PATH`` for torch there, or ``PATH:NAME``."""
    path, inner = _path_and_name(place)
    if not path:
        raise UsageError("python: expected python:PATH of an interpreter, such as python:.venv/bin/python")
    if Path(path).is_dir():
        path = str(Path(path) / "bin" / "python")
    if os.sep in path and not Path(path).exists():
        raise FrameworkMissing(f"python:{path}: there is no such file; give the interpreter of an environment")
    return Interpreter(path, inner)
