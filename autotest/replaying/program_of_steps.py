"""Makes a program of only the steps of one optimizer of a trial, on given parameters and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest.comparison.elementwise import Values
from autotest.program import COTANGENT, Array, Call, CallKind, Operand, Program, Ref, refs
from autotest.program.rewriting import assembled, tensor_call
from autotest.recording.record import Record
from autotest.recording.steps import OptimizerStep

#: Maximum number of parameters of one optimizer that are compared.
_MOST = 8


class ProgramOfSteps:
    """The program of `steps` of the optimizer in the slot `owner`, in double precision."""

    def __init__(self, record: Record, owner: int, steps: Sequence[OptimizerStep]) -> None:
        self._record, self._owner, self._steps = record, owner, steps
        wanted = [at for at, gradient in enumerate(steps[0].gradients) if gradient is not None]
        spread = {round(number * (len(wanted) - 1) / max(1, _MOST - 1)) for number in range(_MOST)} if wanted else set()
        #: Indices of the optimizer's tensors that are compared: the first, the last, and some between.
        self.kept = [wanted[at] for at in sorted(spread) if at < len(wanted)]
        #: By step and compared tensor: the slot of the difference that the step made.
        self.updates: list[list[int]] = []
        self._calls: list[Call] = []
        self._arrays: list[Array] = []
        self._next = len(record.calls)

    def assembled(self) -> tuple[Program, dict[int, int]]:
        """Return the program, and its slots by those of the trial and of `updates`.

        Raises:
            KeyError, ValueError: the optimizer was not created with a list of its parameters.
        """
        record, first = self._record, self._steps[0]
        tensors = {at: self._input(first.parameters[at], grad=True) for at in self.kept}
        live = {id(tensor): at for at, tensor in enumerate(first.tensors)}

        def is_kept(item: Operand) -> bool:
            value = record.expected[item.slot] if type(item) is Ref else None
            return not isinstance(value, record.pair.reference.tensor_types) or live.get(id(value), -1) in tensors

        def given(item: Operand) -> Operand:
            """Return an argument of the optimizer's constructor, with only the compared parameters in its lists."""
            if isinstance(item, (list, tuple)):
                return type(item)([given(one) for one in item if is_kept(one)])
            if isinstance(item, dict):
                return {key: given(one) for key, one in item.items()}
            return self._instead(record.expected[item.slot], live, tensors) if type(item) is Ref else item

        creation = record.calls[self._owner]
        args = tuple(given(one) for one in creation.args)
        kwargs = {key: given(one) for key, one in creation.kwargs.items()}
        self._calls.append(creation._replace(args=args, kwargs=kwargs, scope=None))
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

    def _step(self, call: Call, step: OptimizerStep, tensors: dict[int, int]) -> None:
        """Add the calls of one step: the trial's gradients, the step itself, and the difference for each tensor."""
        before = {}
        for at, slot in tensors.items():
            gradient = step.gradients[at]
            if gradient is not None:
                self._add("method", "backward", (Ref(slot), Ref(self._input(gradient, note=COTANGENT))))
            before[at] = self._add("method", "clone", (Ref(self._add("method", "detach", (Ref(slot),))),))
        self._calls.append(call)
        after = {at: self._add("method", "detach", (Ref(slot),)) for at, slot in tensors.items()}
        self.updates.append([self._add("operator", "sub", (Ref(after[at]), Ref(before[at]))) for at in tensors])
        self._add("method", "zero_grad", (Ref(self._owner),))

    def _instead(self, value: Any, live: dict[int, int], tensors: dict[int, int]) -> Operand:
        if isinstance(value, (list, tuple)):
            return [self._instead(item, live, tensors) for item in value if live.get(id(item), -1) in tensors]
        return Ref(tensors[live[id(value)]])

    def _input(self, data: Values, *, grad: bool = False, note: str = "") -> int:
        self._arrays.append(Array(data.astype("float64"), "float64"))
        index = len(self._arrays) - 1
        self._calls.append(tensor_call(self._next, index, self._arrays[-1], requires_grad=grad, note=note))
        self._next += 1
        return self._next - 1

    def _add(self, kind: CallKind, target: str, args: tuple[Operand, ...]) -> int:
        self._calls.append(Call(kind, target, args, {}, self._next))
        self._next += 1
        return self._next - 1
