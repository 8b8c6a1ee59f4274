"""Finds the call whose backward raises: a backward pass goes back through many calls at once.

The pass is repeated over the last calls alone, which get the values of the earlier ones as inputs. It raises as long as
the call is among them. So the pass starts from the same results, and each call gets the gradient that it got before.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from autotest.comparison.normalisation import normalised
from autotest.comparison.rejection import first_line
from autotest.frameworks import Framework
from autotest.program import LAYOUT, Call, Program, Ref, operator_of, reading, refs
from autotest.program.call_reduction import frontier
from autotest.program.isolation import onwards
from autotest.program.rewriting import assembled, needed, upto
from autotest.program.semantics import backward_arguments, makes_input, pushes_gradients, written
from autotest.program.sequentials import unrolled
from autotest.replaying.gradient_flow import may_pass_gradients
from autotest.replaying.operands import values_at
from autotest.replaying.replay import replay

#: How a pass over some last calls ends: it raises the same exception, it runs to its end, or something else happens.
_End: TypeAlias = Literal["raises", "runs", "unclear"]


@dataclasses.dataclass(frozen=True, slots=True)
class RaisingCall:
    """The call whose backward raises."""

    operator: str
    #: Its slot; None if it is the call of a layer inside of a container.
    slot: int | None


def raising_call(program: Program, slot: int, raising: Framework, reference: Framework) -> RaisingCall | None:
    """Return the call of `program` whose backward raises; None if it is unclear.

    Args:
        program: the program.
        slot: the slot of the backward pass, which raises.
        raising: the side that raises.
        reference: the reference, whose values the last calls get. Those of a side in another process have no types.
    """
    plain, moved = unrolled(program)
    last, original = moved[slot], {new: old for old, new in moved.items()}
    kept = needed(plain, [last])
    calls = [call for call in upto(plain, last).calls if call.slot in kept]
    cut, places = assembled([*calls, _plain_pass(plain.calls[last])], plain.arrays, plain.undefined)
    try:
        found = _Search.of(cut, raising, reference).blamed()
    except Exception:  # noqa: BLE001 - a failure that cannot be examined keeps its simple name
        return None
    if len({operator_of(cut.calls, at) for at in found}) != 1:
        return None
    before = {new: old for old, new in places.items()}
    return RaisingCall(operator_of(cut.calls, found[0]), original.get(before[found[0]]) if len(found) == 1 else None)


def _plain_pass(call: Call) -> Call:
    """Return the backward pass `call` without the inputs that it may be limited to, which later calls may not read."""
    given = tuple(item for item in backward_arguments(call) if item is not None)
    return call._replace(target=call.target if call.kind == "method" else "autograd.backward", args=given, kwargs={})


@dataclasses.dataclass(frozen=True, slots=True)
class _Search:
    """The search for the call whose backward makes the last call of `program` raise `error` on the side `raising`."""

    program: Program
    raising: Framework
    reference: Framework
    error: str
    #: The slots of the calls that may be to blame, then that of the last call.
    starts: Sequence[int]
    _ends: dict[int, _End] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, program: Program, raising: Framework, reference: Framework) -> _Search:
        several: set[int] = set()

        def between_calls(done: int, values: list[object]) -> None:
            made = values[done - 1] if done else None
            if isinstance(made, (tuple, list)) and any(isinstance(item, reference.tensor_types) for item in made):
                several.add(done - 1)

        last = len(program.calls) - 1
        replay(program, reference, between_calls=between_calls, upto=last)
        replayed = replay(program, raising)
        error = "" if replayed.failed_at != last else _text_of(replayed.error)
        # A program is not cut between a call that returns several tensors and the calls that take one of them.
        starts = [
            call.slot
            for call in program.calls
            if may_pass_gradients(call)
            and not pushes_gradients(call)
            and call.note != LAYOUT
            and several.isdisjoint(ref.slot for ref in refs(call))
        ]
        return cls(program, raising, reference, error, [*starts, last])

    def blamed(self) -> Sequence[int]:
        """Return the slots of the calls that may be the one; none if the pass itself raises, or if nothing is clear."""
        starts, count = self.starts, len(self.starts)
        if not self.error or self._end(count - 1) != "runs":
            return ()
        # The number of calls after which the pass does not raise any more.
        after = bisect.bisect_left(range(count - 1), True, key=lambda at: self._end(at) != "raises")
        if not after or self._end(after - 1) != "raises":
            return ()
        for at in range(after, count):
            if self._end(at) == "runs":
                return starts[after - 1 : at]
            if self._end(at) == "raises":
                return ()
        return ()

    def _end(self, at: int) -> _End:
        """Return how the pass ends if the program begins with call `at` of the calls that may be to blame."""
        if at not in self._ends:
            self._ends[at] = self._run(self.starts[at])
        return self._ends[at]

    def _run(self, start: int) -> _End:
        read = [slot for slot in frontier(self.program, start) if not self._is_made_again(slot, start)]
        program = _on_copies(self.program, start, values_at(self.program, self.reference, start, read))
        replayed = replay(program, self.raising)
        if replayed.error is None:
            return "runs"
        same = replayed.failed_at == len(program.calls) - 1 and _text_of(replayed.error) == self.error
        return "raises" if same else "unclear"

    def _is_made_again(self, slot: int, start: int) -> bool:
        """Whether the value in `slot` is an input, or a view of one, in its memory layout, that nothing changes."""
        calls = self.program.calls
        return makes_input(calls[slot]) and not any(Ref(slot) in set(written(call)) for call in calls[slot + 1 : start])


def _on_copies(program: Program, start: int, held: Mapping[int, object]) -> Program:
    """Return the calls of `program` from `start` on with the values `held`, which they read as results of calls.

    A framework may refuse to write into a leaf, or to begin a backward at one.
    """
    whole = onwards(program, start, held)
    given = len(whole.calls) - (len(program.calls) - start)
    copies = {
        call.slot: Call("method", "clone", (Ref(call.slot),), {}, len(whole.calls) + call.slot)
        for call in whole.calls[:given]
        if call.kind == "tensor" and call.kwargs["requires_grad"]
    }
    instead = {slot: Ref(copy.slot) for slot, copy in copies.items()}
    rest = [reading(call, instead) for call in whole.calls[given:]]
    return assembled([*whole.calls[:given], *copies.values(), *rest], whole.arrays, whole.undefined)[0]


def _text_of(error: Exception | None) -> str:
    return normalised(f"{type(error).__name__}: {first_line(error)}") if error is not None else ""
