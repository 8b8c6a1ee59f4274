"""Counts the features of the inputs that operators are given in a run, and finds features that are never tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from autotest.program.semantics import plain_name

#: Operator -> feature -> number of calls in accepted trials. It is plain data that can be written as JSON. A feature is
#: a word such as `FLOATING` or ``"zero"``, or a kind and a value joined by `valued`.
Coverage = dict[str, dict[str, int]]

#: Features that count the calls with floating inputs, those with integer inputs, and all calls.
FLOATING, WHOLE, TRIALS = "floating", "whole", "trials"
#: Features that count the trials in which a gradient of the result was compared, and those in which the operator has
#: one but the test did not let it be compared.
GRADIENT, HAS_GRADIENT = "gradient", "has a gradient"
#: Features that count the trials with two or more input tensors, and those in which their shapes differ.
SEVERAL, BROADCAST = "several tensors", "broadcast"
#: Feature that counts the calls with a negative number in a floating, complex or integer input.
NEGATIVE = "negative of any dtype"
#: Feature that counts the calls with several input tensors of which one has more elements than a block.
SEVERAL_PAST_A_BLOCK = "several tensors past a block"
#: Feature that counts the calls whose input tensors have no elements.
EMPTY = "no elements"
#: Kinds of the features that count what each of the two tensors of an operator that broadcasts contained.
OPERANDS = ("first tensor", "second tensor")
#: Feature that counts calls whose tensors are all results of other calls. These are in the table, and never a gap: what
#: such tensors contain is not what the test says about its inputs.
COMPUTED = "computed operands"
#: Kind of the features that count the arguments of these calls.
BEYOND = "beyond"
#: Feature that counts the calls among these of which a gradient was compared.
COMPUTED_GRADIENT = "gradient beyond computed operands"
#: Kind of the features that count calls by the name of each argument whose value is not plain, such as a tensor.
GIVEN = "given"
#: Kind of the features that count how calls were written: ``function``, ``method``, ``module``.
CALLED_AS = "called as"
#: Feature that counts the calls with positional arguments of which the reference does not tell the names.
UNNAMED = "unnamed arguments"
#: Kind of the features that count refused calls by the name of each argument that was given.
REFUSED = "refused"
#: Feature that counts trials of a run that draws no special values for any test; their absence is then no gap.
WITHOUT_SPECIAL = "without special"
#: NumPy's names of parameters, which torch accepts, and its own.
NUMPY_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"axis": "dim", "axes": "dims", "keepdims": "keepdim", "x2": "other"}
)
#: Number of calls below which no gap is reported.
ENOUGH = 20

#: Features that an operator should have been given, and their names in the report of gaps.
_SAID = {
    "negative": "a negative value",
    "positive": "a positive value",
    "zero": "a zero",
    "not finite": "NaN or an infinity",
    "negative whole": "a negative integer",
    "past a block": "more than 8 elements",
    "large": "a few thousand elements",
    "not contiguous": "memory that is not contiguous",
}
_OF_FLOATING = ("negative", "positive", "zero", "not finite")
_NEGATIVE_WHOLE = "negative whole"
_OF_ANY = ("past a block", "large")
#: Operators that broadcast two tensors, by the last part of their names. Others take two tensors of one shape, such as
#: a loss, or tensors whose shapes are related in another way.
_BROADCASTING = frozenset(
    "add sub subtract mul multiply div divide true_divide truediv floor_divide floordiv fmod remainder mod pow "
    "float_power atan2 arctan2 maximum minimum fmax fmin hypot copysign logaddexp logaddexp2 xlogy ldexp gcd lcm "
    "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor "
    "bitwise_and bitwise_or bitwise_xor and or xor".split()
)


#: Operators that broadcast further tensors or a tensor that may be omitted.
_ALSO_BROADCASTING = frozenset("where lerp addcmul addcdiv clamp clamp_min clamp_max clip masked_fill isclose".split())
#: Operators that refuse numbers of some kinds, by the last part of their names, and the kinds.
_REFUSING = {
    **dict.fromkeys(("embedding", "Embedding", "EmbeddingBag", "one_hot", "bincount"), ("negative whole",)),
    **dict.fromkeys(("binary_cross_entropy", "BCELoss", "bernoulli", "multinomial"), ("negative", "not finite")),
    "poisson": ("negative",),
}


#: Operands in which torch refuses negative integers.
_NOT_NEGATIVE = frozenset((name, OPERANDS[1]) for name in ("pow", "ldexp"))


def broadcasts(operator: str) -> bool:
    """Return whether `operator` broadcasts its two tensors."""
    return plain_name(operator) in _BROADCASTING


def may_broadcast(operator: str) -> bool:
    """Return whether `operator` broadcasts tensors, if it is given several."""
    return broadcasts(operator) or plain_name(operator) in _ALSO_BROADCASTING


def valued(kind: str, value: object) -> str:
    """Return the feature for `value` of some kind: a dtype, a rank, a layout, an argument."""
    return f"{kind} {value}"


def values_of(features: Mapping[str, int], kind: str) -> dict[str, int]:
    """Return the values of one kind among `features`, sorted, with the number of trials of each."""
    mark = valued(kind, "")
    return {feature[len(mark) :]: times for feature, times in sorted(features.items()) if feature.startswith(mark)}


def argument(name: str, value: str) -> str:
    """Return the feature for the source text `value` of the argument `name`."""
    return valued("argument", f"{name}={value}")


def left_out(features: Mapping[str, int]) -> dict[str, int]:
    """Return, for each argument whose plain values are counted, the number of calls without it, if there are any."""
    given: dict[str, int] = {}
    for name, values in values_of_arguments(features).items():
        one = NUMPY_NAMES.get(name, name)
        given[one] = given.get(one, 0) + sum(values.values())
    for name, times in values_of(features, GIVEN).items():
        one = NUMPY_NAMES.get(name, name)
        given |= {one: given[one] + times} if one in given else {}
    shown = _shown_names(features)
    calls = features.get(TRIALS, 0)
    return {shown[name]: calls - times for name, times in given.items() if times < calls}


def merged(parts: Iterable[Coverage]) -> Coverage:
    """Return the sum of `parts`."""
    whole: Coverage = {}
    for part in parts:
        add(whole, part)
    return whole


def greatest(parts: Iterable[Coverage]) -> Coverage:
    """Return the greatest count of each feature in `parts`: several candidates get the inputs of the same trials."""
    whole: Coverage = {}
    for part in parts:
        for operator, features in part.items():
            counts = whole.setdefault(operator, {})
            for feature, trials in features.items():
                counts[feature] = max(trials, counts.get(feature, 0))
    return whole


def add(whole: Coverage, part: Coverage) -> None:
    """Add the counts of `part` to `whole`, in place."""
    for operator, features in part.items():
        counts = whole.setdefault(operator, {})
        for feature, trials in features.items():
            counts[feature] = counts.get(feature, 0) + trials


def gaps(coverage: Coverage) -> dict[str, list[str]]:
    """Return, for each operator with gaps and at least `ENOUGH` calls, a line for each input it was never given."""
    judged = [(operator, features) for operator, features in sorted(coverage.items()) if _is_judged(features)]
    return {operator: lines for operator, features in judged if (lines := [*_gaps(operator, features)])}


def hardly_tried(coverage: Coverage) -> list[str]:
    """Return the operators with too few calls for `gaps`, which lack something so far."""
    few = [(operator, features) for operator, features in coverage.items() if not _is_judged(features)]
    return [operator for operator, features in few if any(_gaps(operator, features))]


def _is_judged(features: Mapping[str, int]) -> bool:
    return features.get(TRIALS, 0) >= ENOUGH


def lacking(operator: str, features: Mapping[str, int]) -> Iterator[str]:
    """Yield the features (keys of `_SAID`) that `operator` with `features` lacks, without those that it refuses."""
    refused = _REFUSING.get(plain_name(operator), ())
    return (name for name in _lacking(features) if name not in refused)


def _lacking(features: Mapping[str, int]) -> Iterator[str]:
    if features.get(FLOATING):
        yield from (name for name in _wanted(features) if not features.get(name))
    # Integer inputs next to floating ones are mostly indices or counts, for which negative values are not expected.
    if features.get(WHOLE) and not features.get(FLOATING) and not features.get("negative whole"):
        yield "negative whole"
    if features.get(FLOATING) or features.get(WHOLE):
        yield from (name for name in _OF_ANY if not features.get(name))
        if values_of(features, "layout").keys() <= {"contiguous"}:
            yield "not contiguous"


def _wanted(features: Mapping[str, int]) -> list[str]:
    """Return the kinds of numbers that every operator of floating tensors should have been given."""
    return [name for name in _OF_FLOATING if name != "not finite" or not features.get(WITHOUT_SPECIAL)]


def _gaps(operator: str, features: Mapping[str, int]) -> Iterator[str]:
    if features.get(EMPTY) and features[EMPTY] == features.get(TRIALS):
        yield "never a tensor with elements"
    yield from (f"never {_SAID[name]}" for name in lacking(operator, features))
    for operand in OPERANDS:
        own = values_of(features, operand)
        wanted = _wanted(features) if own.get(FLOATING, 0) >= ENOUGH else []
        if own.get(WHOLE, 0) >= ENOUGH and (plain_name(operator), operand) not in _NOT_NEGATIVE:
            wanted = [*wanted, _NEGATIVE_WHOLE]
        missing = [_SAID[name] for name in wanted if features.get(name) and not own.get(name)]
        if missing:
            yield f"never {' or '.join(missing)} in the {operand}"
    yield from _always_unusual(features)
    if broadcasts(operator) and _has_open_shapes(features) and not features.get(BROADCAST):
        yield "never tensors that broadcast"
    yield from _constant_arguments(operator, features)
    accepted = {*values_of_arguments(features), *values_of_arguments(values_of(features, BEYOND))}
    yield from (f"{name} never accepted" for name in values_of(features, REFUSED) if name not in accepted)
    if features.get(HAS_GRADIENT) and not (features.get(GRADIENT) or features.get(COMPUTED_GRADIENT)):
        yield "never a gradient compared"


def _always_unusual(features: Mapping[str, int]) -> Iterator[str]:
    """Yield lines for a floating dtype other than the default, or a layout that is not contiguous, in all trials."""
    dtypes = [dtype for dtype in values_of(features, "dtype") if "float" in dtype]
    layouts = [*values_of(features, "layout")]
    if len(dtypes) == 1 and dtypes != ["float32"]:
        yield f"always {dtypes[0]}"
    if len(layouts) == 1 and layouts != ["contiguous"]:
        yield f"always {layouts[0]} memory"


def _has_open_shapes(features: Mapping[str, int]) -> bool:
    """Return whether many calls had two tensors or more, of sizes that the test left open: those that vary."""
    several = features.get(SEVERAL, 0)
    return several >= ENOUGH and 0 < features.get(SEVERAL_PAST_A_BLOCK, 0) < several


#: First characters of the text of a number, or of a sequence of numbers.
_OF_NUMBERS = frozenset("-.0123456789([")
#: Names of arguments that are a dimension, which may be counted from the end.
_DIMENSIONS = frozenset("dim dim0 dim1 dim2 dims axis axis0 axis1 axes start_dim end_dim source destination".split())
#: Operators and arguments with the name of a dimension that are a number of dimensions or of repetitions.
_NUMBERS_OF = frozenset((("tensordot", "dims"), ("tile", "dims")))


def values_of_arguments(features: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return, for each argument, in how many calls it had each of its values."""
    given: dict[str, dict[str, int]] = {}
    for said, times in values_of(features, "argument").items():
        name, _, value = said.partition("=")
        given.setdefault(name, {})[value] = times
    return given


