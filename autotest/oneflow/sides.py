"""Numbers and sizes that a test reads of a dual tensor, each with both frameworks' own at hand."""

from __future__ import annotations

from typing import Any


class SidedInt(int):
    """What torch gave; `oneflow` is what OneFlow gave."""

    pytorch: int
    oneflow: Any

    def __new__(cls, pytorch: int, oneflow: Any = None) -> SidedInt:
        made = super().__new__(cls, pytorch)
        made.pytorch, made.oneflow = int(pytorch), oneflow
        return made

    def _lower(self, recorder: object) -> tuple[int, int, int]:
        return self.pytorch, self.pytorch, self.pytorch


class SidedSize(tuple[int, ...]):  # noqa: SLOT001 - a tuple takes no slots that hold something
    """A ``torch.Size``, whose class cannot be derived from; `oneflow` is an ``oneflow.Size``."""

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
    """`expected`, with both sides at hand where it is a whole number or a size."""
    if type(expected) is int:
        return SidedInt(expected, actual)
    return SidedSize(expected, actual) if isinstance(expected, tuple) else expected


def without_sides(returned: Any) -> Any:
    """What a test body returned, as the core would have given it these values."""
    if isinstance(returned, (SidedInt, SidedSize)):
        return returned.pytorch
    if type(returned) in (tuple, list):
        return type(returned)(without_sides(item) for item in returned)
    if type(returned) is dict:
        return {key: without_sides(item) for key, item in returned.items()}
    return returned


__all__ = ["SidedInt", "SidedSize", "with_sides", "without_sides"]
