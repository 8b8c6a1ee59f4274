"""Calls whose gradient is, by their documentation, not their derivative, so that differences cannot check it.

Examples are a straight-through estimator, a row of padding that is never trained, and a loss whose gradient is defined
for the output of a softmax. A framework that returned the derivative would be wrong. The names are torch's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.frameworks import Framework
from autotest.program import Call, Operand, Ref, leaves, map_operand, refs
from autotest.program.semantics import OPERATIONS, argument, base_name, is_class, is_module_call


@dataclasses.dataclass(frozen=True, slots=True)
class ProgramRun:
    """Calls, and their results on `framework`."""

    calls: Sequence[Call]
    values: Sequence[Any]
    framework: Framework
    #: Slots of the modules whose buffers the run changed.
    changed: Collection[int] = ()

    def array(self, item: Operand) -> np.ndarray[Any, Any] | None:
        """Return the contents of a tensor, or the numbers of a literal, as an array; None for any other operand."""
        if type(item) is not Ref:
            return np.array(item) if isinstance(item, (bool, int, float, list, tuple)) else None
        value = self.values[item.slot]
        return self.framework.values([value])[0].data if isinstance(value, self.framework.tensor_types) else None

    def read(self, item: Operand) -> Any:
        """Return the contents of the tensor that `item` refers to, or `item` itself if it is not a reference."""
        return self.array(item) if type(item) is Ref else item


#: Yields the operands of a call whose gradient is not the derivative; none if the call is an ordinary one.
_Rule = Callable[[ProgramRun, Call], Iterator[Operand]]


def redefined(ran: ProgramRun) -> set[int]:
    """Return the slots of all values whose gradient is not their derivative because of such a call."""
    found: set[int] = set()
    for call in ran.calls:
        rule = _CLASSES.get(call.target) if is_class(call) else _RULES.get(_name(call))
        if rule is not None:
            found.update(item.slot for item in leaves(list(rule(ran, call))) if type(item) is Ref)
    for call in reversed(ran.calls):
        if call.slot in found:
            found.update(ref.slot for ref in refs(call))
    return found


def _name(call: Call) -> str:
    """Return the key of a call in `_RULES`.

    Embeddings keep their full path: the arguments of ``nn.functional.embedding`` and ``embedding`` differ in order.
    """
    if call.kind == "function" and call.target.rpartition(".")[2] in ("embedding", "embedding_bag"):
        return call.target
    return base_name(call).rstrip("_") if call.kind in OPERATIONS else ""


def _embedding(weight: tuple[int, str], **asked: int) -> _Rule:
    """Return the rule for embeddings with a padding row, gradients scaled by frequency, or a maximum norm.

    Args:
        weight: position and name of the weight.
        asked: name -> position of the options that change the gradient of the weight.
    """

    def rule(ran: ProgramRun, call: Call) -> Iterator[Operand]:
        given = [argument(call, position, name) for name, position in asked.items()]
        if any(one is not None and one is not False for one in given):
            # The call of a class makes a module, which contains the weight.
            yield Ref(call.slot) if is_class(call) else argument(call, *weight)

    return rule


def _of_log_softmax(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Yield the log-probabilities of a `ctc_loss` unless log_softmax computed them.

    The gradient of a `ctc_loss` is only right after the backward of a log_softmax was applied to it.
    """
    given = argument(call, 0, "log_probs")
    if type(given) is Ref and base_name(ran.calls[given.slot]) != "log_softmax":
        yield given


