"""Advises on calls that the reference refuses regardless of the drawn values."""

from __future__ import annotations

import re
from typing import Final

_FITTING: Final = "Draw arguments that fit together (the same generator object gives the same value), or use .filter()."

_ARRAY: Final = (
    "An operand is a NumPy array: write torch.tensor(array), with the torch of `from autotest import torch`."
)
_DTYPE: Final = "A dtype is not a string here: write torch.float16."

#: Patterns of refusal reasons, and what a test may write instead; the first match counts.
_INSTEAD: Final = (
    (
        r"leaf Variable that requires grad",
        "Write random_tensor(..., requires_grad=False), or modify x.clone() instead.",
    ),
    (r"^(?!numpy:).*Can't call numpy\(\)|not implemented for NumPy arrays|operand.*'numpy\.ndarray'", _ARRAY),
    (r"must be Tensor, not numpy\.ndarray", _ARRAY),
    (r"can't allocate memory|out of memory", "Its sizes need more memory than there is: write or draw smaller ones."),
    (r"Can't call numpy\(\) on Tensor that requires grad", "Write x.detach().numpy(), or return x: it is compared."),
    (
        r"Boolean value of Tensor with more than one value",
        "A condition takes one element: write x.any() or x.all(), or choose element by element with torch.where.",
    ),
    (r"^len: TypeError: len\(\) of a", "A tensor without dimensions has no length; x.clone() copies a tensor."),
    (
        r"cannot be converted to Scalar|only one element tensors",
        (
            "Only a tensor with one element becomes a number: return the tensor itself, or write torch's own "
            "function, such as torch.exp(x) for math.exp(x)."
        ),
    ),
    (
        r"Invalid device string: '(u?int|b?float|bool|double|half|long)|\bdtype=str\b|must be torch\.dtype, not str",
        _DTYPE,
    ),
    (
        r"Invalid device string|Expected one of cpu, cuda",
        "Write random_device(), which draws a device that both sides have.",
    ),
    (
        r"derivative for .* is not implemented|does not have (a |an? )?(grad_fn|derivative)",
        "Write random_tensor(..., requires_grad=False): the call has no derivative, and its result is compared.",
    ),
    (
        r"support automatic differentiation|cannot resize variables that require grad",
        "Write random_tensor(..., requires_grad=False): the call does not accept a tensor that requires grad.",
    ),
    (
        r"only Tensors of floating point dtype can require gradients",
        "Only floating tensors have gradients: omit requires_grad_(), or choose a floating dtype.",
    ),
    (
        r"not implemented for '(Float|Double)'|expected scalar type Long but found|Expected dtype int\w* for index",
        'The call takes whole numbers: write random_tensor(..., dtype="int64"), with low= and high= for positions.',
    ),
    (
        r"not implemented for '(Half|BFloat16|Bool|Byte|Char|Short|Int|Long|Complex\w+)'",
        'This torch has no implementation for the dtype here: write another one, such as dtype="float32".',
    ),
    (r"backward through the graph a second time", "Write backward(retain_graph=True), or build the graph again."),
    (
        r"grad can be implicitly created only for scalar",
        "Return the tensor (the trial then calls backward with a drawn cotangent), or write y.sum().backward().",
    ),
    (
        r"TypeError.*(\bgot \(.*\bfunction\b|not function)",
        "An argument is a function: write a generator instead, such as random(0, 2).",
    ),
    (
        r": TypeError: ",
        "A TypeError usually means that the call is written wrongly: see its documentation.",
    ),
)


def refused_at(reason: str, place: str) -> str:
    """Return why the reference refused, and at which line of the test if that is known."""
    return reason.removesuffix(".") + (f", at {place}" if place else "")


def advice_on(reason: str) -> str:
    """Return what to write instead of a call that is refused for `reason`."""
    return next((instead for pattern, instead in _INSTEAD if re.search(pattern, reason)), _FITTING)
