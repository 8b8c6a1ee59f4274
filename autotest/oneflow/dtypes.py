"""dtypes as OneFlow's tests name them: a Python type, a framework's own dtype, or a family such as ``"arithmetic"``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from autotest.base.errors import UsageError
from autotest.oneflow.framework_pair import style_pair
from generators import DTYPES, Generator, Source, random_bool

if TYPE_CHECKING:
    from collections.abc import Iterator

# Errors of generators that are built here name a line of the test.
__generators_hide__ = True

_FLOATS: Final = ("float32", "float64")
_INTEGERS: Final = ("int8", "int32", "int64")
_ARITHMETIC: Final = (*_FLOATS, *_INTEGERS)

#: The dtypes of the family names of OneFlow's later releases. The integers are those that OneFlow computes in, so not
#: int16.
FAMILIES: Final[Mapping[str, tuple[str | None, ...]]] = MappingProxyType(
    {
        "None": (None,),
        "bool": ("bool",),
        "float": _FLOATS,
        "half": ("float16",),
        "bfloat16": ("bfloat16",),
        "complex": ("complex64", "complex128"),
        "signed": _INTEGERS,
        "unsigned": ("uint8",),
        "int": _INTEGERS,
        "image": ("uint8", "float32"),
        "index": ("int32", "int64"),
        "arithmetic": _ARITHMETIC,
        "pod": (*_ARITHMETIC, "uint8", "bool"),
        "all": (*_ARITHMETIC, "float16", "bfloat16"),
    }
)
_complex: ContextVar[bool] = ContextVar("autotest_oneflow_complex", default=False)


def dtype_of(dtype: Any) -> Any:
    """Return the core's name of a dtype: ``float`` is float32, ``complex`` complex64, a framework's dtype its name."""
    if isinstance(dtype, (Generator, str)) or dtype in (int, bool):
        return dtype
    if dtype is float or dtype is complex:
        return "float32" if dtype is float else "complex64"
    if isinstance(dtype, type):
        return np.dtype(dtype).name
    return str(getattr(dtype, "pytorch", dtype)).rpartition(".")[2]


class random_dtype_name(Generator):
    """The name of a dtype drawn from `families`, which are keys of `FAMILIES` or names of dtypes."""

    __slots__ = ("_names",)

    def __init__(self, families: Sequence[str]) -> None:
        super().__init__()
        wrong = [word for word in families if word not in FAMILIES and word not in DTYPES]
        if isinstance(families, str) or wrong or not families:
            raise UsageError(
                f"random_dtype({families!r}): expected a list of {', '.join(FAMILIES)}, or names of dtypes"
            )
        self._names = [name for word in families for name in FAMILIES.get(word, (word,))]

    def _draw(self, source: Source, annotation: Any) -> str | None:
        return self._names[source.index(len(self._names))]


class random_pytorch_dtype(random_dtype_name):
    """One of torch's dtypes, drawn from `families`."""

    __slots__ = ()

    def _draw(self, source: Source, annotation: Any) -> Any:
        name = super()._draw(source, annotation)
        return None if name is None else style_pair().reference.resolve(name)


@contextmanager
def complex_too(included: bool) -> Iterator[None]:
    """Let `real_or_complex` draw complex inside of the block, if `included`."""
    token = _complex.set(included)
    try:
        yield
    finally:
        _complex.reset(token)


def real_or_complex(dtype: Any) -> Any:
    """Return ``complex`` half of the time if `dtype` is ``float`` and `complex_too` is active; otherwise `dtype`."""
    return complex if dtype is float and _complex.get() and random_bool().value() else dtype


__all__ = ["FAMILIES", "complex_too", "dtype_of", "random_dtype_name", "random_pytorch_dtype", "real_or_complex"]
