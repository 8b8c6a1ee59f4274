"""Second opinions on the result of a forward call: from NumPy, and from other implementations in the reference."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autotest.comparison import TensorValue
from autotest.comparison.elementwise import Values, distance, index_of_greatest
from autotest.diagnosis.counterparts.factors import PROPERTIES, distances
from autotest.diagnosis.counterparts.numpy_result import numpy_result
from autotest.diagnosis.counterparts.special_functions import special_result
from autotest.diagnosis.counterparts.values import OrderDependent
from autotest.diagnosis.oracles.oracle_result import OracleResult
from autotest.diagnosis.rounding.operand_scale import AnswerFunction, greatest, operand_scale
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.frameworks import Framework, Pair
from autotest.frameworks.freezing import freeze
from autotest.frameworks.recorded_calls import live_operands, run_call
from autotest.frameworks.requests import FunctionCalled
from autotest.frameworks.torch_names import FUNCTIONS
from autotest.program import Call, Program, Ref, leaves, map_operand, refs
from autotest.program.influence import written_later
from autotest.program.paths import indices_of, item_at
from autotest.program.randomness import KnownContents, contents_of
from autotest.program.semantics import OPERATIONS, in_place, is_module_call, overwritten_operand
from autotest.replaying.agreement import results
from autotest.replaying.replay import Place, replay

_PLAIN = (type(None), bool, int, float, complex, str, type(Ellipsis))
#: torch's names of operands, in the order of their positions. Oracles have other names for them.
_OPERANDS = tuple("input other exponent mat1 mat batch1 mat2 batch2 vec vec2 tensor shape".split())
#: The allowed error of exact results: not 0, as errors are divided by it.
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
    """Compare both sides with independent results of the call at `place`.

    Args:
        program: the program; in double precision if values are compared.
        place: the place of the mismatch.
        pair: the reference and the candidate.
        about: the topics: ``"value"``, ``"shape"`` or ``"dtype"``.
        writer: the slot of the call that wrote the value at `place` in place; None if the call at `place` computed it.
        given: the results of each side for `program`; None means to run it on both sides.

    Returns:
        The result of each oracle that supports the call.
    """
    slot = place[0] if writer is None or writer < place[0] else writer
    if program.calls[slot].kind not in OPERATIONS or _under_autocast(program, slot):
        return ()
    # A module of one side may do more than call its function.
    asked = _oracle_call(program, slot, pair.reference)
    if asked is None and _is_configured_alike(program, slot, pair):
        asked = _oracle_call(program, slot, pair.candidate)
    if asked is None:
        return ()
    if contents_of(asked.path, asked.args, asked.kwargs) is not KnownContents.DEFINED or slot in program.undefined:
        return ()
    if place[0] not in (slot, asked.written):
        return ()  # the value was changed by a call that is not known to write there
    if slot in written_later(program.calls):
        return ()  # the final value is not the result of the call
    given = given or [results(program, side) for side in pair.frameworks]
    one, other = (side.get(place) for side in given)
    if type(one) is not TensorValue or type(other) is not TensorValue:
        return ()
    found: list[OracleResult | None] = []
    answers: list[_OracleAnswer] | None = None
    for topic in about:
        if topic == "dtype" and asked.written is not None:
            continue  # a tensor keeps its dtype when it is written in place
        if topic == "value" and asked.path in PROPERTIES:
            found += _by_definition(asked, place, given)
            continue
        if answers is None:
            answers = list(_answers(asked, pair, place[1]))
        found += [_opinion(spoken, asked, (one, other), topic) for spoken in answers]
    return tuple(oracle for oracle in found if oracle is not None)


def _is_configured_alike(program: Program, slot: int, pair: Pair) -> bool:
    """Return whether the module that call `slot` calls has the same plain settings on both sides, as far as named.

    A module that ignores an argument of its constructor calls another function than the reference's.
    """
    call = program.calls[slot]
    if not is_module_call(call) or type(call.args[0]) is not Ref:
        return True
    made = program.calls[call.args[0].slot]
    tensors = tuple([type(item) is Ref for item in made.args])
    names = {*pair.argument_names("function", made.target, None, tensors, tuple(made.kwargs)), *made.kwargs}
    held = []
    for side in pair.frameworks:
        before = replay(program, side, upto=slot)
        if before.error is not None:
            return False
        module = before.values[made.slot]
        settings = {name: _setting(side, module, name) for name in names}
        held.append({name: value for name, value in settings.items() if type(value) in _PLAIN})
    return all(held[0][name] == held[1][name] for name in held[0].keys() & held[1].keys())


def _setting(side: Framework, module: Any, name: str) -> Any:
    """Return the attribute `name` of a live module; a bare object, which is no plain value, if there is none."""
    try:
        return side.operation("getattr", name)(module)
    except Exception:  # noqa: BLE001 - a framework may raise any exception
        return object()


def _by_definition(asked: _OracleCall, place: Place, given: Sequence[Mapping[Place, Any]]) -> tuple[OracleResult, ...]:
    """Return the error of each side against the definition of a factorization, as several factors may be right."""
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


class _OracleCall(NamedTuple):
    """A call in the form that oracles take."""

    path: str
    args: Any
    kwargs: Any
    #: The positional and keyword arguments as arrays and plain values. An argument of any other type is replaced by a
    #: bare object, which no oracle accepts.
    plain: tuple[Any, Any]
    #: The tensors among them.
    held: list[TensorValue]
    #: The slot of the operand that the result is written into, if there is one.
    written: int | None


def _oracle_call(program: Program, slot: int, side: Framework) -> _OracleCall | None:
    """Return the function call that call `slot` results in on `side`, with its operands there; None if unknown."""
    before = replay(program, side, upto=slot)
    if before.error is not None:
        return None
    call, values = program.calls[slot], before.values
    if is_module_call(call):
        try:
            called = side.function_called(lambda: run_call(call, side, values, program.arrays))
        except Exception:  # noqa: BLE001 - a framework may raise any exception
            return None
        if called is None:
            return None
        owner = next((ref.slot for ref in refs(call) if values[ref.slot] is called.written), None)
    else:
        args, named = live_operands(call, side, values, program.arrays)
        out = call.kwargs.get("out", overwritten_operand(call))
        named.pop("out", None)
        args += [named.pop(name) for name in _OPERANDS if name in named]
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

    plain_operands = map_operand(_plain_sizes(called.args), plain), map_operand(_plain_sizes(called.kwargs), plain)
    return _OracleCall(called.path, called.args, called.kwargs, plain_operands, held, owner)


def _path(call: Call) -> str:
    if call.kind == "function":
        return call.target
    name = call.target.strip("_")
    if call.kind == "operator":
        name = name.removeprefix("i") if in_place(call) else name
        name = FUNCTIONS.get(name, name)
    return f"Tensor.{name}"


def _plain_sizes(value: Any) -> Any:
    """Return `value` with sizes as plain tuples."""
    if isinstance(value, tuple):
        return tuple(_plain_sizes(item) for item in value)
    if type(value) is dict:
        return {key: _plain_sizes(item) for key, item in value.items()}
    return value


class _OracleAnswer(NamedTuple):
    """The result of one oracle, and a function for its result on other operands of the same call."""

    name: str
    value: Values
    answer: AnswerFunction


def _answers(asked: _OracleCall, pair: Pair, suffix: str) -> Iterator[_OracleAnswer]:
    """Yield the result of each oracle at `suffix`, as an array.

    The NumPy counterparts are written from the documentation. Other implementations in the reference treat values that
    are not finite as the first one does, and are used only if there is no counterpart.
    """

    def by_numpy(args: Any, kwargs: Any) -> Any:
        return _part(numpy_result(asked.path, args, kwargs), suffix)

    def by_formula(args: Any, kwargs: Any) -> Any:
        special = special_result(asked.path, args, kwargs)
        return None if special is None else _part(special[1], suffix)

    try:
        found = by_numpy(*asked.plain)
    except OrderDependent:
        return
    if found is not None:
        yield _OracleAnswer("NumPy", found, by_numpy)
        return
    special = special_result(asked.path, *asked.plain)
    if special is not None and (found := _part(special[1], suffix)) is not None:
        yield _OracleAnswer(special[0], found, by_formula)
        return
    for name, function in pair.reference.reference_implementations(asked.path):
        with contextlib.suppress(Exception):  # an implementation that raises does not support such a call
            value = freeze(pair.reference, [function(*asked.args, **dict(asked.kwargs))])[0]
            if (part := _part(value, suffix)) is not None:
                yield _OracleAnswer(name, part, lambda args, kwargs: None)


def _part(value: Any, suffix: str) -> Any:
    """Return the part of an oracle's result at `suffix`, such as ``[1]``, as an array; None if there is none."""
    indices = indices_of(suffix)
    if indices is None:
        return None
    value = item_at(value, indices)
    if type(value) is TensorValue:
        value = value.data
    if value is None or isinstance(value, (tuple, list)):
        return None
    array = np.asarray(value)
    return None if array.dtype == object else array


