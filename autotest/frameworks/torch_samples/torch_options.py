"""Other values for the optional arguments of torch's functions and classes, chosen by their names and defaults."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import torch

from autotest.frameworks.torch_names import object_at
from autotest.frameworks.torch_samples.torch_search import CallArguments, TensorDrawer, first_effect, given
from autotest.frameworks.torch_schemas import overloads, takes_dtype

#: Name of an optional argument that takes a word -> the words that it takes.
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
#: Type of an argument in schemas -> values of that type.
_OF_TYPE: Final[Mapping[str, tuple[Any, ...]]] = {
    "flag": (True, False),
    "integer": (0, 1, -1),
    "fraction": (0.3, 2.0),
    "scalar": (2, 0.3, 0),
    "numbers": ((1,), (0, 1)),
}
#: A word in quotes, as in documentation.
_QUOTED: Final = re.compile(r"['\"]([A-Za-z][a-z_-]{1,20})['\"]")
#: Maximum numbers of samples that are tried with every option, of samples that get each option, of words from one
#: function's documentation, and of pairs of options.
_TRIED, _OPTIONED, _MOST_WORDS, _PAIRS = 24, 3, 12, 200
_NO_NUMBERS: Final = (float("nan"), float("inf"), float("-inf"))
#: Maximum number of pairs of options that both have an effect, for one operator.
_TOGETHER: Final = 8
#: Other values are tried only for arguments for which samples pass at most this number of values.
_WAYS: Final = 3
#: Values of the argument `dtype`.
_DTYPES: Final = (torch.float64, torch.int64)
#: Maximum number of samples of one operator with fewer optional arguments.
_FEWER: Final = 40
#: Number of signatures whose names are tried in calls with named arguments.
_SPELLINGS: Final = 2
#: Arguments that many functions and classes share, and that do not change what is computed.
_EVERYWHERE: Final = frozenset(
    ("device", "dtype", "out", "layout", "pin_memory", "generator", "size_average", "reduce")
)


def option_values(drawer: TensorDrawer) -> tuple[Any, ...]:
    """Return the values to try for an argument whose default is None: numbers, a flag, tensors of the usual sizes."""
    shapes = ((4,), (2,), (2, 4), (1,))
    positive = [drawer.tensor(shape).detach().abs() + 0.1 for shape in shapes]
    return (2, 0.3, True, 0, (4, 4), *positive)


def changed_options(function: Any, positional: int, offered: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield optional arguments of `function` from position `positional` on, each with a value other than its default.

    Args:
        function: a function or a class.
        positional: how many parameters to skip.
        offered: the values to try for arguments whose default is None.
    """
    with contextlib.suppress(ValueError, TypeError):
        for name, parameter in list(_parameters(function).items())[positional:]:
            # Arguments with a leading underscore are private to torch: programs do not pass them.
            if parameter.default is inspect.Parameter.empty or name in _EVERYWHERE or name.startswith("_"):
                continue
            yield from ((name, value) for value in other_values(name, parameter.default, offered))
            yield from ((name, sizes) for sizes in _unlike_sizes(parameter.annotation))


