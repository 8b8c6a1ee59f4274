"""Finds the features that a shrunk program's failure needs: memory layout, sizes, numbers, dtypes, ranks."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from autotest.diagnosis.explaining.decisive_arguments import Argument, WordsOf, argument_clauses
from autotest.diagnosis.explaining.decisive_counts import NamesOf, count_clauses
from autotest.diagnosis.explaining.decisive_dtypes import FLOATING, dtype_clauses, kind_clauses
from autotest.diagnosis.explaining.decisive_equalities import argument_met, needs_equal_indices, needs_square
from autotest.diagnosis.explaining.decisive_layouts import failing_layouts, of_different_numbers
from autotest.diagnosis.explaining.decisive_numbers import needs_equal_elements, number_claim
from autotest.diagnosis.explaining.decisive_sizes import size_clauses
from autotest.diagnosis.explaining.decisive_views import view_clauses
from autotest.diagnosis.explaining.other_calls import with_other_calls
from autotest.diagnosis.explaining.outcomes import NumberClaim, Numbers, OnNumbers, ProgramOutcome, together
from autotest.diagnosis.explaining.paired_numbers import holds_beside, needs_equal_inputs, order_needed, whose
from autotest.diagnosis.explaining.whole_trial import WholeTrial
from autotest.emission import cotangent_of, cotangents, names
from autotest.program import Program, Root, leaves
from autotest.program.inputs import Input, inputs_of, with_inputs
from autotest.program.semantics import is_backward, makes_input
from autotest.program.values import TensorValue
from generators import GeneratorError


class OutOfTime(Exception):
    """Raised by a function that runs programs when its time is over; features found until then are reported."""


Run: TypeAlias = Callable[[Program], ProgramOutcome]
ValuesOf: TypeAlias = Callable[[Program], Mapping[int, TensorValue]]

#: The largest number of inputs that are varied.
_MOST = 4
#: The claims that an element must be one of the infinities.
_INFINITIES = frozenset(("+infinity", "-infinity"))


def decisive_features(
    program: Program,
    values_of: ValuesOf,
    names_of: NamesOf,
    words_of: WordsOf,
    run: Run,
    whole: Sequence[Program] = (),
) -> tuple[str, ...]:
    """Return the features without which `program` passes: "only with strided memory", "needs 9 elements or more".

    Args:
        program: the failing program, already shrunk.
        values_of: returns the reference's results in a program, by slot.
        names_of: returns the names of a call's positional arguments.
        words_of: returns words that arguments of a call may be.
        run: returns how another program ends; may raise `OutOfTime`.
        whole: the failing program before it was shrunk, and the divergent call of it alone, if that fails.
    """
    own, pushed = names(program), cotangents(program)
    found = [item for item in inputs_of(program, values_of(program)) if item.array.data.dtype.kind in "fiub"]
    inputs = [item for item in found if item.made_by[0] not in pushed][:_MOST]
    named = [own[item.made_by[0]] for item in inputs]
    backwards = {cotangent_of(program, item.slot): item for item in found if item.made_by[0] in pushed}
    trial = WholeTrial.of(whole, values_of, functools.partial(_ending, run))
    looked = _Features(program, inputs, named, backwards, values_of, names_of, words_of, run, trial)
    clauses: dict[str, None] = {}
    with contextlib.suppress(OutOfTime):
        for clause in looked.clauses():
            clauses[clause] = None
    return tuple(clauses)


@dataclasses.dataclass(frozen=True)
class _Features:
    """The search for the features that a failure needs: runs the program without each of them."""

    program: Program
    #: Its inputs without cotangents, and their names.
    inputs: Sequence[Input]
    names: Sequence[str]
    #: Its cotangents by name.
    pushed: Mapping[str, Input]
    values_of: ValuesOf
    names_of: NamesOf
    words_of: WordsOf
    run: Run
    #: The numbers of the program before it was shrunk.
    trial: WholeTrial
    #: The arguments that an element must be equal to.
    met: list[Argument] = dataclasses.field(default_factory=list)

    def clauses(self) -> Iterator[str]:
        memory = [*self._memory(), *view_clauses(self.program, self._with_inputs)]
        yield from memory
        if self._with(self.inputs) != "fails":
            return  # the memory layout of the inputs cannot be made again for other numbers
        broadcast = [*self._broadcasting()]
        yield from broadcast
        numbers = [*self._numbers(special_only=bool(memory))]
        counts = [*count_clauses(self.program, self.inputs, self._with_inputs, self.names_of, self.met)]
        counted = {argument.value for argument, _ in counts}
        if not memory:
            yield from self._ranks()
        if not broadcast:
            telling = not (memory or numbers or counts)
            sized = self._with_a_dimension()
            yield from size_clauses(self.program, sized, self._with_inputs, self.trial, counted, telling=telling)
        if len(self.inputs) == 1 and not broadcast and needs_square(self.inputs[0], self._holding(self.inputs[0])):
            yield "only with square matrices"
        yield from numbers
        yield from self._cotangents(special_only=bool(memory))
        # Frameworks convert a cotangent of another dtype, so that its own memory plays no part any more.
        named = {
            item.path for call in self.program.calls for item in leaves((call.args, call.kwargs)) if type(item) is Root
        }
        dtypes = [*dtype_clauses([*self.inputs, *self.pushed.values()], self._with, self._results, named)]
        yield from dtypes or ([] if numbers else self._kinds())
        yield from self._gradients()
        yield from (clause for _, clause in counts)
        told = [*self.met, *(argument for argument, _ in counts)]
        yield from argument_clauses(
            self.program, self.inputs, self._with_inputs, told, self.trial.fails_with, self.words_of
        )

    # -- runs of changed programs --

    def _with(self, others: Iterable[Input]) -> ProgramOutcome:
        return self._with_inputs(self.program, others)

    def _with_inputs(self, program: Program, others: Iterable[Input]) -> ProgramOutcome:
        return _ending(self.run, program, others)

    def _holding(self, item: Input, beside: Sequence[Input] = ()) -> OnNumbers:
        """Return a function that runs the program on other numbers in `item`, and with the inputs `beside`."""
        return lambda data: self._with([item.with_data(data), *beside])

    def _claim(self, item: Input, *, special_only: bool) -> NumberClaim | None:
        def fails_elsewhere(contents: Sequence[Numbers]) -> bool:
            return any(
                self._with_inputs(program, [item.with_data(data)]) == "fails"
                for program in with_other_calls(self.program, contents)
                for data in contents[:_MOST]
            )

        return number_claim(item.array, self._holding(item), special_only=special_only, fails_elsewhere=fails_elsewhere)

    def _results(self, others: Iterable[Input]) -> list[Numbers]:
        """Return the reference's results with `others`, without inputs and the views that lay them out."""
        program = with_inputs(self.program, others)
        values = self.values_of(program)
        made = [call for call in program.calls if not makes_input(call)]
        return [values[call.slot].data for call in made if call.slot in values]

    def _of(self, *concerned: Input) -> str:
        """Return `` of x1`` or `` of x0 or x1`` if there are several inputs, else an empty string."""
        names = [name for item, name in zip(self.inputs, self.names, strict=True) if item in concerned]
        names += [name for name, item in self.pushed.items() if item in concerned]
        return f" of {' or '.join(names)}" if len(self.inputs) > 1 or len(names) > 1 else ""

    # -- one feature each --

    def _with_a_dimension(self) -> Sequence[Input]:
        """Return the inputs, single numbers as vectors of one element if these fail, too: they have a size to vary."""
        if any(item.array.data.ndim for item in self.inputs):
            return self.inputs
        vectors = [item.with_data(item.array.data[None]) for item in self.inputs]
        return vectors if vectors and self._with(vectors) == "fails" else self.inputs

    def _memory(self) -> Iterator[str]:
        for item in self.inputs:
            if len(item.made_by) == 1 or self._with([item.with_layout("contiguous")]) != "passes":
                continue
            if self.trial.fails_in_contiguous_memory():
                return  # for another reason
            others = [one for one in (*self.inputs, *self.pushed.values()) if one.slot != item.slot]
            alike = failing_layouts(item, others, self._with)
            if not alike:
                continue  # the failure needs memory that none of these layouts make
            several = f"{', '.join(alike[:-1])} or {alike[-1]}" if len(alike) > 1 else alike[0]
            yield f"only with {several} memory{self._of(item, *self._taking_its_layout(item))}"

    def _taking_its_layout(self, item: Input) -> list[Input]:
        """Return the contiguous inputs and cotangents of which each may have the layout of `item` instead of it."""
        plain, shape = item.with_layout("contiguous"), item.array.data.shape
        found = []
        for other in (*self.inputs, *self.pushed.values()):
            # It may be too small for the layout, such as a single number beside a matrix.
            variants = [other, *([_broadcast(other, shape)] if _fits(other, shape) else [])]
            if len(other.made_by) == 1 and any(
                self._with([plain, variant.with_layout(item.layout)]) == "fails" for variant in variants
            ):
                found.append(other)
        return found

    def _broadcasting(self) -> Iterator[str]:
        shapes = [item.array.data.shape for item in self.inputs]
        if len({*shapes}) < 2:
            return
        try:
            whole = np.broadcast_shapes(*shapes)
        except ValueError:
            return
        for item in self.inputs:
            if item.array.data.shape != whole:
                full = _broadcast(item, whole)
                varied = [of_different_numbers(other) for other in self.inputs]
                wide = [_broadcast(other, whole) if other.slot == item.slot else other for other in varied]
                alike = self._are_the_same([], [full]) and self._are_the_same(varied, wide)
                if alike and self._with([full]) == "passes":
                    name = self.names[self.inputs.index(item)]
                    yield f"only where {'an operand' if self._fails_swapped(item, whole) else name} is broadcast"

    def _fails_swapped(self, item: Input, whole: tuple[int, ...]) -> bool:
        """Whether the program also fails if another input, of the shape `whole`, is broadcast instead of `item`."""
        return any(
            self._with([item.with_data(_as(other, item)), other.with_data(_as(item, other))]) == "fails"
            for other in self.inputs
            if other.array.data.shape == whole
        )

    def _are_the_same(self, some: Iterable[Input], others: Iterable[Input]) -> bool:
        """Whether the reference computes the same with both, as an operator does that really broadcasts."""
        held, other_held = self._results(some), self._results(others)
        return len(held) == len(other_held) and all(
            one.shape == other.shape and np.allclose(one, other, equal_nan=True)
            for one, other in zip(held, other_held, strict=True)
        )

    def _numbers(self, *, special_only: bool) -> Iterator[str]:
        if len(self.inputs) == 2 and not special_only:
            relation = self._relation(*self.inputs)
            if relation:
                yield relation
                return
        for item, name in zip(self.inputs, self.names, strict=True):
            others = [other for other in self.inputs if other is not item]
            met = None if special_only else argument_met(self.program, item, self._with_inputs, self.names_of)
            if met is not None:
                self.met.append(met[0])
                yield f"only where an element{f' of {name}' if others else ''} is equal to {met[1]}"
                continue
            claim = self._claim(item, special_only=special_only)
            if claim is None:
                if not special_only and self._needs_equal_elements(item, others):
                    yield f"only where elements{f' of {name}' if others else ''} are equal"
                continue
            if not self.trial.has(claim.text) or (not others and self.trial.fails_without(claim)):
                continue
            if claim.text in _INFINITIES and others and self._with(map(_negated, self.inputs)) == "fails":
                claim = dataclasses.replace(claim, text="infinite", either_sign=True)
            concerned = whose(claim, item, others, self._with)
            if concerned is not None and holds_beside(claim, item, [*self.pushed.values()], self._with):
                yield f"only where an element{f' of {name}' if others and len(concerned) == 1 else ''} is {claim.text}"

    def _needs_equal_elements(self, item: Input, others: Sequence[Input]) -> bool:
        if needs_equal_indices(item, others, self._with):
            return True
        if not self.trial.has_equal_elements() or not needs_equal_elements(item.array, self._holding(item)):
            return False
        different = [*map(of_different_numbers, self.pushed.values())]
        return not different or needs_equal_elements(item.array, self._holding(item, different))

    def _cotangents(self, *, special_only: bool) -> Iterator[str]:
        for name, item in self.pushed.items():
            claim = self._claim(item, special_only=special_only)
            others = [*self.inputs, *(other for other in self.pushed.values() if other is not item)]
            if claim is not None and holds_beside(claim, item, others, self._with):
                yield f"only where an element of {name} is {claim.text}"

    def _relation(self, one: Input, two: Input) -> str:
        """Return the clause on how the numbers of two inputs lie to each other; "" if the failure needs none."""
        if needs_equal_inputs(one, two, self._with):
            return f"only where elements of {self.names[0]} and {self.names[1]} are equal"
        order = order_needed(one, two, self._with)
        return f"only where an element of {self.names[0]} is {order} that of {self.names[1]}" if order else ""

    def _ranks(self) -> Iterator[str]:
        """Yield the clause on the rank, if it can be changed with the same elements.

        This skips programs whose calls have an integer argument, which may name a dimension.
        """
        ranks = {item.array.data.ndim for item in self.inputs}
        called = [call for call in self.program.calls if call.kind != "tensor" and not is_backward(call)]
        if len(ranks) != 1 or any(type(item) is int for call in called for item in leaves((call.args, call.kwargs))):
            return
        rank = ranks.pop()
        shapes = [item.array.data.shape for item in self.inputs]
        lower: ProgramOutcome = "neither"
        if rank > 1 or all(shape == (1,) for shape in shapes):
            merged = [(shape[0] * shape[1], *shape[2:]) if rank > 1 else () for shape in shapes]
            pairs = zip(self.inputs, merged, strict=True)
            lower = self._with([item.with_data(item.array.data.reshape(shape)) for item, shape in pairs])
        # What is done along one dimension does nothing if this has one element.
        places = (0, -1) if rank else (0,)
        higher = together(
            [self._with([item.with_data(np.expand_dims(item.array.data, at)) for item in self.inputs]) for at in places]
        )
        if higher == "passes" and (rank == 0 or lower == "passes"):
            # The rank of an input may not matter beside that of another one, as in ``x[mask]``.
            alone = [self._with([item.with_data(item.array.data[None])]) for item in self.inputs]
            concerned = [item for item, ending in zip(self.inputs, alone, strict=True) if ending != "fails"]
            whole = len(concerned) == len(self.inputs)
            if concerned:
                yield f"only with rank {rank}{'' if whole else self._of(*concerned)}"
        elif lower == "passes" and rank > 1:
            yield f"needs rank {rank} or more"

    def _kinds(self) -> Iterator[str]:
        """Yield the clause on truth values or integers, in one input if the others are floats."""
        alone = [item for item in self.inputs if item.array.dtype not in FLOATING]
        where = f" in {self.names[self.inputs.index(alone[0])]}" if len(alone) == 1 < len(self.inputs) else ""
        yield from (f"{text}{where}" for text in kind_clauses(self.inputs, self._with))

    def _gradients(self) -> Iterator[str]:
        frozen = [item for item in self.inputs if not item.requires_grad and item.array.dtype in FLOATING]
        asking = [item for item in self.inputs if item.requires_grad]
        swapped = [dataclasses.replace(item, requires_grad=not item.requires_grad) for item in (*frozen, *asking)]
        either = bool(frozen and asking) and self._with(swapped) == "fails"  # which of them it is does not matter
        if frozen and self._with([dataclasses.replace(item, requires_grad=True) for item in frozen]) == "passes":
            yield f"only where {self._some(frozen, either)} no grad" if asking else "only with requires_grad=False"
        if any(is_backward(call) for call in self.program.calls):
            return
        plain = [dataclasses.replace(item, requires_grad=False) for item in asking]
        if asking and self._with(plain) == "passes":
            yield f"only where {self._some(asking, either)} grad" if frozen else "only with requires_grad=True"

    def _some(self, items: Sequence[Input], either: bool) -> str:
        """Return ``x0 requires``, ``x0 and x1 require``, or, if it may be any, ``an input requires``."""
        names = ["an input"] if either else [self.names[self.inputs.index(item)] for item in items]
        return f"{' and '.join(names)} {'require' if len(names) > 1 else 'requires'}"


def _ending(run: Run, program: Program, others: Iterable[Input]) -> ProgramOutcome:
    try:
        return run(with_inputs(program, others))
    except (GeneratorError, ValueError, KeyError, IndexError):
        return "neither"  # the program does not allow this change


def _fits(item: Input, shape: tuple[int, ...]) -> bool:
    """Return whether the numbers of `item` broadcast to `shape`."""
    own = item.array.data.shape
    return len(own) <= len(shape) and all(
        size in (1, other) for size, other in zip(reversed(own), reversed(shape), strict=False)
    )


def _broadcast(item: Input, shape: tuple[int, ...]) -> Input:
    return item.with_data(np.ascontiguousarray(np.broadcast_to(item.array.data, shape)))


def _negated(item: Input) -> Input:
    return item.with_data(-item.array.data) if item.array.data.dtype.kind == "f" else item


def _as(one: Input, other: Input) -> Numbers:
    """Return the numbers of `one` in the dtype of `other`."""
    return one.array.data.astype(other.array.data.dtype)
