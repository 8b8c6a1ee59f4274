"""torch on another device: tensors, modules and results are stored there, and are compared on the CPU."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autotest.base.errors import FrameworkMissing
from autotest.comparison import TensorValue
from autotest.comparison.rejection import first_line
from autotest.emission import Script
from autotest.frameworks.failures import Absent
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, CallKind, Operand, leaves
from generators import DTYPES

#: The names that programs use for the device.
_CPU = ("cpu", "cpu:0")


class OnDevice:
    """torch, or a module of it, whose functions put what they make on a device."""

    def __init__(self, inner: Any, device: str) -> None:
        self.inner, self.device = inner, device

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        return OnDevice(found, self.device) if callable(found) or hasattr(found, "__path__") else found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import torch

        with torch.device(self.device):
            return self.inner(*args, **kwargs)


class TorchDevice(TorchFramework):
    """The same torch on another device, which programs call ``"cpu"``."""

    def __init__(self, device: str) -> None:
        super().__init__(f"torch:{device}", alias=device.partition(":")[0])
        self._device = device
        # A device's driver (CUDA, XLA's client) does not survive a fork of a process that has used it.
        self.forkable = device.partition(":")[0] in ("cpu", "meta")
        self.shares_driver = not self.forkable
        self.holds_values = device != "meta"

    @functools.cached_property
    def _providing_package(self) -> ModuleType | None:
        """The package that provides the device, which is named after it (torch_xla, torch_npu), or None."""
        with contextlib.suppress(ImportError):
            return importlib.import_module(f"torch_{self._device.partition(':')[0]}")
        return None

    def import_root(self) -> ModuleType:
        root = super().import_root()
        _ = self._providing_package
        try:
            root.empty(1, device=self._device)
        except Exception as error:
            said = _first(error)
            raise FrameworkMissing(
                f"torch {root.__version__} has no device {self._device!r} here ({said}); choose an existing one, "
                "such as torch:meta (shapes and dtypes only), or install the package for this device"
            ) from error
        return root

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        found = super().operation(kind, target)
        if kind in ("enter", "exit"):
            return found
        if kind == "function" and (isinstance(found, type) or found in self._factories):
            found = functools.partial(self._placed, found)
        return functools.partial(self._carried_out, f"{kind} {target}" if kind == "operator" else target, found)

    @functools.cached_property
    def _factories(self) -> frozenset[Any]:
        """The functions that create tensors without a tensor argument."""
        from torch.utils._device import _device_constructors

        return frozenset(_device_constructors())

    def _placed(self, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with self.root.device(self._device):
            return make(*args, **kwargs)

    def _carried_out(self, what: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if what == "cpu":
            return args[0]
        if what == "numpy" and self.holds_values:  # torch itself converts only what is on the CPU
            return self.to_numpy(args[0])
        if what == "type" and isinstance(args[0], self.root.device):
            return "cpu" if args[0].type == self._device.partition(":")[0] else args[0].type
        if what == "device" and isinstance(args[0], str) and args[0] in _CPU:
            return self.root.empty(0, device=self._device).device
        args = tuple(
            self._device if at and isinstance(item, str) and item in _CPU else item for at, item in enumerate(args)
        )
        if isinstance(kwargs.get("device"), str) and kwargs["device"] in _CPU:
            kwargs = {**kwargs, "device": self._device}
        try:
            return function(*args, **kwargs)
        except NotImplementedError as error:
            raise Absent(self.name, f"{what} ({_first(error)})") from error
        except (RuntimeError, TypeError) as error:
            if not self.holds_values and (
                "meta" in str(error).lower() or type(error).__name__ == "DynamicOutputShapeException"
            ):
                raise Absent(self.name, f"{what} ({_first(error)})") from error
            raise

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        try:
            made = super().tensor(array).to(self._device)
        except (TypeError, RuntimeError) as error:  # a dtype that the device does not support
            raise Absent(self.name, f"{array.dtype} ({_first(error)})") from error
        return made.requires_grad_() if requires_grad else made

    def to_numpy(self, tensor: Any) -> np.ndarray[Any, Any]:
        if tensor.device.type != "meta":
            return super().to_numpy(tensor)
        dtype = self.dtype_of(tensor)
        carrier = np.dtype("float32" if dtype == "bfloat16" else dtype if dtype in DTYPES else "float32")
        return np.broadcast_to(np.zeros((), carrier), tuple(tensor.shape))

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        # A lazy device only records operations. If tensors were read one by one, it would compile each with all
        # operations that it depends on: minutes for an optimizer. If one tensor cannot be computed, this call fails
        # for all tensors; the error is ignored, because reading that tensor alone raises it again.
        with contextlib.suppress(RuntimeError):
            self._compute(tensors)
        return super().values(tensors)

    def known(self, value: Any) -> Any:
        # A lazy device may accept a call and raise later, when it computes the result.
        self._compute([one for one in leaves(value) if self.is_tensor(one)])
        return value

    def _compute(self, tensors: Sequence[Any]) -> None:
        if self._device.partition(":")[0] == "xla" and self._providing_package is not None:
            # This is how torch_xla itself reads several tensors. `sync_xla_data` would let it reuse the memory of
            # tensors that were written in place; that is safe only after a whole step, when no old value is read.
            compute = self._providing_package._XLAC._xla_sync_multi
            compute(list(tensors), devices=[], wait=True, sync_xla_data=False)

    def device_type(self, tensor: Any) -> str:
        kind = str(tensor.device.type)
        return "cpu" if kind == self._device.partition(":")[0] else f"{kind}, not {self._device}"

    def literal(self, value: Any) -> Operand:
        if isinstance(value, self.root.device) and value.type == self._device.partition(":")[0]:
            return "cpu"
        return super().literal(value)

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    @contextlib.contextmanager
    def around_trials(self) -> Iterator[None]:
        with super().around_trials(), contextlib.ExitStack() as settings:
            if self._device.startswith("cuda"):
                # TF32 keeps 10 of float32's 23 mantissa bits. It is a speed setting, not a divergence.
                for backend in (self.root.backends.cuda.matmul, self.root.backends.cudnn):
                    settings.callback(setattr, backend, "allow_tf32", backend.allow_tf32)
                    backend.allow_tf32 = False
            yield

    def synchronize(self) -> None:
        module = getattr(self.root, self._device.partition(":")[0], None)
        if module is not None and hasattr(module, "synchronize"):
            module.synchronize()

    def script(self) -> Script:
        brought = [f"import {self._providing_package.__name__}"] if self._providing_package else []
        # Autograd counts the devices at the first backward pass, which is the reference's: start the device before it.
        there = f"torch.empty(1, device={self._device!r})"
        lines = ["import torch", *brought, there, "from typing import Any", *inspect.getsource(OnDevice).splitlines()]
        return Script(self.name, (*lines, f"on_device = OnDevice(torch, {self._device!r})"), "on_device", on_cpu=False)


def _first(error: BaseException) -> str:
    return textwrap.shorten(first_line(error), 120, placeholder=" ...")


def framework(device: str) -> TorchDevice:
    """Return the adapter for `device`, the part of a candidate's name after ``torch:``."""
    return TorchDevice(device)
