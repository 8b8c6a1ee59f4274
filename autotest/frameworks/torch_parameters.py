"""Parameters of torch's functions, methods and classes: from signatures, from torch's own lists, and from schemas."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.overrides import get_testing_overrides

from autotest.frameworks.torch_names import object_at
from autotest.results.optional_arguments import FLAG, OptionalArgument

#: Parameters that decide where a result is stored, or how it is computed, and not what; and internal ones.
_STORAGE: Final = frozenset(
    """out layout device pin_memory memory_format generator non_blocking async names cudnn_enable cudnn_enabled
    out_dtype implicit""".split()
)
#: Deprecated parameters of losses; functions with only one of them have it for another purpose.
_DEPRECATED: Final = frozenset(("size_average", "reduce"))
#: The first parameter, which is the tensor itself, and never an option.
_TENSOR: Final = frozenset(("self", "input"))
#: What a class passes to the constructor of its base class by itself: ``LSTM`` to ``RNNBase``.
_PASSED_BY_SUBCLASS: Final = frozenset(("mode",))
#: A word in quotes, as in documentation: ``'none'``. A parenthesis before it makes it an argument of an example.
_QUOTED: Final = re.compile(r"(?<![\w(=])['\"]([A-Za-z][A-Za-z_-]{0,40})['\"](?!\w)")
#: Where documentation continues: ``See :class:`~torch.nn.L1Loss```.
_REFERRED: Final = re.compile(r"[Ss]ee :(?:class|func):`~?torch\.([\w.]+)`")
#: The beginning of the description of a parameter in documentation: ``reduction (str, optional):``.
_DESCRIBED: Final = r"^(?P<indent>[ \t]*)(?:\* )?`{{0,2}}{name}`{{0,2}} ?(?:\([^\n]*?\))?(?: *[:-])"
_MISSING: Final = object()


class _Parameter(NamedTuple):
    name: str
    default: Any
    #: Whether it takes a flag, or a word.
    flag: bool
    word: bool
    #: Whether it can be given by name only.
    named: bool


def optional_arguments(path: str, *, called_as: str) -> Mapping[str, OptionalArgument]:
    """Return the optional arguments of the operator at `path` by name; none if its signature is unknown.

    An argument is optional if it has a default, or if another overload does without it, as `dim` of ``sum``.

    Args:
        path: the dotted path of a function or of a module's class, or the name of a tensor's method.
        called_as: ``"function"``, ``"method"`` or ``"module"``.
    """
    named = object_at(path, torch.Tensor if called_as == "method" else torch)
    if named is None:
        return {}
    found: dict[str, OptionalArgument] = {}
    for function in (named, getattr(named, "forward", None)) if called_as == "module" else (named,):
        for name, parameter in _optional(parameters(function)).items():
            found.setdefault(name, _described(parameter, path, named))
    return found


def names(function: Any, tensors: Sequence[bool | None], keywords: Collection[str]) -> tuple[str, ...]:
    """Return the names of the parameters that positional arguments bind to; empty if they are unknown.

    Args:
        function: the function, class, module or bound method that is called.
        tensors: for each positional argument whether it is a tensor; None for another object of the framework.
        keywords: the names of the other arguments.
    """
    if not inspect.isclass(function):
        function = getattr(function, "forward", function)
    bound = isinstance(getattr(function, "__self__", None), (torch.Tensor, torch.nn.Module))
    for overload in parameters(getattr(function, "__func__", function)):
        positional = [item for item in overload if not item.named][bound:]
        taken = positional[: len(tensors)]
        fits = len(taken) == len(tensors) and not {*keywords} - {item.name for item in overload}
        # A word is no tensor, and no number either, but that a caller may not tell; a tensor is neither.
        if fits and not any(given and (item.flag or item.word) for item, given in zip(taken, tensors, strict=True)):
            return tuple(item.name for item in taken)
    return ()


def parameters(function: Any) -> list[tuple[_Parameter, ...]]:
    """Return the overloads of `function`; none if nothing is known about it."""
    if inspect.isclass(function):
        return _of_class(function)
    name = getattr(function, "__name__", "")
    if inspect.isfunction(function):
        # `boolean_dispatch` hides signatures, which torch lists for its tests. Those of built-in functions are sketchy.
        found = _of_signature(function) or _of_signature(get_testing_overrides().get(function))
        return [found] if found else []
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}") if name else []
    return [tuple(map(_of_schema, schema.arguments)) for schema in schemas if _is_of_tensors(schema)]


def _of_class(kind: type[Any]) -> list[tuple[_Parameter, ...]]:
    """Return the parameters of a class; of one that only passes its arguments on, those of its base class."""
    for place, base in enumerate(kind.__mro__):
        found = _of_signature(base)
        if found:
            passed = _PASSED_BY_SUBCLASS if place else frozenset[str]()
            return [tuple(parameter for parameter in found if parameter.name not in passed)]
    return []


def _of_signature(function: Any) -> tuple[_Parameter, ...]:
    """Return the parameters of a Python function or class; nothing if it has none but ``*args, **kwargs``."""
    if function is None or inspect.isbuiltin(function):
        return ()
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return ()
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return tuple(
        _Parameter(
            item.name,
            _MISSING if item.default is item.empty else item.default,
            isinstance(item.default, bool),
            isinstance(item.default, str),
            item.kind is item.KEYWORD_ONLY,
        )
        for item in signature.parameters.values()
        if item.kind not in starred
    )


def _is_of_tensors(schema: Any) -> bool:
    """Return whether Python code can call the operator of `schema` with tensors: TorchScript has others of its own."""
    own = "name" in schema.overload_name.lower() or schema.overload_name.startswith("prim")  # names of dimensions
    takes = any("Tensor" in str(item.type) for item in schema.arguments)
    return takes and bool(schema.returns) and not own and not any(item.is_out for item in schema.arguments)


def _of_schema(item: Any) -> _Parameter:
    kind = str(item.type).removeprefix("Optional[").removesuffix("]")
    default = item.default_value if item.has_default_value() else _MISSING
    name = "input" if item.name == "self" else item.name
    return _Parameter(name, default, kind == "bool", kind == "str", item.kwarg_only)


def _optional(overloads: Sequence[tuple[_Parameter, ...]]) -> dict[str, _Parameter]:
    """Return the parameters that some call may leave out, by name."""
    needed = [{item.name for item in one if item.default is _MISSING} for one in overloads]
    found: dict[str, _Parameter] = {}
    for one in overloads:
        all_names = {item.name for item in one}
        left_out = _DEPRECATED if all_names >= _DEPRECATED else frozenset[str]()
        if "device" in all_names and not all_names & _TENSOR:
            left_out |= {"dtype"}  # of a module's parameters, which the dtypes of the operator show
        for item in one:
            if item.name in _STORAGE | _TENSOR | left_out or item.name.startswith("_"):
                continue
            if item.default is not _MISSING or any(other <= all_names - {item.name} for other in needed):
                known = found.get(item.name)
                if known is None or (known.default is _MISSING and item.default is not _MISSING):
                    found[item.name] = item
    return found


def _described(parameter: _Parameter, path: str, named: Any) -> OptionalArgument:
    default = "" if parameter.default is _MISSING else repr(parameter.default)
    if parameter.flag:
        return OptionalArgument(default, FLAG)
    if not parameter.word:
        return OptionalArgument(default)
    for text in _documentation(path, named):
        for words in (_documented(text, parameter.name), _QUOTED.findall(text)):
            literals = tuple(dict.fromkeys(map(repr, words)))
            # Words without the default are not all words, or those of another parameter.
            if default in literals or (words and default in ("", "None")):
                return OptionalArgument(default, literals)
    return OptionalArgument(default)


def _documentation(path: str, named: Any) -> Iterator[str]:
    """Yield the documentation of an operator, and of what it refers to: a method to a function, a loss to its class."""
    text = inspect.getdoc(named) or ""
    yield text
    for other in (path.rstrip("_"), *_REFERRED.findall(text)):
        found = object_at(other, torch)
        if found is not None and found is not named:
            yield inspect.getdoc(found) or ""


def _documented(text: str, name: str) -> tuple[str, ...]:
    """Return the words in quotes in the description of the parameter `name`: to the next one that is no deeper."""
    start = re.search(_DESCRIBED.format(name=re.escape(name)), text, re.MULTILINE)
    if start is None:
        return ()
    lines = [text[start.end() :].partition("\n")[0]]
    for line in text[start.end() :].partition("\n")[2].splitlines():
        if line.strip() and len(line) - len(line.lstrip()) <= len(start["indent"]):
            break
        lines.append(line)
    return tuple(dict.fromkeys(_QUOTED.findall("\n".join(lines))))
