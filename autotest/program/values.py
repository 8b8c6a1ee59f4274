"""The contents and attributes of one tensor, as data."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from autotest.program.calls import Array


@dataclasses.dataclass(slots=True)  # not frozen: making one takes a third of the time, and every tensor of a run is one
class TensorValue:
    """A tensor of either framework as data; bfloat16 is carried as float32, which holds it exactly."""

    data: np.ndarray[Any, Any]
    dtype: str
    device: str
    requires_grad: bool

    def copied(self) -> TensorValue:
        """The same in memory of its own: what a framework shows may be what a later call writes into."""
        return dataclasses.replace(self, data=self.data.copy())

    def as_array(self) -> Array:
        """Its contents, copied, as a program captures them."""
        return Array(np.array(self.data), self.dtype)