def _opinion(
    spoken: _OracleAnswer, asked: _OracleCall, sides: tuple[TensorValue, TensorValue], about: str
) -> OracleResult | None:
    (name, opinion, answer), (one, other) = spoken, sides
    if about == "dtype":
        return _on_dtype(name, str(opinion.dtype), asked.held, one, other)
    if about == "shape":
        errors = [0.0 if side.data.shape == opinion.shape else float("inf") for side in (one, other)]
        return OracleResult(name, f"shape {opinion.shape}", (errors[0], errors[1]), 0.0, attribute=True)
    if opinion.dtype.kind == "f" and all(side.data.dtype.kind in "biu" for side in sides):
        return None  # each framework rounds to integers in its own way
    if opinion.dtype == np.float16 and one.dtype != "float16":
        return None  # NumPy computes functions of bool in half precision
    if opinion.dtype.kind in "biu":  # indices and counts are exact, however large the operands are
        return _on_values(name, opinion, np.full(opinion.shape, _LEAST), one, other)
    allowed = _allowed(opinion, one.dtype, np.asarray(greatest(item.data for item in asked.held if _is_real(item))))
    heard = _on_values(name, opinion, allowed, one, other)
    if heard is None or any(heard.accuses):
        return heard
    # A great operand makes any error look like rounding. That is right only for elements that depend on that operand.
    return _on_values(
        name, opinion, _allowed(opinion, one.dtype, operand_scale(answer, *asked.plain, opinion)), one, other
    )


