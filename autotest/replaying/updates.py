"""Holds the steps of a candidate's optimizers against the reference's, on the same gradients, in double precision."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.comparison import Mismatch
from autotest.frameworks import Framework
from autotest.frameworks.freezing import freeze
from autotest.program import Array, Call, Operand, Program, Ref, leaves, map_operand, refs
from autotest.program.rewriting import assembled, tensor_call
from autotest.recording.record import Record
from autotest.replaying.replay import replay

#: Parameters of one optimizer that are looked at, and steps of it, at most.
_MOST, _STEPS = 8, 10
#: What an update may be off by, relative to itself, where the candidate computes in double precision throughout. Where
#: it keeps its rates in single precision, 1 - 0.999 is off by 6e-5; and so many times what such rates change in the
#: reference's own update.
_EXACT, _SINGLE, _TIMES = 1e-9, 1e-4, 16
#: With fewer elements that single-precision rates change, nobody can tell which kind a candidate is.
_TELLING = 8
_DOUBLE = 2.0**-52


@dataclasses.dataclass(frozen=True, slots=True)
class Update:
    """A program that shows a wrong step as its last result, and the relative tolerance with which it does."""

    program: Program
    tolerance: float
    #: What rounding may make of an update, which is no part of it.
    floor: float
    mismatch: Mismatch


def wrong_update(record: Record) -> Update | None:
    """The first optimizer of a trial whose candidate steps otherwise than the reference on the same gradients."""
    for owner in dict.fromkeys(step.owner for step in record.steps):
        if record.calls[owner].target.startswith("optim."):
            found = _Stepping(record, owner).wrong()
            if found is not None:
                return found
    return None


class _Stepping:
    """One optimizer of a trial: a program of its steps alone, on the recorded parameters and gradients."""

    def __init__(self, record: Record, owner: int) -> None:
        self._record, self._owner = record, owner
        self._steps = [step for step in record.steps if step.owner == owner][:_STEPS]
        wanted = [at for at, gradient in enumerate(self._steps[0].gradients) if gradient is not None]
        spread = {round(number * (len(wanted) - 1) / max(1, _MOST - 1)) for number in range(_MOST)} if wanted else set()
        #: Which of the optimizer's tensors are kept: those at the ends, and some between.
        self._kept = [wanted[at] for at in sorted(spread) if at < len(wanted)]
        self._calls: list[Call] = []
        self._arrays: list[Array] = []
        self._next = len(record.calls)
        #: By step and kept tensor: the slot of what the step added to it.
        self._updates: list[list[int]] = []

    def wrong(self) -> Update | None:
        if not self._kept:
            return None
        try:
            program, places = self._program()
        except (KeyError, ValueError):  # built on what is not a list of its parameters
            return None
        slots = [[places[slot] for slot in row] for row in self._updates]
        pair = self._record.pair
        own, rounded, other = (
            _values(run, side, slots)
            for run, side in (
                (program, pair.reference),
                (_single(program, pair.reference), pair.reference),
                (program, pair.candidate),
            )
        )
        if own is None or other is None:
            return None
        found = self._judged(own, own if rounded is None else rounded, other)
        if found is None:
            return None
        step, at, error, allowed = found
        slot = places[self._updates[step][at]]
        whole = self._steps[step].slot
        tolerance = float(f"{max(allowed, error / 4):.1g}")
        held = float(np.abs(self._steps[step].parameters[self._kept[at]]).max(initial=0.0))
        floor = 64 * _DOUBLE * held + 1e-6 * tolerance * float(np.abs(own[step][at]).max(initial=0.0))
        reference, candidate = pair.sides
        message = (
            f"step {step}: {candidate} updates a parameter otherwise on the same gradients: off by {error:.3g} of the "
            f"update, in double precision ({allowed:.3g} allowed). expected={reference} actual={candidate}"
        )
        mismatch = Mismatch("step", whole, "value", "forward", "candidate", message)
        # What comes after the first wrong step only hides it.
        end = slot + 1
        cut = Program(program.calls[:end], program.arrays, frozenset())
        return Update(cut, tolerance, floor, mismatch)

    def _judged(self, own: Any, rounded: Any, other: Any) -> tuple[int, int, float, float] | None:
        """The first step and tensor that is wrong, by how much of the update, and how much is allowed."""
        rows: list[tuple[int, int, np.ndarray[Any, Any]]] = []
        exact, single, changed = [], [], 0.0
        with np.errstate(all="ignore"):
            for step, row in enumerate(own):
                for at, update in enumerate(row):
                    scale = np.maximum(np.abs(update), 1e-6 * np.abs(update).max(initial=0.0)) + 1e-300
                    held = np.abs(self._steps[step].parameters[self._kept[at]]).max(initial=0.0)
                    theirs, rough = other[step][at], rounded[step][at]
                    errors = np.nan_to_num(np.abs(update - theirs) / scale, nan=0.0)
                    rows.append((step, at, errors - 64 * _DOUBLE * held / scale))
                    tell = update != rough
                    exact.append(errors[tell])
                    single.append(np.nan_to_num(np.abs(rough - theirs) / scale, nan=0.0)[tell])
                    changed = max(changed, float(np.nan_to_num(np.abs(update - rough) / scale).max(initial=0.0)))
        # A candidate in double precision is much nearer to the reference than to one with rates in single precision.
        own_way, other_way = np.concatenate(exact), np.concatenate(single)
        double = own_way.size >= _TELLING and float(np.median(own_way)) < float(np.median(other_way)) / 3
        allowed = _EXACT if double else _SINGLE + _TIMES * changed
        for step, at, errors in rows:
            error = float(errors.max(initial=0.0))
            if error > allowed:
                return step, at, error, allowed
        return None

    def _program(self) -> tuple[Program, dict[int, int]]:
        record, first = self._record, self._steps[0]
        tensors = {at: self._input(first.parameters[at], grad=True) for at in self._kept}
        live = {id(tensor): at for at, tensor in enumerate(first.tensors)}

        def leaf(item: Operand) -> Operand:
            return self._instead(record.expected[item.slot], live, tensors) if type(item) is Ref else item

        creation = record.calls[self._owner]
        args, kwargs = map_operand(creation.args, leaf), map_operand(creation.kwargs, leaf)
        self._calls.append(creation._replace(args=args, kwargs=kwargs, scope=""))
        followed = {self._owner}
        steps = {step.slot: number for number, step in enumerate(self._steps)}
        for call in record.calls[self._owner + 1 : self._steps[-1].slot + 1]:
            read = {ref.slot for ref in refs(call)}
            if not read or not read <= followed or call.target == "zero_grad":
                continue
            if call.slot not in steps:
                self._calls.append(call)
                followed.add(call.slot)
                continue
            self._step(call, self._steps[steps[call.slot]], tensors)
        return assembled(self._calls, tuple(self._arrays))

    def _step(self, call: Call, step: Any, tensors: dict[int, int]) -> None:
        """The gradients that the trial had, the step, and what it added to each tensor."""
        before = {}
        for at, slot in tensors.items():
            if step.gradients[at] is not None:
                self._add("method", "backward", (Ref(slot), Ref(self._input(step.gradients[at], note="cotangent"))))
            before[at] = self._add("method", "clone", (Ref(self._add("method", "detach", (Ref(slot),))),))
        self._calls.append(call)
        after = {at: self._add("method", "detach", (Ref(slot),)) for at, slot in tensors.items()}
        self._updates.append([self._add("operator", "sub", (Ref(after[at]), Ref(before[at]))) for at in tensors])
        self._add("method", "zero_grad", (Ref(self._owner),))

    def _instead(self, value: Any, live: dict[int, int], tensors: dict[int, int]) -> Operand:
        if isinstance(value, (list, tuple)):
            return [self._instead(item, live, tensors) for item in value if live.get(id(item), -1) in tensors]
        return Ref(tensors[live[id(value)]])

    def _input(self, data: np.ndarray[Any, Any], *, grad: bool = False, note: str = "") -> int:
        self._arrays.append(Array(data.astype("float64"), "float64"))
        index = len(self._arrays) - 1
        self._calls.append(tensor_call(self._next, index, self._arrays[-1], requires_grad=grad, note=note))
        self._next += 1
        return self._next - 1

    def _add(self, kind: Any, target: str, args: tuple[Operand, ...]) -> int:
        self._calls.append(Call(kind, target, args, {}, self._next))
        self._next += 1
        return self._next - 1


def _values(program: Program, framework: Framework, slots: Sequence[Sequence[int]]) -> Any:
    """What is in `slots`, as arrays; None when the framework refuses the program."""
    replayed = replay(program, framework)
    if replayed.error is not None:
        return None
    flat = iter(freeze(framework, [replayed.values[slot] for row in slots for slot in row]))
    return [[next(flat).data for _ in row] for row in slots]


def _single(program: Program, framework: Framework) -> Program:
    """`program` with the numbers that optimizers and schedulers are given, or have by default, in single precision."""

    def leaf(item: Operand) -> Operand:
        return float(np.float32(item)) if type(item) is float else item

    def change(call: Call) -> Call:
        if not call.target.startswith("optim."):
            return call
        kwargs = {**_defaults(framework.resolve(call.target), len(call.args)), **call.kwargs}
        return call._replace(args=map_operand(call.args, leaf), kwargs=map_operand(kwargs, leaf))

    return Program(tuple(map(change, program.calls)), program.arrays, program.undefined)


def _defaults(function: Any, positional: int) -> dict[str, Operand]:
    """The numbers that `function` has by default, but for those that so many positional arguments take the place of."""
    try:
        parameters = [*inspect.signature(function).parameters.values()][positional:]
    except (TypeError, ValueError):
        return {}
    numbers = {one.name: one.default for one in parameters if type(one.default) in (float, tuple)}
    return {name: value for name, value in numbers.items() if all(type(item) is float for item in leaves(value))}
