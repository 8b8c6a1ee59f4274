"""Second opinions on the result of a forward call: NumPy's, and those of the reference's own second implementations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import TensorValue
from autotest.comparison.elementwise import distance
from autotest.diagnosis.agreement import Place, results
from autotest.diagnosis.numpy_factors import PROPERTIES, distances
from autotest.diagnosis.numpy_oracle import numpy_result
from autotest.diagnosis.numpy_values import Unsettled
from autotest.diagnosis.operand_scale import AnswerFunction, greatest, operand_scale
from autotest.diagnosis.roundoff import ROUNDOFF
from autotest.diagnosis.scipy_counterparts import special_result
from autotest.diagnosis.verdict import OracleResult
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import freeze
from autotest.frameworks.requests import FunctionCalled
from autotest.program import Call, Program, Ref, leaves, map_operand, refs
from autotest.program.paths import indices_of
from autotest.program.randomness import KnownContents, contents_of
from autotest.program.semantics import OPERATIONS, asked_in_place, in_place, is_module_call
from autotest.replaying.replay import live_operands, perform, replay

_PLAIN = (type(None), bool, int, float, complex, str, type(Ellipsis))
#: Stands for no rounding at all where one divides by what is allowed.
_LEAST = 1e-300


def opinions(
    program: Program,
    place: Place,
    pair: Pair,
    *,
    about: Sequence[str] = ("value",),
    writer: int | None = None,
    given: Sequence[Mapping[Place, Any]] | None = None,
) -> tuple[OracleResult, ...]:
    """How far each side is from what others compute for the call at `place`: NumPy, and the reference's own
    second implementations.

    `about` is all that is asked: the value (of a program in double precision), the shape or the dtype.
    `writer` is the call to ask about when it wrote in place what is seen at `place`. `given` is what each side gives
    for the program, which is run on both where that is not known.
    """
    slot = place[0] if writer is None or writer < place[0] else writer
    if program.calls[slot].kind not in OPERATIONS or _under_autocast(program, slot):
        return ()
    # A module of one side may do more than call its function.
    asked = _asked(program, slot, pair.reference) or _asked(program, slot, pair.candidate)
    if asked is None:
        return ()
    if contents_of(asked.path, asked.args, asked.kwargs) is not KnownContents.DEFINED or slot in program.undefined:
        return ()
    written = place[0] if asked.written is None else asked.written
    if place[0] not in (slot, written if asked.written is not None else slot):
        return ()  # what stands there was changed by a call that is not known to write there
    if slot == place[0] and _written_later(program, slot):
        return ()  # what stands there in the end is not what the call gave
    given = given or [results(program, side) for side in (pair.reference, pair.candidate)]
    one, other = (side.get(place) for side in given)
    if type(one) is not TensorValue or type(other) is not TensorValue:
        return ()
    found: list[OracleResult | None] = []
    answers: list[_Spoken] | None = None
    for topic in about:
        if topic == "dtype" and asked.written is not None:
            continue  # what is written into keeps its dtype, whatever is written
        if topic == "value" and asked.path in PROPERTIES:
            found += _by_definition(asked, place, given)
            continue
        if answers is None:
            answers = list(_answers(asked, pair, place[1]))
        found += [_opinion(spoken, asked, (one, other), topic) for spoken in answers]
    return tuple(oracle for oracle in found if oracle is not None)


def _by_definition(asked: _Question, place: Place, given: Sequence[Mapping[Place, Any]]) -> tuple[OracleResult, ...]:
    """What to say of factors, of which other ones may be as good."""
    words, count, _ = PROPERTIES[asked.path]
    held = [[side.get((place[0], f"[{at}]")) for at in range(count)] for side in given]
    sides = [[part for part in parts if type(part) is TensorValue] for parts in held]
    if any(len(parts) != count for parts in sides):
        return ()
    found = distances(asked.path, *asked.plain, [[part.data for part in parts] for parts in sides])
    if found is None:
        return ()
    allowed = max(1e-9, 1e3 * ROUNDOFF.get(sides[0][0].dtype, 0.0))
    return (OracleResult("the definition", words, (found[0], found[1]), allowed, several=True),)


def _written_later(program: Program, slot: int) -> bool:
    """Whether a later call writes into the value in `slot`, or into what was made of it and may be a view of it."""
    made = {slot}
    for call in program.calls[slot + 1 :]:
        owner = call.args[0] if call.args else None
        if type(owner) is Ref and owner.slot in made:
            if call.kind == "overwrite" or in_place(call) or asked_in_place(call):
                return True
            made.add(call.slot)
    return False


class _Question(NamedTuple):
    """A call as an oracle is asked about it."""

    path: str
    args: Any
    kwargs: Any
    #: The operands as arrays and plain values; what NumPy cannot hold is an object that nothing accepts.
    plain: tuple[Any, Any]
    #: The tensors among them.
    held: list[TensorValue]
    #: The slot of the operand that the result is written into, if there is one.
    written: int | None


def _asked(program: Program, slot: int, side: Framework) -> _Question | None:
    """What call `slot` comes down to on `side`, whose operands these are."""
    before = replay(program, side, upto=slot)
    if before.error is not None:
        return None
    call, values = program.calls[slot], before.values
    if is_module_call(call):
        try:
            called = side.function_called(lambda: perform(call, side, values, program.arrays, {}))
        except Exception:  # noqa: BLE001 - the framework's, whatever it is
            return None
        if called is None:
            return None
        owner = next((ref.slot for ref in refs(call) if values[ref.slot] is called.written), None)
    else:
        args, named = live_operands(call, side, values, program.arrays, {})
        out = call.kwargs.get("out", call.args[0] if call.args and (in_place(call) or asked_in_place(call)) else None)
        named.pop("out", None)
        if not args and "input" in named:  # which every oracle calls otherwise
            args = [named.pop("input")]
        called = FunctionCalled(_path(call), tuple(args), named)
        owner = out.slot if type(out) is Ref else None
    tensors = [item for item in leaves((called.args, called.kwargs)) if isinstance(item, side.tensor_types)]
    frozen = dict(zip(map(id, tensors), freeze(side, tensors), strict=True))
    held = list(frozen.values())
    unknown = object()

    def plain(item: Any) -> Any:
        if id(item) in frozen:
            return np.array(frozen[id(item)].data)
        return item if type(item) in _PLAIN else unknown

    spelt = map_operand(_plain_sizes(called.args), plain), map_operand(_plain_sizes(called.kwargs), plain)
    return _Question(called.path, called.args, called.kwargs, spelt, held, owner)


def _path(call: Call) -> str:
    if call.kind == "function":
        return call.target
    name = call.target.strip("_")
    return f"Tensor.{name.removeprefix('i') if call.kind == 'operator' and in_place(call) else name}"


def _plain_sizes(value: Any) -> Any:
    """Sizes as tuples."""
    if isinstance(value, tuple):
        return tuple(_plain_sizes(item) for item in value)
    if type(value) is dict:
        return {key: _plain_sizes(item) for key, item in value.items()}
    return value


class _Spoken(NamedTuple):
    """What one oracle has to say, and what it says of other operands of the same call."""

    name: str
    value: np.ndarray[Any, Any]
    answer: AnswerFunction


def _answers(asked: _Question, pair: Pair, suffix: str) -> Iterator[_Spoken]:
    """What each oracle has to say of what is at `suffix`, as arrays.

    NumPy's counterparts are written from what is documented; the reference's own second implementations repeat how the
    first one deals with what is not finite, and are heard where there is no counterpart.
    """

    def by_numpy(args: Any, kwargs: Any) -> Any:
        return _part(numpy_result(asked.path, args, kwargs), suffix)

    def by_formula(args: Any, kwargs: Any) -> Any:
        special = special_result(asked.path, args, kwargs)
        return None if special is None else _part(special[1], suffix)

    try:
        found = by_numpy(*asked.plain)
    except Unsettled:
        return
    if found is not None:
        yield _Spoken("NumPy", found, by_numpy)
        return
    special = special_result(asked.path, *asked.plain)
    if special is not None and (found := _part(special[1], suffix)) is not None:
        yield _Spoken(special[0], found, by_formula)
        return
    for name, function in pair.reference.reference_implementations(asked.path):
        with contextlib.suppress(Exception):  # whatever it is, it has no answer for such a call
            value = freeze(pair.reference, [function(*asked.args, **dict(asked.kwargs))])[0]
            if (part := _part(value, suffix)) is not None:
                yield _Spoken(name, part, lambda args, kwargs: None)


def _part(value: Any, suffix: str) -> Any:
    """What is at `suffix`, such as ``[1]``, of an oracle's answer: an array, or None."""
    indices = indices_of(suffix)
    if indices is None:
        return None
    for index in indices:
        value = value[index] if isinstance(value, (tuple, list)) and index < len(value) else None
    if type(value) is TensorValue:
        value = value.data
    if value is None or isinstance(value, (tuple, list)):
        return None
    array = np.asarray(value)
    return None if array.dtype == object else array


