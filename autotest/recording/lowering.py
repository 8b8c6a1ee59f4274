"""Lowers arguments of the test body to objects of the reference, objects of the candidate, and operands."""

from __future__ import annotations

import functools
import io
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

import generators
from autotest.base.errors import UsageError, is_test_mistake
from autotest.frameworks import ABSENT, Made, files
from autotest.program import Array, CallKind, Operand, Ref, Root, numpy_scalars, plain_container
from autotest.recording.files import with_own_files
from autotest.recording.record import Record
from generators import NOTHING
from generators.annotations import describe, element

# Hides the frames of this module from pytest's traceback of an error made by the test, which then ends at the test.
__tracebackhide__ = is_test_mistake

#: Types whose values are the same on both sides and in the program.
LITERALS = frozenset((type(None), bool, int, float, complex, str, type(Ellipsis)))

#: What stands for a value of the test body in a call: on the reference, on the candidate, and in the program.
Lowered: TypeAlias = tuple[Any, Any, Operand]
#: Types of results that reading consumes. They are turned into a list at once.
ITERATORS = (types.GeneratorType, map, filter, zip)
#: Functions that get the path of a file. Each side needs a file of its own.
_ABOUT_FILES = frozenset((files.SAVES, files.LOADS))


class LiveRecord(Record):
    """The part of the recorder's interface that lowering needs: a record that makes calls as it writes them."""

    __slots__ = ()

    def call(
        self,
        kind: CallKind,
        target: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        owner: Lowered | None = None,
    ) -> int:
        """Make a call on both sides and record it. Returns its slot."""
        raise NotImplementedError

    def tensor(self, array: Array, *, requires_grad: bool = False, device: str = "cpu", note: str = "") -> int:
        """Create a tensor on both sides and record it. Returns its slot."""
        raise NotImplementedError


# Builds a NamedTuple at half the cost of its own constructor. Every call of every trial builds one.
_made = tuple.__new__


class LoweredArguments(NamedTuple):
    """The arguments of one call: for the reference, for the candidate, and in the program."""

    expected: Sequence[Any]
    actual: Sequence[Any]
    operands: tuple[Operand, ...]
    expected_named: dict[str, Any]
    actual_named: dict[str, Any]
    named: dict[str, Operand]


def lower_arguments(
    recorder: LiveRecord,
    called: tuple[CallKind, str],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    owner: Lowered | None,
) -> LoweredArguments:
    """Lower the arguments of the function or method `called`, its `owner` first. `nothing` leaves an argument out."""
    if called[1] in _ABOUT_FILES and called[0] == "function":
        args, kwargs = with_own_files(called[1], args, kwargs)
    positional = [] if owner is None else [owner]
    for position, value in enumerate(args):
        kind = type(value)
        if kind in LITERALS:
            positional.append((value, value, value))
        elif hasattr(kind, "_lower"):  # dual, the most common: needs no annotation
            positional.append(value._lower(recorder))
        else:
            annotation = functools.partial(_annotation, recorder, called, owner, args, kwargs, position)
            lowered = lower(recorder, value, annotation)
            if lowered[0] is not NOTHING:
                positional.append(lowered)
    expected, actual, operands = zip(*positional, strict=True) if positional else ((), (), ())
    given: LoweredArguments = _made(LoweredArguments, (expected, actual, operands, {}, {}, {}))
    for key, value in kwargs.items():
        annotation = functools.partial(_annotation, recorder, called, owner, args, kwargs, key)
        one, other, operand = lower(recorder, value, annotation)
        if one is not NOTHING:
            given.expected_named[key] = one
            given.actual_named[key] = other
            given.named[key] = operand
    return given


def _annotation(
    recorder: LiveRecord,
    called: tuple[CallKind, str],
    owner: Lowered | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    key: int | str,
) -> Any:
    """Return the reference's annotation of the argument with this position or keyword, or None if it has none."""
    asked = recorder.pair.annotations(*called, None if owner is None else owner[0], len(args), tuple(kwargs))
    return asked.get(key)


def lower(recorder: LiveRecord, value: Any, annotation: Callable[[], Any]) -> Lowered:
    """Return an argument as the reference's object, the candidate's object, and the operand in the program.

    `annotation` is called only for a generator that has no type of its own.
    """
    kind = type(value)
    if kind in LITERALS:
        return value, value, value
    lowered: Callable[[Any, LiveRecord], Lowered] | None = getattr(kind, "_lower", None)
    if lowered is not None:
        return lowered(value, recorder)
    if isinstance(value, generators.Generator):
        return lower(recorder, value.draw(annotation()), annotation)
    drawn = generators.as_generator(value)
    if drawn is not value:
        return lower(recorder, drawn, annotation)
    if kind is tuple or kind is list:
        return _sequence(recorder, value, annotation, kind)
    if kind is dict or kind is OrderedDict:
        items = {key: lower(recorder, item, lambda: None) for key, item in value.items()}
        kept = {key: triple for key, triple in items.items() if triple[0] is not NOTHING}
        return tuple(kind((key, triple[side]) for key, triple in kept.items()) for side in range(3))  # type: ignore[return-value]
    if kind is slice:
        bounds = [lower(recorder, item, lambda: None) for item in (value.start, value.stop, value.step)]
        bounds = [(None,) * 3 if bound[0] is NOTHING else bound for bound in bounds]
        return tuple(slice(*side) for side in zip(*bounds, strict=True))  # type: ignore[return-value]
    return _foreign(recorder, value)


