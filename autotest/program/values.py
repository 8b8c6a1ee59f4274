"""The contents and attributes of one tensor, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from autotest.program.calls import Array, same_bits

#: The layout of an array or scalar of NumPy, which is no tensor.
ARRAY = "array of NumPy"


class NamedItems(tuple[Any, ...]):  # noqa: SLOT001 - a subclass of tuple cannot have slots for attributes
    """The items of a tuple that a call returned, with the names by which they can be read, too.

    `names` is None if the framework's adapter does not know whether the tuple should have names.
    """

    names: tuple[str, ...] | None

    def __new__(cls, items: Iterable[Any], names: tuple[str, ...] | None) -> NamedItems:
        made = super().__new__(cls, items)
        made.names = names
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.names

    def has_names_of(self, other: tuple[Any, ...]) -> bool:
        """Whether `other` can be read by all names of this tuple, as far as is known."""
        names = other.names if isinstance(other, NamedItems) else ()
        return not self.names or names is None or names == self.names


def names_of_items(value: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of the items of a ``NamedTuple``, or of a struct sequence such as ``torch.return_types.max``."""
    kind = type(value)
    return tuple(getattr(kind, "_fields", getattr(kind, "__match_args__", ())))


# Not frozen: creating one then takes a third of the time, and one is created for every tensor of a run.
@dataclasses.dataclass(slots=True)
class TensorValue:
    """A tensor of either framework as data; bfloat16 is stored as float32, which represents it exactly."""

    data: np.ndarray[Any, Any]
    dtype: str
    device: str
    requires_grad: bool
    #: torch's name of the layout: ``"strided"``, ``"sparse_coo"``, or `ARRAY`. `data` is dense for any layout.
    layout: str = "strided"
    #: The coarsest floating dtype in which its numbers were computed, if that is coarser than `dtype`; "" if not.
    rounded_to: str = ""

    def __eq__(self, other: object) -> bool:  # from Python 3.13 on, that of a dataclass has no opinion on arrays
        return (
            isinstance(other, TensorValue)
            and (self.dtype, self.device, self.requires_grad) == (other.dtype, other.device, other.requires_grad)
            and (self.layout, self.rounded_to) == (other.layout, other.rounded_to)
            and same_bits(self.data, other.data)
        )

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def copied(self) -> TensorValue:
        """Return a copy with its own memory; `data` may share the framework's, which a later call may write into."""
        return dataclasses.replace(self, data=self.data.copy())

    def as_array(self) -> Array:
        """Return a copy of the contents as a program captures them."""
        return Array(np.array(self.data), self.dtype)