def _opinion(
    spoken: _Spoken, asked: _Question, sides: tuple[TensorValue, TensorValue], about: str
) -> OracleResult | None:
    (name, opinion, answer), (one, other) = spoken, sides
    if about == "dtype":
        return _on_dtype(name, str(opinion.dtype), asked.held, one, other)
    if about == "shape":
        errors = [0.0 if side.data.shape == opinion.shape else float("inf") for side in (one, other)]
        return OracleResult(name, f"shape {opinion.shape}", (errors[0], errors[1]), 0.0, attribute=True)
    if opinion.dtype.kind == "f" and all(side.data.dtype.kind in "biu" for side in sides):
        return None  # how it is rounded to whole numbers is the framework's own
    if opinion.dtype == np.float16 and one.dtype != "float16":
        return None  # NumPy computes what it is given as bool in half precision
    if opinion.dtype.kind in "biu":  # places and counts are exact, however large the operands are
        return _on_values(name, opinion, np.full(opinion.shape, _LEAST), one, other)
    allowed = _allowed(opinion, one.dtype, np.asarray(greatest(item.data for item in asked.held if _is_real(item))))
    heard = _on_values(name, opinion, allowed, one, other)
    if heard is None or any(heard.accuses):
        return heard
    # Beside a great number, any error looks like its rounding: that counts where the answer depends on that number.
    return _on_values(
        name, opinion, _allowed(opinion, one.dtype, operand_scale(answer, *asked.plain, opinion)), one, other
    )