def _sequence(recorder: LiveRecord, items: Any, annotation: Callable[[], Any], kind: type) -> tuple[Any, Any, Any]:
    count = len(items)
    triples = [
        lower(recorder, item, functools.partial(_element, annotation, at, count)) for at, item in enumerate(items)
    ]
    triples = [triple for triple in triples if triple[0] is not NOTHING]
    return kind([t[0] for t in triples]), kind([t[1] for t in triples]), kind([t[2] for t in triples])


def _foreign(recorder: LiveRecord, value: Any) -> Lowered:
    """Lower an object that is neither dual nor plain: one of a framework, of NumPy, or of the test."""
    if value is NOTHING:
        return value, value, value
    if (isinstance(value, type) and issubclass(value, generators.Generator)) or value is generators.random_bool:
        raise UsageError(f"{value.__name__} itself is not a generator: write {value.__name__}(...)")
    if isinstance(value, np.ndarray):
        return value.copy(), value.copy(), recorder.capture(Array(value.copy(), str(value.dtype)))
    if isinstance(value, np.generic):
        return value, value, value if numpy_scalars.is_scalar(value) else value.item()
    for framework in (recorder.pair.reference, recorder.pair.candidate):
        neutral = framework.literal(value)
        if neutral is not ABSENT:
            if isinstance(neutral, Made):
                slot = recorder.call("function", neutral.path, neutral.args, {})
                return recorder.expected[slot], recorder.actual[slot], Ref(slot)
            if isinstance(neutral, Root):
                both = recorder.pair.resolve(neutral.path)
                return both.expected, both.actual, neutral
            return neutral, neutral, neutral
        if isinstance(value, framework.tensor_types):
            (read,) = framework.values([value])
            slot = recorder.tensor(read.as_array(), requires_grad=read.requires_grad)
            return recorder.expected[slot], recorder.actual[slot], Ref(slot)
        if isinstance(value, framework.module_types):
            raise UsageError(
                f"a dual call got a module of {framework.name} itself, {type(value).__name__}: build it on both "
                "sides, with `from autotest import torch` and torch.nn.Linear(...)"
            )
    plain = plain_container(value)
    if plain is None:
        plain = _plain_scalar(value)
    if plain is not None:
        return lower(recorder, plain, lambda: None)
    if not recorder.pair.candidate.takes(value):
        raise UsageError(
            f"{recorder.pair.candidate.name} runs in another process, which cannot get {value!r:.60}: expected plain "
            "data, a dual object, or the path of a file instead of a file in memory"
        )
    if isinstance(value, io.BytesIO):
        recorder.opaque = f"{type(value).__name__} objects are written and read differently by each side"
        return value, _twin_buffer(recorder, value), None
    recorder.opaque = f"an argument of type {type(value).__name__} ({value!r:.60}) is neither plain data nor dual"
    return value, value, None


def _plain_scalar(value: Any) -> Any:
    """Return the number or text of an instance of a subclass, such as a member of an `IntEnum`; None if it has none."""
    for kind, plain in _SCALARS:
        if isinstance(value, kind):
            return plain(value)
    return None


#: Types of plain values, with the function that returns one for an instance of a subclass, whatever that overrides.
_SCALARS: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (int, int.__pos__),
    (float, float.__pos__),
    (complex, complex.__pos__),
    (str, str.__str__),
)


def _twin_buffer(recorder: LiveRecord, buffer: io.BytesIO) -> io.BytesIO:
    """Return the candidate's copy of a buffer that a test passes to ``torch.save`` and ``torch.load``.

    If the test rewinds or empties its buffer between calls, the copy is changed in the same way. Other changes are not
    visible here.
    """
    twin = recorder.twins.get(id(buffer))
    if twin is None:
        twin = recorder.twins[id(buffer)] = io.BytesIO(buffer.getvalue())
        recorder.held.append(buffer)
        twin.seek(buffer.tell())
    elif not buffer.tell():
        twin.seek(0)
        if not buffer.getbuffer().nbytes:
            twin.truncate()
    return twin


def _element(annotation: Callable[[], Any], position: int, count: int) -> Any:
    """Return the annotation of one item of a sequence, from the annotation of the whole sequence."""
    wanted = annotation()
    return None if wanted is None else element(describe(wanted), position, count)


def may_be_left_out(value: Any) -> bool:
    """Return whether an argument is a generator that draws `nothing` in some trials."""
    if not isinstance(value, generators.Generator):
        return False
    return isinstance(value, generators.nothing) or any(map(may_be_left_out, value.children))
