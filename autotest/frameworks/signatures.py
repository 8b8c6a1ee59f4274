"""Annotations of a framework's callables: by inspection for Python functions, from stub files for built-in ones."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from generators.annotations import DIMENSION, INT, SIZE, Many, describe

#: The names of parameters of modules that are the size of a dimension of an input, a parameter or the output.
_DIMENSIONS: Final = frozenset(
    """d_model dim_feedforward embed_dim embedding_dim hidden_size in1_features in2_features in_channels in_features
    input_size kdim normalized_shape num_channels num_embeddings num_features num_parameters out_channels out_features
    proj_size vdim""".split()
)

#: The names of starred parameters that are sizes or numbers of repetitions, which are not negative.
_SIZES: Final = frozenset(("size", "sizes", "shape", "repeats"))


#: What annotations of objects of the framework contain.
_OBJECTS: Final = ("dtype", "device", "layout", "memory_format", "Generator", "Any")


class AnnotatedParameter(NamedTuple):
    name: str
    annotation: Any
    starred: bool
    #: Whether it is keyword-only.
    named: bool = False


class Signatures:
    """Looks up annotations in live objects, and in `stubs` for objects that have none.

    Args:
        stubs: texts of stub files by kind: ``functions`` (module level) and ``methods`` (of the tensor class).
    """

    def __init__(self, stubs: Mapping[str, str]) -> None:
        self._stubs = stubs

    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        """Return annotations of the parameters of `function` by position (without self) and by name; empty if unknown.

        `positional` (the number of positional arguments) and `keywords` select the overload.
        """
        parameters = _python_parameters(function)
        if parameters is not None:
            return _table(parameters, positional)
        table: dict[int | str, Any] = {}
        # A function takes the tensor as a parameter: its annotations are one place off for the method of this name.
        stub = self._stubs.get("methods" if _is_bound(function) else "functions", "")
        for overload in _overloads(stub, path.rpartition(".")[2], positional, frozenset(keywords)):
            for key, annotation in _table(overload, positional).items():
                if key not in table or _is_replaced(table[key], annotation):
                    table[key] = annotation or ""
        return table

    def names(
        self, path: str, function: Any, tensors: Sequence[bool | None], keywords: Iterable[str], *, method: bool
    ) -> tuple[str, ...]:
        """Return the names of the parameters (without self) that the positional arguments bind to.

        The result is empty if they are unknown. A starred parameter, which takes all further arguments, is the last
        one and has its star: ``*dims``. `tensors` says of each positional argument whether it is a tensor, with None
        for another object of the framework, such as a dtype; `method` says whether `path` is the name of a tensor
        method.
        """
        positional = len(tensors)
        parameters = _python_parameters(function)
        if parameters is None:
            stub = self._stubs.get("methods" if method else "functions", "")
            overloads = _overloads(stub, path.rpartition(".")[2], positional, frozenset(keywords))
            parameters = next((one for one in overloads if _takes(one, tensors)), overloads[0] if overloads else [])
        taken: list[str] = []
        for parameter in [one for one in parameters if not one.named][:positional]:
            taken.append(f"*{parameter.name}" if parameter.starred else parameter.name)
            if parameter.starred:
                return tuple(taken)
        return tuple(taken) if len(taken) == positional else ()


def _takes(overload: Sequence[AnnotatedParameter], tensors: Sequence[bool | None]) -> bool:
    """Return whether an overload takes these arguments by position.

    ``max(x, 1)`` has a dimension and no other tensor, and ``x.view(-1)`` a size and no dtype.
    """
    pairs = zip([parameter for parameter in overload if not parameter.named], tensors, strict=False)
    return all(is_tensor or _takes_no_tensor(parameter.annotation, is_tensor) for parameter, is_tensor in pairs)


def _takes_no_tensor(annotation: Any, is_tensor: bool | None) -> bool:
    """Return whether a parameter takes a plain value (`is_tensor` False), or an object of the framework (None)."""
    if not isinstance(annotation, str):
        return True
    is_object = any(kind in annotation for kind in _OBJECTS)
    return annotation != "Tensor" and (is_object if is_tensor is None else annotation != "_dtype")


def _is_replaced(annotation: Any, later: Any) -> bool:
    """Return whether the annotation of a later overload is used instead of `annotation`.

    A generator draws no tensor, so that the number of ``clamp(min: Number)`` replaces that of ``clamp(min: Tensor)``.
    One number is preferred to a tuple of any length, as in ``ones(*size: int)`` after ``ones(size: Sequence[int])``:
    the same generator may also be the size of a tensor.
    """
    if type(annotation) is str and "Tensor" in annotation:
        return True
    return isinstance(describe(annotation), Many) and describe(later) == INT


def _is_bound(function: Any) -> bool:
    """Return whether a built-in `function` is a method of an object, and not a function of a module or a class."""
    owner = getattr(function, "__self__", None)
    return not (owner is None or inspect.ismodule(owner) or inspect.isclass(owner))


#: Cached because a stub file has half a million characters.
@functools.lru_cache(maxsize=1024)
def _overloads(
    stub: str, name: str, positional: int, keywords: frozenset[str]
) -> Sequence[Sequence[AnnotatedParameter]]:
    written = re.compile(rf"^ *def {re.escape(name)}\((?P<inside>.*?)\) *->", re.MULTILINE | re.DOTALL)
    overloads = [parameters for match in written.finditer(stub) if (parameters := _parse(match["inside"])) is not None]
    return [
        parameters
        for parameters in overloads
        if keywords <= {parameter.name for parameter in parameters}
        and (
            positional <= sum(not parameter.named for parameter in parameters)
            or any(parameter.starred for parameter in parameters)
        )
    ]


def _table(parameters: Sequence[AnnotatedParameter], positional: int) -> dict[int | str, Any]:
    table: dict[int | str, Any] = {}
    for position, (name, annotation, starred, named) in enumerate(parameters):
        if name in _DIMENSIONS and describe(annotation) == INT:
            annotation = DIMENSION  # noqa: PLW2901
        table[name] = annotation
        if starred:
            if name in _SIZES and describe(annotation) == INT:
                annotation = SIZE  # noqa: PLW2901
            # The annotation of `*size: int` applies to each further positional argument.
            table.update(dict.fromkeys(range(position, max(positional, position + 1)), annotation))
        elif position < positional and not named:
            table[position] = annotation
    return table


def _python_parameters(function: Any) -> Sequence[AnnotatedParameter] | None:
    """Return the parameters of a Python function or class, or None for a built-in (its annotations are in stubs)."""
    target = function
    if is_class := inspect.isclass(function):
        target = target.__init__
    elif hasattr(function, "forward"):
        target = function.forward
    target = inspect.unwrap(target)
    try:
        signature = inspect.signature(target)
    except (ValueError, TypeError):
        return None
    try:
        hints = typing.get_type_hints(target)
    except Exception:  # noqa: BLE001 - a forward reference that only a type checker can resolve; use its text
        hints = {}
    listed = [
        AnnotatedParameter(
            parameter.name,
            hints.get(parameter.name, _known(parameter.annotation)),
            parameter.kind is parameter.VAR_POSITIONAL,
            parameter.kind is parameter.KEYWORD_ONLY,
        )
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    if is_class and listed and listed[0].name == "self":
        listed = listed[1:]
    if listed and all(parameter.annotation is None for parameter in listed):
        return None
    return listed


def _known(annotation: Any) -> Any:
    return None if annotation is inspect.Parameter.empty else annotation


def _parse(inside: str) -> list[AnnotatedParameter] | None:
    try:
        definition = ast.parse(f"def f({inside}): ...").body[0]
    except SyntaxError:
        return None
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    listed = [(item, False, False) for item in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        listed.append((arguments.vararg, True, False))
    listed += [(item, False, True) for item in arguments.kwonlyargs]
    return [
        AnnotatedParameter(
            item.arg, ast.unparse(item.annotation) if item.annotation is not None else None, starred, named
        )
        for item, starred, named in listed
        if item.arg != "self"
    ]