def _allowed(opinion: np.ndarray[Any, Any], dtype: str, scale: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far off each element may be by rounding: where results cancel, the operands' size says what that is."""
    roundoff = ROUNDOFF.get(dtype, 0.0)  # of integers, it may be that of single precision
    relative, absolute = max(1e-9, 16 * roundoff), max(5e-15, 32 * roundoff)
    allowed = relative * np.abs(np.nan_to_num(opinion, posinf=0.0, neginf=0.0)) + absolute * scale
    return np.asarray(np.maximum(allowed, _LEAST))


def _under_autocast(program: Program, slot: int) -> bool:
    """Whether the call runs in an autocast context, of whose dtypes nobody but the framework has an opinion."""
    open_ones = {call.args[0].slot for call in program.calls[:slot] if call.kind == "enter"}
    open_ones -= {call.args[0].slot for call in program.calls[:slot] if call.kind == "exit"}
    return any("autocast" in program.calls[at].target for at in open_ones)


def _on_values(
    name: str, opinion: np.ndarray[Any, Any], allowed: np.ndarray[Any, Any], one: TensorValue, other: TensorValue
) -> OracleResult | None:
    """How far either side is from `opinion`, told at the element where one of them is furthest."""
    # An answer whose shape neither side has, as of what NumPy broadcasts, is one to another question.
    if not opinion.size or opinion.shape not in (one.data.shape, other.data.shape):
        return None
    gaps = [_gap(opinion, side.data) for side in (one, other)]
    with np.errstate(all="ignore"):
        excesses = [gap / allowed for gap in gaps]
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(np.maximum(*excesses))), opinion.shape))
    errors, elsewhere = [], []
    for gap, excess in zip(gaps, excesses, strict=True):
        right_here_alone = gap[at] <= allowed[at] and bool((excess > 1).any())
        worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), opinion.shape))
        # What counts is how much more it is than is allowed there.
        errors.append(float(excess[worst] * allowed[at] if right_here_alone else gap[at]))
        elsewhere.append(f"{gap[worst]:.3g} at {worst}" if right_here_alone else "")
    shown = f"{opinion[at].item():.9g}" + (f" at {at}" if at else "")
    limit = float(allowed[at])
    told = (elsewhere[0], elsewhere[1])
    return OracleResult(name, shown, (errors[0], errors[1]), limit if limit > _LEAST else 0.0, elsewhere=told)


def _is_real(value: Any) -> bool:
    return type(value) is TensorValue and value.data.dtype.kind in "fiub"


def _on_dtype(
    name: str, opinion: str, held: Sequence[TensorValue], one: TensorValue, other: TensorValue
) -> OracleResult | None:
    """NumPy promotes as torch does only where there is nothing to promote, and no counterpart computed wider."""
    if len({value.dtype for value in held}) != 1 or not held[0].dtype.startswith("float"):
        return None
    if opinion not in (held[0].dtype, "bool"):
        return None
    errors = [0.0 if side.dtype == opinion else float("inf") for side in (one, other)]
    return OracleResult(name, f"dtype {opinion}", (errors[0], errors[1]), 0.0, attribute=True)


def _gap(opinion: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far each element is from `opinion`; infinitely, where the shape is another."""
    if opinion.shape != actual.shape:
        return np.full(opinion.shape, np.inf)
    common = np.result_type(opinion, actual)
    return distance(opinion.astype(common), actual.astype(common))
