"""Finds the arguments that a failure needs: a flag, a word, zero, a negative number, one that is given at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from autotest.diagnosis.explaining.outcomes import OnPrograms, ProgramOutcome, together
from autotest.program import Call, Program, leaves, with_leaves, without_keyword
from autotest.program.inputs import Input
from autotest.program.rewriting import with_call
from autotest.program.semantics import is_backward

#: The names of arguments for a dimension, whose negative values count from the last one.
_DIMENSIONS: Final = frozenset(("dim", "axis", "dim0", "dim1"))
#: Numbers with which a failure that needs a zero is tried.
_NOT_ZERO: Final = (1, 2, -1, 0.5)
#: The argument of layers with which results are random unless it is 0 or 1, which drops what the failure is in.
_RANDOM: Final = "dropout"
#: What a fraction with which a failure is tried is multiplied by, once a smaller one and then greater ones.
_MULTIPLES: Final = (0.5, 1.5, 2.0, 3.0)
#: Numbers with which a failure that needs an infinity, as the order of a norm, is tried.
_NOT_INFINITE: Final = (1.0, 2.0, 3.0, 10.0)
#: Numbers of elements of other inputs with which a failure that needs an argument is tried: beyond a block, too.
_ELEMENTS: Final = 11
#: How many rows and columns take the place of one in further ones.
_ROWS: Final = 3


#: Returns words that arguments of a call may be, and perhaps other ones.
WordsOf: TypeAlias = Callable[[Call], Sequence[str]]


class Argument(NamedTuple):
    """An argument of a call, by its name or by its place."""

    call: Call
    #: The name, or None for the argument at `place`.
    key: str | None
    place: int
    value: Any

    @property
    def shown(self) -> str:
        return self.key or f"the {self.value!r} of {self.call.target}"

    @property
    def may_be_a_dimension(self) -> bool:
        """Whether it may be a dimension, or several: other ones have other sizes, too, so that these may decide."""
        if self.key is None:
            return type(self.value) is int
        return any(part in self.key for part in ("dim", "axis", "axes"))

    def given(self, program: Program, other: Any) -> Program:
        """Return `program` with `other` in the place of the argument."""
        call = self.call
        if self.key is None:
            return with_call(
                program, call._replace(args=(*call.args[: self.place], other, *call.args[self.place + 1 :]))
            )
        return with_call(program, call._replace(kwargs={**call.kwargs, self.key: other}))

    def left_out(self, program: Program) -> Program:
        """Return `program` without the argument, which has a name."""
        return with_call(program, without_keyword(self.call, self.key))


def argument_clauses(
    program: Program,
    inputs: Sequence[Input],
    run: OnPrograms,
    told: Collection[Argument] = (),
    whole_fails: Callable[[Argument, Callable[[Argument, Program], Program]], bool] = lambda argument, changed: False,
    words_of: WordsOf = lambda call: (),
) -> Iterator[str]:
    """Yield a clause for each argument of `program` with whose other values the sides agree.

    Args:
        program: the failing program, already shrunk.
        inputs: its inputs.
        run: returns how a program ends on other inputs.
        told: the arguments of which more is known already.
        whole_fails: returns whether the whole trial also fails with another value of an argument, and so for another
            reason.
        words_of: returns words that arguments of a call may be.
    """
    numbers = [[], *other_numbers(inputs)]

    def ends(other: Program, beside: Sequence[Sequence[Input]] = ()) -> ProgramOutcome:
        """Return how `other` ends, also on other numbers than those that the program was shrunk to."""
        endings: list[ProgramOutcome] = []
        for changed in (*numbers, *beside):
            endings.append(run(other, changed))
            if endings[-1] == "fails":
                break
        return together(endings)

    def given(argument: Argument, value: Any) -> ProgramOutcome:
        """Return how the program ends with another `value`, also where elements follow that were equal to the first."""
        following = [_following(item, argument.value, value) for item in inputs]
        moved = any(one is not item for one, item in zip(following, inputs, strict=True))
        return ends(argument.given(program, value), [following] if moved else [])

    for argument in arguments_of(program):
        value, key = argument.value, argument.key
        if argument in told or key == _RANDOM:
            continue
        if type(value) in (int, float) and value < 0:
            if math.isinf(value) or ends(_shifted(argument, program)) != "fails":
                yield from _negative(argument, inputs, given)
        elif type(value) is bool:
            if ends(_turned(argument, program)) == "passes" and not whole_fails(argument, _turned):
                yield _of_flag(argument)
        elif argument.may_be_a_dimension:
            continue
        elif type(value) in (int, float) and value == 0 and _needs_zero(argument, given):
            yield f"only where {key} is zero" if key else f"only with {argument.shown}"
        elif type(value) is str and key is not None:
            words = {word: given(argument, word) for word in words_of(argument.call) if word != value}
            omitted = ends(argument.left_out(program))
            # An argument that must be given may be another word.
            passes = "passes" in ([omitted] if omitted != "neither" else words.values())
            if passes and not whole_fails(argument, Argument.left_out):
                yield f"only with {key}={_or([value, *(word for word, ending in words.items() if ending == 'fails')])}"
        elif key is not None and ends(argument.left_out(program)) == "passes":
            if whole_fails(argument, Argument.left_out):
                continue
            alone = value is None or _needs_its_number(argument, given)
            yield f"only with {key}={value!r}" if alone else f"only where {key} is given"


def _shifted(argument: Argument, program: Program) -> Program:
    """Return `program` with all numbers of the call of `argument` greater by so much that this one is positive.

    A failure may need that one of two bounds is greater than the other, whatever both are.
    """
    call, more = argument.call, 1 - math.floor(argument.value)
    numbers = enumerate(leaves((call.args, call.kwargs)))
    moved = {place: one + more for place, one in numbers if type(one) in (int, float) and math.isfinite(one)}
    return with_call(program, with_leaves(call, moved))


def _or(words: Sequence[str]) -> str:
    """Return ``'reflect'``, ``'reflect' or 'circular'``, or more of them with commas."""
    *others, last = map(repr, words)
    return f"{', '.join(others)} or {last}" if others else last


def _turned(argument: Argument, program: Program) -> Program:
    """Return `program` with a flag turned."""
    return argument.given(program, not argument.value)


def _of_flag(argument: Argument) -> str:
    key, value = argument.key, argument.value
    if argument.call.kind == "method" and argument.call.target == "train":
        return f"only in {'training' if value else 'evaluation'} mode"
    return f"only with {key}={value}" if key else f"only with {argument.shown}"


def _following(item: Input, value: float, other: float) -> Input:
    """Return `item` with `other` in place of elements that are equal to `value`; `item` itself if there are none."""
    data = item.array.data
    if type(other) not in (int, float) or data.dtype.kind not in "fiu" or not (data == value).any():
        return item
    return item.with_data(np.where(data == value, np.asarray(other, data.dtype), data))


def _needs_zero(argument: Argument, given: Callable[[Argument, Any], ProgramOutcome]) -> bool:
    others = [type(argument.value)(other) for other in _NOT_ZERO]
    return together([given(argument, other) for other in others if other]) == "passes"


def _needs_its_number(argument: Argument, given: Callable[[Argument, Any], ProgramOutcome]) -> bool:
    """Return whether the failure needs just this fraction: with smaller and with greater ones, the sides agree."""
    value = argument.value
    if type(value) is not float or not value:
        return False
    others = _NOT_INFINITE if math.isinf(value) else [value * one for one in _MULTIPLES]
    smaller, *greater = [given(argument, other) for other in others]
    return smaller == "passes" and "fails" not in greater and greater.count("passes") > 1


def arguments_of(program: Program) -> Iterator[Argument]:
    """Yield the arguments of the calls of `program`, without those of backward calls and of this library's own."""
    for call in program.calls:
        if call.kind not in ("function", "method") or is_backward(call) or call.note:
            continue
        yield from (Argument(call, None, place, value) for place, value in enumerate(call.args))
        yield from (Argument(call, key, 0, value) for key, value in call.kwargs.items())


