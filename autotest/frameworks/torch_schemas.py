"""torch's public names, and the parameters of each, from its schemas or from a Python function's annotations."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
import pathlib
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from torch.overrides import get_overridable_functions, resolve_name

from autotest.frameworks.pair import warnings_ignored
from autotest.frameworks.torch_names import object_at
from generators.arguments import Parameter, Takes

#: Type in a schema or an annotation -> kind of argument.
_TAKES: Final[Mapping[str, Takes]] = {
    "Tensor": "tensor",
    "List[Tensor]": "tensors",
    "int": "integer",
    "List[int]": "numbers",
    "float": "fraction",
    "number": "scalar",
    "bool": "flag",
    "str": "word",
}
#: Type in a schema -> annotation in a stub file. Integers are left out: what is not annotated is drawn as a size, which
#: most of them are.
_ANNOTATIONS: Final[Mapping[str, str]] = {"float": "float", "number": "Number", "bool": "bool"}
#: Packages that are a prefix of names in schemas.
_PACKAGES: Final = frozenset(("linalg", "fft", "special"))
#: Parameters with annotations that only TorchScript understands: an integer, or several.
_SIZES: Final = frozenset("output_size kernel_size stride padding dilation size".split())
#: Parameters that do not change what is computed.
_LEFT_OUT: Final = frozenset("out dtype layout device pin_memory memory_format generator non_blocking async".split())


@functools.cache
def public_names() -> tuple[str, ...]:
    """Return the dotted paths below torch of all functions that `torch.overrides` lists, except private ones."""
    found: set[str] = set()
    with warnings_ignored():
        for functions in get_overridable_functions().values():
            for function in functions:
                name = None
                with contextlib.suppress(Exception):
                    name = resolve_name(function)
                if name and name.startswith("torch.") and not any(map(_is_private, name.split("."))):
                    found.add(name.removeprefix("torch."))
    return tuple(sorted(found))


def _is_private(part: str) -> bool:
    return part.startswith("_") and not (part.startswith("__") and part.endswith("__"))


def overloads(path: str) -> list[tuple[Parameter, ...]]:
    """Return the signatures of the function at `path`, without optional parameters of types that cannot be drawn.

    Signatures with a required parameter of such a type are left out.
    """
    function = object_at(path, torch)
    written = _of_python(function)
    found = [written] if written is not None else []
    for schema in _schemas().get(path.rpartition(".")[2], ()):
        parameters = _of_schema(schema)
        if parameters is not None and parameters not in found:
            found.append(parameters)
    if not found and path.startswith("Tensor."):
        found.append((Parameter("self", "tensor"),))
    return found


@functools.cache
def stubs(folder: pathlib.Path) -> Mapping[str, str]:
    """Return the texts of the stub files of the torch in `folder`: of its functions, and of its tensors' methods."""
    files = {
        "functions": ("_C/_VariableFunctions.pyi", "_C/_nn.pyi"),
        "methods": ("_C/__init__.pyi",),
    }
    texts = {
        kind: "\n".join((folder / name).read_text(encoding="utf-8") for name in names if (folder / name).exists())
        for kind, names in files.items()
    }
    return {**texts, "functions": texts["functions"] + _missing_stubs(texts["functions"])}


def _missing_stubs(stub: str) -> str:
    """Return stubs, made from schemas, of the built-in functions of ``torch.nn.functional`` that `stub` leaves out."""
    lines = []
    for name, function in vars(torch.nn.functional).items():
        if not inspect.isbuiltin(function) or f"def {name}(" in stub:
            continue
        # Not `_schemas`: reading those of all operators takes long, and every process that draws arguments comes here.
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
            if any(item.is_out for item in schema.arguments):
                continue
            parameters = [f"{item.name}: {_annotation(str(item.type))} = ..." for item in schema.arguments[1:]]
            lines.append(f"def {name}({', '.join(['input: Tensor', *parameters])}) -> Any: ...")
    return "\n".join(["", *lines])


def _annotation(kind: str) -> str:
    return _ANNOTATIONS.get(kind.removeprefix("Optional[").removesuffix("]"), "Any")


def takes_dtype(path: str) -> bool:
    """Return whether the function at `path` takes a tensor and an argument `dtype`."""
    return any(
        str(schema.arguments[0].type) == "Tensor" and any(item.name == "dtype" for item in schema.arguments)
        for schema in _schemas().get(path.rpartition(".")[2], ())
        if schema.arguments
    )


@functools.cache
def _schemas() -> Mapping[str, Sequence[Any]]:
    found: dict[str, list[Any]] = collections.defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace == "aten" and not any(argument.is_out for argument in schema.arguments):
            # In schemas, functions of packages are named linalg_inv, fft_fft, special_erf.
            found[name].append(schema)
            package, _, rest = name.partition("_")
            if package in _PACKAGES:
                found[rest].append(schema)
    return found


def _of_schema(schema: Any) -> tuple[Parameter, ...] | None:
    found: list[Parameter] = []
    for argument in schema.arguments:
        kind = str(argument.type)
        optional = kind.startswith("Optional[") or argument.has_default_value()
        takes = _TAKES.get(kind.removeprefix("Optional[").removesuffix("]" if kind.startswith("Optional[") else ""))
        if argument.name in _LEFT_OUT or takes is None:
            if not optional:
                return None
            continue
        found.append(Parameter(argument.name, takes, optional, argument.kwarg_only, argument.N or 0))
    return tuple(found)


def _of_python(function: Any) -> tuple[Parameter, ...] | None:
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - a built-in function, or an annotation that only a type checker can resolve
        return None
    found: list[Parameter] = []
    for parameter in parameters:
        optional = parameter.default is not inspect.Parameter.empty
        takes = _of_hint(hints.get(parameter.name)) or _of_name(parameter.name)
        if parameter.name in _LEFT_OUT or takes is None or parameter.kind in (2, 4):
            if not optional and parameter.kind not in (2, 4):
                return None
            continue
        found.append(Parameter(parameter.name, takes, optional, parameter.kind == parameter.KEYWORD_ONLY))
    return tuple(found)


def _of_name(name: str) -> Takes | None:
    return "tensor" if name == "self" else "numbers" if name in _SIZES else None


def _of_hint(hint: Any) -> Takes | None:
    arguments = [item for item in typing.get_args(hint) if item is not type(None)]
    if typing.get_origin(hint) is typing.Union and arguments:
        return _of_hint(arguments[0])
    if typing.get_origin(hint) in (list, tuple):
        return "tensors" if arguments and arguments[0] is torch.Tensor else "numbers"
    return _TAKES.get(getattr(hint, "__name__", ""))
