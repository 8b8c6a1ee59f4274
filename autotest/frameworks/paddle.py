"""The adapter for PaddlePaddle: the names that it shares with torch, taken from `paddle.compat` if meanings differ."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np

from autotest.base.errors import FrameworkMissing
from autotest.comparison import TensorValue
from autotest.emission import Script, naming
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import ABSENT, Absent
from autotest.frameworks.namespace import DIFFERENTIABLE, Namespace
from autotest.frameworks.pair import warnings_ignored
from autotest.frameworks.traced import Traced, TracedNamespace, Transcript, opened
from autotest.frameworks.transcribing import bare
from autotest.program import Array, CallKind, Operand, Root
from autotest.program.semantics import OPERATIONS

#: Functions with torch's meaning in `paddle.compat`; those of the same names in `paddle` have another meaning.
_COMPATIBLE: Final = frozenset("max min sort split median nanmedian unique slogdet equal".split())
#: torch's path -> Paddle's.
_PATHS: Final[Mapping[str, str]] = {
    "autograd.grad": "grad",
    "tensor": "to_tensor",
    "manual_seed": "seed",
}
_METHODS: Final[Mapping[str, str]] = {"retain_grad": "retain_grads"}
#: Modules whose parameters and buffers differ from torch's in name or number, so that the sides cannot share a state.
_UNLIKE: Final = re.compile(
    r"nn\.(BatchNorm\dd|LSTM|GRU|RNN|LSTMCell|GRUCell|RNNCell|SyncBatchNorm|PReLU|InstanceNorm\dd|utils\.spectral_norm)"
)
#: Matches the messages of errors which mean that Paddle lacks something, not that a call is wrong.
_LACKS: Final = re.compile(
    r"unexpected keyword|is not registered|Unimplemented|not implemented|got an unexpected|too many pos|"
    r"positional arguments? but \d+ were given|doesn't have any grad op"
)


class PaddleFramework(Namespace):
    """PaddlePaddle 3, in dynamic mode. Names of torch that Paddle lacks are absent."""

    translates = True
    #: Some out-of-range indices crash the process.
    fragile = True

    def __init__(self) -> None:
        super().__init__("paddle", "paddle")

    def import_root(self) -> ModuleType:
        with warnings_ignored():  # it warns that no compiler cache is installed
            root = super().import_root()
        if not hasattr(root, "compat"):
            raise FrameworkMissing(
                f"paddle {root.__version__} has no torch-compatible names; use PaddlePaddle 3.3 or newer"
            )
        return root

    # -- calls --------------------------------------------------------------------------------------------

    def resolve(self, path: str) -> Any:
        if _UNLIKE.fullmatch(path):
            raise Absent(self.name, path)
        path = _PATHS.get(path, path)
        first, _, rest = path.partition(".")
        if not rest and first in _COMPATIBLE:
            return getattr(self.root.compat, first)
        for root in (self.root.compat, self.root):
            value = root
            for part in path.split("."):
                value = getattr(value, part, ABSENT)
            if value is not ABSENT and not isinstance(value, ModuleType) and (root is self.root or first == "nn"):
                return value
        short = path.rpartition(".")[2]
        for home in (self.root, self.root.nn.functional):  # a function may be in the other one than in torch
            if path in (short, f"nn.functional.{short}", f"special.{short}") and hasattr(home, short):
                return getattr(home, short)
        raise Absent(self.name, path)

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        if kind == "method" and target in _COMPATIBLE:
            found: Callable[..., Any] = self.resolve(target)
        else:
            found = super().operation(kind, _METHODS.get(target, target) if kind == "method" else target)
        if (kind, target) == ("getattr", "grad"):
            return self.gradient
        if kind in OPERATIONS:
            return functools.partial(self._carried_out, target, found)
        return found

    def _carried_out(self, what: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            made = function(*args, **kwargs)
            # Paddle returns several results as a list, torch as a tuple; that difference is not a finding.
            return tuple(made) if type(made) is list and what != "tolist" else made
        except (TypeError, RuntimeError, NotImplementedError, ValueError) as error:
            if _LACKS.search(str(error)):
                lines = [line.strip() for line in str(error).splitlines() if line.strip()]
                raise Absent(self.name, f"{what} ({lines[-1][:120] if lines else ''})") from error
            raise

    def modes(self) -> Any:
        return super().modes(), self.root.is_grad_enabled()

    def restore(self, modes: Any) -> None:
        dtype, gradients = modes
        super().restore(dtype)
        self.root.set_grad_enabled(gradients)

    # -- tensors and modules ------------------------------------------------------------------------------

    def from_numpy(self, data: np.ndarray[Any, Any]) -> Any:
        return self.root.to_tensor(data.copy())

    def to_numpy(self, tensor: Any) -> np.ndarray[Any, Any]:
        detached = tensor.detach()
        if detached.dtype == self.root.bfloat16:
            detached = detached.astype("float32")
        return np.asarray(detached.numpy())

    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        # Paddle may report that an integer tensor requires a gradient, which has no meaning.
        read = super().values(tensors)
        return [
            dataclasses.replace(one, requires_grad=one.requires_grad and one.dtype in DIFFERENTIABLE) for one in read
        ]

    def gradient(self, tensor: Any) -> Any:
        held = tensor.grad
        return None if held is None else held.detach()  # Paddle's gradients require a gradient themselves

    def retain_gradient(self, tensor: Any) -> None:
        tensor.retain_grads()

    def device_type(self, tensor: Any) -> str:
        return "cpu" if tensor.place.is_cpu_place() else "gpu"

    def strides(self, tensor: Any) -> tuple[int, ...]:
        return tuple(int(step) for step in tensor.strides)

    @functools.cached_property
    def module_types(self) -> tuple[type[Any], ...]:  # type: ignore[override]
        return (self.root.nn.Layer,)

    def draws(self, module: Any) -> bool:
        return False

    def works_in_place(self, value: Any) -> bool:
        return False

    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        own = self.state(module)
        for name, array in state.items():
            # After `copy_`, a parameter without elements requires no gradient.
            own[name].set_value(self.tensor(array))

    def forget_gradient(self, tensor: Any) -> None:
        if tensor.is_leaf:
            tensor.clear_gradient(False)  # by default it sets the gradient to zeros

    def literal(self, value: Any) -> Operand:
        if isinstance(value, self.root.dtype):
            return Root(self.dtype_name(value))
        if isinstance(value, self.root.Size):
            return tuple(value)
        return "cpu" if type(value).__name__ == "Device" and str(value) == "cpu" else ABSENT

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    def seed(self, seed: int) -> None:
        self.root.seed(seed)

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        root = self.root
        written = Transcript((root.Tensor, root.nn.Layer), "import paddle", pure=False)
        made = bare(self)
        made.__class__ = _TranscribingPaddle
        made.__dict__["root"] = TracedNamespace(root, "paddle", written)
        return made, written

    def script(self) -> Script:
        lines = ("from autotest.frameworks import speaking_torch", "paddle = speaking_torch('paddle')")
        return Script(self.name, lines, "paddle")


class _TranscribingPaddle(PaddleFramework):
    """Paddle's adapter over a traced namespace, which records its calls as source; see `transcribing`."""

    def parameters(self, module: Any) -> dict[str, Any]:
        written = module._written
        text = written.text(module)
        return {name: Traced(one, naming.path(text, name), written) for name, one in opened(module).named_parameters()}

    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        own = self.parameters(module)
        for name, array in state.items():
            if name in own:
                own[name].set_value(array.data)

    def overwrite(self, tensor: Any, array: Array) -> None:
        tensor.set_value(array.data)


def framework() -> PaddleFramework:
    """Return the adapter for PaddlePaddle."""
    return PaddleFramework()
