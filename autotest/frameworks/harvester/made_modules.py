"""How a module was made: the arguments of its constructor and its state, as the file contains them."""

from __future__ import annotations

import inspect
import json
from typing import Any

import torch

from .defaults import without_defaults
from .description import Writer

#: Attribute of a module that contains its constructor arguments as JSON. An attribute, so that copies have it, too.
_MADE = "_autotest_made"


def note_construction(module: Any, constructor: Any, args: Any, kwargs: Any) -> None:
    """Keep the arguments of the first constructor that runs for `module`, which is that of its own class."""
    if _MADE not in module.__dict__:
        module.__dict__[_MADE] = _as_json(args, without_defaults(constructor, kwargs))


def constructed_by(module: Any) -> str:
    """Return the arguments of the module's constructor, as JSON."""
    made = module.__dict__.get(_MADE)
    if made is None:
        made = module.__dict__[_MADE] = _by_attributes(module, Writer())
    return str(made)


def _as_json(args: Any, kwargs: Any) -> str:
    writer = Writer()
    try:
        with torch._C.DisableTorchFunction():
            positional = [writer.tree(item) for item in args]
            keywords = {word: writer.tree(item) for word, item in kwargs.items()}
            return json.dumps({"args": positional, "kwargs": keywords})
    except Exception:  # noqa: BLE001 - an error in the recorder must not end the user's script
        return json.dumps({"args": [{"object": "something that cannot be written down"}], "kwargs": {}})


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


def state_of(module: Any, writer: Writer) -> dict[str, Any]:
    """Return parameters and buffers by the names that `load_state_dict` uses."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return {name: writer.tree(tensor) for name, tensor in named}
