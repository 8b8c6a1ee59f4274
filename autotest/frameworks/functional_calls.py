"""torch's calls on tensors of a functional framework: how each function, method, operator and attribute is run."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from autotest.frameworks import functional_autograd as autograd
from autotest.frameworks import functional_indexing as indexing
from autotest.frameworks import functional_memory as memory
from autotest.frameworks.failures import Absent
from autotest.frameworks.functional_modules import FunctionalModule, module_class
from autotest.frameworks.functional_writes import written_in_place, written_out
from autotest.frameworks.tape import TapeTensor, parent_of
from autotest.frameworks.torch_names import FUNCTIONS
from autotest.program import CallKind

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any

#: Names of calls whose result shares the memory of their first operand.
VIEWS: Final = frozenset(
    "view view_as reshape flatten transpose t permute squeeze unsqueeze narrow select expand expand_as broadcast_to "
    "chunk split unbind diagonal movedim swapaxes swapdims unflatten".split()
)
#: Those among them that copy a tensor whose elements are not in a suitable order in memory.
_OR_COPIES: Final = frozenset({"reshape", "flatten"})
#: Those that reorder dimensions.
_REORDERING: Final = frozenset("transpose t permute movedim swapaxes swapdims".split())
#: Names of calls whose result does not depend on the contents of their operands.
CONSTANTS: Final = frozenset("zeros_like ones_like full_like".split())
_CASTS: Final[Mapping[str, str]] = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "bool": "bool", "bfloat16": "bfloat16", "char": "int8", "byte": "uint8",
}  # fmt: skip


def operation(framework: _Functional, kind: CallKind, target: str) -> Callable[..., Any]:
    """Return the function that runs calls of this kind and target on `framework`; raise `Absent` if there is none."""
    if kind == "function":
        made = module_class(framework, target)
        if made is not None:
            return made
        general = _FUNCTIONS.get(target)
        if general is not None:
            return functools.partial(general, framework)
        return _named(framework, target)
    if kind == "method":
        general = _METHODS.get(target)
        if general is not None:
            return functools.partial(general, framework)
        return functools.partial(_method, framework, target)
    if kind == "operator":
        return _operator(framework, target)
    tables: Mapping[str, Mapping[str, Callable[..., Any]]] = {
        "builtin": _BUILTINS,
        "getattr": _ATTRIBUTES,
        "setattr": _ASSIGNED,
    }
    if kind in tables:
        found = tables[kind].get(target)
        if found is None:
            raise Absent(framework.name, target)
        return functools.partial(found, framework)
    if kind == "enter":
        return lambda context: context.__enter__()
    if kind == "exit":
        return lambda context, *details: context.__exit__(*(details or (None, None, None)))
    raise Absent(framework.name, f"{kind} {target}")


def is_member(framework: _Functional, name: str) -> bool:
    """Return whether `name` is an attribute or method of torch's tensors that `framework` supports."""
    return name in _METHODS or name in _ATTRIBUTES or framework.provides("function", name, None)


def _named(framework: _Functional, path: str) -> Callable[..., Any]:
    """Return the function at torch's `path`; it works in place if its name ends in ``_`` or with ``inplace=True``."""
    name = path.rpartition(".")[2]
    stays = name.endswith("_") and not name.endswith("__")
    if stays and name[:-1] in VIEWS:  # torch gives the tensor another shape, which no immutable array has
        raise Absent(framework.name, path)
    pure = _in_place(framework, path) if stays else framework.translated(path)
    view = name in VIEWS
    constant = name in CONSTANTS

    def call(*args: Any, inplace: bool = False, out: Any = None, **kwargs: Any) -> Any:
        run = _in_place(framework, f"{path}_") if inplace else pure
        try:
            if constant:
                with autograd.GradMode(framework, False):
                    return framework.apply(run, args, kwargs)
            made = framework.apply(run, args, kwargs, view=view)
        except TypeError as error:
            raise _understood(framework, path, run, args, kwargs) or error from error
        if stays or inplace:
            return written_in_place(framework, args[0] if args else kwargs["input"], made)
        source: Any = args[0] if args else kwargs.get("input")
        if name == "view" and not memory.stays_when_reshaped(framework, source, framework.shape(made)):
            raise RuntimeError("view size is not compatible with the order of the elements: use reshape")
        if name in _OR_COPIES:
            if memory.stays_when_reshaped(framework, source, framework.shape(made)):
                memory.note_unsure(framework, source, framework.shape(made))
            else:
                made.base = made.view = None
                made.detached = made.reordered = False
        if name in _REORDERING:
            memory.mark_reordered(made)
        if out is None:
            return made
        return written_out(framework, out, made)

    return call


