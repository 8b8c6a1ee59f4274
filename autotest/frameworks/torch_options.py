"""Other values for the optional arguments of torch's functions and classes, by their names and defaults."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

from autotest.frameworks.torch_search import Drawer

#: What optional arguments are called that are words, and the words that they take.
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "reduction": ("none", "sum", "mean"),
    "padding_mode": ("reflect", "replicate", "circular", "zeros"),
    "padding": ("same", "valid"),
    "approximate": ("tanh", "none"),
    "mode": ("nearest", "bilinear", "bicubic", "linear", "trilinear", "area", "sum", "mean", "max", "reflect"),
    "nonlinearity": ("relu", "tanh"),
    "rounding_mode": ("trunc", "floor"),
    "indexing": ("ij", "xy"),
    "activation": ("relu", "gelu"),
}
#: Arguments of every function or class, which say nothing of what is computed.
_EVERYWHERE: Final = frozenset(
    ("device", "dtype", "out", "layout", "pin_memory", "generator", "size_average", "reduce")
)


def option_values(drawer: Drawer) -> tuple[Any, ...]:
    """What an argument whose default is None is offered: numbers, a flag, and tensors of the usual sizes."""
    shapes = ((4,), (2,), (2, 4), (1,))
    positive = [drawer.tensor(shape).detach().abs() + 0.1 for shape in shapes]
    return (2, 0.3, True, 0, (4, 4), *positive)


def changed_options(function: Any, positional: int, offered: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Optional arguments of `function` from position `positional` on, each with another value than its default."""
    with contextlib.suppress(ValueError, TypeError):
        for name, parameter in list(inspect.signature(function).parameters.items())[positional:]:
            if parameter.default is inspect.Parameter.empty or name in _EVERYWHERE:
                continue
            yield from ((name, value) for value in other_values(name, parameter.default, offered))


def other_values(name: str, default: Any, offered: tuple[Any, ...]) -> Iterator[Any]:
    """Values for the argument called `name`, other than its default."""
    yield from (word for word in _WORDS.get(name, ()) if word != default)
    if isinstance(default, bool):
        yield not default
    elif isinstance(default, int):
        yield from (value for value in (default + 1, 2, 0, None) if value != default)
    elif isinstance(default, float):
        # 0.3 and what is added are no numbers of single precision.
        yield from (default + 0.3, 0.0, None)
    elif default is None:
        yield from offered
