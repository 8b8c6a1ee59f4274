"""Calls that are documented to push back something else than their derivative: differences do not judge them.

What is told here is about torch's names. A straight-through estimator, a row of padding that is never trained, a loss
whose gradient is meant for what a softmax gave: a framework that did as differences say would be wrong.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.frameworks import Framework
from autotest.program import Call, Operand, Ref, leaves, map_operand, refs
from autotest.program.semantics import OPERATIONS, base_name, is_class, is_module_call


@dataclasses.dataclass(frozen=True, slots=True)
class ProgramRun:
    """Calls, and what they gave when `framework` carried them out."""

    calls: Sequence[Call]
    values: Sequence[Any]
    framework: Framework
    #: The slots of modules whose buffers were not the same afterwards.
    changed: Collection[int] = ()

    def array(self, item: Operand) -> np.ndarray[Any, Any] | None:
        """The numbers of a tensor, or of what is written out; None of anything else."""
        if type(item) is not Ref:
            return np.array(item) if isinstance(item, (bool, int, float, list, tuple)) else None
        value = self.values[item.slot]
        return self.framework.values([value])[0].data if isinstance(value, self.framework.tensor_types) else None

    def read(self, item: Operand) -> Any:
        """`item` itself, or the numbers of the tensor that it stands for."""
        return self.array(item) if type(item) is Ref else item


#: The operands of such a call that get the other gradient; none where this call is an ordinary one.
_Rule = Callable[[ProgramRun, Call], Iterator[Operand]]


def redefined(ran: ProgramRun) -> set[int]:
    """The slots of all that gets, through such a call, a gradient which is not its derivative."""
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
    """``nn.functional.embedding`` is not ``embedding``, whose arguments stand in another order."""
    if call.kind == "function" and call.target.rpartition(".")[2] in ("embedding", "embedding_bag"):
        return call.target
    return base_name(call).rstrip("_") if call.kind in OPERATIONS else ""


def _given(call: Call, position: int, name: str) -> Any:
    """The argument of this name, or None where it was left out."""
    return call.kwargs.get(name, call.args[position] if len(call.args) > position else None)


def _embedding(weight: tuple[int, str], **asked: int) -> _Rule:
    """Options for a row of padding, rows that are divided by how often they are read, norms that are cut beforehand."""

    def rule(ran: ProgramRun, call: Call) -> Iterator[Operand]:
        given = [_given(call, position, name) for name, position in asked.items()]
        if any(one is not None and one is not False for one in given):
            # Of a class, its own weight.
            yield Ref(call.slot) if is_class(call) else _given(call, *weight)

    return rule


def _of_log_softmax(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Of `ctc_loss`: log-probabilities that no log_softmax made, by which the gradient has yet to be multiplied."""
    given = _given(call, 0, "log_probs")
    if type(given) is Ref and base_name(ran.calls[given.slot]) != "log_softmax":
        yield given


def _criterion(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Of ``nn.CTCLoss``: what it is called with."""
    for later in ran.calls:
        if is_module_call(later) and later.args[0] == Ref(call.slot):
            yield from _of_log_softmax(ran, later._replace(args=later.args[1:]))


def _first(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Rounding that is passed straight through, and the like."""
    yield call.args[0] if call.args else call.kwargs.get("input")


def _of_a_leaf(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """One triangle of a symmetric matrix is read, and the gradient is that of the whole, whose halves move together."""
    for given in _first(ran, call):
        if type(given) is Ref and ran.calls[given.slot].kind == "tensor":
            yield given


def _written_twice(index: tuple[int, str], source: tuple[int, str], accumulate: tuple[int, str] | None = None) -> _Rule:
    """Which of several values for one place stays is left open, and each gets the gradient."""

    def rule(ran: ProgramRun, call: Call) -> Iterator[Operand]:
        if not (accumulate and _given(call, *accumulate)) and _repeats(ran, call, _given(call, *index)):
            yield _given(call, *source)

    return rule


def _repeats(ran: ProgramRun, call: Call, index: Operand) -> bool:
    """Whether `index` names a place of what `call` writes into more than once, be it counted from the end."""
    into = ran.array(call.args[0])
    if into is None:
        return False
    places = np.arange(into.size).reshape(-1 if base_name(call) == "put_" else into.shape)
    try:
        named = places[map_operand(tuple(index) if isinstance(index, list) else index, ran.read)]
    except (IndexError, TypeError, ValueError):  # which NumPy does not take
        return False
    return bool(np.unique(named).size < named.size)


def _copied(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """As `_written_twice`, of an index of whole rows."""
    index = ran.array(_given(call, 2, "index"))
    if index is not None and np.unique(index).size < index.size:
        yield _given(call, 3, "source")


def _scattered(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """As `_written_twice`, of an index that has other places in each row."""
    dim, index = _given(call, 1, "dim"), ran.array(_given(call, 2, "index"))
    if type(dim) is int and index is not None and index.ndim and _given(call, 4, "reduce") is None:
        ordered = np.sort(index, axis=dim)
        if (np.diff(ordered, axis=dim) == 0).any():
            yield _given(call, 3, "src")


def _clamped(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Of ``gaussian_nll_loss``: a variance below `eps` is raised to it, and gets the gradient all the same."""
    var, eps = _given(call, 2, "var"), _given(call, 4, "eps")
    array = ran.array(var)
    if array is None or (array < (1e-6 if eps is None else eps)).any():
        yield var


def _iterated(ran: ProgramRun, call: Call) -> Iterator[Operand]:
    """Of ``spectral_norm``: each call of the module takes a step towards its singular vectors, which are constants to
    autograd while they move with the weight.
    """
    module = call.args[0]
    if type(module) is Ref and any(ran.values[slot] is ran.values[module.slot] for slot in ran.changed):
        yield module


_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "nn.functional.embedding": _embedding((1, "weight"), padding_idx=2, max_norm=3, scale_grad_by_freq=5),
        # Padding is left out of a bag, also forward.
        "nn.functional.embedding_bag": _embedding((1, "weight"), max_norm=3, scale_grad_by_freq=5),
        "ctc_loss": _of_log_softmax,
        "fake_quantize_per_tensor_affine": _first,
        "fake_quantize_per_channel_affine": _first,
        "fused_moving_avg_obs_fake_quant": _first,
        # What is not stored is no operand: zeros get no gradient.
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

__all__ = ["ProgramRun", "redefined"]
