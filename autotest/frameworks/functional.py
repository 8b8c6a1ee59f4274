"""An adapter for frameworks of immutable arrays and functions, which have no tensor methods, views or in-place calls.

A subclass defines how arrays are made, read and differentiated, and how torch's functions are translated (`spelling`).
The other features of torch's tensors are implemented here and in `functional_calls`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autotest.base.errors import AdapterWrong
from autotest.base.versions import version_of
from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.emission.native_script import DTYPE_TEXT, LIST_TEXT
from autotest.frameworks import functional_autograd as autograd
from autotest.frameworks import functional_calls as calls
from autotest.frameworks import functional_memory as memory
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT, Absent, missing
from autotest.frameworks.freezing import PLAIN_TYPES
from autotest.frameworks.functional_arrays import ArrayFramework
from autotest.frameworks.functional_modules import FunctionalModule, module_class
from autotest.frameworks.functional_writes import write
from autotest.frameworks.gc_paused import without_gc
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.frameworks.reading import read_value
from autotest.frameworks.scripts import through_adapter, way_to
from autotest.frameworks.shown_values import shown
from autotest.frameworks.tape import ArrayLike, Node, Pure, Roots, TapeTensor, backpropagate, listed, parent_of
from autotest.frameworks.traced import TracedNamespace, Transcript
from autotest.frameworks.transcribing import TranscribingFunction, transcribing
from autotest.program import Array, CallKind, Operand, Root, leaves, map_operand
from generators import DTYPES


class Dtype(str):
    """A dtype argument of a call: the dtype's name."""

    __slots__ = ()


