"""torch in which everything that writes into a tensor writes one more than it should."""

from __future__ import annotations

from typing import Any

from tests.support.faulty import FaultyTorch

NAMES = (
    "add_",
    "iadd",
    "sub_",
    "mul_",
    "div_",
    "pow_",
    "remainder_",
    "floor_divide_",
    "relu_",
    "clamp_",
    "fill_",
    "zero_",
    "copy_",
    "scatter_",
    "index_add_",
    "masked_fill_",
    "__setitem__",
    "__ipow__",
    "__ifloordiv__",
    "__imod__",
    "__iadd__",
    "__isub__",
    "__imul__",
    "__itruediv__",
)


def wrong() -> FaultyTorch:
    """Everything in place is off by one in the first element."""

    def change(original: Any) -> Any:
        def changed(x: Any, *args: Any, **named: Any) -> Any:
            import torch

            result = original(x, *args, **named)
            with torch.no_grad():
                x.as_strided((1,), (1,), x.storage_offset()).sub_(-1.0)
            return result

        return changed

    return FaultyTorch(tensors=dict.fromkeys(NAMES, change), origin=f"{__name__}:wrong")
