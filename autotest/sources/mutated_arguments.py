"""Changes the arguments of a program's calls: other numbers, flags and types, fewer of them, one tensor twice."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from autotest.program import Call, Program, Ref, Root, leaves, map_operand
from autotest.program.semantics import is_class, is_setting
from autotest.sources.mutated_inputs import Mutation

#: Calls that put an input into its place.
_ARRANGING: Final = frozenset("clone permute expand as_strided view_as".split())
#: Fractions that single precision does not hold exactly, limits, and nothing.
_FRACTIONS: Final = (0.0, 0.1, -0.1, 1.0, -1.0, 0.7, 1.1, 2.5, 1e-30, 1e30, float("inf"), float("-inf"), float("nan"))
#: What a whole number is seldom and should not be, and whole numbers of one program that are each of them.
_BOUNDS: Final = (0, -1, 100)
_BOUNDED: Final = 4
#: The dtypes that are asked for.
_DTYPES: Final = ("float32", "float64", "int64", "int32", "bool")
#: Indices from the end, with a step, of nothing, of several, and of a flag.
INDICES: Final = (-1, slice(-2, None), slice(None, None, 2), slice(0, 0), [0, -1], True)
#: What makes of most fractions one that is half a unit of single precision off.
_FACTOR: Final = 0.9876543210123


def _subjects(program: Program) -> list[int]:
    """The calls whose arguments are worth changing: those that compute something, and always the last.

    What makes a module is such a call where the module is given no parameters, whose sizes would not fit another one.
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
    """One argument that fits, of one call, set to one of what `change` offers for it."""
    places = [
        (slot, place)
        for slot in _subjects(program)
        for place, item in enumerate(leaves((program.calls[slot].args, program.calls[slot].kwargs)))
        if fits(item)
    ]
    if not places:
        return None
    slot, chosen = source.choice(places)
    seen = -1

    def leaf(item: Any) -> Any:
        nonlocal seen
        seen += 1
        return (
            source.choice([new for new in change(item) if new != item or type(new) is not type(item)])
            if (seen == chosen)
            else item
        )

    call = program.calls[slot]
    args, kwargs = map_operand((call.args, call.kwargs), leaf)
    return _with_call(program, call._replace(args=args, kwargs=kwargs))


def _with_call(program: Program, call: Call) -> Program:
    return dataclasses.replace(program, calls=(*program.calls[: call.slot], call, *program.calls[call.slot + 1 :]))


def number(program: Program, source: random.Random) -> Program | None:
    """One whole number, such as a dim, negative, zero, one off, or out of range."""
    return _changed(
        program, source, lambda item: type(item) is int, lambda old: (-1, 0, 1, 2, old - 1, old + 1, -old, 7, -7, 100)
    )


def last_dimension(program: Program, source: random.Random) -> Program | None:
    """One whole number set to -1: as a dim the last one, in whatever way it was given."""
    return _changed(program, source, lambda item: type(item) is int and item != -1, lambda old: (-1,))


def at_bounds(program: Program) -> Iterator[Program]:
    """Each of its first few whole numbers at each of `_BOUNDS` and as great as a size; a fraction at nothing."""
    shapes = [program.arrays[call.args[0].index].data.shape for call in program.inputs()][:1]
    bounds = dict.fromkeys([*_BOUNDS, *(size for shape in shapes for size in (*shape[:1], *shape[-1:]))])
    found = 0
    for slot in _subjects(program):
        call = program.calls[slot]
        for place, item in enumerate(leaves((call.args, call.kwargs))):
            if type(item) in (int, float) and found < _BOUNDED:
                found += 1
                for bound in bounds if type(item) is int else (0.0,):
                    if bound != item:
                        yield _with_leaf(program, call, place, bound)


def _with_leaf(program: Program, call: Call, place: int, value: Any) -> Program:
    """`program` with another leaf at `place` of the operands of `call`."""
    counted = itertools.count()
    args, kwargs = map_operand((call.args, call.kwargs), lambda item: value if next(counted) == place else item)
    return _with_call(program, call._replace(args=args, kwargs=kwargs))