class Functional(ArrayFramework):
    """Torch's calls on a functional framework. A subclass defines the abstract methods of `ArrayFramework`.

    Attributes:
        module: the module to import.
        spelling: torch's name (a path, or its last part) -> a function of the framework's arrays, with torch's
            parameter names. Methods and operators are translated as the functions of the same names.
        dtypes: the names of the dtypes that the framework has.
        transcribing_class: how calls and gradients are recorded for scripts, see `transcribing`.
    """

    module: str
    #: The framework's name in a script, and the lines that compute gradients of ``forward`` there. The lines are format
    #: strings, whose fields are the names of the leaves, cotangents and gradients.
    short: str = ""
    gradient_lines: tuple[str, ...] = ()
    #: The same where an array is complex, if a framework's complex gradients differ from torch's by more than names.
    complex_gradient_lines: tuple[str, ...] = ()
    #: Format string of the expression in a script that makes an array a constant for gradients.
    constant_text: str = "{}"
    #: Format strings of the expressions in a script that turn an array into a list, and that return torch's name of its
    #: dtype. By default, arrays are read as NumPy's.
    list_text: str = LIST_TEXT
    dtype_text: str = DTYPE_TEXT
    dtypes: Sequence[str] = DTYPES
    transcribing_class: type = TranscribingFunction
    translates = True
    has_strides = False
    tensor_types = (TapeTensor,)
    module_types = (FunctionalModule,)

    def __init__(self, name: str, origin: str = "") -> None:
        self.name = self.alias = name
        self.origin = origin or name
        self._operations: dict[tuple[str, str], Callable[..., Any]] = {}
        #: Whether calls are recorded on the tape.
        self.recording = True

    def around_trials(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which NumPy, if that computes, does not warn of the NaN and infinities that are drawn."""
        return np.errstate(all="ignore")

    # -- calls ------------------------------------------------------------------------------------------

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        known = self._operations.get((kind, target))
        if known is None:
            known = self._operations[kind, target] = calls.operation(self, kind, target)
        return known

    def provides(self, kind: CallKind, target: str, owner: Any) -> bool:
        try:
            self.operation(kind, target)
        except AttributeError:
            return False
        return True

    def declares(self, name: str, *, modules: bool = False) -> bool:
        return calls.is_member(self, name) or (modules and super().declares(name, modules=True))

    def translated(self, path: str) -> Pure:
        """Return the translation of the torch function at `path`; raise `Absent` if there is none."""
        prefix, _, name = path.rpartition(".")
        known = self.table("spelling")
        found = known.get(path)
        if found is None and prefix in ("", "nn.functional", "special", "_C._nn"):
            found = known.get(name)
        for owner in ("torch", "Tensor"):
            if found is None and f"{owner}.{path}" in known:
                raise AdapterWrong(f"the adapter of {self.name}: `spelling` has '{owner}.{path}': write {path!r}")
        if found is None:
            raise Absent(self.name, path)
        return found

    def apply(self, function: Pure, args: tuple[Any, ...], kwargs: dict[str, Any], *, view: bool = False) -> Any:
        """Call `function` with each tensor in its arguments, nested ones too, replaced by its array; record the call.

        `view` makes the result a view of the first tensor.
        """
        tensors = [leaf for leaf in leaves((args, kwargs)) if type(leaf) is TapeTensor]
        arrays = [self.read(tensor) for tensor in tensors]

        def pure(*given: ArrayLike) -> Any:
            rest = iter(given)

            def leaf(item: Any) -> Any:
                return next(rest) if type(item) is TapeTensor else item

            return function(
                *[map_operand(item, leaf) for item in args],
                **{key: map_operand(item, leaf) for key, item in kwargs.items()},
            )

        made = pure(*arrays)
        parents = [parent_of(tensor) for tensor in tensors] if self.recording else []
        node = None
        if any(parent is not None for parent in parents):
            node = Node(pure, arrays, parents, listed(made))
        source = tensors[0] if view else None
        picked = [
            self._result(item, node, at, source, lambda array, at=at: listed(pure(array))[at])
            for at, item in enumerate(listed(made))
        ]
        if any(tensor.reordered for tensor in tensors):
            memory.mark_reordered(picked)
        if not isinstance(made, (tuple, list)):
            return picked[0]
        return tuple(picked) if isinstance(made, tuple) else picked

    def _result(self, made: Any, node: Node | None, at: int, source: TapeTensor | None, path: Pure) -> Any:
        # A number of NumPy's is an array without dimensions, although its float64 is a `float`.
        if isinstance(made, PLAIN_TYPES) and not isinstance(made, np.generic):
            return made
        kinds = self.array_types()
        if kinds and not isinstance(made, (*kinds, np.generic)):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"a function of {self.name} returned a {type(made).__name__}; expected {expected}")
        result = TapeTensor(self.computed(made), (node, at) if node is not None and self.is_floating(made) else None)
        if source is not None:
            self.alias_of(result, source, path)
        return result

    def part(self, array: ArrayLike, key: Any, places: np.ndarray[Any, Any]) -> ArrayLike:
        """Return the elements of `array` that `key`, numbers and slices, selects; `places` are their flat indices."""
        return self.take(self.translated("reshape")(array, (-1,)), places)

    def alias_of(self, result: TapeTensor, source: TapeTensor, path: Pure) -> None:
        """Make `result` a view of `source`; `path` is the function from the array of `source` to that of `result`."""
        inner = source.view
        result.detached, result.reordered = source.detached, source.reordered
        result.base = source if source.base is None else source.base
        result.view = path if inner is None else lambda array: path(inner(array))
        result.seen = result.base.version

    def read(self, tensor: TapeTensor) -> ArrayLike:
        """Return the present array of `tensor`; the array of a view is recomputed if its base was written to."""
        base = tensor.base
        if base is not None and tensor.view is not None and tensor.seen != base.version:
            tensor.seen = base.version
            with autograd.GradMode(self, not tensor.detached):
                fresh = self.apply(tensor.view, (base,), {})
            tensor.array = fresh.array
            if not (tensor.detached or (tensor.requires_grad and tensor.is_leaf)):  # a leaf remains a leaf
                tensor.move_to(fresh.edge)
                tensor.requires_grad = fresh.requires_grad
        return tensor.array

    def write(self, tensor: TapeTensor, made: Any, computed: Any = None) -> TapeTensor:
        """Write `made` into `tensor` and everything that shares its memory; see `functional_writes.write`."""
        return write(self, tensor, made, computed)

    # -- gradients --------------------------------------------------------------------------------------

    def backpropagate(self, roots: Roots, *, keep: bool = False) -> dict[Any, ArrayLike]:
        """Return the gradient of every leaf, and of every output on the tape, from which `roots` were computed.

        `keep` keeps the tape for another backward pass. Raises `RuntimeError` if a root without a cotangent does not
        have exactly one element, or if an earlier backward pass has used up the tape.
        """
        starts = []
        for root, cotangent in roots:
            if cotangent is None and int(np.prod(self.shape_of(root.array), dtype=np.int64)) != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            self.read(root)
            one = self.array(np.ones(self.shape_of(root.array)), self.dtype_of_array(root.array))
            starts.append((root, one if cotangent is None else self.read(cotangent)))
        return dict(backpropagate(self, starts, keep=keep))

    def is_floating(self, array: ArrayLike) -> bool:
        return self.dtype_of_array(array) in DIFFERENTIABLE

    def constant(self, array: ArrayLike) -> ArrayLike:
        """Return `array` as a constant, through which no gradient flows."""
        return array

    def zeros_like(self, array: ArrayLike) -> ArrayLike:
        return self.array(np.zeros(self.shape_of(array)), self.dtype_of_array(array))

    def add(self, one: ArrayLike, other: ArrayLike) -> ArrayLike:
        return self.translated("add")(one, other)

    def gradient(self, tensor: Any) -> Any:
        return tensor.grad

    def holds_gradient(self, tensor: Any) -> bool:
        return bool(tensor.requires_grad and (tensor.is_leaf or tensor.retains))

    def retain_gradient(self, tensor: Any) -> None:
        self.invoke("method", "retain_grad", (tensor,), {})

    def can_backpropagate(self, tensor: Any) -> bool:
        return bool(tensor.requires_grad) and self.is_floating(tensor.array)

    def modes(self) -> bool:
        return self.recording

    def restore(self, modes: bool) -> None:
        self.recording = modes

    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        named = {"create_graph": create_graph, "allow_unused": True}
        return list(self.invoke("function", "autograd.grad", (outputs, inputs, cotangents), named))

    # -- tensors ----------------------------------------------------------------------------------------

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> TapeTensor:
        if array.dtype not in self.dtypes:
            raise Absent(self.name, array.dtype)
        # The calls of a program give a tensor its strides, as in scripts; a copy by NumPy would keep the array's.
        data = np.asarray(array.data, order="C")
        return TapeTensor(self.array(data, array.dtype), requires_grad=requires_grad)

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        return [
            read_value(self.name, self.numpy(self.read(one)), self.dtype_of_array(one.array), "cpu", one.requires_grad)
            for one in tensors
        ]

    def shown(self, value: Any) -> str:
        return shown(self, value)

    def device_type(self, tensor: Any) -> str:
        return "cpu"

    def dtype_of(self, tensor: Any) -> str:
        return self.dtype_of_array(self.read(tensor))

    def strides(self, tensor: Any) -> tuple[int, ...]:
        return memory.strides(self, tensor)

    def is_dense(self, tensor: Any) -> bool:
        return True

    def shape(self, tensor: Any) -> tuple[int, ...]:
        return self.shape_of(self.read(tensor))

    def overwrite(self, tensor: Any, array: Array) -> None:
        with autograd.GradMode(self, False):
            self.write(tensor, self.tensor(array))

    # -- modules ----------------------------------------------------------------------------------------

    def parameters(self, module: Any) -> dict[str, Any]:
        return dict(module.named_parameters())

    def buffers(self, module: Any) -> dict[str, Any]:
        return {}

    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        own = module.trained
        for name, array in state.items():
            self.overwrite(own[name], array)

    # -- the rest ---------------------------------------------------------------------------------------

    def import_root(self) -> ModuleType:
        """Import the framework; raise `FrameworkMissing`, which says what to do, if that fails."""
        try:
            with without_gc():
                return importlib.import_module(self.module)
        except (ImportError, OSError) as error:
            raise missing(self.name, error) from error

    @functools.cached_property
    def root(self) -> Any:
        return self.import_root()

    @property
    def version(self) -> str:
        return version_of(self.module, self.root)

    def resolve(self, path: str) -> Any:
        if path in self.dtypes:
            return Dtype(path)
        made = module_class(self, path)
        return self.operation("function", path) if made is None else made

    def literal(self, value: Any) -> Operand:
        return Root(str(value)) if isinstance(value, Dtype) else ABSENT

    def dtype_name(self, dtype: Any) -> str:
        return str(dtype)

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    def seed(self, seed: int) -> None:
        """Do nothing: all random numbers are drawn by the reference."""

    def synchronize(self) -> None:
        """Do nothing: lazy values are computed when they are read."""

    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        return {}

    def array_types(self) -> tuple[type, ...]:
        """Return the classes of the framework's arrays."""
        return ()

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        kinds = self.array_types()
        if not (kinds and self.short):
            return None
        called = "" if self.short == self.module else f" as {self.short}"
        imports = (*way_to(self.root, self.module), f"import {self.module}{called}")
        written = Transcript(kinds, "\n".join(imports), pure=True)
        written.list_text, written.dtype_text = self.list_text, self.dtype_text
        made: Any = transcribing(self, self.transcribing_class)
        made.written, made._operations, made.recording = written, {}, True
        made.__dict__["root"] = TracedNamespace(self.root, self.short, written)
        return made, written

    def text_of(self, value: Any) -> Any:
        return self.read(value) if isinstance(value, TapeTensor) else value

    def script(self) -> Script:
        return through_adapter(self, type(self), self.module)
