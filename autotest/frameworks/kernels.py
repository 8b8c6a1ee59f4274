"""An adapter for a library on torch's tensors, whose functions, layers and optimizers stand in for torch's own."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from autotest.base.errors import AdapterWrong, FrameworkMissing, nearest
from autotest.base.versions import version_of
from autotest.comparison.rejection import first_line
from autotest.emission import Script
from autotest.frameworks.harvester.defaults import without_defaults
from autotest.frameworks.scripts import way_to
from autotest.frameworks.torch import TorchFramework
from autotest.program import CallKind

#: The source of `Kernels._mode` in a script. torch passes on the default values of functions written in Python.
_REPLACING = """\
class Replacing(torch.overrides.TorchFunctionMode):
    own = {{{own}}}
    def __torch_function__(self, function, types, args=(), kwargs=None):
        given, made = kwargs or {{}}, self.own.get(function)
        if made and inspect.isfunction(function):
            usual = inspect.signature(function).parameters
            given = {{name: one for name, one in given.items() if name[0] != "_" and one is not usual[name].default}}
        return (made or function)(*args, **given)"""

#: The source of `Kernels.resolve` in a script: a namespace, because a class is reached by its name only.
_NAMED = """\
class Named:
    own = {{{own}}}
    def __init__(self, torch, path=""):
        self.torch, self.path = torch, path
    def __getattr__(self, name):
        found = self.own.get(self.path + name) or getattr(self.torch, name)
        return Named(found, f"{{self.path}}{{name}}.") if inspect.ismodule(found) else found"""


class Kernels(TorchFramework):
    """torch, with functions and classes of a library in place of some of its own.

    A call that a test, or the forward of a module, makes of one of these operators runs the library's function with
    the same arguments. Inside of it, torch is as it is. A class, such as a layer or an optimizer, and a function that
    torch does not hand over, such as ``nn.utils.clip_grad_norm_``, stand in where a test names them. All other
    operators are torch's. A trial that calls none of the library's functions and classes would compare torch with
    itself; it counts as one that needs what the candidate lacks.

    Args:
        name: the name of the library in reports.
        kernels: by the name of an operator of torch (``"softmax"``, ``"nn.functional.silu"``, ``"Tensor.add_"``; that
            of a method is called by operators such as ``+=``, too) or of a class (``"nn.RMSNorm"``,
            ``"optim.AdamW"``), the function or class to call instead, as ``"module:function"``.
        version: the version of the library; by default the ``__version__`` of the first module.
    """

    def __init__(self, name: str, kernels: Mapping[str, str], version: str = "") -> None:
        super().__init__(name, "torch", name)
        self._kernels = dict(kernels)
        self._given_version = version
        self.own_calls: int = 0
        for path, function in self._kernels.items():
            if not all(part and all(map(str.isidentifier, part.split("."))) for part in function.split(":")) or (
                function.count(":") != 1
            ):
                raise AdapterWrong(f"Kernels({name!r}): {path!r}: expected 'module:function', got {function!r}")
        if not self._kernels:
            raise AdapterWrong(f"Kernels({name!r}): expected at least one operator of torch, such as 'softmax'")

    @property
    def version(self) -> str:
        _ = self._replaced  # names what is missing
        first = self._modules[0]
        return self._given_version or version_of(first, importlib.import_module(first))

    @property
    def _modules(self) -> list[str]:
        return [*dict.fromkeys(function.partition(":")[0] for function in self._kernels.values())]

    @functools.cached_property
    def _pairs(self) -> dict[str, tuple[Any, Callable[..., Any]]]:
        """By the names in the table: what torch has there, and what the library has for it."""
        return {path: (self._of_torch(path), self._own(path, function)) for path, function in self._kernels.items()}

    @functools.cached_property
    def _replaced(self) -> dict[Any, Callable[..., Any]]:
        """The library's functions, by the functions of torch that they replace."""
        return dict(self._pairs.values())

    @functools.cached_property
    def _named(self) -> dict[str, Callable[..., Any]]:
        """The library's classes, and its functions that torch does not hand over, by the names that they replace."""
        return {path: own for path, (found, own) in self._pairs.items() if not _is_handed_over(found)}

    def resolve(self, path: str) -> Any:
        return self._named[path] if path in self._kernels and path in self._named else super().resolve(path)

    def _of_torch(self, path: str) -> Any:
        try:
            return super().resolve(path)
        except AttributeError as error:
            parent, _, name = path.rpartition(".")
            near = nearest(name, dir(super().resolve(parent) if parent else self.root)) if self._has(parent) else ""
            raise AdapterWrong(f"Kernels({self.name!r}): torch has no operator {path!r}{near}") from error

    def _own(self, path: str, function: str) -> Callable[..., Any]:
        module, _, attribute = function.partition(":")
        try:
            return functools.reduce(getattr, attribute.split("."), importlib.import_module(module))  # type: ignore[return-value]
        except (ImportError, AttributeError, OSError, RuntimeError) as error:  # the last two: of a compiled library
            raise FrameworkMissing(
                f"Kernels({self.name!r}): {function!r}, for {path}, is not there: {first_line(error)}"
            ) from error

    @functools.cached_property
    def _mode(self) -> Any:
        from torch.overrides import TorchFunctionMode

        replaced = self._replaced

        class Replacing(TorchFunctionMode):  # type: ignore[misc]  # torch is Any here
            def __torch_function__(mode, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: N805
                if (own := replaced.get(function)) is None:
                    return function(*args, **(kwargs or {}))
                self.own_calls += 1
                return own(*args, **without_defaults(function, kwargs or {}))

        return Replacing()

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        found = super().operation(kind, target)
        if kind in ("enter", "exit", "setattr"):
            return found
        if kind == "function" and target in self._named:
            return functools.partial(self._call_own, found)
        mode = self._mode

        def call(*args: Any, **kwargs: Any) -> Any:
            with mode:
                return found(*args, **kwargs)

        return call

    def _call_own(self, own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.own_calls += 1
        return own(*args, **kwargs)

    def script(self) -> Script:
        ways = {line.partition("#")[0]: line for module in self._modules for line in self._way_to(module)}
        imports = tuple(f"import {module}" for module in self._modules)
        lines, namespace = [], "torch"
        if named := {repr(path): self._kernels[path] for path in self._named}:
            lines += _NAMED.format(own=_entries(named)).splitlines()
            namespace = "Named(torch)"
        if handed := {f"torch.{path}": own for path, own in self._kernels.items() if path not in self._named}:
            lines += _REPLACING.format(own=_entries(handed)).splitlines()
            namespace = f"(Replacing().__enter__(), {namespace})[1]"  # now this process calls the library's functions
        return Script(self.name, ("import inspect", "import torch", *ways.values(), *imports, *lines), namespace)

    def _has(self, path: str) -> bool:
        try:
            return not path or super().resolve(path) is not None
        except AttributeError:
            return False

    @staticmethod
    def _way_to(module: str) -> tuple[str, ...]:
        return way_to(importlib.import_module(module), module)


def _entries(own: Mapping[str, str]) -> str:
    """Return the source of what is between the braces of a table in a class, one entry a line: tables may be long."""
    return "".join(f"\n        {key}: {function.replace(':', '.')}," for key, function in own.items()) + "\n    "


def _is_handed_over(function: Any) -> bool:
    """Return whether a torch function mode gets the calls of `function`, one of torch's, whoever makes them.

    Built-in functions do that by themselves, functions written in Python only if they are made to, and classes never.
    """
    if not inspect.isfunction(function):
        return not inspect.isclass(function)
    from torch.overrides import get_overridable_functions

    return any(function in overridable for overridable in get_overridable_functions().values())