def moved(program: Program, source: random.Random) -> Program | None:
    """In a list of whole numbers nothing in place of one, and another one greater by it: some lists must keep a sum."""
    places = [
        (slot, value)
        for slot in _subjects(program)
        for value in (*program.calls[slot].args, *program.calls[slot].kwargs.values())
        if isinstance(value, (tuple, list)) and len(value) > 1 and all(type(item) is int for item in value)
    ]
    if not places:
        return None
    slot, old = source.choice(places)
    gone, greater = source.sample(range(len(old)), 2)
    if not old[gone]:
        return None
    sizes = [0 if at == gone else size + old[gone] * (at == greater) for at, size in enumerate(old)]
    call = program.calls[slot]
    args = tuple(type(old)(sizes) if value is old else value for value in call.args)
    kwargs = {name: type(old)(sizes) if value is old else value for name, value in call.kwargs.items()}
    return _with_call(program, call._replace(args=args, kwargs=kwargs))


def index(change: Callable[[tuple[Any, ...]], Sequence[tuple[Any, ...]]]) -> Mutation:
    """Another index of what is read or assigned: one of what `change` offers for its parts."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        items = [call for call in program.calls if call.target in ("getitem", "setitem") and call.note != "view"]
        if not items:
            return None
        call = source.choice(items)
        parts = call.args[1] if type(call.args[1]) is tuple else (call.args[1],)
        return _with_call(program, call._replace(args=(call.args[0], source.choice(change(parts)), *call.args[2:])))

    return mutated


def from_the_end(program: Program, source: random.Random) -> Program | None:
    """One whole number that may be a dim counted from behind: for an input's rank, or for one dimension more."""
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


def dtype(program: Program, source: random.Random) -> Program | None:
    """Another dtype where one is asked for, as in ``sum(x, dtype=torch.float64)``."""
    return _changed(
        program,
        source,
        lambda item: type(item) is Root and item.path in _DTYPES,
        lambda old: [Root(name) for name in _DTYPES],
    )


def fraction(program: Program, source: random.Random) -> Program | None:
    return _changed(
        program, source, lambda item: type(item) is float, lambda old: (*_FRACTIONS, -old, old + 0.3, old * 1.1)
    )


def exact_fractions(program: Program, source: random.Random) -> Program | None:
    """All fractions about as great as they were, and such that single precision rounds them."""

    def leaf(item: Any) -> Any:
        return item * _FACTOR if type(item) is float and math.isfinite(item) else item

    calls = tuple(
        call
        if call.kind == "tensor"
        else call._replace(args=map_operand(call.args, leaf), kwargs=map_operand(call.kwargs, leaf))
        for call in program.calls
    )
    return None if calls == program.calls else dataclasses.replace(program, calls=calls)


def flag(program: Program, source: random.Random) -> Program | None:
    return _changed(program, source, lambda item: type(item) is bool, lambda old: (not old,))


def other_type(program: Program, source: random.Random) -> Program | None:
    """A whole number where there was a fraction, a fraction or a flag where there was a whole number."""
    return _changed(
        program,
        source,
        lambda item: type(item) in (int, float),
        lambda old: (float(old), bool(old)) if type(old) is int else (2, True),
    )


def dropped(program: Program, source: random.Random) -> Program | None:
    """An argument of a call left out: an optional one by its name, or the last one by its position."""
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
        return _with_call(program, call._replace(args=call.args[:-1]))
    return _with_call(
        program, call._replace(kwargs={name: value for name, value in call.kwargs.items() if name != gone})
    )


def twice(count: int) -> Mutation:
    """The same tensor in place of up to `count` of those that the last call reads; also of those in a list."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        last = program.calls[-1]
        read = {name: value for name, value in last.kwargs.items() if name != "out"}
        slots = {item.slot: None for item in leaves((last.args, read)) if type(item) is Ref}
        tensors = [slot for slot in slots if not is_class(program.calls[slot])]
        if len(tensors) < 2:
            return None
        kept, *gone = sorted(source.sample(tensors, min(count, len(tensors))), key=tensors.index)

        def leaf(item: Any) -> Any:
            return Ref(kept) if type(item) is Ref and item.slot in gone else item

        args, kwargs = map_operand((last.args, read), leaf)
        return _with_call(program, last._replace(args=args, kwargs={**last.kwargs, **kwargs}))

    return mutated


def number_of_a_tensor(program: Program, source: random.Random) -> Program | None:
    """A number in place of the last of several tensors."""
    last = program.calls[-1]
    tensors = [place for place, item in enumerate(last.args) if type(item) is Ref]
    if len(tensors) < 2:
        return None
    value = source.choice((2, 0.1, -1, True))
    args = tuple(value if place == tensors[-1] else item for place, item in enumerate(last.args))
    return _with_call(program, last._replace(args=args))
