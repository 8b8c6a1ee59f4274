"""What to write instead of calls that the reference refuses whatever is drawn."""

from __future__ import annotations

import re
from typing import Final

_FITTING: Final = "Draw arguments that fit together (the same generator object gives the same value), or use .filter()."

#: What a reason says, and what a test may write instead; the first that fits counts.
_INSTEAD: Final = (
    (r"leaf Variable that requires grad", "Write random_tensor(..., requires_grad=False), or change x.clone()."),
    (
        r"^(?!numpy:).*Can't call numpy\(\)|not implemented for NumPy arrays",
        "An operand is an array of NumPy: write torch.tensor(array), with the torch of `from autotest import torch`.",
    ),
    (r"Can't call numpy\(\) on Tensor that requires grad", "Write x.detach().numpy(), or return x: it is compared."),
    (
        r"Boolean value of Tensor with more than one value",
        "A condition takes one element: write x.any() or x.all(), or choose element by element with torch.where.",
    ),
    (r"^len: TypeError: len\(\) of a", "A tensor of no dimensions has no length; what copies a tensor is x.clone()."),
    (r"cannot be converted to Scalar", "A number is made of one element: return the tensor itself, which is compared."),
    (r"Invalid device string: '(u?int|b?float|bool|double|half|long)", "A dtype is no text here: write torch.float16."),
    (r"backward through the graph a second time", "Write backward(retain_graph=True), or build the graph again."),
)


def advice_on(reason: str) -> str:
    """What to write instead of the call that is refused for `reason`."""
    return next((instead for pattern, instead in _INSTEAD if re.search(pattern, reason)), _FITTING)
