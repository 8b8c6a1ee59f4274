"""The adapter for MindSpore: its `mint` functions, which have torch's signatures, on the CPU."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from autotest.frameworks.failures import Absent
from autotest.frameworks.functional import Dtype, Functional
from autotest.frameworks.tape import ArrayLike, Pure

#: torch's name -> the name in `mint`, if they differ.
_OTHERWISE: Final[Mapping[str, str]] = {
    "view": "reshape",
    "absolute": "abs",
    "true_divide": "div",
    "expand": "broadcast_to",
}
#: Functions that accept sizes as separate arguments: ``reshape(x, 2, 3)``.
_SIZED: Final = frozenset(("reshape", "view", "permute", "broadcast_to", "expand", "tile"))
#: Matches the messages of errors which mean that MindSpore lacks an operator on the CPU, not that a call is wrong.
_LACKS: Final = re.compile(
    r"(?i)unsupported|not support|select kernel|no kernel|not implemented|unregistered|kernelmod|Not found op|Ascend|"
    r"must be a type of \{|supports types|type of input must be in|'mode' must be in|"
    r"unexpected keyword argument|required positional argument"
)
#: Methods of torch's tensors that have the name of a function in `mint.nn.functional`, but another meaning.
_OTHER_METHODS: Final = frozenset(("unfold",))


def _what_is_lacking(error: Exception) -> str:
    """Return the line of a message that says what MindSpore lacks on the CPU; empty if none does."""
    return next((line.strip() for line in str(error).splitlines() if _LACKS.search(line)), "")


class _Mint(Mapping[str, Pure]):
    """Torch's names for `mint`'s functions."""

    def __init__(self, root: Any, name: str) -> None:
        self._root, self._name = root, name

    def __getitem__(self, path: str) -> Pure:
        *prefix, name = path.split(".")
        name = _OTHERWISE.get(name, name)
        homes = [self._root.mint.nn.functional] if prefix == ["nn", "functional"] else []
        if path in _OTHER_METHODS:
            raise KeyError(path)
        for home in (*homes, self._root.mint, self._root.mint.nn.functional):
            found = getattr(home, name, None)
            if found is not None and not name.startswith("_"):
                return self._careful(path, found)
        raise KeyError(path)

    def _careful(self, path: str, found: Callable[..., Any]) -> Pure:
        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            if path in _SIZED and isinstance(args[1] if len(args) > 1 else None, int):
                args = (args[0], tuple(args[1:]))
            try:
                return found(*map(self._dtype, args), **{key: self._dtype(one) for key, one in kwargs.items()})
            except Exception as error:
                said = _what_is_lacking(error)
                if said or isinstance(error, AttributeError):
                    raise Absent(self._name, f"{path} on the CPU ({(said or str(error))[:100]})") from error
                raise

        return call

    def _dtype(self, value: Any) -> Any:
        """Return `value`; if it is a dtype, return MindSpore's dtype of that name."""
        return getattr(self._root, "bool_" if value == "bool" else str(value)) if isinstance(value, Dtype) else value

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self._root.mint))

    def __len__(self) -> int:
        return len(dir(self._root.mint))


class MindSporeFramework(Functional):
    """MindSpore, one call at a time and synchronous, with `mindspore.ops.GradOperation` for gradients."""

    module = "mindspore"
    short = "ms"
    gradient_lines = (
        "pull = ms.ops.GradOperation(get_all=True, sens_param=True)(forward)",
        "{gradients} = pull({leaves}, {cotangent})",
    )
    constant_text = "ms.ops.stop_gradient({})"
    dtype_text = "str({}.dtype).lower()"

    def __init__(self) -> None:
        super().__init__("mindspore")

    @functools.cached_property
    def root(self) -> Any:
        root = self.import_root()
        root.set_device("CPU")
        root.runtime.launch_blocking()  # otherwise the error of a call is raised by a later call
        return root

    @functools.cached_property
    def spelling(self) -> Mapping[str, Pure]:
        return _Mint(self.root, self.name)

    def array_types(self) -> tuple[type, ...]:
        return (self.root.Tensor,)

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> ArrayLike:
        made = self.root.Tensor(np.ascontiguousarray(data).reshape(data.shape))
        return made if self.dtype_of_array(made) == dtype else self.cast(made, dtype)

    def numpy(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        wide = self.cast(array, "float32") if self.dtype_of_array(array) == "bfloat16" else array
        return np.array(wide.asnumpy())

    def dtype_of_array(self, array: ArrayLike) -> str:
        return str(array.dtype).lower()

    def cast(self, array: ArrayLike, dtype: str) -> ArrayLike:
        return array.astype(getattr(self.root, "bool_" if dtype == "bool" else dtype))

    def take(self, flat: ArrayLike, places: np.ndarray[Any, Any]) -> ArrayLike:
        if not places.size:
            return self.array(np.zeros(places.shape), self.dtype_of_array(flat))
        return self.root.ops.gather(flat, self.root.Tensor(places.reshape(-1)), 0).reshape(places.shape)

    def vjp(self, function: Pure, arrays: list[ArrayLike], cotangents: list[ArrayLike]) -> list[ArrayLike]:
        def forward(*given: ArrayLike) -> Any:
            made = function(*given)
            return made[0] if len(made) == 1 else tuple(made)

        sens = cotangents[0] if len(cotangents) == 1 else tuple(cotangents)
        grad = self.root.ops.GradOperation(get_all=True, sens_param=True)
        # Copies: if one array were passed twice, each of its two gradients would be the sum of both.
        given = [array.copy() for array in arrays]
        try:
            return list(grad(forward)(*given, sens))
        except Exception as error:
            said = _what_is_lacking(error)
            if said:
                raise Absent(self.name, f"gradient on the CPU ({said[:100]})") from error
            raise


def framework() -> MindSporeFramework:
    """Return the adapter for MindSpore."""
    return MindSporeFramework()
