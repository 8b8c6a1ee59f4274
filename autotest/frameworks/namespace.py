"""An adapter for any framework whose namespace has torch's names. The framework is imported on first use.

A subclass overrides the methods for what its framework does differently, such as importing, reading a tensor, seeding.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autotest.base.versions import version_of
from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks import module_calls, scripts
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT, missing
from autotest.frameworks.gc_paused import without_gc
from autotest.frameworks.reading import read_value
from autotest.frameworks.signatures import Signatures
from autotest.frameworks.special_methods import lacking_special_method
from autotest.program import Array, Operand, Root
from autotest.program.dtypes import is_differentiable
from generators import DTYPES

_numel = operator.methodcaller("numel")
#: The dtypes of tensors that may require grad.
DIFFERENTIABLE = frozenset(filter(is_differentiable, DTYPES))
#: The dtypes that every framework has, under whatever names.
_EVERYWHERE = frozenset(("float32", "int64", "bool"))
#: Modules that draw a random mask in training mode, and modules that draw random numbers in every mode.
_MASKING_MODULES = frozenset(
    ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU")
)
_DRAWING_MODULES = frozenset(("FractionalMaxPool2d", "FractionalMaxPool3d"))
#: A word in quotes in a documentation: ``'reflect'``, "forward", (:obj:`"sum"`).
_QUOTED = re.compile(r"[`'\"]+([A-Za-z][A-Za-z_-]*)['\"]+")


class Namespace(Framework):
    """A framework whose namespace has torch's names.

    Args:
        name: the name in reports.
        module: the module to import, such as ``"torch"``.
        alias: the attribute of dual objects that returns this side's object; `name` by default.
    """

    def __init__(self, name: str, module: str, alias: str | None = None) -> None:
        self.name = name
        self.alias = alias or name
        self._module_name = module

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, module={self._module_name!r})"

    # -- the namespace ----------------------------------------------------------------------------------

    def import_root(self) -> ModuleType:
        """Import the framework; raise `FrameworkMissing`, which says what to do, if that fails."""
        try:
            return importlib.import_module(self._module_name)
        except ImportError as error:
            raise missing(self.name, error) from error

    @functools.cached_property
    def root(self) -> Any:
        with without_gc():
            root = self.import_root()
        self.imported = True
        return root

    @property
    def version(self) -> str:
        return version_of(self._module_name, self.root)

    def resolve(self, path: str) -> Any:
        first, *rest = path.split(".")
        value = getattr(self.root, first, ABSENT)
        if value is ABSENT:
            # `getattr` again, so that the `AttributeError` is the framework's own.
            value = self.stand_ins.names[first] if first in self.stand_ins.names else getattr(self.root, first)
        for part in rest:
            value = getattr(value, part)
        return value

    @functools.cached_property
    def tensor_types(self) -> tuple[type[Any], ...]:  # type: ignore[override]
        kind = self.root.Tensor
        # Gradients and parameters of a subclass of torch's tensors are torch's.
        torchs = [base for base in kind.__mro__[1:] if (base.__module__, base.__name__) == ("torch", "Tensor")]
        return (kind, *torchs)

    @functools.cached_property
    def module_types(self) -> tuple[type[Any], ...]:  # type: ignore[override]
        kind = getattr(getattr(self.root, "nn", None), "Module", None)
        return () if kind is None else (kind,)

    @functools.cached_property
    def _dtype_names(self) -> dict[Any, str]:
        return {getattr(self.root, name): name for name in DTYPES if hasattr(self.root, name)}

    def dtype_name(self, dtype: Any) -> str:
        """Return the framework-neutral name of `dtype`; for one not in `DTYPES`, its repr without the namespace."""
        return self._dtype_names.get(dtype) or str(dtype).rpartition(".")[2]

    def default_dtype(self) -> str:
        asked = getattr(self.root, "get_default_dtype", None)
        return "" if asked is None else self.dtype_name(asked())

    def modes(self) -> Any:
        return self.default_dtype()

    def restore(self, modes: Any) -> None:
        if modes and modes != self.default_dtype():
            self.root.set_default_dtype(self.resolve(modes))

    # -- tensors ----------------------------------------------------------------------------------------

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        if array.dtype in self._lacking_dtypes:
            self.resolve(array.dtype)  # raises the framework's own `AttributeError`
        made = self.from_numpy(array.data)
        if array.dtype == "bfloat16":
            made = made.to(self.root.bfloat16)
        if device != "cpu":
            made = made.to(device)
        return made.requires_grad_() if requires_grad else made

    @functools.cached_property
    def _lacking_dtypes(self) -> frozenset[str]:
        """The dtypes that a translated framework has no name for. An adapter with names of its own has all of them."""
        if not self.translates or type(self).dtype_name is not Namespace.dtype_name:
            return frozenset()
        return frozenset(
            name for name in DTYPES if name not in _EVERYWHERE and not self.provides("function", name, None)
        )

    def lacking_operator(self, target: str, operands: Sequence[Any]) -> str:
        kinds = [type(operand) for operand in operands if isinstance(operand, self.tensor_types)]
        return lacking_special_method(target, kinds, reflected=not isinstance(operands[0], self.tensor_types))

    def numel(self, tensors: Iterable[Any]) -> int:
        return sum(map(_numel, tensors))

    def from_numpy(self, data: np.ndarray[Any, Any]) -> Any:
        """Return a CPU tensor with a copy of `data`, of the dtype of the same name."""
        # A copy: an in-place write on one side must change neither the other side nor the captured array.
        return self.root.from_numpy(data.copy())

    def to_numpy(self, tensor: Any) -> np.ndarray[Any, Any]:
        """Return the contents of a tensor, detached from autograd; bfloat16 as float32."""
        detached = tensor.detach()
        if self._dtype_names.get(detached.dtype) == "bfloat16":
            detached = detached.to(self.root.float32)
        held = detached.cpu()
        array: np.ndarray[Any, Any] = (_in_memory(held) if self._is_torch else held).numpy()
        return array

    @functools.cached_property
    def _is_torch(self) -> bool:
        """Whether the tensors are torch's own, under any module name. Computed once rather than for every tensor."""
        return any(hasattr(kind, "_is_zerotensor") for kind in self.tensor_types)

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        self.synchronize()
        names = self._dtype_names
        return [
            read_value(
                self.name,
                self.to_numpy(tensor),
                names.get(tensor.dtype) or self.dtype_name(tensor.dtype),
                self.device_type(tensor),
                tensor.requires_grad,
            )
            for tensor in tensors
        ]

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        grad = self.resolve("autograd.grad")
        return list(grad(list(outputs), list(inputs), list(cotangents), create_graph=create_graph, allow_unused=True))

    def gradient(self, tensor: Any) -> Any:
        return tensor.grad

    def holds_gradient(self, tensor: Any) -> bool:
        if not tensor.requires_grad:
            return False
        try:
            return bool(tensor.is_leaf or getattr(tensor, "retains_grad", False))
        except RuntimeError:  # see `_is_leaf`
            return False

    def retain_gradient(self, tensor: Any) -> None:
        tensor.retain_grad()

    def can_backpropagate(self, tensor: Any) -> bool:
        if not tensor.requires_grad or self._dtype_names.get(tensor.dtype) not in DIFFERENTIABLE:
            return False
        return _is_leaf(tensor) is not None

    def node(self, tensor: Any) -> Any:
        return getattr(tensor, "grad_fn", None)

    def overwrite(self, tensor: Any, array: Array) -> None:
        with self._no_grad():
            tensor.copy_(self.tensor(array, device=self.device_type(tensor)))

    def _no_grad(self) -> contextlib.AbstractContextManager[Any]:
        made: contextlib.AbstractContextManager[Any] = getattr(self.root, "no_grad", contextlib.nullcontext)()
        return made

    # -- modules ----------------------------------------------------------------------------------------

    def parameters(self, module: Any) -> dict[str, Any]:
        return dict(module.named_parameters())

    def buffers(self, module: Any) -> dict[str, Any]:
        return dict(module.named_buffers())

    def modules(self, model: Any) -> dict[str, Any]:
        return dict(model.named_modules())

    def calls_of_modules(
        self, model: Any, seen: Callable[[str, Any, Any, Any], None]
    ) -> contextlib.AbstractContextManager[None]:
        return module_calls.reported(self.name, self.modules(model), seen)

    def draws(self, module: Any) -> bool:
        return any(map(_draws, module.modules()))

    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        own = self.state(module)
        with self._no_grad():
            for name, array in state.items():
                if repeats_elements(own[name].shape, own[name].stride()):
                    # A tensor whose elements share memory cannot be written to. It was passed in by the test, and
                    # already has the right contents.
                    continue
                own[name].copy_(self.tensor(array, device=self.device_type(own[name])))

    # -- the rest ---------------------------------------------------------------------------------------

    def literal(self, value: Any) -> Operand:
        kinds = self._kinds
        if isinstance(value, kinds["dtype"]):
            return Root(self.dtype_name(value))
        if isinstance(value, kinds["device"]):
            return "cpu" if value.type == "cpu" else str(value)  # there is one CPU; OneFlow's str() is "cpu:0"
        if isinstance(value, kinds["Size"]):
            return tuple(value)
        if isinstance(value, kinds["memory_format"]):
            return Root(str(value).rpartition(".")[2])
        return ABSENT

    @functools.cached_property
    def _kinds(self) -> dict[str, Any]:
        """The classes of small objects by name: the empty tuple, of which nothing is an instance, if it is missing."""
        found = {name: getattr(self.root, name, ()) for name in ("dtype", "device", "Size", "memory_format")}
        return {name: kind if isinstance(kind, type) else () for name, kind in found.items()}

    def devices(self) -> tuple[str, ...]:
        cuda = getattr(self.root, "cuda", None)
        return ("cpu",) if cuda is None or not cuda.is_available() else ("cpu", "cuda")

    def seed(self, seed: int) -> None:
        if hasattr(self.root, "manual_seed"):  # a framework without random numbers need not have it
            self.root.manual_seed(seed)

    def synchronize(self) -> None:
        """Do nothing: CPU calls are synchronous."""

    @functools.cached_property
    def _signatures(self) -> Signatures:
        return Signatures(self.stubs())

    def stubs(self) -> Mapping[str, str]:
        """Return the texts of stub files by the kind of callable that they annotate: ``functions``, ``methods``."""
        return {}

    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        return self._signatures.annotations(path, function, positional, keywords)

    def documented_words(self, path: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_QUOTED.findall(getattr(self.resolve(path), "__doc__", None) or "")))

    def argument_names(
        self, path: str, function: Any, tensors: Sequence[bool | None], keywords: Iterable[str], *, method: bool
    ) -> tuple[str, ...]:
        return self._signatures.names(path, function, tensors, keywords, method=method)

    def script(self) -> Script:
        return scripts.importing(self, self._module_name)