def _negative(
    argument: Argument, inputs: Sequence[Input], given: Callable[[Argument, Any], ProgramOutcome]
) -> Iterator[str]:
    """Yield a clause on a negative argument if the same dimension, or the positive number, passes."""
    rank = max((item.array.data.ndim for item in inputs), default=0)
    value = argument.value
    others = [-value] if type(value) is float else [value + max(rank, 1), -value]
    endings = [given(argument, other) for other in others]
    if "passes" in endings[:1] and (argument.key in _DIMENSIONS or "fails" not in endings):
        yield f"only where {argument.shown} is negative"


def other_numbers(inputs: Sequence[Input]) -> Iterator[list[Input]]:
    """Yield inputs of the same shapes with numbers of both signs that all differ, with fractions, and longer ones.

    Some layers take no single row, such as a batch norm in training mode. On numbers outside of its domain, such as
    that of a logarithm, a function gives NaN on both sides, which shows nothing.
    """
    if not inputs or any(item.array.data.dtype.kind not in "fi" for item in inputs):
        return
    yield [filled(item, item.array.data.shape) for item in inputs]
    if any(item.array.data.dtype.kind == "f" for item in inputs):
        yield [_with_fractions(item) for item in inputs]
    shapes = [item.array.data.shape for item in inputs]
    if len({*shapes}) == 1 and len(shapes[0]) < 2:
        yield [filled(item, (_ELEMENTS,)) for item in inputs]
    elif all(len(shape) > 1 and shape[0] == 1 for shape in shapes):
        yield [filled(item, (_ELEMENTS, *shape[1:])) for item, shape in zip(inputs, shapes, strict=True)]
    # Of a single number, norms of all orders are the same. Indices stay what they are.
    floating = [item for item in inputs if item.array.data.dtype.kind == "f"]
    if any(1 in item.array.data.shape for item in floating):
        larger = [item.with_size(1, _ROWS) for item in floating]
        yield [filled(item, item.array.data.shape) for item in larger]


def filled(item: Input, shape: tuple[int, ...]) -> Input:
    """Return `item` in this shape, with numbers of both signs that all differ."""
    count = int(np.prod(shape, dtype=int))
    return _holding(item, shape, (0.375 + np.arange(count)) * np.where(np.arange(count) % 3 == 1, -1.0, 1.0))


def _with_fractions(item: Input) -> Input:
    """Return `item` with numbers between 0 and 1 that all differ, if they are floating; else with those of `filled`."""
    data = item.array.data
    if data.dtype.kind != "f":
        return filled(item, data.shape)
    return _holding(item, data.shape, (0.375 + np.arange(data.size)) / max(data.size, 1))


def _holding(item: Input, shape: tuple[int, ...], numbers: np.ndarray[Any, Any]) -> Input:
    laid_out = item.with_layout("contiguous") if item.layout == "expanded" else item  # different numbers do not repeat
    return laid_out.with_data(numbers.reshape(shape).astype(item.array.data.dtype))
