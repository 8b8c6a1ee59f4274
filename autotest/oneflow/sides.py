"""Numbers and sizes that a test reads from a dual tensor, with the values of both frameworks."""

from __future__ import annotations

from typing import Any


class SidedInt(int):
    """The number that torch returned; `oneflow` is the one that OneFlow returned."""

    pytorch: int
    oneflow: Any

    def __new__(cls, pytorch: int, oneflow: Any = None) -> SidedInt:
        made = super().__new__(cls, pytorch)
        made.pytorch, made.oneflow = int(pytorch), oneflow
        return made

    def _lower(self, recorder: object) -> tuple[int, int, int]:
        return self.pytorch, self.pytorch, self.pytorch


class SidedSize(tuple[int, ...]):  # noqa: SLOT001 - a tuple takes no nonempty slots
    """A substitute for ``torch.Size``, which cannot be subclassed; `oneflow` is an ``oneflow.Size``."""

    pytorch: Any
    oneflow: Any

    def __new__(cls, pytorch: Any, oneflow: Any = None) -> SidedSize:
        made = super().__new__(cls, pytorch)
        made.pytorch, made.oneflow = pytorch, oneflow
        return made

    def __getitem__(self, key: Any) -> Any:
        part = tuple(self)[key]
        return SidedSize(self.pytorch[key], self.oneflow[key]) if isinstance(key, slice) else part

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.pytorch, name)

    def _lower(self, recorder: object) -> tuple[Any, Any, Any]:
        return tuple(self), tuple(self), tuple(self)


def with_sides(expected: Any, actual: Any) -> Any:
    """Return `expected` with the values of both sides, if it is an integer or a size; otherwise unchanged."""
    if type(expected) is int:
        return SidedInt(expected, actual)
    return SidedSize(expected, actual) if isinstance(expected, tuple) else expected


def without_sides(returned: Any) -> Any:
    """Return the value that a test body returned, with torch's values in place of `SidedInt` and `SidedSize`."""
    if isinstance(returned, (SidedInt, SidedSize)):
        return returned.pytorch
    if type(returned) in (tuple, list):
        return type(returned)(without_sides(item) for item in returned)
    if type(returned) is dict:
        return {key: without_sides(item) for key, item in returned.items()}
    return returned


__all__ = ["SidedInt", "SidedSize", "with_sides", "without_sides"]