def _in_memory(tensor: Any) -> Any:
    """Return a torch tensor with the same contents as `tensor`, in memory that NumPy can read.

    torch has zero tensors without memory, for which NumPy would read arbitrary bytes, lazy conjugates and negatives,
    which are only a flag on the tensor, and sparse layouts.
    """
    if str(tensor.layout) != "torch.strided":
        return tensor.to_dense()
    return tensor.clone() if tensor._is_zerotensor() else tensor.resolve_conj().resolve_neg()


def _draws(part: Any) -> bool:
    """Return whether a module itself draws random numbers, regardless of its submodules."""
    if type(part).__name__ in _DRAWING_MODULES:
        return True
    if not part.training:
        return False
    dropout = getattr(part, "dropout", 0)
    masks = type(part).__name__ in _MASKING_MODULES and getattr(part, "p", 0.5) not in (0, 1)
    return masks or (isinstance(dropout, float) and dropout > 0)


def repeats_elements(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether elements of a tensor with this shape and these strides share memory, as after `expand`."""
    return any(size > 1 and step == 0 for size, step in zip(shape, strides, strict=True))


def _is_leaf(tensor: Any) -> bool | None:
    """Return whether `tensor` is a leaf; None for a view made under ``no_grad`` whose base has been written to since.

    torch raises `RuntimeError` when ``is_leaf`` of such a view is read.
    """
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:
        return None
