"""Makes a failing program smaller while it fails in the same way."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.diagnosis.agreement import Agreement, agree, results
from autotest.diagnosis.decisive_features import OutOfTime
from autotest.diagnosis.decisive_numbers import ProgramOutcome
from autotest.diagnosis.operands import values_at
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Call, Program, Ref, call_reduction, operator_of, reduction, refs
from autotest.program.rewriting import widened, with_arrays
from autotest.program.semantics import backward_arguments, in_place, pushes_gradients
from autotest.replaying.replay import replay
from autotest.results.identity import operator_behind

#: Runs a program, and says in what it fails.
AgreementFunction = Callable[[Program, Pair, Settings], Agreement]

#: Symptoms that may have several causes which look alike.
SAY_LITTLE = frozenset(("exception", "accepted", "structure"))
#: Candidates that are run at most.
EXECUTIONS = 600
#: So many times the executions, and n * log2(n) of a program of n calls, is what these may have of calls together.
_CALLS = 16
#: Programs of so many numbers are large, and so many candidates for a smaller one are run however long that takes.
_LARGE, _SURELY = 1 << 20, 24
#: The first candidates for plainer numbers are those in which all are alike.
_PLAIN = 4
#: Spans of so many calls, or more, are left out together before single calls are.
_THINNEST = 4


@dataclasses.dataclass(frozen=True, slots=True)
class FailureSignature:
    """In what way a program fails: what a smaller one must have in common with it."""

    symptom: str
    stage: str
    side: str
    #: The operation of the first divergent call; "" where nothing tells which one it is.
    operator: str
    #: The message of an exception without its numbers.
    message: str
    #: Whether the sides differ in double precision too, so that a smaller one must not be mere rounding.
    wide: bool = False
    #: Whether NaN or an infinity may show it: where ordinary numbers differ, a smaller program must not slide to these.
    special: bool = True

    def shown_by(self, agreement: Agreement) -> bool:
        """Whether `agreement` is this failure."""
        if not agreement.mismatches:
            return False
        first = agreement.mismatches[0]
        if (first.symptom, first.stage, first.side) != (self.symptom, self.stage, self.side):
            return False
        if first.special and not self.special:
            return False
        if self.message and message_of(first) != self.message:
            return False
        return not self.operator or _operator_fits(agreement.program, first, self.operator)


def message_of(first: Mismatch) -> str:
    """What an exception says, without what differs from program to program."""
    return first.key if first.symptom in ("exception", "accepted", "out of memory") else ""


def _operator_fits(program: Program, first: Mismatch, operator: str) -> bool:
    call = program.calls[first.slot]
    if first.stage != "backward" and call.kind != "tensor" and not in_place(call):
        written = any(in_place(later) and Ref(first.slot) in set(refs(later)) for later in program.calls)
        if not written:
            return operator_behind(program.calls, first) == operator
    return any(operator_of(program.calls, one.slot) == operator for one in program.calls)


@dataclasses.dataclass(slots=True)
class Shrunk:
    """The smallest failing program that was found."""

    agreement: Agreement
    #: Every improvement in order, the last of them being `agreement`.
    history: list[Agreement]
    executions: int = 0
    #: How many calls these executions had together.
    performed: int = 0
    complete: bool = True


class Judging(NamedTuple):
    """Who says what is wrong with a program, and what that is asked about."""

    pair: Pair
    settings: Settings
    judge: AgreementFunction = agree
    #: Whether a program may be run in this process.
    survives: Callable[[Program], bool] = lambda program: True
    #: What else must hold of a program that fails alike, asked last since it may cost as much as a hundred runs.
    holds: Callable[[Agreement], bool] = lambda agreement: True

    def examined(self, program: Program) -> Agreement:
        """What is wrong with `program`."""
        return self.judge(program, self.pair, self.settings)


class Shrinker:
    """Shrinks one failure."""

    def __init__(
        self,
        start: Agreement,
        failure: FailureSignature,
        judging: Judging,
        seconds: float,
        limit: int = EXECUTIONS,
    ) -> None:
        """Begins with `start`; a program that shows `failure` may take its place, as long as `seconds` are not over and
        fewer than `limit` were run."""
        self._judging, self._failure = judging, failure
        self._pair, self._settings = judging.pair, judging.settings
        self._deadline = time.monotonic() + seconds
        self._latest = self._deadline + seconds
        self._limit = limit
        length = len(start.program.calls)
        self._budget = _CALLS * (limit + length * math.log2(length + 2))
        self._seen: set[bytes] = {reduction.digest(start.program)}
        #: A run takes so long that sizes come first: all else is quick afterwards.
        self._began_large = reduction.elements(start.program) > _LARGE
        self.result = Shrunk(start, [start])

    def shrink(self, first: Sequence[Program] = ()) -> Shrunk:
        """Try the programs in `first`, then make what holds smaller until nothing is."""
        for program in first:
            self._try(program)
        arguments, shapes = self._in_class(reduction.arguments), self._in_class(reduction.shapes)
        if self._began_large:
            while not self._over and any(map(self._try, self._bounded(shapes))):
                pass
            # A script holds all numbers that are not alike, however many there still are.
            plain = reduction.candidates(reduction.contents, self.result.agreement.program)
            any(map(self._try, itertools.islice(plain, _PLAIN)))
        self._thin()
        passes: tuple[reduction.Pass, ...] = (self._calls, arguments, shapes, reduction.kinds, reduction.contents)
        improved = True
        while improved:
            improved = False
            for one in passes:
                while not self._over and any(map(self._try, self._bounded(one))):
                    improved = True
        self.result.complete = not self._over
        return self.result

    def _in_class(self, one: reduction.Pass) -> reduction.Pass:
        return reduction.in_class(one) if self._failure.symptom in SAY_LITTLE else one

    def _bounded(self, one: reduction.Pass, *, ended: bool = True) -> Iterator[Program]:
        candidates = reduction.candidates(one, self.result.agreement.program)
        while not (self._over if ended else time.monotonic() > self._latest):
            candidate = next(candidates, None)
            if candidate is None:
                return
            yield candidate

    @property
    def _over(self) -> bool:
        executions = self.result.executions
        if executions >= self._limit or self.result.performed > self._budget:
            return True
        # What is told of a large program takes longer than to try a few smaller ones, which soon are small.
        return time.monotonic() > self._deadline and not (executions < _SURELY and self._began_large)

    def _calls(self, program: Program) -> Iterator[Program]:
        return call_reduction.calls(program, self.values())

    def values(self) -> dict[int, TensorValue]:
        """What the reference's calls of the smallest program give."""
        return self.values_of(self.result.agreement.program)

    def values_of(self, program: Program) -> dict[int, TensorValue]:
        """What the reference's calls of `program` give; nothing where it refuses one of them."""
        given = results(program, self._pair.reference)
        return {slot: value for (slot, suffix), value in given.items() if not suffix and type(value) is TensorValue}

    def _held(self, end: int, slots: list[int]) -> dict[int, Any]:
        return values_at(self.result.agreement.program, self._pair.reference, end, slots)

    def _thin(self) -> None:
        """Leave out halves of a long program, then quarters, and so on, while what is left fails in the same way."""
        size = len(self.result.agreement.program.calls) // 2
        while size >= _THINNEST and not self._over:
            self._try(self._needed())
            end = len(self.result.agreement.program.calls)
            while end > 0 and not self._over:
                start = max(0, end - size)
                spans = functools.partial(
                    call_reduction.spans, start=start, end=end, values=self.values, held=self._held
                )
                if any(map(self._try, self._bounded(spans))):
                    # What stands before the span has the slots that it had.
                    end = min(end, len(self.result.agreement.program.calls))
                end = min(start, end)
            size //= 2

    def _needed(self) -> Program:
        """The smallest program without what its failure does not depend on."""
        best = self.result.agreement
        first = best.mismatches[0]
        pushes = [call.slot for call in best.program.calls if first.stage == "backward" and pushes_gradients(call)]
        return call_reduction.only(best.program, [first.slot, *pushes])

    def fails(self, program: Program) -> bool:
        """Whether `program`, as it is, fails in the same way."""
        mended = self._runnable(program)
        return mended is not None and self._failure.shown_by(self._judging.examined(mended))

    def result_of(self, program: Program) -> ProgramOutcome:
        """What becomes of `program`, as it is. Raises `OutOfTime` when as much time again is over as shrinking had."""
        if time.monotonic() > self._latest:
            raise OutOfTime
        mended = self._runnable(program)
        if mended is None:
            return "neither"
        agreement = self._judging.examined(mended)
        if agreement.mismatches:
            return "fails" if self._failure.shown_by(agreement) else "neither"
        return "neither" if agreement.refused else "passes"

    def _runnable(self, program: Program) -> Program | None:
        mended = mend(program, self._pair.reference)
        return mended if mended is not None and self._judging.survives(mended) else None

    def around(self, most: int = 40) -> list[Program]:
        """Programs one step smaller than the smallest failing one, on which the sides agree."""
        best = self.result.agreement.program
        found: list[Program] = []
        for one in (reduction.shapes, reduction.arguments, reduction.contents):
            for program in itertools.islice(self._bounded(one, ended=False), most // 2):
                mended = self._runnable(program) if reduction.is_simpler(program, best) else None
                if mended is None:
                    continue
                agreement = self._judging.examined(mended)
                if not agreement.mismatches and not agreement.refused:
                    found.append(mended)
        return found

    def _try(self, program: Program) -> bool:
        """Whether `program` is smaller and fails in the same way; it is then the one to go on with."""
        best = self.result.agreement
        if not program.calls or not reduction.is_simpler(program, best.program):
            return False
        digest = reduction.digest(program)
        if digest in self._seen:
            return False
        self._seen.add(digest)
        self.result.executions += 1
        self.result.performed += len(program.calls)
        mended = self._runnable(program)
        if mended is None:
            return False
        agreement = self._judging.examined(mended)
        alike = self._failure.shown_by(agreement) and self._wide_holds(agreement)
        if alike and self._judging.holds(agreement):
            self.result.agreement = agreement
            self.result.history.append(agreement)
            return True
        return False

    def _wide_holds(self, agreement: Agreement) -> bool:
        return not self._failure.wide or differs_widely(agreement, self._pair, self._settings)


def differs_widely(agreement: Agreement, pair: Pair, settings: Settings) -> bool:
    """Whether the sides differ in double precision too."""
    wide = agree(widened(agreement.program)[0], pair, settings)
    return any(item.symptom == agreement.mismatches[0].symptom for item in wide.mismatches)


def mend(program: Program, framework: Framework) -> Program | None:
    """`program` with cotangents of the shapes that its results have now; None when it does not come that far."""
    mended: Program | None = program
    for call in program.calls:
        if mended is not None and pushes_gradients(call):
            mended = _mended(mended, call, framework)
    return mended


def _mended(program: Program, push: Call, framework: Framework) -> Program | None:
    """`program` with fitting cotangents for `push`, if `framework` comes that far."""
    roots, given = backward_arguments(push)
    pairs = list(zip(roots, given or (), strict=False)) if isinstance(roots, (list, tuple)) else [(roots, given)]
    pairs = [
        (root, one)
        for root, one in pairs
        if type(root) is type(one) is Ref and program.calls[one.slot].kind == "tensor"
    ]
    if not pairs:
        return program
    replayed = replay(program, framework, upto=push.slot)
    if replayed.error is not None:
        return None
    arrays = list(program.arrays)
    if not all(isinstance(replayed.values[root.slot], framework.tensor_types) for root, _ in pairs):
        return None  # an item of a tuple was picked out, which is gone
    for root, one in pairs:
        shape = tuple(framework.values([replayed.values[root.slot]])[0].data.shape)
        index = program.calls[one.slot].args[0].index
        if arrays[index].data.shape != shape:
            size = int(np.prod(shape))
            data = np.resize(arrays[index].data, size) if arrays[index].data.size else np.ones(size)
            arrays[index] = Array(data.reshape(shape).astype(arrays[index].data.dtype), arrays[index].dtype)
    return with_arrays(program, arrays)


__all__ = ["FailureSignature", "Judging", "Shrinker", "Shrunk", "differs_widely", "mend", "message_of"]
