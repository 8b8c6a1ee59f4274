"""Classifies calls whose results have random or uninitialised contents."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from autotest.program.calls import Call, Program
from autotest.program.numpy_scalars import is_whole


class KnownContents(enum.Enum):
    """What is known about the contents of a call's result."""

    DEFINED = "computed from its operands"
    #: Random numbers that the test uses as data: both sides are given the reference's.
    SHARED = "drawn; the reference's result is given to both sides"
    #: Uninitialised memory, or random numbers inside a computation: everything but the values is compared.
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
#: Functions that draw random numbers inside a computation, whatever their arguments.
_ALWAYS_DRAWING = frozenset(
    (
        "rsample",
        "gumbel_softmax",
        "fractional_max_pool2d",
        "fractional_max_pool3d",
        "fractional_max_pool2d_with_indices",
        "fractional_max_pool3d_with_indices",
        # They multiply by a random matrix.
        "svd_lowrank",
        "pca_lowrank",
    )
)
_UNINITIALISED = frozenset(("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided"))
#: Legacy constructors: with sizes they return uninitialised memory, with data a tensor of these data.
_CONSTRUCTORS = frozenset(
    (
        *("Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "IntTensor", "LongTensor"),
        *("ByteTensor", "CharTensor", "BoolTensor", "new"),
    )
)


class _Argument(NamedTuple):
    """An argument of a function: its name, its position, and the value that it has if it is left out."""

    name: str
    position: int
    default: Any

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        given = args[self.position] if len(args) > self.position else self.default
        return kwargs.get(self.name, given)


class _Masking(NamedTuple):
    """When a function drops or replaces random elements: while `training`, unless `probability` drops none or all.

    None for an argument that the function does not have.
    """

    training: _Argument | None
    probability: _Argument | None


def _dropout(training: bool) -> _Masking:
    return _Masking(_Argument("training", 2, training), _Argument("p", 1, 0.5))


#: Functions that drop or replace random elements, with the defaults of `torch.nn.functional`. The forms below `torch`
#: have no default for `training`, which they call `train`.
_MASKING = {
    **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d", "feature_dropout"), _dropout(training=True)),
    **dict.fromkeys(("dropout_", "feature_dropout_"), _dropout(training=True)),
    **dict.fromkeys(("alpha_dropout", "feature_alpha_dropout"), _dropout(training=False)),
    **dict.fromkeys(("alpha_dropout_", "feature_alpha_dropout_"), _dropout(training=False)),
    "native_dropout": _dropout(training=True),
    **dict.fromkeys(("rrelu", "rrelu_"), _Masking(_Argument("training", 3, False), None)),
    "scaled_dot_product_attention": _Masking(None, _Argument("dropout_p", 4, 0.0)),
    "multi_head_attention_forward": _Masking(_Argument("training", 13, True), _Argument("dropout_p", 10, 0.0)),
}
#: Iterative algorithms -> the argument that contains their first iterate, which they draw if it is left out.
_STARTING = {"lobpcg": _Argument("X", 3, None)}
#: Calls that overwrite all contents of a tensor, independently of its old contents.
FILLING = frozenset(("fill_", "zero_", "copy_", "constant_", "zeros_", "ones_", "eye_", "dirac_")) | _DRAWING_IN_PLACE


def function_name(target: str) -> str:
    """Return the last part of `target`: ``relu`` for ``nn.functional.relu``.

    The functions of ``torch.nn.init`` write in place, also by their deprecated names, which are returned as the present
    ones: ``normal_`` for ``nn.init.normal``.
    """
    path, _, name = target.rpartition(".")
    return f"{name}_" if path == "nn.init" and not name.endswith("_") else name


def contents_of(target: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> KnownContents:
    """Return what is known about the contents of the result of a call.

    Args:
        target: the path or name of the function or method.
        args, kwargs: the reference's arguments, whose contents are all defined.
    """
    name = function_name(target)
    if name in _DRAWING or name in _DRAWING_IN_PLACE:
        return KnownContents.SHARED
    if name in _UNINITIALISED or name in _ALWAYS_DRAWING:
        return KnownContents.UNDEFINED
    if name in _CONSTRUCTORS:
        sizes = bool(args) and all(map(is_whole, args))
        return KnownContents.UNDEFINED if sizes else KnownContents.DEFINED
    if name in _STARTING:
        return KnownContents.UNDEFINED if _STARTING[name].of(args, kwargs) is None else KnownContents.DEFINED
    if name in _MASKING:
        training, probability = _MASKING[name]
        idle = probability is not None and probability.of(args, kwargs) in (0, 1)  # It drops no elements, or all.
        drops = training is None or kwargs.get("train", training.of(args, kwargs))
        if name == "native_dropout" and drops is None:  # its default
            drops = True
        return KnownContents.UNDEFINED if drops and not idle else KnownContents.DEFINED
    return KnownContents.DEFINED


def contents_of_result(call: Call) -> KnownContents:
    """Return what is known about the contents of the result of `call`, from its plain arguments."""
    if call.kind not in ("function", "method"):
        return KnownContents.DEFINED
    return contents_of(call.target, call.args[1:] if call.kind == "method" else call.args, call.kwargs)


def drops_in_a_defined_result(program: Program) -> bool:
    """Return whether a function drops random elements in a result that `program` takes for defined.

    A program becomes such a one if the argument is removed that prevented it, such as ``training=False``.
    """
    return any(
        call.slot not in program.undefined
        and call.target.rpartition(".")[2] in _MASKING
        and contents_of_result(call) is KnownContents.UNDEFINED
        for call in program.calls
    )


def is_uninitialised(target: str) -> bool:
    """Return whether undefined contents of a result of `target` are uninitialised memory, and not random numbers."""
    name = target.rpartition(".")[2]
    return name in _UNINITIALISED or name in _CONSTRUCTORS


#: Every name for which `contents_of` may return something else than `DEFINED`, for a cheap first check.
NAMES = frozenset(
    (*_DRAWING, *_DRAWING_IN_PLACE, *_ALWAYS_DRAWING, *_UNINITIALISED, *_CONSTRUCTORS, *_MASKING, *_STARTING)
)