def _shown_names(features: Mapping[str, int]) -> dict[str, str]:
    """Return, by torch's name of each argument with plain values, how calls spell it; torch's name if they do both."""
    shown: dict[str, str] = {}
    for name in values_of_arguments(features):
        one = NUMPY_NAMES.get(name, name)
        shown[one] = one if one in shown else name
    return shown


def _by_torch_names(*parts: Mapping[str, int]) -> tuple[dict[str, Counter[str]], set[str]]:
    """Return in how many calls each argument had each value, and the arguments that were given values without a text.

    An argument has one name, however calls spell it.
    """
    values: dict[str, Counter[str]] = {}
    given: set[str] = set()
    for part in parts:
        for name, counts in values_of_arguments(part).items():
            values.setdefault(NUMPY_NAMES.get(name, name), Counter()).update(counts)
        given |= {NUMPY_NAMES.get(name, name) for name in values_of(part, GIVEN)}
    return values, given


def _constant_arguments(operator: str, features: Mapping[str, int]) -> Iterator[str]:
    """Yield lines for arguments that have one value wherever they are given, and dimensions that are never negative.

    Only arguments of calls with inputs are named, but the values that other calls gave to them count, too.
    """
    computed = values_of(features, BEYOND)
    if UNNAMED in features or UNNAMED in computed:
        return  # their values are not known
    calls = features.get(TRIALS, 0) + features.get(COMPUTED, 0)
    own, given = _by_torch_names(features, computed)
    for one, name in sorted(_shown_names(features).items(), key=lambda item: item[1]):
        (value, times), *others = own[one].items()
        alone = not others and one not in given
        if alone and times == calls:
            yield f"{name} always {value}"
        elif alone and value[0] in _OF_NUMBERS:
            # Calls that left it out used its default. For a flag or a word that counts as another value; a number may
            # be the only one that the reference accepted, as with groups=random(1, 4) | nothing().
            yield f"{name} always {value} where it is given"
        elif name in _DIMENSIONS and others and not any("-" in value for value in own[one]):
            if (plain_name(operator), name) in _NUMBERS_OF:
                continue
            several = any(value.startswith(("(", "[")) for value in own[one])
            yield f"never a negative number in {name}" if several else f"never a negative {name}"
