"""Names of public functions, methods and modules of torch, and the forms in which they are called."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch.overrides import resolve_name

#: Methods that compute nothing: they are about the memory layout of a tensor, or belong to Python or autograd.
_NO_OPERATORS = frozenset(
    "backward register_hook retain_grad requires_grad_ numpy data_ptr storage untyped_storage set_ element_size "
    "share_memory_ pin_memory is_pinned cuda stride storage_offset is_contiguous get_device has_names align_as "
    "is_floating_point is_complex is_shared type_as_subclass as_subclass refine_names names rename rename_ tolist "
    "storage_type apply_ map_ map2_ detach_ module_load resolve_conj resolve_neg".split()
)
_NO_OPERATORS_SPECIAL = frozenset(
    "__repr__ __format__ __reduce_ex__ __deepcopy__ __dir__ __hash__ __array__ __array_wrap__ __setstate__ "
    "__reversed__ __iter__ __bool__ __int__ __float__ __index__ __len__ __contains__ __complex__ __dlpack__ "
    "__dlpack_device__ __cuda_array_interface__ __torch_dispatch__ __torch_function__ __new__ __init__ __nonzero__ "
    "__long__".split()
)
#: Functions that compute nothing, or whose result depends on the process.
_NO_FUNCTIONS = frozenset(
    "is_tensor is_storage is_floating_point is_complex is_grad_enabled is_inference_mode_enabled set_grad_enabled "
    "is_autocast_enabled from_numpy frombuffer as_tensor asarray from_dlpack result_type can_cast get_default_dtype "
    "typename get_device numel is_same_size is_conj is_neg is_inference is_signed resolve_conj resolve_neg detach_ "
    "nn.functional.handle_torch_function".split()
)
#: The end of the name of a function to which torch passes a pooling with ``return_indices=True``.
_WITH_INDICES = "_with_indices"
#: Attributes of a tensor that are computed from it.
_COMPUTED = frozenset("T H mT mH real imag".split())
#: Classes that contain other modules or parameters and compute nothing themselves.
_CONTAINERS = frozenset("Module Container Sequential ModuleList ModuleDict ParameterList ParameterDict".split())


class PublicName(NamedTuple):
    """The dotted path below torch of a public function, and the form of its call."""

    name: str
    form: str


def as_written(function: Any, kwargs: Mapping[str, Any] | None) -> Any:
    """Return the function that the caller wrote, where torch hands a mode or a dual tensor another one.

    ``max_pool2d(x, 2, return_indices=True)`` arrives as ``max_pool2d_with_indices``, which other frameworks lack.
    """
    name = getattr(function, "__name__", "")
    if not name.endswith(_WITH_INDICES) or not kwargs or kwargs.get("return_indices") is not True:
        return function
    return getattr(torch.nn.functional, name.removesuffix(_WITH_INDICES), function)


def path_of(function: Any) -> str:
    """Return the dotted path below torch of `function`, which a function mode received; "" if it has none."""
    try:
        name = resolve_name(function) or ""
    except Exception:  # noqa: BLE001 - an object that is not a function of torch, such as a builtin without a name
        name = ""
    if not name.startswith("torch."):
        return ""
    path, own = name[len("torch.") :], getattr(function, "__name__", "")
    folder, _, last = path.rpartition(".")
    # torch.mm is also torch.spmm, and torch.einsum is torch.functional.einsum: the names that people write are wanted.
    return own if (own != last or folder == "functional") and getattr(torch, own, None) is function else path


def called(function: Any) -> PublicName | None:
    """Return the public name of `function`, which a function mode received; None if it is not a public operator."""
    path = path_of(function)
    if not path:
        return None
    if path.startswith("Tensor."):
        return _member(path[len("Tensor.") :])
    if path in _NO_FUNCTIONS or any(part.startswith("_") for part in path.split(".")):
        return None
    return PublicName(path, "function")


def _member(name: str) -> PublicName | None:
    attribute, _, access = name.rpartition(".")
    if access in ("__get__", "__set__", "__delete__"):
        return (
            PublicName(f"Tensor.{attribute}", "attribute") if access == "__get__" and attribute in _COMPUTED else None
        )
    if name in _NO_OPERATORS or name in _NO_OPERATORS_SPECIAL:
        return None
    path = f"Tensor.{name}"
    if name.startswith("__"):
        plain = name.strip("_")
        if plain in ("div", "idiv", "rdiv") or hasattr(operator, f"__{plain}__"):
            in_place = plain == "setitem" or (plain.startswith("i") and plain not in ("invert", "index"))
            return PublicName(path, "in-place operator" if in_place else "reflected" if plain == "rdiv" else "operator")
        return (
            PublicName(path, "reflected") if plain.startswith("r") and hasattr(operator, f"__{plain[1:]}__") else None
        )
    if name.startswith("_"):
        return None
    return PublicName(path, "in-place" if name.endswith("_") else "method")


def module_classes() -> Mapping[type, str]:
    """Return a mapping from the public classes of `torch.nn` that compute something to their names."""
    found: dict[type, str] = {}
    for name, kind in vars(torch.nn).items():
        is_module = isinstance(kind, type) and issubclass(kind, torch.nn.Module)
        if is_module and name not in _CONTAINERS and not name.startswith(("_", "Lazy")):
            found[kind] = f"nn.{name}"
    return found
