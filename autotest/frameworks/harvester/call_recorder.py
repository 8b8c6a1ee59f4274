"""Records the public calls that a program makes, without changing how it runs."""

from __future__ import annotations

import inspect
import json
import os
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .calls_file import CallsFile
from .defaults import without_defaults
from .description import TooLong, Writer, short
from .names import PublicName, as_written, called, module_classes
from .optimizers import groups, optimizer_classes, representatives

#: Maximum numbers of distinct calls that are kept per name, and of calls that differ in floating-point arguments only.
LIMIT, FLOATS = 100, 3
#: Attribute of a module that contains its constructor arguments as JSON. An attribute, so that copies have it, too.
_MADE = "_autotest_made"


class _SeenCall:
    """One distinct call."""

    __slots__ = ("floats", "number", "times")

    def __init__(self, number: int) -> None:
        #: The number of the call in the file; 0 if it was not kept.
        self.number = number
        self.times = 0
        self.floats: set[tuple[float, ...]] = set()


class _ThreadState(threading.local):
    """The state of one thread."""

    def __init__(self) -> None:
        #: Nesting depth of torch's functions whose inner calls are not recorded: module constructors, optimizer steps.
        self.muted = 0
        #: The public modules whose forward runs, innermost last.
        self.within: list[str] = []


