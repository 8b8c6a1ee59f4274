"""torch in which every in-place operation also adds one to the first element of its tensor."""

from __future__ import annotations

from typing import Any

from tests.support.faulty import FaultyTorch

_METHODS = "add sub mul div pow remainder floor_divide relu clamp fill zero copy scatter index_add masked_fill".split()
_OPERATORS = "setitem iadd isub imul itruediv ifloordiv imod ipow".split()


def wrong() -> FaultyTorch:
    """Return torch whose in-place operations are off by one in the first element."""

    def change(original: Any) -> Any:
        def changed(x: Any, *args: Any, **named: Any) -> Any:
            import torch

            result = original(x, *args, **named)
            with torch.no_grad():
                x.as_strided((1,), (1,), x.storage_offset()).sub_(-1.0)
            return result

        return changed

    names = [*(f"{name}_" for name in _METHODS), *(f"__{name}__" for name in _OPERATORS)]
    return FaultyTorch(tensors=dict.fromkeys(names, change), origin=f"{__name__}:wrong")
