"""The adapter for JAX: torch's names for functions of `jax.numpy`, `jax.nn` and `jax.lax`, on the CPU."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from autotest.frameworks.base import Framework
from autotest.frameworks.functional import Functional
from autotest.frameworks.numpy_translations import numpy_translations
from autotest.frameworks.tape import ArrayLike, Pure, TapeTensor
from autotest.frameworks.traced import Transcript, opened
from autotest.program import Array

#: NumPy-like name -> path below `jax`, for functions that are not in `jax.numpy` or have another name.
_ELSEWHERE = {
    "sigmoid": "nn.sigmoid",
    "softmax": "nn.softmax",
    "logsumexp": "nn.logsumexp",
    "erf": "lax.erf",
    "erfinv": "lax.erf_inv",
    "rsqrt": "lax.rsqrt",
    "stop_gradient": "lax.stop_gradient",
}


class _JaxNamespace:
    """JAX's functions under the names that `numpy_translations` knows."""

    def __init__(self, jax: Any) -> None:
        self._jax = jax
        self.array = jax.Array

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith(("float", "int", "uint", "bfloat", "complex")):
            return name  # JAX accepts the name of a dtype as a dtype
        place = self._jax.numpy
        *path, name = _ELSEWHERE.get(name, name).split(".")
        for part in path:
            place = getattr(self._jax, part)
        return getattr(place, name)

    def flatten(self, array: Any, start: int, end: int) -> Any:
        begin, last = (operator.index(at) + array.ndim * (at < 0) for at in (start, end))
        if not 0 <= begin <= last < array.ndim:
            raise ValueError(f"flatten: expected dimensions of an array with {array.ndim}, got {start} to {end}")
        middle = int(np.prod(array.shape[begin : last + 1], dtype=np.int64))
        return self._jax.numpy.reshape(array, (*array.shape[:begin], middle, *array.shape[last + 1 :]))

    def conv1d(self, *given: Any) -> Any:
        return self._convolved("W", *given)

    def conv2d(self, *given: Any) -> Any:
        return self._convolved("HW", *given)

    def _convolved(self, axes: str, x: Any, w: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
        def each(value: Any) -> tuple[int, ...]:
            return value if isinstance(value, tuple) else (value,) * len(axes)

        layout = (f"N{axes}C", f"O{axes}I", f"N{axes}C")
        return self._jax.lax.conv_general_dilated(
            x,
            w,
            each(stride),
            [(one, one) for one in each(padding)],
            rhs_dilation=each(dilation),
            dimension_numbers=layout,
            feature_group_count=groups,
        )


#: How many compiled functions JAX keeps before it is told to forget them all. Each takes about 3 MB, and each operator
#: is compiled for each shape.
_COMPILED: Final = 300


class _CompiledFunctions:
    """Counts the functions that JAX has compiled in this process, and frees them when they are many."""

    def __init__(self, root: Any) -> None:
        self._clear = root.clear_caches
        self._count = 0
        root.monitoring.register_event_duration_secs_listener(self._done)

    def _done(self, event: str, seconds: float, **_: Any) -> None:
        self._count += event.endswith("backend_compile_duration")

    def free_many(self) -> None:
        if self._count > _COMPILED:
            self._count = 0
            self._clear()


class JaxFramework(Functional):
    """JAX, one call at a time, with `jax.vjp` for gradients and float64 enabled.

    JAX's gradients of complex arrays are the conjugates of torch's.
    """

    module = "jax"
    short = "jax"
    gradient_lines = ("_, pull = jax.vjp(forward, {leaves})", "{gradients} = pull({cotangent})")
    complex_gradient_lines = (
        "_, pull = jax.vjp(forward, {leaves})",
        "{gradients} = jax.tree.map(jax.numpy.conj, pull(jax.tree.map(jax.numpy.conj, {cotangent})))",
    )
    constant_text = "jax.lax.stop_gradient({})"

    def __init__(self) -> None:
        super().__init__("jax")

    @functools.cached_property
    def root(self) -> Any:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        root = self.import_root()
        root.config.update("jax_enable_x64", True)
        return root

    @functools.cached_property
    def spelling(self) -> Mapping[str, Pure]:
        return numpy_translations(_JaxNamespace(self.root))

    def array_types(self) -> tuple[type, ...]:
        return (self.root.Array,)

    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> TapeTensor:
        _compiled_functions(opened(self.root)).free_many()  # here, no function is being differentiated
        return super().tensor(array, device=device, requires_grad=requires_grad)

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        made = super().transcribing()
        if made is not None:
            made[1].imports = 'import jax\njax.config.update("jax_enable_x64", True)'
        return made

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> ArrayLike:
        made = np.ascontiguousarray(data).reshape(data.shape)
        return self.root.numpy.array(made) if str(made.dtype) == dtype else self.root.numpy.array(made, dtype)

    def numpy(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        return np.array(array.astype("float32") if self.dtype_of_array(array) == "bfloat16" else array)

    def dtype_of_array(self, array: ArrayLike) -> str:
        return str(array.dtype)

    def cast(self, array: ArrayLike, dtype: str) -> ArrayLike:
        return array.astype(dtype)

    def take(self, flat: ArrayLike, places: np.ndarray[Any, Any]) -> ArrayLike:
        if not places.size:
            return self.root.numpy.zeros(places.shape, self.dtype_of_array(flat))
        return self.root.numpy.take(flat, places)

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        _, pull = self.root.vjp(lambda *given: list(function(*given)), *arrays)
        conj = self.root.numpy.conj  # returns real arrays as they are
        return list(map(conj, pull(list(map(conj, cotangents)))))


@functools.lru_cache(maxsize=1)
def _compiled_functions(root: Any) -> _CompiledFunctions:
    return _CompiledFunctions(root)


def framework() -> JaxFramework:
    """Return the adapter for JAX."""
    return JaxFramework()