class CallRecorder:
    """Writes each distinct call of public functions, methods and modules of torch into `file`.

    Calls are distinct by name, form, argument tree, and the dtypes, shapes, strides and requires_grad of tensors.
    """

    def __init__(self, file: CallsFile, limit: int = LIMIT) -> None:
        self._file = file
        self._limit = limit
        self._here = _ThreadState()
        self._seen: dict[Any, _SeenCall] = {}
        self._names: dict[Any, PublicName | None] = {}
        #: `_kept`: name -> number of its distinct calls; "" -> number of calls in the file. `_left_out`: name -> number
        #: of calls that were not written.
        self._kept: dict[str, int] = {}
        self._left_out: dict[str, int] = {}
        self._lock = threading.Lock()
        self._restore: list[Callable[[], None]] = []
        self._classes = module_classes()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        # Each process writes its own counts, and readers add them up.
        self._lock, self._left_out = threading.Lock(), {}
        for seen in self._seen.values():
            seen.times = 0

    # -- start and stop -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to record in this thread and in threads that are started from now on."""
        self._file.begin(str(torch.__version__))
        self._watch_modules()
        if hasattr(threading.Thread, "_bootstrap_inner"):
            self._replace(threading.Thread, "_bootstrap_inner", self._in_threads(threading.Thread._bootstrap_inner))
        # torch builds its table of names once, from its current attributes: look this one up before replacing it.
        self._names[torch.Tensor.__getitem__] = called(torch.Tensor.__getitem__)
        self._replace(torch.Tensor, "__getitem__", self._indexing(torch.Tensor.__getitem__))
        self._mode = _Mode(self)
        self._mode.__enter__()

    def stop(self) -> None:
        """Stop recording, and write how often each call was made."""
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()
        self._mode.__exit__(None, None, None)
        self.summarise()

    def summarise(self) -> None:
        """Write how often each call of this process was made, and how many calls of each name were left out."""
        times = {str(seen.number): seen.times for seen in self._seen.values() if seen.number and seen.times}
        self._file.write({"process": os.getpid(), "times": times, "left_out": self._left_out})

    def _in_threads(self, run: Any) -> Any:
        """Wrap `run`, the main function of a thread, to record: a mode applies only to the thread that entered it."""
        recorder = self

        def _bootstrap_inner(self: Any) -> None:
            with _Mode(recorder):
                run(self)

        return _in_place_of(run, _bootstrap_inner)

    def _indexing(self, index: Any) -> Any:
        """Wrap ``Tensor.__getitem__`` to record it.

        torch 2.0 passes it to no mode if the index is a single number, slice or mask.
        """
        recorder, unrecorded = self, self._unrecorded(index)

        def __getitem__(self: Any, item: Any) -> Any:  # noqa: N807 - it replaces one
            with torch._C.DisableTorchFunction():
                recorder.function(index, (self, item), None)
            return unrecorded(self, item)

        return _in_place_of(index, __getitem__)

    # -- functions and methods ----------------------------------------------------------------------------

    def function(self, function: Any, args: Any, kwargs: Any) -> None:
        """Record a call that is about to be made."""
        function = as_written(function, kwargs)
        try:
            name = self._names[function]
        except KeyError:
            name = self._names[function] = called(function)
        except TypeError:  # not hashable
            return
        if name is None or self._here.muted or not self._restore:
            return
        out = kwargs.get("out") if kwargs and name.form == "function" else None
        form = name.form if out is None else "out="
        try:
            floats: list[float] = []
            key = (function, short(args, floats), short(kwargs, floats) if kwargs else None, torch.is_grad_enabled())
            seen = self._seen.get(key)
            if seen is None or (floats and self._differs(seen, floats)):
                self._new(key, tuple(floats), name.name, form, args, kwargs, {})
            else:
                seen.times += 1
        except Exception:  # noqa: BLE001 - an error in the recorder must not end the user's script
            self._count_left_out(name.name)

    @staticmethod
    def _differs(seen: _SeenCall, floats: list[float]) -> bool:
        return seen.number > 0 and len(seen.floats) < FLOATS and tuple(floats) not in seen.floats

    def _new(
        self, key: Any, floats: tuple[float, ...], name: str, form: str, args: Any, kwargs: Any, more: dict[str, Any]
    ) -> None:
        """Write a call that was not seen before to the file, unless the limit for its name is reached."""
        if torch.jit.is_tracing() or _is_transformed():
            return
        with self._lock:
            seen = self._seen.get(key)
            if seen is None:
                kept = self._kept.get(name, 0)
                number = 0 if kept >= self._limit else self._number()
                seen = self._seen[key] = _SeenCall(number)
                self._kept[name] = kept + 1
            else:
                number = self._number()
            seen.times += 1
            seen.floats.add(floats)
        if not number:
            self._count_left_out(name)
            return
        writer = Writer()
        written = without_defaults(key[0], kwargs or {})
        line: dict[str, Any] = {"call": number, "process": os.getpid(), "name": name, "form": form}
        try:
            with torch.no_grad():
                line.update({what: value(writer) if callable(value) else value for what, value in more.items()})
                line["args"] = [writer.tree(item) for item in args]
                line["kwargs"] = {word: writer.tree(item) for word, item in written.items()}
        except TooLong:
            self._count_left_out(name)
            return
        line["gradients"] = torch.is_grad_enabled()
        line["within"] = self._here.within[-1] if self._here.within else ""
        self._file.write(line)

    def _number(self) -> int:
        self._kept[""] = self._kept.get("", 0) + 1
        return self._kept[""]

    def _count_left_out(self, name: str) -> None:
        self._left_out[name] = self._left_out.get(name, 0) + 1

    # -- modules ------------------------------------------------------------------------------------------

    def _watch_modules(self) -> None:
        """Wrap constructors and calls of torch's own modules, and steps of its optimizers."""
        making = {base for kind in self._classes for base in kind.__mro__ if "__init__" in vars(base)}
        for kind in making - {torch.nn.Module, object}:
            if issubclass(kind, torch.nn.Module):
                self._replace(kind, "__init__", self._making(vars(kind)["__init__"]))
        for kind in {one for one in vars(torch.optim).values() if isinstance(one, type) and "step" in vars(one)}:
            self._replace(kind, "step", self._stepping(vars(kind)["step"]))
        self._replace(torch.nn.Module, "__call__", self._calling(torch.nn.Module.__call__))

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        inherited, old = name not in vars(owner), getattr(owner, name)
        setattr(owner, name, new)

        def restore() -> None:
            if vars(owner).get(name) is new:
                delattr(owner, name) if inherited else setattr(owner, name, old)

        self._restore.append(restore)

    def _making(self, initialise: Any) -> Any:
        recorder, unrecorded = self, self._unrecorded(initialise)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it replaces one
            if type(self) in recorder._classes and _MADE not in self.__dict__:
                self.__dict__[_MADE] = recorder._arguments_json(args, without_defaults(initialise, kwargs))
            unrecorded(self, *args, **kwargs)

        return _in_place_of(initialise, __init__)

    def _unrecorded(self, function: Any) -> Any:
        """Wrap `function`, which is torch's own, so that the calls inside of it are not recorded."""
        here = self._here

        def carried_out(*args: Any, **kwargs: Any) -> Any:
            here.muted += 1
            try:
                return function(*args, **kwargs)
            finally:
                here.muted -= 1

        return _in_place_of(function, carried_out)

    def _stepping(self, step: Any) -> Any:
        recorder, unrecorded, classes, here = self, self._unrecorded(step), optimizer_classes(), self._here

        def carried_out(self: Any, *args: Any, **kwargs: Any) -> Any:
            name = classes.get(type(self))
            if name is not None and not here.muted and recorder._restore:
                recorder._step(name, self)
            return unrecorded(self, *args, **kwargs)

        return _in_place_of(step, carried_out)

    def _step(self, name: str, optimizer: Any) -> None:
        """Record an optimizer that is about to step, once for each distinct set of options."""
        try:
            with torch._C.DisableTorchFunction():
                for group in groups(optimizer):
                    floats: list[float] = []
                    dtypes = tuple(dict.fromkeys(parameter.dtype for parameter in group.parameters))
                    key = (type(optimizer).__init__, name, dtypes, short(group.options, floats))
                    seen = self._seen.get(key)
                    if seen is None or self._differs(seen, floats):
                        given = [representatives(group.parameters)]
                        self._new(key, tuple(floats), name, "optimizer", given, group.options, {})
                    else:
                        seen.times += 1
        except Exception:  # noqa: BLE001 - as above
            self._count_left_out(name)

    def _arguments_json(self, args: Any, kwargs: Any) -> str:
        writer = Writer()
        try:
            with torch._C.DisableTorchFunction():
                positional = [writer.tree(item) for item in args]
                keywords = {word: writer.tree(item) for word, item in kwargs.items()}
                return json.dumps({"args": positional, "kwargs": keywords})
        except Exception:  # noqa: BLE001 - as above
            return json.dumps({"args": [{"object": "something that cannot be written down"}], "kwargs": {}})

    def _calling(self, call: Any) -> Any:
        recorder = self
        classes = self._classes
        here = self._here

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it replaces one
            name = classes.get(type(self))
            if name is None:
                return call(self, *args, **kwargs)
            recorder._module(name, self, args, kwargs)
            here.within.append(name)
            try:
                return call(self, *args, **kwargs)
            finally:
                here.within.pop()

        return _in_place_of(call, __call__)

    def _module(self, name: str, module: Any, args: Any, kwargs: Any) -> None:
        """Record a module that is about to be called."""
        try:
            with torch._C.DisableTorchFunction():
                self._note_module(name, module, args, kwargs)
        except Exception:  # noqa: BLE001 - as above
            self._count_left_out(name)

    def _note_module(self, name: str, module: Any, args: Any, kwargs: Any) -> None:
        made = module.__dict__.get(_MADE)
        if made is None:
            made = module.__dict__[_MADE] = _by_attributes(module, Writer())
        floats: list[float] = []
        keywords = short(kwargs, floats) if kwargs else None
        key = (name, made, module.training, short(args, floats), keywords, torch.is_grad_enabled())
        seen = self._seen.get(key)
        if seen is not None and not (floats and self._differs(seen, floats)):
            seen.times += 1
            return
        more = {
            "constructor": json.loads(made),
            "training": module.training,
            "state": lambda writer: _state(module, writer),
        }
        self._new(key, tuple(floats), name, "module", args, kwargs, more)


