"""Shapes: of one array, and of several that broadcast together."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from generators.annotations import DIMENSION, SIZE
from generators.code_position import CodePosition, call_site, location
from generators.core import Annotation, Generator
from generators.errors import BadBounds, GeneratorError, is_test_mistake
from generators.source import Source
from generators.strategies import as_generator

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

Shape = tuple[int, ...]

LARGEST_RANK = 5
LARGEST_SIZE = 7


class random_shape(Generator):
    """A generator of shapes: tuples of `ndim` sizes.

    Args:
        ndim: the rank, or a generator of it, without an upper limit. By default 1 to 5 (0 to 5 with `allow_zero`).
        dims: fixed sizes by position: a sequence, in which None leaves a size open, or a mapping from position to size.
            Sizes may be generators. Those beyond the rank are ignored.
        max_size: the greatest of the other sizes, which are drawn from 1 (0 with `allow_zero`) to `max_size`.
        allow_zero: whether the drawn rank and the drawn sizes may be 0.

    Raises:
        GeneratorError: if a rank or size is not an integer or is negative. For a generator it is raised when the value
            is drawn, with the line that built this object.
    """

    __slots__ = ("_dims", "_where", "allow_zero", "max_size", "ndim")

    def __init__(
        self,
        ndim: Any = None,
        dims: Sequence[Any] | Mapping[int, Any] = (),
        max_size: int = LARGEST_SIZE,
        allow_zero: bool = False,
    ) -> None:
        self._where = call_site()
        self.ndim = ndim = as_generator(ndim)
        self.allow_zero = allow_zero
        self.max_size = checked_size("max_size", max_size, self._where)
        pairs = dims.items() if isinstance(dims, Mapping) else enumerate(dims)
        self._dims: dict[int, Any] = {axis: as_generator(size) for axis, size in pairs if size is not None}
        children: list[Generator] = []
        if isinstance(ndim, Generator):
            children.append(ndim)
        elif ndim is not None:
            self.ndim = checked_size("ndim", ndim, self._where)
        for axis, size in self._dims.items():
            if axis < 0:  # it would be ignored
                raise GeneratorError(
                    f"random_shape(dims={{{axis!r}: {size!r}}}) at {location(self._where)}: expected positions from 0, "
                    "because negative ones do not count from the end"
                )
            if isinstance(size, Generator):
                children.append(size)
            else:
                self._dims[axis] = checked_size(f"dims[{axis}]", size, self._where)
        self.children = builtins.tuple(children)
        if self.max_size < 1 and not allow_zero:
            raise BadBounds(f"random_shape(max_size={max_size!r}): expected at least 1, or allow_zero=True")

    def _typed_children(self) -> builtins.tuple[Generator, ...]:
        return ()  # sizes are ints, whatever type is fixed

    def _draw(self, source: Source, annotation: Annotation) -> Shape:
        least = 0 if self.allow_zero else 1
        ndim = self.ndim
        if ndim is None:
            ndim = source.integer(least, LARGEST_RANK + 1)
        elif isinstance(ndim, Generator):
            ndim = checked_size("ndim", ndim.draw_in(source, SIZE), self._where)
        dims = self._dims
        end = self.max_size + 1
        shape = []
        for axis in range(ndim):
            size = dims.get(axis)
            if size is None:
                size = source.integer(least, end)
            elif type(size) is not int:
                size = checked_size(f"dims[{axis}]", size.draw_in(source, SIZE), self._where)
            shape.append(size)
        return builtins.tuple(shape)

    def __repr__(self) -> str:
        parts = [] if self.ndim is None else [f"ndim={self.ndim!r}"]
        if self._dims:
            parts.append(f"dims={self._dims!r}")
        if self.max_size != LARGEST_SIZE:
            parts.append(f"max_size={self.max_size}")
        if self.allow_zero:
            parts.append("allow_zero=True")
        return f"random_shape({', '.join(parts)})"


class given_shape(Generator):
    """A generator of a given shape: a size, or a sequence of sizes, each an int or a generator of one."""

    __slots__ = ("_sizes", "_where")

    def __init__(self, shape: Any) -> None:
        self._where = call_site()
        shape = as_generator(shape)
        self._sizes = shape if isinstance(shape, Generator) else _sizes(shape, self._where)
        parts = (shape,) if isinstance(shape, Generator) else self._sizes
        self.children = builtins.tuple([part for part in parts if isinstance(part, Generator)])

    def _typed_children(self) -> builtins.tuple[Generator, ...]:
        return ()

    def draw_in(self, source: Source, annotation: Annotation = None) -> Any:
        # Plain sizes need no memo.
        return super().draw_in(source, annotation) if self.children else self._sizes

    def _draw(self, source: Source, annotation: Annotation) -> Shape:
        sizes = self._sizes
        if isinstance(sizes, Generator):
            sizes = _sizes(sizes.draw_in(source, SIZE), self._where)
        return builtins.tuple(
            [
                checked_size(f"shape[{axis}]", size.draw_in(source, DIMENSION), self._where)
                if isinstance(size, Generator)
                else size
                for axis, size in enumerate(sizes)
            ]
        )

    def __repr__(self) -> str:
        return repr(self._sizes)


def _sizes(shape: Any, where: CodePosition) -> builtins.tuple[Any, ...]:
    sizes = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    return builtins.tuple(
        [
            size if isinstance(size, Generator) else checked_size(f"shape[{axis}]", size, where)
            for axis, size in enumerate(map(as_generator, sizes))
        ]
    )


def checked_size(name: str, size: Any, where: CodePosition) -> int:
    """Return `size` as an int.

    Raises `GeneratorError`, with `name` and the line `where`, if it is not an integer or is negative.
    """
    if type(size) is int and size >= 0:
        return size
    try:
        whole = -1 if isinstance(size, bool) else operator.index(size)
    except TypeError:
        whole = -1
    if whole < 0:
        raise GeneratorError(
            f"{name}={size!r} of the shape at {location(where)}: expected a whole number >= 0"
            + ("; fix the type of its generator with .to(int)" if isinstance(size, (builtins.tuple, float)) else "")
        )
    return whole
