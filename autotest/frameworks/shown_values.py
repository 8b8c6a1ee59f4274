"""The text of values whose own text does not contain the numbers of their tensors, for the output of a test."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autotest.comparison.rejection import first_line
from autotest.frameworks.base import Framework
from autotest.program import map_operand


class _Text(NamedTuple):
    """A text that is shown without quotes inside of a container."""

    text: str

    def __repr__(self) -> str:
        return self.text


def shown(framework: Framework, value: Any) -> str:
    """Return the text of `value` with the contents of its tensors; of a value that cannot be read, the reason why."""

    def leaf(item: Any) -> Any:
        item = framework.known(item)
        if isinstance(item, tuple):
            return map_operand(item, leaf)
        return _Text(_of_tensor(framework, item)) if framework.is_tensor(item) else item

    try:
        return repr(map_operand(value, leaf))
    except Exception as error:  # noqa: BLE001 - whatever the framework raises: printing must not end a test
        return f"<{type(error).__name__}: {first_line(error)}>"


def _of_tensor(framework: Framework, tensor: Any) -> str:
    (value,) = framework.values([tensor])
    contents = np.array2string(value.data, separator=", ", prefix="tensor(")
    size = "" if value.data.size else f", size={value.data.shape}"
    return f"tensor({contents}{size}, dtype={value.dtype}{', requires_grad=True' if value.requires_grad else ''})"
