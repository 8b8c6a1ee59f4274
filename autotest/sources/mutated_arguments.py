"""Changes the arguments of a program's calls: numbers, flags and types, missing arguments, one tensor twice."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from autotest.program import VIEW, Program, Ref, Root, leaves, map_call, reading, with_leaves, without_keyword
from autotest.program.rewriting import with_call
from autotest.program.semantics import is_class, is_setting
from autotest.sources.mutated_inputs import Mutation

#: Calls that only copy or lay out an input.
_ARRANGING: Final = frozenset("clone permute expand as_strided view_as".split())
#: Replacement floats: values that float32 must round, zero, very small and very large values, infinities and NaN.
_FRACTIONS: Final = (0.0, 0.1, -0.1, 1.0, -1.0, 0.7, 1.1, 2.5, 1e-30, 1e30, float("inf"), float("-inf"), float("nan"))
#: Replacement integers, which are rare and often invalid, and the number of arguments per program that get them.
_BOUNDS: Final = (0, -1, 100)
_BOUNDED: Final = 4
#: Dtypes between which a dtype argument is changed.
_DTYPES: Final = ("float32", "float64", "int64", "int32", "bool")
#: Replacement indices: negative, a range at the end, a step, empty, a list, and a bool; and ranges up to the end.
INDICES: Final = (-1, slice(-2, None), slice(None, None, 2), slice(0, 0), [0, -1], True)
UP_TO_THE_END: Final = (slice(None, -1), slice(-3, -1), slice(1, -1, 2))
#: Multiplied by this, most floats are up to half a unit in the last place away from a float32.
_FACTOR: Final = 0.9876543210123


def _subjects(program: Program) -> list[int]:
    """Return the calls whose arguments are worth changing: those that compute something, and always the last.

    A call that constructs a module is excluded if the program loads the module's parameters, because their sizes would
    not fit a module with other arguments.
    """
    last = len(program.calls) - 1
    loads = any(call.kind == "load_state" for call in program.calls)
    found = [
        call.slot
        for call in program.calls[:-1]
        if call.kind in ("function", "method")
        and call.target not in _ARRANGING
        and not (call.note or is_setting(call) or (loads and is_class(call)))
    ]
    return [*found, last]


def _changed(
    program: Program, source: random.Random, fits: Callable[[Any], bool], change: Callable[[Any], Sequence[Any]]
) -> Program | None:
    """Set one argument that `fits`, of one call, to one of the values that `change` offers; None if none fits."""
    places = [
        (slot, place)
        for slot in _subjects(program)
        for place, item in enumerate(leaves((program.calls[slot].args, program.calls[slot].kwargs)))
        if fits(item)
    ]
    if not places:
        return None
    slot, chosen = source.choice(places)
    call = program.calls[slot]
    old = leaves((call.args, call.kwargs))[chosen]
    new = source.choice([new for new in change(old) if new != old or type(new) is not type(old)])
    return with_call(program, with_leaves(call, {chosen: new}))


#: Sets one integer, such as a dim, to a negative, zero, off-by-one or out-of-range value.
number: Final = functools.partial(
    _changed,
    fits=lambda item: type(item) is int,
    change=lambda old: (-1, 0, 1, 2, old - 1, old + 1, -old, 7, -7, 100),
)
#: Sets one integer to -1, which is the last dimension if it is a dim.
last_dimension: Final = functools.partial(
    _changed, fits=lambda item: type(item) is int and item != -1, change=lambda old: (-1,)
)


def at_bounds(program: Program) -> Iterator[Program]:
    """Yield variants with one of the first few numbers at a bound: `_BOUNDS` or a size, or 0.0 or 2 instead of a float.

    Two adjacent integers are also set to 0 and a size, such as a start and a length that take everything.
    """
    shapes = [program.arrays[call.args[0].index].data.shape for call in program.inputs()][:1]
    sizes = dict.fromkeys(size for shape in shapes for size in (*shape[:1], *shape[-1:]))
    left = _BOUNDED
    for slot in _subjects(program):
        call = program.calls[slot]
        given = leaves((call.args, call.kwargs))
        numbers = [place for place, item in enumerate(given) if type(item) in (int, float)][:left]
        left -= len(numbers)
        changes = [{place: bound} for place in numbers for bound in _bounds(given[place], sizes)]
        adjacent = [(place, [*map(type, given[place : place + 2])]) for place in range(min(len(given), _BOUNDED))]
        changes += [{place: 0, place + 1: size} for place, kinds in adjacent if kinds == [int, int] for size in sizes]
        yield from (with_call(program, with_leaves(call, change)) for change in changes)


def _bounds(number: int | float, sizes: Iterable[int]) -> Iterator[int | float]:
    """Yield what may stand for `number` at a bound; another type counts as another value."""
    for bound in dict.fromkeys([*_BOUNDS, *sizes]) if type(number) is int else (0.0, 2):
        if bound != number or type(bound) is not type(number):
            yield bound


def moved(program: Program, source: random.Random) -> Program | None:
    """Replace one integer of a list by 0 and add it to another: some lists must keep their sum."""

    def offered(old: Sequence[int]) -> Sequence[Sequence[int]]:
        gone, greater = source.sample(range(len(old)), 2)
        return [[0 if at == gone else size + old[gone] * (at == greater) for at, size in enumerate(old)]]

    return _with_list(program, source, lambda old: len(old) > 1, offered)


def listed(program: Program, source: random.Random) -> Program | None:
    """Change a list of integers, such as dims or sizes: reversed, one shorter, one longer, or with distinct values."""

    def offered(old: Sequence[int]) -> Sequence[Sequence[int]]:
        return old[::-1], old[:-1], [*old, *old[-1:]], [value + place for place, value in enumerate(old)]

    return _with_list(program, source, lambda old: len(old) > 0, offered)


def without_numbers(program: Program, source: random.Random) -> Program | None:
    """Replace a list of integers, such as dims, by an empty list; if there is no such list, replace an integer."""
    emptied = _with_list(program, source, lambda old: len(old) > 0, lambda old: [[]])
    return emptied or _changed(program, source, lambda item: type(item) is int, lambda old: ([],))


def _with_list(
    program: Program,
    source: random.Random,
    fits: Callable[[Sequence[int]], bool],
    change: Callable[[Sequence[int]], Sequence[Sequence[int]]],
) -> Program | None:
    """Set one list of integers that `fits` to one of the different lists that `change` offers; None if none fits."""
    places = [
        (slot, value)
        for slot in _subjects(program)
        for value in (*program.calls[slot].args, *program.calls[slot].kwargs.values())
        if isinstance(value, (tuple, list)) and all(type(item) is int for item in value) and fits(value)
    ]
    if not places:
        return None
    slot, old = source.choice(places)
    others = [new for new in change(old) if list(new) != list(old)]
    if not others:
        return None
    new = type(old)(source.choice(others))
    call = program.calls[slot]
    args = tuple(new if value is old else value for value in call.args)
    kwargs = {name: new if value is old else value for name, value in call.kwargs.items()}
    return with_call(program, call._replace(args=args, kwargs=kwargs))


def exchanged(program: Program, source: random.Random) -> Program | None:
    """Exchange two numbers of one call, such as the bounds of an interval."""
    places = [
        (call, one, other)
        for call in (program.calls[slot] for slot in _subjects(program))
        for (one, first), (other, second) in itertools.combinations(enumerate(leaves((call.args, call.kwargs))), 2)
        if type(first) is type(second) and type(first) in (int, float) and first != second
    ]
    if not places:
        return None
    call, one, other = source.choice(places)
    values = list(leaves((call.args, call.kwargs)))
    return with_call(program, with_leaves(call, {one: values[other], other: values[one]}))


def parts_of(others: Sequence[Any]) -> Callable[[tuple[Any, ...]], Sequence[tuple[Any, ...]]]:
    """Return a function that replaces one part of an index by one of `others`."""
    return lambda parts: [
        (*parts[:place], other, *parts[place + 1 :]) for place in range(len(parts)) for other in others
    ]


def index(change: Callable[[tuple[Any, ...]], Sequence[tuple[Any, ...]]]) -> Mutation:
    """Return a mutation that changes an index that is read or assigned to one that `change` offers for its parts."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        items = [call for call in program.calls if call.target in ("getitem", "setitem") and call.note != VIEW]
        if not items:
            return None
        call = source.choice(items)
        changed = source.choice(change(_parts(call.args[1])))
        return with_call(program, call._replace(args=(call.args[0], changed, *call.args[2:])))

    return mutated