def _allowed(opinion: Values, dtype: str, scale: Values) -> Values:
    """Return the rounding error that is allowed in each element.

    Args:
        opinion: the oracle's result.
        dtype: the dtype of the sides' result.
        scale: the magnitude of the operands, which bounds the error if results cancel; broadcasts to `opinion`.
    """
    roundoff = ROUNDOFF.get(dtype, 0.0)  # a function of integers may be in single precision, even in this program
    relative, absolute = max(1e-9, 16 * roundoff), max(5e-15, 32 * roundoff)
    allowed = relative * np.abs(np.nan_to_num(opinion, posinf=0.0, neginf=0.0)) + absolute * scale
    return np.asarray(np.maximum(allowed, _LEAST))


def _under_autocast(program: Program, slot: int) -> bool:
    """Whether the call runs in an autocast context, whose dtypes only the framework itself knows."""
    open_ones = {call.args[0].slot for call in program.calls[:slot] if call.kind == "enter"}
    open_ones -= {call.args[0].slot for call in program.calls[:slot] if call.kind == "exit"}
    return any("autocast" in program.calls[at].target for at in open_ones)


def _on_values(
    name: str, opinion: Values, allowed: Values, one: TensorValue, other: TensorValue
) -> OracleResult | None:
    """Return the errors of both sides against `opinion`, at the element where one of them has the largest error."""
    # If neither side has the shape of the opinion, for example because NumPy broadcasts, they did not compute the same.
    if not opinion.size or opinion.shape not in (one.data.shape, other.data.shape):
        return None
    gaps = [_gap(opinion, side.data) for side in (one, other)]
    with np.errstate(all="ignore"):
        excesses = [gap / allowed for gap in gaps]
    at = index_of_greatest(np.maximum(*excesses))
    errors, elsewhere = [], []
    for gap, excess in zip(gaps, excesses, strict=True):
        right_here_alone = gap[at] <= allowed[at] and bool((excess > 1).any())
        worst = index_of_greatest(excess)
        # Errors at different elements are compared as multiples of the error that is allowed there.
        errors.append(float(excess[worst] * allowed[at] if right_here_alone else gap[at]))
        elsewhere.append(f"{gap[worst]:.3g} at {worst}" if right_here_alone else "")
    shown = f"{opinion[at].item():.9g}" + (f" at {at}" if at else "")
    limit = float(allowed[at])
    excess_text = (elsewhere[0], elsewhere[1])
    return OracleResult(name, shown, (errors[0], errors[1]), limit if limit > _LEAST else 0.0, elsewhere=excess_text)


def _is_real(value: Any) -> bool:
    return type(value) is TensorValue and value.data.dtype.kind in "fiub"


def _on_dtype(
    name: str, opinion: str, held: Sequence[TensorValue], one: TensorValue, other: TensorValue
) -> OracleResult | None:
    """Return the opinion on the dtype, or None.

    NumPy's promotion is the same as torch's only if all operands have the same floating dtype, and the opinion must
    not come from a counterpart that computed in a wider dtype.
    """
    if len({value.dtype for value in held}) != 1 or not held[0].dtype.startswith("float"):
        return None
    if opinion not in (held[0].dtype, "bool"):
        return None
    errors = [0.0 if side.dtype == opinion else float("inf") for side in (one, other)]
    return OracleResult(name, f"dtype {opinion}", (errors[0], errors[1]), 0.0, attribute=True)


def _gap(opinion: Values, actual: Values) -> Values:
    """Return the error of each element against `opinion`; infinite if the shapes differ."""
    if opinion.shape != actual.shape:
        return np.full(opinion.shape, np.inf)
    common = np.result_type(opinion, actual)
    return distance(opinion.astype(common), actual.astype(common))
