"""Other values for the optional arguments of torch's functions and classes, by their names and defaults."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import torch

from autotest.frameworks.torch_schemas import overloads, takes_dtype
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
#: What schemas say that an argument takes, and values of that kind.
_OF_TYPE: Final[Mapping[str, tuple[Any, ...]]] = {
    "flag": (True, False),
    "integer": (0, 1, -1),
    "fraction": (0.3, 2.0),
    "scalar": (2, 0.3),
    "numbers": ((1,), (0, 1)),
}
#: The dtypes that a result is asked for in.
_DTYPES: Final = (torch.float64, torch.int64)
#: Samples of one operator at most that have fewer optional arguments.
_FEWER: Final = 40
#: Signatures that a call by names is tried with.
_SPELLINGS: Final = 2
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
        for name, parameter in list(_parameters(function).items())[positional:]:
            # What begins with an underscore is torch's own affair: no program gives it.
            if parameter.default is inspect.Parameter.empty or name in _EVERYWHERE or name.startswith("_"):
                continue
            yield from ((name, value) for value in other_values(name, parameter.default, offered))


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of `function`, or for a class that only hands all of them on, those of the class above it."""
    above = function.__mro__[1:] if inspect.isclass(function) else ()
    parameters = inspect.signature(function).parameters
    for base in above:
        if any(item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD) for item in parameters.values()):
            break
        parameters = inspect.signature(base).parameters
    return parameters


def with_options(path: str, samples: Iterable[Any], drawer: Drawer) -> Iterator[Any]:
    """`samples` of torch's operator database, each with one optional argument of the function at `path` besides.

    The argument is one that the sample leaves out, and is given another value than its default where that is known.
    """
    offered = option_values(drawer)
    function = functools.reduce(getattr, path.split("."), torch)
    values = list(changed_options(function, 1, offered)) or list(_of_schemas(path, offered))
    values += [("dtype", dtype) for dtype in _DTYPES if takes_dtype(path)]
    for sample in samples:
        for name, value in values:
            if name not in sample.kwargs:
                yield type(sample)(sample.input, args=sample.args, kwargs={**sample.kwargs, name: value})


def with_fewer_options(samples: Iterable[Any]) -> Iterator[Any]:
    """`samples` with one of their optional arguments alone, with one of them left out, and with none.

    A candidate that does not know one argument refuses all samples which give it, whatever the others are.
    """
    seen: set[frozenset[tuple[str, str]]] = set()
    for sample in samples:
        names = list(sample.kwargs)
        if not names or not _has_elements(sample.input):
            continue
        alone = [{name} for name in names] if len(names) > 1 else []
        for kept in [*alone, *({*names} - {name} for name in names), set()]:
            kwargs = {name: value for name, value in sample.kwargs.items() if name in kept}
            told = frozenset((name, _told(value)) for name, value in kwargs.items())
            if told not in seen and len(seen) < _FEWER:
                seen.add(told)
                yield type(sample)(sample.input, args=sample.args, kwargs=kwargs)


def with_names(path: str, samples: Iterable[Any]) -> Iterator[Any]:
    """`samples` with the arguments after the first given by their names, one sample for each number of them."""
    seen: set[int] = set()
    for sample in samples:
        count = len(sample.args)
        if count and count not in seen and _has_elements(sample.input):
            for names in _names_after_first(path, count)[:_SPELLINGS]:
                if sample.kwargs.keys().isdisjoint(names):
                    seen.add(count)
                    yield type(sample)(
                        sample.input, kwargs={**dict(zip(names, sample.args, strict=True)), **sample.kwargs}
                    )


def _names_after_first(path: str, count: int) -> list[tuple[str, ...]]:
    """What the `count` parameters after the first are called, in each signature that has as many."""
    function = functools.reduce(getattr, path.split("."), torch)
    named = [[parameter.name for parameter in found if not parameter.named] for found in overloads(path)]
    with contextlib.suppress(ValueError, TypeError):
        parameters = inspect.signature(function).parameters.values()
        named.insert(0, [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD])
    return list(dict.fromkeys(tuple(names[1 : 1 + count]) for names in named if len(names) > count))


def _has_elements(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) or value.numel() > 1


def _told(value: Any) -> str:
    return f"tensor {tuple(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)


def _of_schemas(path: str, offered: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The optional arguments that only schemas tell of, each with a few values of its type."""
    parameters = {item.name: item for found in overloads(path) for item in found if item.optional}
    for name, parameter in parameters.items():
        if parameter.takes == "word":
            yield from ((name, word) for word in _WORDS.get(name, ()))
        elif parameter.takes == "tensor":
            yield from ((name, value) for value in offered if isinstance(value, torch.Tensor))
        else:
            yield from ((name, value) for value in _OF_TYPE.get(parameter.takes, ()))


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
