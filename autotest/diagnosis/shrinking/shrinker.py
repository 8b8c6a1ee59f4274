"""Shrinks a failing program to a smaller one that fails in the same way."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from autotest.base.settings import Settings
from autotest.comparison import TensorValue
from autotest.comparison.mismatch import NUMERIC_SYMPTOMS
from autotest.diagnosis.explaining.decisive_features import OutOfTime
from autotest.diagnosis.explaining.outcomes import ProgramOutcome
from autotest.diagnosis.shrinking.defaults import differing_defaults, differing_defaults_of
from autotest.diagnosis.shrinking.failure_signature import AMBIGUOUS_SYMPTOMS, FailureSignature, differs_widely
from autotest.diagnosis.shrinking.fitting_cotangents import with_fitting_cotangents
from autotest.diagnosis.shrinking.fitting_state import with_fitting_state
from autotest.diagnosis.shrinking.initial_state import modules_that_differ, with_initial_state
from autotest.diagnosis.shrinking.shifted_inputs import is_stable
from autotest.frameworks import Pair
from autotest.program import Call, Program, Ref, Root, call_reduction, content_reduction, reduction, shape_reduction
from autotest.program.randomness import drops_in_a_defined_result
from autotest.program.semantics import pushes_gradients
from autotest.program.sorted_operands import searches_unsorted
from autotest.replaying.agreement import Agreement, agree, results
from autotest.replaying.operands import values_at

#: A function that runs a program on both sides and returns their agreement.
AgreementFunction = Callable[[Program, Pair, Settings], Agreement]

#: The largest number of candidate programs that are run.
EXECUTIONS = 600
#: The factor in the budget of calls: all candidates together may have _CALLS * (limit + n * log2(n)) calls, where n is
#: the number of calls of the first program.
_CALLS = 16
#: The number of elements above which a program is large, and the number of candidates that are run for a large program
#: even after the deadline.
_LARGE, _ALWAYS_RUN = 1 << 20, 24
#: The number of candidates with simpler numbers that are tried first on a large program; in these, all are equal.
_PLAIN = 4
#: The length of the shortest spans of calls that are removed together before single calls are.
_SHORTEST_SPAN = 4
#: The largest number of passing programs that each kind of reduction is asked for.
_NEIGHBOURS = 20


@dataclasses.dataclass(slots=True)
class Shrunk:
    """The smallest failing program that was found."""

    agreement: Agreement
    #: Every improvement in order; the last one is `agreement`.
    history: list[Agreement]
    executions: int = 0
    #: The number of calls in all executions together.
    calls_run: int = 0
    complete: bool = True


class ProgramJudge(NamedTuple):
    """How programs are judged: the two sides, the settings, and the functions that decide."""

    pair: Pair
    settings: Settings
    judge: AgreementFunction = agree
    #: Whether a program may be run in this process.
    survives: Callable[[Program], bool] = lambda program: True
    #: A further condition on a program that fails alike; checked last, as it may cost as much as a hundred runs.
    holds: Callable[[Agreement], bool] = lambda agreement: True

    def examined(self, program: Program) -> Agreement:
        """Return the agreement on `program`."""
        return self.judge(program, self.pair, self.settings)


class Shrinker:
    """Shrinks one failure."""

    def __init__(
        self,
        start: Agreement,
        failure: FailureSignature,
        judging: ProgramJudge,
        seconds: float,
        limit: int = EXECUTIONS,
    ) -> None:
        """Prepare to shrink the program of `start`.

        Args:
            start: the agreement on the failing program.
            failure: the signature that a smaller program must show.
            judging: how programs are judged.
            seconds: the time limit.
            limit: the largest number of candidates that are run.
        """
        self._judging, self._failure = judging, failure
        self._pair, self._settings = judging.pair, judging.settings
        self._deadline = time.monotonic() + seconds
        self._latest = self._deadline + seconds
        self._limit = limit
        length = len(start.program.calls)
        self._budget = _CALLS * (limit + length * math.log2(length + 2))
        #: The differing defaults of calls, by their targets and the arguments that they give.
        self._defaults: dict[object, frozenset[str]] = {}
        self._seen: set[bytes] = {reduction.digest(start.program)}
        #: Whether a run takes so long that sizes are reduced first, which makes all other passes quick.
        self._began_large = reduction.elements(start.program) > _LARGE
        #: The first program, and the smaller ones that are tried first: what rounds may hide that a number is exact.
        self._original = [start.program]
        self.result = Shrunk(start, [start])

    def shrink(self, first: Sequence[Program] = ()) -> Shrunk:
        """Try the programs in `first`, then run all passes until none of them improves the program."""
        if self.result.agreement.program.has_properties:
            # Its random results must not become inputs: a property of fewer, or of one side's results, is chance.
            self._try(self._needed())
            return self.result
        self._original += first
        for program in first:
            self._try(program)
        arguments, shapes, contents = self._in_class(reduction.arguments), self._shapes(), content_reduction.contents
        if self._began_large:
            while not self._over and any(map(self._try, self._bounded(shapes))):
                pass
            # A script contains all numbers of an array unless they are all equal, no matter how many there are.
            plain = reduction.candidates(contents, self.result.agreement.program)
            any(map(self._try, itertools.islice(plain, _PLAIN)))
        self._remove_spans()
        passes: tuple[reduction.Pass, ...] = (self._calls, arguments, shapes, reduction.kinds, contents)
        improved = True
        while improved:
            improved = False
            for one in passes:
                attempt = self._try_numbers if one in (shapes, contents) else self._try
                while not self._over and any(map(attempt, self._bounded(one))):
                    improved = True
        self.result.complete = not self._over
        return self.result

    def _shapes(self) -> reduction.Pass:
        if self._failure.symptom in NUMERIC_SYMPTOMS:
            return shape_reduction.shapes_of_numbers
        return self._in_class(shape_reduction.shapes)

    def _in_class(self, one: reduction.Pass) -> reduction.Pass:
        return reduction.in_class(one) if self._failure.symptom in AMBIGUOUS_SYMPTOMS else one

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
        if executions >= self._limit or self.result.calls_run > self._budget:
            return True
        # The diagnosis of a large program takes longer than a few more candidates, which soon make it small.
        return time.monotonic() > self._deadline and not (executions < _ALWAYS_RUN and self._began_large)

    def _calls(self, program: Program) -> Iterator[Program]:
        return call_reduction.calls(program, self.values())

    def values(self) -> dict[int, TensorValue]:
        """Return the reference's results in the smallest program, by slot."""
        return self.values_of(self.result.agreement.program)

    def values_of(self, program: Program) -> dict[int, TensorValue]:
        """Return the reference's results in `program`, by slot; empty if it rejects a call."""
        given = results(program, self._pair.reference)
        return {slot: value for (slot, suffix), value in given.items() if not suffix and type(value) is TensorValue}

    def names_of(self, call: Call) -> tuple[str, ...]:
        """Return the names of the positional arguments of `call`, a function or a class; empty if they are unknown."""
        if call.kind != "function":
            return ()
        tensors = tuple(None if type(item) is Root else type(item) is Ref for item in call.args)
        return self._pair.argument_names(call.kind, call.target, None, tensors, tuple(call.kwargs))

    def words_of(self, call: Call) -> tuple[str, ...]:
        """Return the words that the documentation of the function or class that `call` calls has in quotes."""
        return self._pair.reference.documented_words(call.target) if call.kind == "function" else ()

    def _held(self, end: int, slots: list[int]) -> dict[int, Any]:
        return values_at(self.result.agreement.program, self._pair.reference, end, slots)

    def _remove_spans(self) -> None:
        """Remove halves of a long program, then quarters, and so on, while the rest fails in the same way."""
        size = len(self.result.agreement.program.calls) // 2
        while size >= _SHORTEST_SPAN and not self._over:
            self._try(self._needed())
            end = len(self.result.agreement.program.calls)
            while end > 0 and not self._over:
                start = max(0, end - size)
                spans = functools.partial(
                    call_reduction.spans, start=start, end=end, values=self.values, held=self._held
                )
                if any(map(self._try, self._bounded(spans))):
                    # Calls before the span have kept their slots.
                    end = min(end, len(self.result.agreement.program.calls))
                end = min(start, end)
            size //= 2

    def _needed(self) -> Program:
        """Return the smallest program without the calls that its failure does not depend on."""
        best = self.result.agreement
        first = best.mismatches[0]
        pushes = [call.slot for call in best.program.calls if first.stage == "backward" and pushes_gradients(call)]
        return call_reduction.only(best.program, [first.slot, *pushes])

    def result_of(self, program: Program) -> ProgramOutcome:
        """Return how `program` ends.

        Raises:
            OutOfTime: twice the time limit of shrinking is over.
        """
        if time.monotonic() > self._latest:
            raise OutOfTime
        fitting = self._runnable(program)
        if fitting is None:
            return "neither"
        agreement = self._judging.examined(fitting)
        if modules_that_differ(agreement) and not modules_that_differ(self.result.agreement):
            alike = with_initial_state(agreement, self._pair, self._settings)
            agreement = agreement if alike is None else self._judging.examined(alike)
        if agreement.mismatches:
            return "fails" if self._failure.shown_by(agreement) else "differs"
        return "passes" if self._passes(agreement) else "neither"

    def _passes(self, agreement: Agreement) -> bool:
        """Whether the sides agree on the program of `agreement`, and on as much as they were compared before.

        Results without elements agree in any case, which explains nothing if those of the failing program have some.
        """
        if agreement.mismatches or agreement.refused:
            return False
        return not _any_empty(self.values_of(agreement.program)) or _any_empty(self.values())

    def _runnable(self, program: Program) -> Program | None:
        if drops_in_a_defined_result(program) or (searches_unsorted(program) and not self._starts_unsorted):
            return None
        fitting = with_fitting_cotangents(with_fitting_state(program, self._pair.reference), self._pair.reference)
        return fitting if fitting is not None and self._judging.survives(fitting) else None

    def passing_neighbours(self) -> list[Program]:
        """Return programs one step smaller than the smallest failing one, on which the sides agree."""
        best = self.result.agreement.program
        found: list[Program] = []
        for one in (shape_reduction.shapes, reduction.arguments, content_reduction.contents):
            for program in itertools.islice(self._bounded(one, ended=False), _NEIGHBOURS):
                fitting = self._runnable(program) if reduction.is_simpler(program, best) else None
                if fitting is None:
                    continue
                if self._passes(self._judging.examined(fitting)):
                    found.append(fitting)
        return found

    def _try_numbers(self, program: Program) -> bool:
        """Do as `_try` with a program that has simpler or fewer numbers, which must not be a failure of their own."""
        return self._try(program, self._exactness_holds)

    def _try(self, program: Program, holds: Callable[[Agreement], bool] = lambda agreement: True) -> bool:
        """Return whether `program` is smaller and fails in the same way; if so, make it the smallest program.

        Args:
            program: the program.
            holds: a further condition on it, which is checked if all others are met.
        """
        best = self.result.agreement
        if not program.calls or not reduction.is_simpler(program, best.program):
            return False
        digest = reduction.digest(program)
        if digest in self._seen:
            return False
        self._seen.add(digest)
        if self._failure.symptom in NUMERIC_SYMPTOMS and any(map(self._new_defaults, program.calls)):
            return False
        self.result.executions += 1
        self.result.calls_run += len(program.calls)
        fitting = self._runnable(program)
        if fitting is None or not reduction.is_simpler(fitting, best.program):  # a cotangent may have grown again
            return False
        agreement = self._judging.examined(fitting)
        alike = self._failure.shown_by(agreement) and self._wide_holds(agreement) and self._class_holds(agreement)
        if alike and holds(agreement) and self._judging.holds(agreement):
            self.result.agreement = agreement
            self.result.history.append(agreement)
            return True
        return False

    def _new_defaults(self, call: Call) -> bool:
        """Whether `call` leaves out an argument that the first program gives, and whose defaults differ on the sides.

        The smaller program would show that the defaults differ, which is another failure with the same signature.
        """
        key = call.target, len(call.args), tuple(call.kwargs)
        if key not in self._defaults:
            self._defaults[key] = frozenset(differing_defaults_of(call, self._pair))
        return not self._defaults[key] <= self._first_defaults

    @functools.cached_property
    def _first_defaults(self) -> frozenset[str]:
        return frozenset(differing_defaults(self.result.history[0].program, self._pair))

    def _class_holds(self, agreement: Agreement) -> bool:
        """Return whether `agreement` has results without elements only if the first program has.

        A module or a shape of size 0 has them without an input of size 0, for which see `reduction.in_class`.
        """
        if self._failure.symptom not in AMBIGUOUS_SYMPTOMS:
            return True
        return self._starts_empty or not _any_empty(self.values_of(agreement.program))

    @functools.cached_property
    def _starts_empty(self) -> bool:
        return _any_empty(self.values_of(self.result.history[0].program))

    @functools.cached_property
    def _starts_unsorted(self) -> bool:
        return searches_unsorted(self.result.history[0].program)

    def _exactness_holds(self, agreement: Agreement) -> bool:
        """Return whether the failure in `agreement` depends on exact numbers only if that of the first program does.

        Where numbers are equal, or lie at a step of a function, the sides may differ for another reason. A large
        program is not asked: its few runs are needed to make it small.
        """
        return self._began_large or is_stable(agreement.program, self._fails) or not self._starts_stable

    @functools.cached_property
    def _starts_stable(self) -> bool:
        numeric = self._failure.symptom in NUMERIC_SYMPTOMS
        return numeric and all(is_stable(program, self._fails) for program in self._original)

    def _fails(self, program: Program) -> bool:
        fitting = self._runnable(program)
        return fitting is not None and self._failure.shown_by(self._judging.examined(fitting))

    def _wide_holds(self, agreement: Agreement) -> bool:
        return not self._failure.wide or differs_widely(agreement, self._pair, self._settings)


def _any_empty(values: Mapping[int, TensorValue]) -> bool:
    return any(value.data.size == 0 for value in values.values())