def _in_place(framework: _Functional, path: str) -> Callable[..., Any]:
    """Return what runs the in-place call at `path`: the function of that name, or the one that returns a new array."""
    try:
        return framework.translated(path)  # type: ignore[no-any-return]
    except Absent:
        return framework.translated(path[:-1])  # type: ignore[no-any-return]


def _understood(
    framework: _Functional, path: str, pure: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Absent | None:
    """Return the error to raise instead of a `TypeError` if the translated function lacks an argument of torch's."""
    try:
        inspect.signature(pure).bind(*args, **kwargs)
    except TypeError as error:
        return Absent(framework.name, f"{path} of such arguments ({error})")
    except ValueError:  # a built-in function without a signature
        pass
    return None


def _method(framework: _Functional, name: str, owner: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(owner, TapeTensor):
        return framework.operation("function", name)(owner, *args, **kwargs)
    found = getattr(owner, name, None)  # of a module, or of a plain container
    if found is None:
        raise Absent(framework.name, f"{type(owner).__name__}.{name}")
    return found(*args, **kwargs)


def _operator(framework: _Functional, name: str) -> Callable[..., Any]:
    if name == "getitem":
        return functools.partial(indexing.getitem, framework)
    if name == "setitem":
        return functools.partial(indexing.setitem, framework)
    plain = getattr(operator, name)
    bare = name.rstrip("_")
    in_place = bare[0] == "i" and bare[1:] in FUNCTIONS
    known = FUNCTIONS.get(bare[1:] if in_place else bare)

    def call(*operands: Any) -> Any:
        if not any(isinstance(operand, TapeTensor) for operand in operands):
            return plain(*operands)
        if known is None:
            raise Absent(framework.name, f"operator.{name}")
        pure = _in_place(framework, f"{known}_") if in_place else framework.translated(known)
        made = framework.apply(pure, operands, {})
        return written_in_place(framework, operands[0], made) if in_place else made

    return call


# -- other methods and functions of torch's tensors ------------------------------------------------------------


def _clone(framework: _Functional, tensor: TapeTensor, *, memory_format: Any = None) -> Any:
    return framework.apply(lambda array: array, (tensor,), {})


def _contiguous(framework: _Functional, tensor: TapeTensor, **_: Any) -> Any:
    if not memory.is_contiguous(framework, tensor):
        made = _clone(framework, tensor)
        made.reordered = False
        return made
    memory.note_unsure(framework, tensor, ())
    return tensor


def _cast(framework: _Functional, tensor: TapeTensor, dtype: str) -> Any:
    if framework.dtype_of(tensor) == dtype:
        return tensor
    if dtype not in framework.dtypes:
        raise Absent(framework.name, dtype)
    return framework.apply(framework.cast, (tensor, str(dtype)), {})


def _to(
    framework: _Functional,
    owner: Any,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool = False,
    **rest: Any,
) -> Any:
    for item in args:
        if isinstance(item, TapeTensor):
            dtype = framework.dtype_of(item)
        elif isinstance(item, str) and item in framework.dtypes:
            dtype = item
    if isinstance(owner, FunctionalModule):
        return owner if dtype is None else owner.cast(str(dtype))
    made = owner if dtype is None else _cast(framework, owner, str(dtype))
    flags = [item for item in args if isinstance(item, bool)]  # non_blocking, copy
    return _clone(framework, made) if made is owner and (copy or flags[1:] == [True]) else made


def _fill(framework: _Functional, tensor: TapeTensor, value: Any) -> Any:
    return framework.write(tensor, value)


def _copy(framework: _Functional, tensor: TapeTensor, source: Any, *rest: Any) -> Any:
    memory.must_not_overlap(framework, tensor)
    return framework.write(tensor, source)


def _size(framework: _Functional, tensor: TapeTensor, dim: int | None = None) -> Any:
    shape = framework.shape(tensor)
    return shape if dim is None else shape[dim]


def _array(framework: _Functional, tensor: TapeTensor) -> Any:
    return framework.numpy(framework.read(tensor))


def _length(framework: _Functional, value: Any) -> int:
    if isinstance(value, TapeTensor):
        return int(framework.shape(value)[0])
    return len(value.children_by_name if isinstance(value, FunctionalModule) else value)


def _rows(framework: _Functional, value: Any) -> list[Any]:
    if not isinstance(value, TapeTensor):
        return list(value)
    return [indexing.getitem(framework, value, index) for index in range(framework.shape(value)[0])]


def _of_numpy(data: Any) -> bool:
    """Return whether `data`, or the first number in nested lists, is NumPy's."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def _from_data(
    framework: _Functional, data: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any
) -> TapeTensor:
    if isinstance(data, TapeTensor):
        data = _array(framework, data)
    array = np.asarray(data)
    name = str(array.dtype) if dtype is None else str(dtype)
    if dtype is None and not _of_numpy(data):  # numbers of Python have torch's default dtypes
        name = {"float64": "float32", "complex128": "complex64"}.get(name, name)
    return TapeTensor(framework.array(array, name), requires_grad=requires_grad)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "autograd.backward": autograd.autograd_backward,
    "autograd.grad": autograd.autograd_grad,
    "no_grad": lambda framework: autograd.GradMode(framework, False),
    "enable_grad": lambda framework: autograd.GradMode(framework, True),
    "set_grad_enabled": autograd.SetGradMode,
    "clone": _clone,
    "detach": autograd.detach,
    "tensor": _from_data,
    "from_numpy": _from_data,
    "is_tensor": lambda framework, value: isinstance(value, TapeTensor),
    "numel": lambda framework, tensor: int(np.prod(framework.shape(tensor), dtype=np.int64)),
}
_METHODS: Final[Mapping[str, Callable[..., Any]]] = {
    "__call__": lambda framework, owner, *args, **kwargs: owner(*args, **kwargs),
    "backward": autograd.backward,
    "requires_grad_": autograd.set_requires_grad,
    "retain_grad": autograd.retain_grad,
    "detach": autograd.detach,
    "clone": _clone,
    "contiguous": _contiguous,
    "to": _to,
    "cpu": lambda framework, owner: owner,
    "type_as": lambda framework, tensor, other: _cast(framework, tensor, framework.dtype_of(other)),
    "copy_": _copy,
    "fill_": _fill,
    "zero_": lambda framework, tensor: framework.write(tensor, 0),
    "size": _size,
    "dim": lambda framework, tensor: len(framework.shape(tensor)),
    "ndimension": lambda framework, tensor: len(framework.shape(tensor)),
    "numel": _FUNCTIONS["numel"],
    "nelement": _FUNCTIONS["numel"],
    "is_floating_point": lambda framework, tensor: framework.is_floating(tensor.array),
    "numpy": _array,
    "item": lambda framework, tensor: _array(framework, tensor).item(),
    "tolist": lambda framework, tensor: _array(framework, tensor).tolist(),
    **{
        name: lambda framework, owner, *rest, dtype=dtype, **_: _to(framework, owner, dtype=dtype)
        for name, dtype in _CASTS.items()
    },
}
_BUILTINS: Final[Mapping[str, Callable[..., Any]]] = {
    "len": _length,
    "list": _rows,
    **{
        kind.__name__: lambda framework, value, kind=kind: kind(
            _array(framework, value).item() if isinstance(value, TapeTensor) else value
        )
        for kind in (bool, int, float, complex)
    },
}


def _transposed(framework: _Functional, tensor: TapeTensor) -> Any:
    order: Sequence[int] = range(len(framework.shape(tensor)))[::-1]
    made = framework.apply(framework.translated("permute"), (tensor, tuple(order)), {}, view=True)
    memory.mark_reordered(made)
    return made


def _assigned_data(framework: _Functional, tensor: TapeTensor, value: TapeTensor) -> None:
    """Give `tensor` the memory of `value`. Tensors that shared its old memory keep what they have."""
    array, owner, view = framework.read(value), value.owner, value.view
    if owner is tensor:
        if memory.is_contiguous(framework, value) and framework.shape(value) == framework.shape_of(tensor.array):
            return  # its own data, such as what a call in place returned
        raise Absent(framework.name, "assigning a part of its own data to a tensor, or its own data reordered")
    if parent_of(owner) is not None:  # no gradient flows to it
        owner, view = TapeTensor(array), None
    tensor.array, tensor.base, tensor.seen = array, owner, owner.version
    tensor.view = view or (lambda array: array)


_ATTRIBUTES: Final[Mapping[str, Callable[..., Any]]] = {
    "shape": lambda framework, tensor: framework.shape(tensor),
    "ndim": lambda framework, tensor: len(framework.shape(tensor)),
    "dtype": lambda framework, tensor: framework.resolve(framework.dtype_of(tensor)),
    "device": lambda framework, tensor: "cpu",
    "grad": lambda framework, tensor: tensor.grad,
    "requires_grad": lambda framework, owner: owner.requires_grad,
    "is_leaf": lambda framework, tensor: tensor.is_leaf,
    "data": autograd.detach,
    "T": _transposed,
    "training": lambda framework, module: module.training,
    "weight": lambda framework, module: module.trained.get("weight"),
    "bias": lambda framework, module: module.trained.get("bias"),
}
_ASSIGNED: Final[Mapping[str, Callable[..., Any]]] = {
    "grad": lambda framework, tensor, value: setattr(tensor, "grad", value),
    "requires_grad": lambda framework, tensor, value: setattr(tensor, "requires_grad", value),
    "data": _assigned_data,
}
