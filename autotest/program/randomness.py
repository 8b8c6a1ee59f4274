"""Which calls have contents that no specification fixes, and what to do about them."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any


class KnownContents(enum.Enum):
    """What is known of the contents of a call's result."""

    DEFINED = "computed from its operands"
    #: Random numbers that enter a test as data: both sides get the reference's.
    SHARED = "drawn; the reference's result is given to both sides"
    #: Uninitialised memory, or random numbers inside of a computation: compared by everything but value.
    UNDEFINED = "undefined; compared by everything but value"


_DRAWING = frozenset(
    (
        *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
        *("normal", "bernoulli", "multinomial", "poisson", "binomial"),
        *("sample", "sample_n"),  # of torch.distributions
    )
)
_DRAWING_IN_PLACE = frozenset(
    (
        *("normal_", "uniform_", "bernoulli_", "random_", "exponential_", "geometric_", "cauchy_", "log_normal_"),
        *("trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"),
        *("orthogonal_", "sparse_"),
    )
)
#: Draw inside of a computation, whatever they are told.
_ALWAYS_DRAWING = frozenset(
    ("rsample", "fractional_max_pool2d", "fractional_max_pool3d", "fractional_max_pool2d_with_indices")
)
_UNINITIALISED = frozenset(("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided"))
#: Legacy constructors: sizes make uninitialised memory, data makes a tensor of it.
_CONSTRUCTORS = frozenset(
    (
        *("Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "IntTensor", "LongTensor"),
        *("ByteTensor", "CharTensor", "BoolTensor", "new"),
    )
)
#: name -> position of its `training` argument
_MASKING = {
    "dropout": 2,
    "dropout1d": 2,
    "dropout2d": 2,
    "dropout3d": 2,
    "alpha_dropout": 2,
    "feature_alpha_dropout": 2,
    "feature_dropout": 2,
    "rrelu": 3,
    "gumbel_softmax": None,
}
#: Calls that give a tensor new contents whatever it held.
FILLING = frozenset(("fill_", "zero_", "copy_", "constant_", "zeros_", "ones_", "eye_", "dirac_")) | _DRAWING_IN_PLACE


def contents_of(target: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> KnownContents:
    """What the result of calling `target` with these (reference) arguments holds, its own operands being defined."""
    name = target.rpartition(".")[2]
    if name in _DRAWING or name in _DRAWING_IN_PLACE:
        return KnownContents.SHARED
    if name in _UNINITIALISED or name in _ALWAYS_DRAWING:
        return KnownContents.UNDEFINED
    if name in _CONSTRUCTORS:
        sizes = bool(args) and all(type(item) is int for item in args)
        return KnownContents.UNDEFINED if sizes else KnownContents.DEFINED
    if name in _MASKING:
        position = _MASKING[name]
        default = name != "rrelu"
        training = kwargs.get("training", default)
        if position is not None and len(args) > position and "training" not in kwargs:
            training = args[position]
        probability = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
        idle = name not in ("rrelu", "gumbel_softmax") and probability in (0, 1)  # it drops nothing, or all there is
        return KnownContents.DEFINED if idle or (not training and name != "gumbel_softmax") else KnownContents.UNDEFINED
    return KnownContents.DEFINED


#: Every name for which `contents_of` may answer something else than `DEFINED`, for a first cheap look.
NAMES = _DRAWING | _DRAWING_IN_PLACE | _ALWAYS_DRAWING | _UNINITIALISED | _CONSTRUCTORS | frozenset(_MASKING)
