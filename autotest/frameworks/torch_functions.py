"""Records the calls of public torch functions as a program while code runs.

A torch function mode receives each call with the function and the keyword arguments of the source code. Calls inside
of a public function are not recorded.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode

from autotest.base.errors import NotReplayable
from autotest.frameworks.harvester.names import as_written, path_of
from autotest.frameworks.torch_lowering import Builder
from autotest.frameworks.torch_names import Named, call_name


@functools.cache
def public_name(function: Any) -> Named | None:
    """Return a program's name for `function`, which a function mode received; None if it is not public."""
    path = path_of(function)
    return call_name(path) if path else None


def registered_path(function: Any) -> str:
    """Return the path of a registered operator, such as ``ops.aten.relu.default``; empty for any other function."""
    return f"ops.{function}" if isinstance(function, (OpOverload, OpOverloadPacket)) else ""


class Recording(TorchFunctionMode):  # type: ignore[misc]  # torch is Any here
    """A mode in which public calls run and are also appended to `builder`."""

    def __init__(self, builder: Builder) -> None:
        super().__init__()
        self._builder = builder
        #: Number of public calls that were recorded.
        self.seen = 0
        #: Why the recording is incomplete; empty if it is complete.
        self.opaque = ""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        named = public_name(as_written(func, kwargs))
        if named is None:
            self.opaque = self.opaque or f"{getattr(func, '__name__', func)} is not a public function"
            return func(*args, **kwargs)
        if named.kind == "getattr":
            return self._attribute(named.target, func, args)
        if named.kind == "setattr":
            self.opaque = self.opaque or f"the attribute {named.target} is assigned"
            return func(*args, **kwargs)
        try:
            operands = tuple(self._builder.operand(item) for item in (reversed(args) if named.swapped else args))
            keywords = {key: self._builder.operand(value) for key, value in kwargs.items()}
        except NotReplayable as error:
            self.opaque = self.opaque or str(error)
            return func(*args, **kwargs)
        self.seen += 1
        slot = self._builder.call(named.kind, named.target, operands, keywords)
        result = func(*args, **kwargs)
        self._builder.record_result(slot, result)
        return result

    def _attribute(self, name: str, function: Any, args: Any) -> Any:
        owner = self._builder.operand(args[0]) if isinstance(args[0], torch.Tensor) and name in _READ else None
        result = function(*args)
        if owner is not None and isinstance(result, torch.Tensor):
            self.seen += 1
            self._builder.record_result(self._builder.call("getattr", name, (owner,), {}), result)
        return result


#: Attributes of tensors whose values are tensors computed from them.
_READ = frozenset("T H mT mH real imag data".split())
