"""The contents and attributes of one tensor, as data."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from autotest.program.calls import Array


# Not frozen: creating one then takes a third of the time, and one is created for every tensor of a run.
@dataclasses.dataclass(slots=True)
class TensorValue:
    """A tensor of either framework as data; bfloat16 is stored as float32, which represents it exactly."""

    data: np.ndarray[Any, Any]
    dtype: str
    device: str
    requires_grad: bool
    #: torch's name of the layout: ``"strided"``, ``"sparse_coo"``. `data` is dense for any layout.
    layout: str = "strided"

    def copied(self) -> TensorValue:
        """Return a copy with its own memory; `data` may share the framework's, which a later call may write into."""
        return dataclasses.replace(self, data=self.data.copy())

    def as_array(self) -> Array:
        """Return a copy of the contents as a program captures them."""
        return Array(np.array(self.data), self.dtype)
