"""Finds the features that a shrunk program's failure needs: memory layout, sizes, numbers, dtypes, ranks."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from autotest.diagnosis.decisive_numbers import OnNumbers, ProgramOutcome, number_clauses
from autotest.emission import cotangents, names
from autotest.program import Call, Program, leaves
from autotest.program.calls import LAYOUT
from autotest.program.inputs import Input, inputs_of, with_inputs
from autotest.program.semantics import is_backward
from autotest.program.values import TensorValue
from generators import GeneratorError
from generators.layouts import LAYOUTS, LEAST_RANK


class OutOfTime(Exception):
    """Raised by a function that runs programs when its time is over; features found until then are reported."""


Run: TypeAlias = Callable[[Program], ProgramOutcome]
ValuesOf: TypeAlias = Callable[[Program], Mapping[int, TensorValue]]

_LAYOUTS = tuple(layout for layout in LAYOUTS if layout != "contiguous")
_FLOATING = ("float32", "float64", "float16", "bfloat16")
_WHOLE = ("int64", "int32", "int16", "int8", "uint8")
#: The largest number of inputs that are varied.
_MOST = 4


def decisive_features(program: Program, values_of: ValuesOf, run: Run) -> tuple[str, ...]:
    """Return the features without which `program` passes: "only with strided memory", "needs 9 elements or more".

    Args:
        program: the failing program, already shrunk.
        values_of: returns the reference's results in a program, by slot.
        run: returns how another program ends; may raise `OutOfTime`.
    """
    own, pushed = names(program), cotangents(program)
    inputs = [item for item in inputs_of(program, values_of(program)) if item.made_by[0] not in pushed]
    inputs = [item for item in inputs if item.array.data.dtype.kind in "fiub"][:_MOST]
    looked = _Features(program, inputs, [own[item.made_by[0]] for item in inputs], values_of, run)
    clauses: dict[str, None] = {}
    with contextlib.suppress(OutOfTime):
        for clause in looked.clauses():
            clauses[clause] = None
    return tuple(clauses)


class _Features:
    """The search for the features that a failure needs: runs the program without each of them."""

    def __init__(
        self, program: Program, inputs: Sequence[Input], named: Sequence[str], values_of: ValuesOf, run: Run
    ) -> None:
        self._program, self._inputs, self._names, self._values_of, self._run = program, inputs, named, values_of, run

    def clauses(self) -> Iterator[str]:
        memory = [*self._memory()]
        yield from memory
        if self._with(self._inputs) != "fails":
            return  # the memory layout of the inputs cannot be made again for other numbers
        broadcast = [*self._broadcasting()]
        yield from broadcast
        numbers = [*self._numbers(special_only=bool(memory))]
        if not memory:
            yield from self._ranks()
        if not broadcast:
            yield from self._sizes(telling=not (memory or numbers))
        yield from numbers
        yield from self._dtypes()
        yield from self._gradients()
        yield from self._negative_arguments()

    # -- runs of changed programs --

    def _with(self, others: Iterable[Input]) -> ProgramOutcome:
        try:
            return self._run(with_inputs(self._program, others))
        except (GeneratorError, ValueError, KeyError, IndexError):
            return "neither"  # the program does not allow this change

    def _holding(self, item: Input) -> OnNumbers:
        """Return a function that runs the program on other numbers in `item`."""
        return lambda data: self._with([item.with_data(data)])

    def _of(self, item: Input) -> str:
        """Return `` of x1`` if there are several inputs, else an empty string."""
        return f" of {self._names[self._inputs.index(item)]}" if len(self._inputs) > 1 else ""

    # -- one feature each --

    def _memory(self) -> Iterator[str]:
        for item in self._inputs:
            if len(item.made_by) == 1 or self._with([item.with_layout("contiguous")]) != "passes":
                continue
            alike = [
                kind for kind in _LAYOUTS if kind == item.layout or self._with([item.with_layout(kind)]) == "fails"
            ]
            if not alike:
                continue  # the failure needs memory that none of these layouts make
            if item.array.data.ndim < LEAST_RANK["channels_last"]:  # the order is reversed, and nothing is a channel
                alike = list(dict.fromkeys("transposed" if kind == "channels_last" else kind for kind in alike))
            several = f"{', '.join(alike[:-1])} or {alike[-1]}" if len(alike) > 1 else alike[0]
            yield f"only with {several} memory{self._of(item)}"

    def _broadcasting(self) -> Iterator[str]:
        shapes = [item.array.data.shape for item in self._inputs]
        if len({*shapes}) < 2:
            return
        try:
            whole = np.broadcast_shapes(*shapes)
        except ValueError:
            return
        for item in self._inputs:
            if item.array.data.shape != whole:
                full = [item.with_data(np.ascontiguousarray(np.broadcast_to(item.array.data, whole)))]
                if self._with(full) == "passes" and self._is_the_same(full):
                    yield f"only where {self._names[self._inputs.index(item)]} is broadcast"

    def _is_the_same(self, others: Iterable[Input]) -> bool:
        """Whether the reference computes the same with `others`, as an operator does that really broadcasts."""
        held = [
            [
                values[call.slot].data
                for call in program.calls
                if call.slot in values and call.kind != "tensor" and call.note != LAYOUT
            ]
            for program in (self._program, with_inputs(self._program, others))
            for values in [self._values_of(program)]
        ]
        return len(held[0]) == len(held[1]) and all(
            one.shape == other.shape and np.allclose(one, other, equal_nan=True)
            for one, other in zip(*held, strict=True)
        )

    def _numbers(self, *, special_only: bool) -> Iterator[str]:
        if len(self._inputs) == 2 and not special_only and self._equals():
            yield f"only where elements of {self._names[0]} and {self._names[1]} are equal"
            return
        for item, name in zip(self._inputs, self._names, strict=True):
            own = name if len(self._inputs) > 1 else ""
            yield from number_clauses(item.array, own, self._holding(item), special_only=special_only)

    def _equals(self) -> bool:
        """Whether the failure needs equal numbers in both inputs, for any numbers."""
        one, two = self._inputs
        if one.array.data.dtype.kind == "b" or two.array.data.dtype.kind == "b":
            return False
        up = [item.with_data(item.array.data + 1) for item in (one, two)]
        return self._with(up) == "fails" and self._with(up[:1]) == self._with(up[1:]) == "passes"

    def _ranks(self) -> Iterator[str]:
        """Yield the clause on the rank, if it can be changed with the same elements.

        This skips programs whose calls have an integer argument, which may name a dimension.
        """
        ranks = {item.array.data.ndim for item in self._inputs}
        called = [call for call in self._program.calls if call.kind != "tensor" and not is_backward(call)]
        if len(ranks) != 1 or any(type(item) is int for call in called for item in leaves((call.args, call.kwargs))):
            return
        rank = ranks.pop()
        shapes = [item.array.data.shape for item in self._inputs]
        lower: ProgramOutcome = "neither"
        if rank > 1 or all(shape == (1,) for shape in shapes):
            merged = [(shape[0] * shape[1], *shape[2:]) if rank > 1 else () for shape in shapes]
            pairs = zip(self._inputs, merged, strict=True)
            lower = self._with([item.with_data(item.array.data.reshape(shape)) for item, shape in pairs])
        higher = self._with([item.with_data(item.array.data[None]) for item in self._inputs])
        if rank == 0 and higher == "passes":
            yield "only with rank 0"
        elif lower == higher == "passes":
            yield f"only with rank {rank}"
        elif lower == "passes" and rank > 1:
            yield f"needs rank {rank} or more"

    def _sizes(self, *, telling: bool) -> Iterator[str]:
        """Yield clauses on the sizes.

        A size of 2 is only tested if `telling`: other features imply that there are two elements.
        """
        shapes = [item.array.data.shape for item in self._inputs]
        for size in sorted({size for shape in shapes for size in shape}, reverse=True):
            elements = max((len(shape) for shape in shapes), default=0) == 1
            if size == 1:
                grown = [self._lengthened(1, other) for other in (2, 3)]
                if "passes" in grown and "fails" not in grown:
                    yield "only with 1 element" if elements else "only with a dimension of 1"
            elif size == 0:
                if self._resized(0, 1) == "passes":
                    yield "only without elements"
            elif size > 2 or telling:
                less = [self._resized(size, other) for other in dict.fromkeys((size - 1, size // 2, 1))]
                more = [self._lengthened(size, other) for other in (size + 1, 2 * size)]
                if less[0] == "passes" and "fails" not in less:
                    only = "only with" if more == ["passes", "passes"] else "needs"
                    beyond = "" if more == ["passes", "passes"] else " or more"
                    yield f"{only} {size} elements{beyond}" if elements else f"{only} a dimension of {size}{beyond}"

    def _lengthened(self, size: int, other: int) -> ProgramOutcome:
        """Run the program with every dimension of `size` grown to `other`, with its numbers in several orders.

        It passes only if it does so in each of them: some operators depend on the first or the last number alone.
        """
        endings = {self._resized(size, other, mode) for mode in ("wrap", "clip")}
        return "fails" if "fails" in endings else "neither" if "neither" in endings else "passes"

    def _resized(self, size: int, other: int, mode: Literal["wrap", "clip"] = "wrap") -> ProgramOutcome:
        """Run the program with every dimension of `size` changed to `other`.

        A dimension is cut, or its numbers are repeated: all of them (`mode` "wrap"), or the last one ("clip").
        """
        changed = []
        for item in self._inputs:
            data = item.array.data
            for axis, length in enumerate(data.shape):
                if length == size:
                    places = np.arange(other)
                    data = np.take(data, places, axis=axis, mode=mode) if length else _grown(data, axis)
            if data.shape != item.array.data.shape:
                changed.append(item.with_data(data))
        return self._with(changed)

    def _dtypes(self) -> Iterator[str]:
        for kinds in (_FLOATING, _WHOLE):
            found = {item.array.dtype for item in self._inputs if item.array.dtype in kinds}
            if len(found) != 1:
                continue
            own = found.pop()
            others = [self._as(own, kind) for kind in kinds[: len(kinds) if kinds is _WHOLE else 2] if kind != own]
            if "passes" in others and "fails" not in others:
                yield f"only in {own}"

    def _as(self, own: str, other: str) -> ProgramOutcome:
        changed = []
        for item in self._inputs:
            if item.array.dtype == own:
                carrier = np.dtype("float32" if other == "bfloat16" else other)
                data = item.array.data
                if carrier.kind in "iu" and data.size:
                    limits = np.iinfo(carrier)
                    if data.min() < limits.min or data.max() > limits.max:
                        return "neither"
                changed.append(item.with_data(data.astype(carrier), other))
        return self._with(changed)

    def _gradients(self) -> Iterator[str]:
        frozen = [item for item in self._inputs if not item.requires_grad and item.array.dtype in _FLOATING]
        if frozen and self._with([dataclasses.replace(item, requires_grad=True) for item in frozen]) == "passes":
            names = [self._names[self._inputs.index(item)] for item in frozen]
            alone = len(frozen) == len(self._inputs)
            verb = "require" if len(names) > 1 else "requires"
            yield "only with requires_grad=False" if alone else f"only where {' and '.join(names)} {verb} no grad"
        if any(is_backward(call) for call in self._program.calls):
            return
        asking = [item for item in self._inputs if item.requires_grad]
        plain = [dataclasses.replace(item, requires_grad=False) for item in asking]
        if asking and self._with(plain) == "passes":
            yield "only with requires_grad=True"

    def _negative_arguments(self) -> Iterator[str]:
        """Yield a clause for each negative argument, if the same dimension or the positive number passes."""
        rank = max((item.array.data.ndim for item in self._inputs), default=0)
        for call in self._program.calls:
            if call.kind not in ("function", "method") or is_backward(call) or call.note:
                continue
            places = [(None, place) for place in range(len(call.args))] + [(key, 0) for key in call.kwargs]
            for key, place in places:
                item = call.kwargs[key] if key else call.args[place]
                if type(item) not in (int, float) or item >= 0:
                    continue
                others = [-item] if type(item) is float else [item + max(rank, 1), -item]
                endings = [self._run(_given(self._program, call, key, place, other)) for other in others]
                if "passes" in endings[:1] and (key in _DIMENSIONS or "fails" not in endings):
                    yield f"only where {key or f'the {item!r} of {call.target}'} is negative"


#: The names of arguments for a dimension, whose negative values count from the last one.
_DIMENSIONS = frozenset(("dim", "axis", "dim0", "dim1"))


def _given(program: Program, call: Call, key: str | None, place: int, other: float) -> Program:
    """Return `program` with the number `other` in one argument of `call`."""
    if key is None:
        changed = call._replace(args=(*call.args[:place], other, *call.args[place + 1 :]))
    else:
        changed = call._replace(kwargs={**call.kwargs, key: other})
    calls = tuple(changed if old.slot == call.slot else old for old in program.calls)
    return Program(calls, program.arrays, program.undefined)


def _grown(data: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    return np.ones((*data.shape[:axis], 1, *data.shape[axis + 1 :]), data.dtype)


__all__ = ["OutOfTime", "Run", "decisive_features"]