def _parts(index: Any) -> tuple[Any, ...]:
    """Return the parts of an index by dimension. A list of anything but integers is equivalent to a tuple."""
    if type(index) is tuple or (type(index) is list and not all(isinstance(item, int) for item in index)):
        return tuple(index)
    return (index,)


def from_the_end(program: Program, source: random.Random) -> Program | None:
    """Count one integer that may be a dim from the end, for the rank of an input or a rank greater by one."""
    ranks = sorted({program.arrays[call.args[0].index].data.ndim for call in program.inputs()} - {0})
    if not ranks:
        return None
    rank = source.choice(ranks)
    return _changed(
        program,
        source,
        lambda item: type(item) is int and 0 <= item <= rank,
        lambda old: (old - rank, old - rank - 1),
    )


#: Changes a dtype argument, as in ``sum(x, dtype=torch.float64)``.
dtype: Final = functools.partial(
    _changed,
    fits=lambda item: type(item) is Root and item.path in _DTYPES,
    change=lambda old: [Root(name) for name in _DTYPES],
)
fraction: Final = functools.partial(
    _changed, fits=lambda item: type(item) is float, change=lambda old: (*_FRACTIONS, -old, old + 0.3, old * 1.1)
)


def exact_fractions(program: Program, source: random.Random) -> Program | None:
    """Change all floats to values of similar size that float32 must round."""

    def leaf(item: Any) -> Any:
        return item * _FACTOR if type(item) is float and math.isfinite(item) else item

    calls = tuple(call if call.kind == "tensor" else map_call(call, leaf) for call in program.calls)
    return None if calls == program.calls else dataclasses.replace(program, calls=calls)