def _unlike_sizes(annotation: Any) -> Iterator[tuple[int, ...]]:
    """Yield a tuple of different sizes if `annotation` allows one size for each dimension, as in modules."""
    for part in typing.get_args(annotation):
        sizes = typing.get_args(part)
        if typing.get_origin(part) is tuple and len(sizes) > 1 and set(sizes) == {int}:
            yield tuple(range(len(sizes), 0, -1))


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of `function`. If a class only forwards ``*args, **kwargs``, those of its base class."""
    above = function.__mro__[1:] if inspect.isclass(function) else ()
    parameters = inspect.signature(function).parameters
    for base in above:
        if any(item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD) for item in parameters.values()):
            break
        parameters = inspect.signature(base).parameters
    return parameters


def with_options(
    path: str, function: Callable[..., Any], samples: Sequence[Any], drawer: TensorDrawer
) -> Iterator[Any]:
    """Yield samples of torch's operator database, each with one more optional argument.

    The argument is one that the sample omits, or one for which all samples pass few values. It gets a value other than
    these and its default. It is added to the first samples, and to one for which it changes the result, if there is
    one.

    Args:
        path: the dotted path below torch of the function that has the arguments.
        function: the function at `path`, or one that calls it.
        samples: the samples of the database.
        drawer: draws the tensors that arguments get.
    """
    offered = option_values(drawer)
    named = object_at(path, torch)
    known = _sampled_values(samples)
    values = list(changed_options(named, 1, offered)) or list(_of_schemas(path, offered))
    values += [("dtype", dtype) for dtype in _DTYPES if takes_dtype(path)]
    values += [(name, value) for name, told in known.items() for value in other_values(name, told[0], offered)]
    values = [
        (name, value) for name, value in values if _value_text(value) not in map(_value_text, known.get(name, ()))
    ]
    first = samples[:_OPTIONED] if function is named else []
    for sample in first:
        yield from (_with(sample, name, value) for name, value in values if name not in sample.kwargs or name in known)
    tried = [*samples[:: max(1, len(samples) // _TRIED)]]
    # Some options only affect NaN and infinities.
    tried += [one for one in map(_without_numbers, tried[:1]) if one is not None]
    candidates = [((sample.input, *sample.args), sample.kwargs) for sample in tried]
    plain = functools.cache(functools.partial(_given, function, candidates))
    words = [(name, word) for name in _taking_words(path) for word in _documented_words(path, name)]
    shown: list[tuple[str, Any, Any]] = []
    alone: list[tuple[str, Any]] = []
    for place, (name, value) in enumerate([*values, *words]):
        index, tells = first_effect(_changed(function, name, value), plain, candidates)
        if index is not None and tells:
            shown.append((name, value, tried[index]))
        else:
            alone.append((name, value))
        told = place >= len(values)
        # A word from the documentation, or an argument that another function passes on, is used only if accepted.
        if index is not None and (told or not first or (tells and tried[index] not in first)):
            yield _with(tried[index], name, value)
    yield from _beside_another(function, alone, shown)
    yield from _together(function, shown)


def _without_numbers(sample: Any) -> Any:
    """Return `sample` with a NaN and both infinities in its first tensor, or None if they do not fit in."""
    tensor = sample.input
    if not isinstance(tensor, torch.Tensor) or not tensor.dtype.is_floating_point or tensor.numel() < len(_NO_NUMBERS):
        return None
    data = tensor.detach().clone(memory_format=torch.contiguous_format)
    data.view(-1)[: len(_NO_NUMBERS)] = torch.tensor(_NO_NUMBERS, dtype=data.dtype)
    return type(sample)(data.requires_grad_(tensor.requires_grad), args=sample.args, kwargs=sample.kwargs)


def _beside_another(
    function: Callable[..., Any], alone: Sequence[tuple[str, Any]], shown: Sequence[tuple[str, Any, Any]]
) -> Iterator[Any]:
    """Yield each option that has no effect or is rejected `alone`, with the first other one that gives it an effect."""
    done: set[int] = set()
    pairs = ((place, one, other) for other in shown for place, one in enumerate(alone))
    for place, (name, value), (known, beside, sample) in itertools.islice(pairs, _PAIRS):
        if place in done or name == known or name in sample.kwargs:
            continue
        other = _with(sample, known, beside)
        if _has_effect(function, other, name, value):
            done.add(place)
            yield _with(other, name, value)


def _together(function: Callable[..., Any], shown: Sequence[tuple[str, Any, Any]]) -> Iterator[Any]:
    """Yield pairs of options that each have an effect, if the second changes the result with the first.

    Such a pair may have code of its own.
    """
    first = {name: value for name, value, _ in reversed(shown)}
    done: set[frozenset[str]] = set()
    pairs = ((known, other) for known in shown for other in first)
    for (name, value, sample), other in itertools.islice(pairs, _PAIRS):
        both = frozenset((f"{name}={_value_text(value)}", f"{other}={_value_text(first[other])}"))
        if len(done) == _TOGETHER or both in done or other == name or other in sample.kwargs:
            continue
        known = _with(sample, name, value)
        if _has_effect(function, known, other, first[other]):
            done.add(both)
            yield _with(known, other, first[other])


def _has_effect(function: Callable[..., Any], sample: Any, name: str, value: Any) -> bool:
    """Return whether the option `name` with this value changes the result of `sample`."""
    arguments = (sample.input, *sample.args), sample.kwargs
    plain = functools.partial(_given, function, [arguments])
    return first_effect(_changed(function, name, value), plain, [arguments])[1]


def _given(function: Callable[..., Any], candidates: Sequence[CallArguments], index: int) -> Any:
    return given(function, candidates[index])


def _with(sample: Any, name: str, value: Any) -> Any:
    return type(sample)(sample.input, args=sample.args, kwargs={**sample.kwargs, name: value})


def _changed(function: Callable[..., Any], name: str, value: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: function(*args, **{**kwargs, name: value})


def _sampled_values(samples: Sequence[Any]) -> dict[str, list[Any]]:
    """Return name -> the numbers, flags and words that samples pass, for arguments for which they pass few values."""
    seen: dict[str, list[Any]] = {}
    for sample in samples:
        for name, value in sample.kwargs.items():
            plain = value[0] if isinstance(value, (tuple, list)) and len(value) == 1 else value
            known = seen.setdefault(name, [])
            if len(known) <= _WAYS and not any(_value_text(plain) == _value_text(one) for one in known):
                known.append(plain)
    kinds = (bool, int, float, str, type(None))
    return {name: known for name, known in seen.items() if len(known) <= _WAYS and isinstance(known[0], kinds)}


def _taking_words(path: str) -> list[str]:
    """Return the parameters of the function at `path` that take a word in one of its signatures."""
    return list(dict.fromkeys(item.name for found in overloads(path) for item in found if item.takes == "word"))


def _documented_words(path: str, name: str) -> list[str]:
    """Return the quoted words in the documentation of the function at `path` and of its in-place form.

    Words that are tried for an argument called `name` in any case are left out.
    """
    places = (path, f"Tensor.{path}_")
    texts = (object_at(place, torch).__doc__ or "" for place in places)
    told = [word for text in texts for word in _QUOTED.findall(text)]
    return [word for word in dict.fromkeys(told) if word not in _WORDS.get(name, ())][:_MOST_WORDS]


def with_fewer_options(samples: Iterable[Any]) -> Iterator[Any]:
    """Yield `samples` with one of their optional arguments alone, with one of them omitted, and with none.

    A candidate that does not support an argument rejects all samples that pass it, whatever the other arguments are.
    """
    seen: set[frozenset[tuple[str, str]]] = set()
    for sample in samples:
        names = list(sample.kwargs)
        if not names or not _has_elements(sample.input):
            continue
        alone = [{name} for name in names] if len(names) > 1 else []
        for kept in [*alone, *({*names} - {name} for name in names), set()]:
            kwargs = {name: value for name, value in sample.kwargs.items() if name in kept}
            told = frozenset((name, _value_text(value)) for name, value in kwargs.items())
            if told not in seen and len(seen) < _FEWER:
                seen.add(told)
                yield type(sample)(sample.input, args=sample.args, kwargs=kwargs)


def with_names(path: str, samples: Iterable[Any]) -> Iterator[Any]:
    """Yield `samples` with the arguments after the first passed by name, one sample for each number of arguments."""
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
    """Return the names of the `count` parameters after the first, for each signature that has them."""
    function = object_at(path, torch)
    named = [[parameter.name for parameter in found if not parameter.named] for found in overloads(path)]
    with contextlib.suppress(ValueError, TypeError):
        parameters = inspect.signature(function).parameters.values()
        named.insert(0, [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD])
    return list(dict.fromkeys(tuple(names[1 : 1 + count]) for names in named if len(names) > count))


def _has_elements(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) or value.numel() > 1


def _value_text(value: Any) -> str:
    return f"tensor {tuple(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)


def _of_schemas(path: str, offered: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield optional arguments that only schemas list, and words and flags of some overloads, with values to try."""
    signatures = overloads(path)
    needed = [{item.name for item in found if not item.optional} for found in signatures]
    always = set[str]().union(*needed[:1]).intersection(*needed)
    parameters = {
        item.name: item
        for found in signatures
        for item in found
        if item.name not in always and (item.optional or item.takes in ("word", "flag"))
    }
    for name, parameter in parameters.items():
        if parameter.takes == "word":
            yield from ((name, word) for word in _WORDS.get(name, ()))
        elif parameter.takes == "tensor":
            yield from ((name, value) for value in offered if isinstance(value, torch.Tensor))
        else:
            yield from ((name, value) for value in _OF_TYPE.get(parameter.takes, ()))


def other_values(name: str, default: Any, offered: tuple[Any, ...]) -> Iterator[Any]:
    """Yield values for the argument called `name`, other than its default; `offered` if the default is None."""
    yield from (word for word in _WORDS.get(name, ()) if word != default)
    if isinstance(default, bool):
        yield not default
    elif isinstance(default, int):
        yield from (value for value in (default + 1, 2, 0, None) if value != default)
    elif isinstance(default, float):
        # 0.3, and therefore the sum, is not representable in single precision.
        yield from (default + 0.3, 0.0, None)
    elif default is None:
        yield from offered
