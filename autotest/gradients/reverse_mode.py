"""Compares the gradients that a program leaves in its leaves with differences of the number that it backpropagates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autotest.emission import names
from autotest.frameworks import Framework
from autotest.gradients.evidence import magnitude_of
from autotest.gradients.function import Real, from_reals, is_varied, real_shape, reals, reals_of
from autotest.gradients.program_function import ProgramFunction, differentiated
from autotest.gradients.rule import RULE
from autotest.gradients.sums import SumOfInput, row_of_element
from autotest.program import Array, Call, Program
from autotest.program.paths import member_of
from autotest.program.rewriting import assembled, filled, tensor_call, with_arrays, with_contents
from autotest.program.semantics import (
    OPERATIONS,
    backward_arguments,
    differentiated_slots,
    first_operand,
    may_share_memory,
    pushed_slots,
    pushes_gradients,
    returns_gradients,
)
from autotest.replaying.replay import Replayed, replay
from autotest.results.gradient_rows import GradientRow

_WIDE = frozenset(("float64", "complex128"))


@dataclasses.dataclass(frozen=True, slots=True)
class CapturedLeaf:
    """A leaf of a program whose contents are a captured array."""

    slot: int
    #: The path of a module's parameter, ``.weight``; empty for a tensor.
    suffix: str
    #: The index of the captured array.
    index: int


@dataclasses.dataclass(frozen=True, slots=True)
class WrongElement:
    """An element of a gradient that differs from the derivative."""

    leaf: CapturedLeaf
    #: The leaf's name, ``x0`` or ``m2.weight``.
    name: str
    row: GradientRow

    @property
    def finite(self) -> bool:
        """Whether the gradient and the derivative are finite."""
        return math.isfinite(self.row.analytic) and math.isfinite(self.row.numeric)


def in_reverse_mode(program: Program, framework: Framework, order: int) -> Program | None:
    """Return `program` in double precision up to the backward pass of `order`, or None if it has no such form.

    A value that is constant for autograd (``detach``, ``no_grad``) becomes a constant of the program, because
    differences would go through it otherwise. Leaves that are views get an array of their own, and leaves whose
    elements share memory become contiguous.

    Args:
        program: the recorded program.
        framework: the framework that determines the values of constants and leaves.
        order: 1 for gradients, 2 for gradients of gradients.
    """
    pushes = [call.slot for call in program.calls if pushes_gradients(call)]
    if program.undefined or len(pushes) < order:
        return None
    wide, first, roots, recorded = differentiated(program)
    back = {old: new for new, old in recorded.items()}
    runner = ProgramFunction(wide, first, roots, framework)
    last = wide.calls[back[pushes[order - 1]]]
    if order == 1:
        last = _backward(last)
    elif not returns_gradients(wide.calls[first]) or returns_gradients(last):
        return None
    calls = [*wide.calls[: last.slot], last]
    contents: dict[int, Array] = {}
    direct = {leaf.slot for leaf in _captured_leaves(Program(tuple(calls), wide.arrays))}
    for leaf in runner.leaves:
        if leaf.suffix or leaf.slot in direct or leaf.slot in runner.copied_leaves:
            continue
        (value,) = framework.values([leaf.tensor])
        contents[leaf.slot] = Array(value.data.copy(), value.dtype)
    made, places = assembled(*filled(calls, wide.arrays, contents))
    for slot, (array, device) in runner.constants.items():
        made = constant(made, places[slot], array, device)
    for slot, (array, device) in runner.copied_leaves.items():
        made = constant(made, places[slot], array, device, requires_grad=True)
    return made


def _backward(push: Call) -> Call:
    """Return `push` as a call that accumulates gradients in the leaves."""
    if not returns_gradients(push):
        return push
    return Call("function", "autograd.backward", backward_arguments(push), {}, push.slot)


def constant(program: Program, slot: int, array: Array, device: str, *, requires_grad: bool = False) -> Program:
    """Return `program` with call `slot` replaced by a tensor of `array` at the same slot."""
    instead = tensor_call(slot, len(program.arrays), array, requires_grad=requires_grad, device=device)
    calls = tuple(instead if call.slot == slot else call for call in program.calls)
    return Program(calls, (*program.arrays, array), program.undefined)


def _captured_leaves(program: Program) -> list[CapturedLeaf]:
    """Return the leaves of `program` whose contents are a captured array, each with the last array written into it."""
    found: dict[tuple[int, str], int] = {}
    for call in program.calls:
        if call.kind == "tensor" and call.kwargs["requires_grad"]:
            found[call.slot, ""] = call.args[0].index
        elif call.kind == "overwrite":
            for slot in _made_of(program, call.args[0].slot):
                found.pop((slot, ""), None)  # another tensor with the same memory
            found[call.args[0].slot, ""] = call.args[1].index
        elif call.kind == "load_state":
            found |= {(call.args[0].slot, f".{name}"): item.index for name, item in call.args[1].items()}
    return [CapturedLeaf(slot, suffix, index) for (slot, suffix), index in found.items()]


def _made_of(program: Program, slot: int) -> Iterator[int]:
    """Yield the slots of the values that the value in `slot` is a view of, or the same object as."""
    call = program.calls[slot]
    while may_share_memory(call) or call.target == "requires_grad_":
        owner = first_operand(call)
        if owner is None:
            return
        call = program.calls[owner.slot]
        yield call.slot


def wrong_gradient(program: Program, framework: Framework, *, finite: bool = False) -> WrongElement | None:
    """Return a wrong element of the first leaf whose gradient is wrong, or None if all are right or the program fails.

    Args:
        program: a program from `in_reverse_mode`.
        framework: the framework to run it on.
        finite: whether to ignore an element whose gradient or derivative is not finite.
    """
    if not is_wide(program):
        return None
    try:
        wrong = _Pushed(program, framework).wrong()
    except Exception:  # noqa: BLE001 - from the framework; a program that does not run proves nothing
        return None
    return None if wrong is None or (finite and not wrong.finite) else wrong


def is_wide(program: Program) -> bool:
    """Return whether all floating and complex arrays of `program` are in double precision."""
    return all(array.data.dtype.kind not in "fc" or array.dtype in _WIDE for array in program.arrays)


def extent_of(program: Program, results: Sequence[Real]) -> tuple[float, bool]:
    """Return the greatest finite magnitude in the arrays of `program` and in `results`, and whether all are finite."""
    return magnitude_of([*(reals(array.data) for array in program.arrays if array.dtype in _WIDE), *results])


class _Pushed:
    """The gradients that a program leaves in its leaves on one framework, and their comparison with differences."""

    def __init__(self, program: Program, framework: Framework) -> None:
        self._program, self._framework = program, framework
        self._push = next(call for call in reversed(program.calls) if pushes_gradients(call))
        self._run = self._replayed(program, None)
        self._roots = differentiated_slots(self._push)
        held = self._numbers(self._run, pushed_slots(self._push))
        self._cotangents = held or [np.ones(())] * len(self._roots)

    def _replayed(self, program: Program, upto: int | None) -> Replayed:
        found = replay(program, self._framework, upto=upto)
        if found.error is not None:
            raise found.error
        return found

    def _numbers(self, run: Replayed, slots: Sequence[int]) -> list[Real]:
        return [value.data for value in self._framework.values([run.values[slot] for slot in slots])]

    def wrong(self) -> WrongElement | None:
        own = names(self._program)
        for leaf in _captured_leaves(self._program):
            tensor = self._tensor(self._run, leaf)
            if tensor is None or not self._framework.holds_gradient(tensor):
                continue
            row = self._row(leaf, tensor, own[leaf.slot] + leaf.suffix)
            if row is not None and leaf.slot not in self._left_out():
                return WrongElement(leaf, own[leaf.slot] + leaf.suffix, row)
        return None

    def _left_out(self) -> set[int]:
        """Return the slots of leaves whose gradient is rightly not the derivative by their captured array."""
        function = ProgramFunction(self._program, self._push.slot, self._roots, self._framework)
        return function.redefined | function.outside

    def _tensor(self, run: Replayed, leaf: CapturedLeaf) -> Any:
        value = run.values[leaf.slot]
        return self._framework.parameters(value).get(member_of(leaf.suffix)) if leaf.suffix else value

    def _row(self, leaf: CapturedLeaf, tensor: Any, name: str) -> GradientRow | None:
        array = self._program.arrays[leaf.index]
        gradient = self._framework.gradient(tensor)
        analytic = np.zeros(array.data.shape, array.data.dtype)
        if gradient is not None:
            (value,) = self._framework.values([gradient])
            if value.data.shape != array.data.shape or value.dtype != array.dtype:
                if self._framework.shape(tensor) != array.data.shape:
                    return None
                note = f"the gradient is of {value.dtype} and shape {value.data.shape}, "
                note += f"its input of {array.dtype} and shape {array.data.shape}"
                return GradientRow(name, "", passed=False, note=note)
            analytic = value.data
        own, drawn = reals(analytic), reals(array.data)

        def total(numbers: Real) -> float:
            return self._total(self._moved(leaf.index, numbers))

        def slope_at(numbers: Real) -> Real:
            return self._gradient(self._moved(leaf.index, numbers), leaf)

        def between(numbers: Real) -> list[Real]:
            return self._between(self._moved(leaf.index, numbers))

        with np.errstate(all="ignore"):
            found = SumOfInput(drawn, total, slope_at, between, self._extent()).wrong_element(own, RULE)
        if found is None:
            return None
        note = "no gradient" if gradient is None else ""
        return row_of_element((name, "the sum"), found, own, real_shape(array.data), RULE, note)

    def _moved(self, index: int, numbers: Real) -> Program:
        """Return the program with `numbers` in the captured array `index`."""
        return with_contents(self._program, index, from_reals(numbers, self._program.arrays[index].data))

    def _extent(self) -> tuple[float, bool]:
        values = self._numbers(self._run, self._roots)
        sums = [np.abs(c * v).sum(keepdims=True) for c, v in zip(self._cotangents, values, strict=True)]
        return extent_of(self._program, [*map(reals, values), *map(reals, sums)])

    def _gradient(self, program: Program, leaf: CapturedLeaf) -> Real:
        gradient = self._framework.gradient(self._tensor(self._replayed(program, None), leaf))
        if gradient is None:
            return np.zeros(reals(program.arrays[leaf.index].data).size)
        return reals_of(self._framework, [gradient])[0]

    def _between(self, program: Program) -> list[Real]:
        """Return the results through which gradients flow; the only result that is backpropagated is not among them."""
        run = self._replayed(program, self._push.slot)
        judged = run.values[self._roots[0]] if len({*self._roots}) == 1 else None
        return flowing_through(program.calls[: self._push.slot], run, self._framework, judged)

    def _total(self, program: Program) -> float:
        """Return the number that is backpropagated: the sum of all results times their cotangents."""
        values = self._numbers(self._replayed(program, self._push.slot), self._roots)
        with np.errstate(all="ignore"):
            return sum(weighted(c, v) for c, v in zip(self._cotangents, values, strict=True))


def flowing_through(calls: Sequence[Call], run: Replayed, framework: Framework, judged: Any) -> list[Real]:
    """Return the results of `calls` in `run` through which gradients flow, without the tensor `judged`."""
    computed = (run.values[call.slot] for call in calls if call.kind in OPERATIONS)
    flowing = [value for value in computed if value is not judged and is_varied(framework, value)]
    return reals_of(framework, flowing)


def weighted(cotangent: Real, values: Real) -> float:
    """Return the sum of `values` times their cotangents. A value with cotangent 0 adds 0, even if it is not finite."""
    return float(np.where(cotangent == 0, 0, np.conj(cotangent) * values).sum().real)


def of_finite_results(program: Program, framework: Framework) -> Program | None:
    """Return `program` with cotangent 0 for results that are not finite, because these have no differences.

    The result is None if all results are finite, if the cotangents are not tensors of the program, or if it fails.

    Args:
        program: a program from `in_reverse_mode`.
        framework: the framework to run it on.
    """
    push = next(call for call in reversed(program.calls) if pushes_gradients(call))
    roots = differentiated_slots(push)
    run = replay(program, framework)
    made = [program.calls[slot] for slot in pushed_slots(push)]
    if run.error is not None or len(made) != len(roots) or any(call.kind != "tensor" for call in made):
        return None
    arrays, changed = list(program.arrays), False
    for root, call in zip(framework.values([run.values[slot] for slot in roots]), made, strict=True):
        array = arrays[call.args[0].index]
        known = np.isfinite(root.data)
        if known.shape == array.data.shape and not known.all():
            changed = True
            arrays[call.args[0].index] = Array(np.where(known, array.data, 0).astype(array.data.dtype), array.dtype)
    return with_arrays(program, arrays) if changed else None
