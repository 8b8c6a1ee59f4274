"""The adapter for torch: the reference of the default pair, and also the candidate of the pair torch/torch."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.metadata
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np

from autotest.base.errors import FrameworkMissing
from autotest.comparison import TensorValue
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.requests import FunctionCalled, Implementation, PublicCall
from autotest.frameworks.samples import SampleDatabase
from autotest.frameworks.torch_errors import without_stacks
from autotest.frameworks.torch_traps import TRAPPING, without_trap
from autotest.program import Array, CallKind
from autotest.program.values import names_of_items
from autotest.results.optional_arguments import OptionalArgument

#: What newer versions of torch import, together with SymPy, in the first backward pass of a process. It takes half a
#: second, in each forked child if not before the fork.
_OF_BACKWARD: Final = "torch.fx.experimental.symbolic_shapes"


class TorchFramework(Namespace):
    """torch, or a module that re-exports torch's names, like the faulty frameworks of the tests."""

    #: A forked child that uses OpenMP's threads hangs, because they do not survive the fork. `around_trials` prevents
    #: this by allowing one thread.
    forkable = True
    initialises_modules = True

    def __init__(self, name: str = "torch", module: str = "torch", alias: str = "pytorch") -> None:
        super().__init__(name, module, alias)

    @property
    def passive_imports(self) -> tuple[str, ...]:
        """``import torch``, unless a package is installed whose device torch 2.5 and later may start when imported."""
        return () if importlib.metadata.entry_points(group="torch.backends") else ("import torch",)

    def import_root(self) -> ModuleType:
        try:
            import torch  # a module that replaces torch needs torch itself, too
        except ImportError as error:
            raise FrameworkMissing(
                f"torch cannot be imported ({error}); install it with `pip install torch` (2.0.1 or newer)"
            ) from error
        without_stacks(torch)
        return super().import_root()

    def import_around(self, fork: Callable[[], None]) -> None:
        def fork_with_the_rest() -> None:
            with contextlib.suppress(ImportError):
                importlib.import_module(_OF_BACKWARD)
            fork()

        super().import_around(fork_with_the_rest if self.forkable else fork)

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        found = super().operation(kind, target)
        return without_trap(found) if target in TRAPPING and kind in ("function", "method") else found

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        # Like `Namespace.values`, but without the checks of `read_value`, which torch's own attributes do not need.
        # A trial reads a dozen tensors.
        self.synchronize()
        names, strided = self._dtype_names, self.root.strided
        return [
            TensorValue(
                self.to_numpy(tensor),
                names.get(tensor.dtype) or self.dtype_name(tensor.dtype),
                self.device_type(tensor),
                tensor.requires_grad,
                "strided" if tensor.layout is strided else str(tensor.layout).removeprefix("torch."),
            )
            for tensor in tensors
        ]

    def to_numpy(self, tensor: Any) -> np.ndarray[Any, Any]:
        if tensor._is_zerotensor():  # zeros without memory, from a backward pass: NumPy would read garbage
            tensor = tensor.clone()
        try:
            array: np.ndarray[Any, Any] = tensor.numpy(force=True)
        except TypeError:  # NumPy has no such dtype or layout
            if tensor.dtype is self.root.complex32:  # complex64 represents each of its values exactly
                tensor = tensor.to(self.root.complex64)
            if tensor.is_quantized:
                tensor = tensor.dequantize()
            array = super().to_numpy(tensor)
        return array

    def overwrite(self, tensor: Any, array: Array) -> None:
        # Half the time of `no_grad`: a check of gradients does this for each element.
        tensor.detach().copy_(self.tensor(array, device=self.device_type(tensor)))

    def item_names(self, value: tuple[Any, ...]) -> tuple[str, ...]:
        return names_of_items(value)

    def device_type(self, tensor: Any) -> str:
        return "cpu" if tensor.is_cpu else super().device_type(tensor)  # ten times faster

    def sample_databases(self) -> Sequence[SampleDatabase]:
        return self._databases

    @functools.cached_property
    def _databases(self) -> tuple[SampleDatabase, ...]:
        from autotest.frameworks.torch_samples.torch_modules import ModuleDatabase
        from autotest.frameworks.torch_samples.torch_operators import OperatorDatabase
        from autotest.frameworks.torch_samples.torch_optimizers import OptimizerDatabase
        from autotest.frameworks.torch_samples.torch_public import PublicDatabase

        operators = OperatorDatabase(self)
        named = PublicDatabase(self, operators.paths)
        return (operators, ModuleDatabase(self), OptimizerDatabase(self), named)

    def public_names(self) -> Sequence[str]:
        from autotest.frameworks.torch_schemas import public_names

        return public_names()

    def random_state(self) -> bytes:
        state: bytes = self.root.default_generator.get_state().numpy().tobytes()
        return state

    def seed(self, seed: int) -> None:
        # torch.manual_seed also seeds every accelerator and takes 40 times as long.
        self.root.default_generator.manual_seed(seed)
        if self.root.cuda.is_initialized():
            self.root.cuda.manual_seed_all(seed)

    @contextlib.contextmanager
    def around_trials(self) -> Iterator[None]:
        """Limit torch to one thread per operation while trials run.

        Tensors of a trial are small. If other processes use the processor, waiting for a second thread takes a hundred
        times longer than its part of the work. With one thread, sums also have the same order on any number of cores.
        """
        threads = self.root.get_num_threads()
        self._set_threads(1)
        try:
            yield
        finally:
            self._set_threads(threads)

    def public_call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PublicCall | None:
        from autotest.frameworks.harvester.defaults import without_defaults
        from autotest.frameworks.harvester.names import as_written
        from autotest.frameworks.torch_functions import public_name, registered_path

        registered = registered_path(function)
        if registered:
            return PublicCall("function", registered, tuple(args), {**kwargs})
        named = public_name(as_written(function, kwargs))
        if named is None or named.kind == "setattr":
            return None
        ordered = tuple(reversed(args)) if named.swapped else tuple(args)
        path = named.target.removeprefix("functional.") if named.kind == "function" else named.target
        return PublicCall(named.kind, path, ordered, without_defaults(function, kwargs))

    def is_parameter(self, value: Any) -> bool:
        return isinstance(value, self.root.nn.Parameter)

    @functools.cached_property
    def records_gradients(self) -> Callable[[], bool]:  # cached, because it is called before every call
        asked: Callable[[], bool] = self.root.is_grad_enabled
        return asked

    @functools.cached_property
    def _read_modes(self) -> tuple[Callable[[], bool], Callable[[], Any], Callable[[], bool]]:
        torch = self.root  # cached, because each replay reads the modes at its beginning and at its end
        return torch.is_grad_enabled, torch.get_default_dtype, torch.are_deterministic_algorithms_enabled

    def modes(self) -> tuple[bool, Any, bool]:
        records_gradients, default_dtype, is_deterministic = self._read_modes
        return records_gradients(), default_dtype(), is_deterministic()

    def told(self) -> Mapping[str, Any]:
        torch = self.root
        if hasattr(torch, "get_autocast_dtype"):  # newer than 2.3, which warns about the old names
            autocast = [(torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")]
        else:
            autocast = [
                (torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()),
                (torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype()),
            ]
        gradients, dtype, deterministic = self.modes()
        return {
            "autocast": [dtype if on else None for on, dtype in autocast],
            "set_default_dtype": dtype,
            "no_grad": gradients,
            "use_deterministic_algorithms": deterministic,
        }

    def restore(self, modes: tuple[bool, Any, bool]) -> None:
        if modes != self.modes():
            gradients, dtype, deterministic = modes
            self.root.set_grad_enabled(gradients)
            self.root.set_default_dtype(dtype)
            self.root.use_deterministic_algorithms(deterministic)

    @functools.cached_property
    def _set_threads(self) -> Callable[[int], object]:
        """The function that sets the number of threads of torch's OpenMP library, else `torch.set_num_threads`.

        `torch.set_num_threads` also stops and starts torch's other threads, which takes longer than a test.
        """
        import torch

        known: Callable[[int], object] = torch.set_num_threads
        return _openmp_setter(torch.__file__) or known

    def function_called(self, call: Callable[[], Any]) -> FunctionCalled | None:
        from autotest.frameworks import torch_references  # imported here because it imports torch

        return torch_references.function_called(call)

    def reference_implementations(self, path: str) -> Sequence[Implementation]:
        from autotest.frameworks import torch_references

        return list(torch_references.reference_implementations(path))

    def argument_names(
        self, path: str, function: Any, tensors: Sequence[bool | None], keywords: Iterable[str], *, method: bool
    ) -> tuple[str, ...]:
        found = super().argument_names(path, function, tensors, keywords, method=method)
        if found and not found[0].startswith("*"):
            return found
        from autotest.frameworks import torch_parameters  # imports torch

        return torch_parameters.names(function, tensors, [*keywords]) or found

    def optional_arguments(self, operator: str, called_as: str) -> Mapping[str, OptionalArgument]:
        from autotest.frameworks import torch_parameters

        return torch_parameters.optional_arguments(operator, called_as=called_as)

    def stubs(self) -> Mapping[str, str]:
        from autotest.frameworks import torch_schemas  # imports torch

        return torch_schemas.stubs(pathlib.Path(self.root.__file__).parent)


@functools.lru_cache(maxsize=1)  # each of the many adapters of a run needs it, and the folder has many files
def _openmp_setter(file: str) -> Callable[[int], object] | None:
    """Return the function that sets the number of threads of the OpenMP library of the torch in `file`, if any."""
    for library in sorted((pathlib.Path(file).parent / "lib").glob("libgomp*.so*")):
        found: Callable[[int], object] = ctypes.CDLL(str(library)).omp_set_num_threads
        return found
    return None


def framework() -> TorchFramework:
    """Return the adapter; this is an entry point of the group ``autotest.frameworks``."""
    return TorchFramework()