def _is_transformed() -> bool:
    """Return whether a transformation such as `torch.func.vmap` is active: its tensors have no values of their own."""
    functorch = getattr(torch._C, "_functorch", None)
    peek = getattr(functorch, "peek_interpreter_stack", None)
    return peek is not None and peek() is not None


class _Mode(TorchFunctionMode):  # type: ignore[misc]  # torch has no types
    """Passes the public calls of one thread to the recorder."""

    def __init__(self, recorder: CallRecorder) -> None:
        super().__init__()
        self._function = recorder.function

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._function(func, args, kwargs)
        return func(*args, **kwargs) if kwargs else func(*args)


def _in_place_of(old: Any, new: Any) -> Any:
    """Return `new` with the name, docstring and annotations of `old`."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    new.__wrapped__ = old
    return new


def _state(module: Any, writer: Writer) -> dict[str, Any]:
    """Return parameters and buffers by the names that `load_state_dict` uses."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return {name: writer.tree(tensor) for name, tensor in named}


def _by_attributes(module: Any, writer: Writer) -> str:
    """Return the constructor arguments, as JSON, of a module made before recording began, read from its attributes."""
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(type(module).__init__).parameters.items():
        if name in ("self", "device", "dtype") or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = getattr(module, name, None)
        if isinstance(value, torch.Tensor) and name.endswith("bias"):
            value = True
        if hasattr(module, name) and not (value is None and name.endswith("bias")):
            given[name] = value
        elif name == "bias":
            given[name] = getattr(module, "in_proj_bias", None) is not None
        elif parameter.default is parameter.empty:
            given[name] = object()
    return json.dumps({"args": [], "kwargs": {word: writer.tree(item) for word, item in given.items()}})