flag: Final = functools.partial(_changed, fits=lambda item: type(item) is bool, change=lambda old: (not old,))
#: Changes the type of a number: a float to an integer or a bool, an integer to a float or a bool.
other_type: Final = functools.partial(
    _changed,
    fits=lambda item: type(item) in (int, float),
    change=lambda old: (float(old), bool(old)) if type(old) is int else (2, True),
)


def dropped(program: Program, source: random.Random) -> Program | None:
    """Omit an argument of a call: a keyword argument, or the last positional one."""
    slots = [slot for slot in _subjects(program) if program.calls[slot].kwargs or len(program.calls[slot].args) > 1]
    if not slots:
        return None
    call = program.calls[source.choice(slots)]
    choices: list[str | None] = [*sorted(call.kwargs)]
    if len(call.args) > 1 and call.kind != "operator":
        choices.append(None)
    if not choices:
        return None
    gone = source.choice(choices)
    if gone is None:
        return with_call(program, call._replace(args=call.args[:-1]))
    return with_call(program, without_keyword(call, gone))


def twice(count: int) -> Mutation:
    """Return a mutation that passes one tensor in place of up to `count` of those of the last call, also in lists."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        last = program.calls[-1]
        read = {name: value for name, value in last.kwargs.items() if name != "out"}
        slots = {item.slot: None for item in leaves((last.args, read)) if type(item) is Ref}
        tensors = [slot for slot in slots if not is_class(program.calls[slot])]
        if len(tensors) < 2:
            return None
        kept, *gone = sorted(source.sample(tensors, min(count, len(tensors))), key=tensors.index)
        changed = reading(last._replace(kwargs=read), dict.fromkeys(gone, Ref(kept)))
        return with_call(program, changed._replace(kwargs={**last.kwargs, **changed.kwargs}))

    return mutated


def numbers_of_tensors(count: int) -> Mutation:
    """Return a mutation that passes numbers in place of the last `count` tensors, but never of the first."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        last = program.calls[-1]
        tensors = [place for place, item in enumerate(last.args) if type(item) is Ref][1:]
        if not tensors:
            return None
        values = {place: source.choice((2, 0.1, -1, True)) for place in tensors[-count:]}
        args = tuple(values.get(place, item) for place, item in enumerate(last.args))
        return with_call(program, last._replace(args=args))

    return mutated