def _criterion(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Yield the log-probabilities that an ``nn.CTCLoss`` is called with; see `_of_log_softmax`."""
    for later in ran.calls:
        if is_module_call(later) and later.args[0] == Ref(call.slot):
            yield from _of_log_softmax(ran, later._replace(args=later.args[1:]))


def _first(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Yield the first operand, for example of a straight-through estimator."""
    yield argument(call, 0, "input")


def _of_a_leaf(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Yield the first operand if it is a leaf, for functions of a symmetric matrix.

    They read one triangle, but their gradient is for both, as if these changed together.
    """
    for given in _first(ran, call):
        value = ran.values[given.slot] if type(given) is Ref else None
        if ran.framework.can_backpropagate(value) and ran.framework.invoke("getattr", "is_leaf", (value,), {}):
            yield given


def _written_twice(index: tuple[int, str], source: tuple[int, str], accumulate: tuple[int, str] | None = None) -> _Rule:
    """Return the rule for calls that write several values to one element.

    Which of the values stays is unspecified, and each of them gets the gradient.

    Args:
        index: position and name of the indices.
        source: position and name of the values.
        accumulate: position and name of the flag that adds values instead, if there is one.
    """

    def rule(ran: ProgramRun, call: Call) -> Iterator[Operand]:
        if not (accumulate and argument(call, *accumulate)) and _repeats(ran, call, argument(call, *index)):
            yield argument(call, *source)

    return rule


def _repeats(ran: ProgramRun, call: Call, index: Operand) -> bool:
    """Return whether `index` contains an element of the written tensor more than once, also by negative indices."""
    into = ran.array(argument(call, 0, "input"))
    if into is None:
        return False
    places = np.arange(into.size).reshape(-1 if base_name(call) in ("put", "put_") else into.shape)
    try:
        named = places[map_operand(tuple(index) if isinstance(index, list) else index, ran.read)]
    except (IndexError, TypeError, ValueError):  # an index that NumPy does not support
        return False
    return bool(np.unique(named).size < named.size)


def _copied(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Do the same as `_written_twice`, for an index of whole rows."""
    index = ran.array(argument(call, 2, "index"))
    if index is not None and np.unique(index).size < index.size:
        yield argument(call, 3, "source")


def _scattered(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Do the same as `_written_twice`, for an index with different elements in each row."""
    dim, index = argument(call, 1, "dim"), ran.array(argument(call, 2, "index"))
    if type(dim) is int and index is not None and index.ndim and argument(call, 4, "reduce") is None:
        ordered = np.sort(index, axis=dim)
        if (np.diff(ordered, axis=dim) == 0).any():
            yield argument(call, 3, "src")


def _clamped(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Yield the variance of a ``gaussian_nll_loss`` if it is clamped to `eps`: it gets the gradient nevertheless."""
    var, eps = argument(call, 2, "var"), argument(call, 4, "eps")
    array = ran.array(var)
    if array is None or (array < (1e-6 if eps is None else eps)).any():
        yield var


def _iterated(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Yield the module of a ``spectral_norm`` whose buffers changed.

    Each call of the module moves its estimates of the singular vectors. They depend on the weight, but are constants
    for autograd.
    """
    module = call.args[0]
    if type(module) is Ref and any(ran.values[slot] is ran.values[module.slot] for slot in ran.changed):
        yield module


_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "nn.functional.embedding": _embedding((1, "weight"), padding_idx=2, max_norm=3, scale_grad_by_freq=5),
        # A bag ignores padding in its forward, too.
        "nn.functional.embedding_bag": _embedding((1, "weight"), max_norm=3, scale_grad_by_freq=5),
        "ctc_loss": _of_log_softmax,
        "fake_quantize_per_tensor_affine": _first,
        "fake_quantize_per_channel_affine": _first,
        "fused_moving_avg_obs_fake_quant": _first,
        # Elements that are not stored are not operands: zeros get no gradient.
        "to_sparse": _first,
        "cholesky": _of_a_leaf,
        "cholesky_ex": _of_a_leaf,
        "eigh": _of_a_leaf,
        "eigvalsh": _of_a_leaf,
        "scatter": _scattered,
        "index_copy": _copied,
        "index_put": _written_twice((1, "indices"), (2, "values"), (3, "accumulate")),
        "put": _written_twice((1, "index"), (2, "source"), (3, "accumulate")),
        "setitem": _written_twice((1, ""), (2, "")),
        "gaussian_nll_loss": _clamped,
        "spectral_norm": _iterated,
    }
)
_CLASSES: Mapping[str, _Rule] = MappingProxyType(
    {
        "nn.Embedding": _embedding((0, ""), padding_idx=2, max_norm=3, scale_grad_by_freq=5),
        "nn.EmbeddingBag": _embedding((0, ""), max_norm=2, scale_grad_by_freq=4),
        "nn.CTCLoss": _criterion,
    }
)
