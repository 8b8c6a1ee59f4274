"""Records the public calls that a program makes, without changing how it runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .calls_file import CallsFile
from .description import short
from .distinct_calls import LIMIT, DistinctCalls, WrittenCall
from .made_modules import constructed_by, note_construction, state_of
from .names import PublicName, as_written, called, module_classes
from .optimizers import groups, optimizer_classes, representatives


class _ThreadState(threading.local):
    """The state of one thread."""

    def __init__(self) -> None:
        #: Nesting depth of torch's functions whose inner calls are not recorded: module constructors, optimizer steps.
        self.muted = 0
        #: The public modules whose forward runs, innermost last.
        self.within: list[str] = []

    @property
    def innermost(self) -> str:
        """The public module whose forward runs; "" if none does."""
        return self.within[-1] if self.within else ""


class CallRecorder:
    """Writes each distinct call of public functions, methods and modules of torch into `file`.

    Calls are distinct by name, form, argument tree, and the dtypes, shapes, strides and requires_grad of tensors.
    """

    def __init__(self, file: CallsFile, limit: int = LIMIT) -> None:
        self._file = file
        self._calls = DistinctCalls(file, limit)
        self._here = _ThreadState()
        self._names: dict[Any, PublicName | None] = {}
        self._restore: list[Callable[[], None]] = []
        self._classes = module_classes()

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
        self._calls.summarise()

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
            if self._calls.is_new(key, floats):
                self._calls.write(key, floats, WrittenCall(name.name, form, args, kwargs, self._here.innermost))
        except Exception:  # noqa: BLE001 - an error in the recorder must not end the user's script
            self._calls.leave_out(name.name)

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
            if type(self) in recorder._classes:
                note_construction(self, initialise, args, kwargs)
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
                    if self._calls.is_new(key, floats):
                        given = [representatives(group.parameters)]
                        step = WrittenCall(name, "optimizer", given, group.options, self._here.innermost)
                        self._calls.write(key, floats, step)
        except Exception:  # noqa: BLE001 - as above
            self._calls.leave_out(name)

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
            self._calls.leave_out(name)

    def _note_module(self, name: str, module: Any, args: Any, kwargs: Any) -> None:
        made = constructed_by(module)
        floats: list[float] = []
        keywords = short(kwargs, floats) if kwargs else None
        key = (name, made, module.training, short(args, floats), keywords, torch.is_grad_enabled())
        if not self._calls.is_new(key, floats):
            return
        more = {
            "constructor": json.loads(made),
            "training": module.training,
            "state": lambda writer: state_of(module, writer),
        }
        self._calls.write(key, floats, WrittenCall(name, "module", args, kwargs, self._here.innermost, more))


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
