"""Finds the backend that `torch.compile` is asked for: by a registered name, or as ``MODULE:FUNCTION``."""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.base.versions import version_of
from autotest.frameworks.scripts import way_to

#: The entry-point group in which packages register backends, which torch then finds by itself.
_GROUP: Final = "torch_dynamo_backends"


class Backend(NamedTuple):
    """A backend of `torch.compile`.

    Attributes:
        given: what `torch.compile` is given: the name, or the function.
        function: the function that compiles a graph.
        lines: the lines with which a script imports it.
        text: the expression for `given` in a script.
    """

    given: Any
    function: Callable[..., Any]
    lines: tuple[str, ...]
    text: str

    @property
    def home(self) -> str:
        """The package of the function, ``"torch"`` for torch's own backends."""
        return _module_of(self.function).partition(".")[0]

    @property
    def version(self) -> str:
        """The version of the package, empty if it says none, as a module of the user's own."""
        try:
            root = importlib.import_module(self.home)
        except ImportError:
            return ""
        found = version_of(self.home, root)
        return "" if found == "unknown" else found


def backend_called(name: str, torch_version: str) -> Backend:
    """Return the backend called `name`.

    Args:
        name: a name that torch knows, or ``MODULE:FUNCTION``.
        torch_version: the version of torch, for messages.

    Raises:
        FrameworkMissing: torch cannot compile here, or the module cannot be imported.
        UsageError: there is no such backend.
    """
    return _own(name) if ":" in name else _registered(name, torch_version)


def _own(name: str) -> Backend:
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise FrameworkMissing(f"torch+compile={name}: {module_name} cannot be imported: {error}") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise UsageError(
            f"torch+compile={name}: {module_name} has no function {attribute!r}; expected one that takes a graph and "
            "its example inputs, and returns a function that runs the graph"
        )
    return Backend(
        function, function, (*way_to(module, module_name), f"import {module_name}"), f"{module_name}.{attribute}"
    )


def _registered(name: str, torch_version: str) -> Backend:
    try:
        import torch._dynamo as dynamo
        from torch._dynamo.backends.registry import lookup_backend

        known = dynamo.list_backends(exclude_tags=())
    except Exception as error:
        why = f"torch {torch_version} cannot compile here ({error}); use torch 2.0 or newer"
        raise FrameworkMissing(why) from error
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"torch+compile={name}: torch {torch_version} has no backend {name!r} to compile with.{meant} It has "
            f"{', '.join(sorted(known))}; for a function of a module, write torch+compile=MODULE:FUNCTION"
        )
    function = lookup_backend(name)
    module = _module_of(function)
    found = module.startswith("torch.") or name in importlib.metadata.entry_points(group=_GROUP).names
    lines = () if found else (*way_to(importlib.import_module(module), module), f"import {module}")
    return Backend(name, function, lines, repr(name))


def _module_of(function: Any) -> str:
    """Return the name of the module that defines a function, also of a partial one."""
    return str(getattr(getattr(function, "func", function), "__module__", None) or type(function).__module__)
