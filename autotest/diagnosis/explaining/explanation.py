"""Explains a shrunk program: what the failure depends on, what passes nearby, and which tolerance would let it pass."""

from __future__ import annotations

import contextlib
import decimal
import difflib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.base.plural import several
from autotest.base.settings import Settings
from autotest.comparison import TensorValue, limits, passing_tolerance
from autotest.comparison.elementwise import Values, distance
from autotest.diagnosis.explaining.decisive_features import OutOfTime, Run
from autotest.diagnosis.explaining.outcomes import ProgramOutcome
from autotest.emission import cotangent_of, cotangents, names, program_text
from autotest.program import COTANGENT, LAYOUT, Array, Program, leaves, with_leaves, without_keyword
from autotest.program.reduction import elements
from autotest.program.rewriting import with_arrays, with_call, with_contents
from autotest.program.semantics import OPERATIONS, is_backward
from autotest.replaying.agreement import Agreement

#: The largest number of inputs that are varied. In total, at most twice as many features are tried.
_MOST = 8
#: The largest number of elements that are printed one by one.
_SHOWN = 8

#: The slot of a call and the number of one of its leaves, or None and the number of an array.
VariedPart: TypeAlias = tuple[int | None, int]


def explain(shrunk: Agreement, passing: Sequence[Program], settings: Settings, run: Run) -> list[str]:
    """Return lines that say what matters, what passes nearby, and which tolerance would let the program pass.

    Args:
        shrunk: the agreement on the failing program, already shrunk.
        passing: similar programs that pass.
        settings: the settings of the test.
        run: returns how another program ends; may raise `OutOfTime`.
    """
    program = shrunk.program
    return [*_what_matters(program, passing, run), *nearest(program, passing), *_tolerance(shrunk, settings)]


def shrunk_line(before: Program, after: Program, executions: int, complete: bool) -> str:
    """Return a line that says how much smaller a program has become."""
    old, new = (
        f"{several(len(program.calls), 'call')} and {several(elements(program), 'element')}"
        for program in (before, after)
    )
    text = f"Shrunk:     from {old} to {new}, in {several(executions, 'execution')}"
    return text if complete else text + "; stopped by the time limit"


# -- what matters -------------------------------------------------------------------------------------------


def _what_matters(program: Program, passing: Sequence[Program], run: Run) -> list[str]:
    """Return lines that list the features without which `program` passes, and those with which it fails in any case.

    A feature of which no other variant runs, such as the only dtype that a module takes, is in neither list. Nor is one
    that is all in which a program of `passing` differs: a product with zero passes whatever is wrong.
    """
    pushed = _cotangents(program)
    # With zeros as cotangent any gradient passes.
    unlike = {_only_change(program, other) for other in passing if _cotangents(other) == pushed} - {None}
    matter: list[str] = []
    free: list[str] = []
    held = _held_cotangents(program)
    with contextlib.suppress(OutOfTime):
        for text, place, variants in [*_contents(program), *_literals(program)][: 2 * _MOST]:
            is_argument = place is not None and place[0] is not None
            # Of a single other value, such as -2 for a step of -1, nothing is known beyond that value.
            ending = _ending(variants, run, needed=min(2, len(variants)) if is_argument else 1)
            if ending == "passes":
                matter.append(f"{text} ({held[text]})" if text in held else text)
            elif ending == "fails" and place not in unlike:
                free.append(text)
    lines = []
    if matter:
        lines.append("Matters:    " + ", ".join(matter))
    if free:
        lines.append("Irrelevant: " + ", ".join(free))
    return lines


def _held_cotangents(program: Program) -> dict[str, str]:
    """Return the numbers of the cotangents, by their words: neither the program nor its inputs' lines show them."""
    pushed = cotangents(program)
    return {
        cotangent_of(program, call.slot): _in_words(program.arrays[call.args[0].index].data)
        for call in program.inputs()
        if call.slot in pushed
    }


def _ending(variants: Sequence[Program], run: Run, needed: int) -> ProgramOutcome:
    """Return "passes" if one of `variants` does, after which no other one is run; "fails" if `needed` of them do."""
    fails = 0
    for variant in variants:
        ending = run(variant)
        if ending == "passes":
            return ending
        fails += ending == "fails"
    return "fails" if fails >= needed else "neither"


def _only_change(program: Program, other: Program) -> VariedPart | None:
    """Return the place of the one number, text or array in which `other` differs from `program`; None if it is more."""
    if len(program.calls) != len(other.calls) or len(program.arrays) != len(other.arrays):
        return None
    found: list[VariedPart] = []
    for at, (array, one) in enumerate(zip(program.arrays, other.arrays, strict=True)):
        if (array.dtype, array.data.shape) != (one.dtype, one.data.shape):
            return None
        if array.data.tobytes() != one.data.tobytes():
            found.append((None, at))
    for call, changed in zip(program.calls, other.calls, strict=True):
        if call == changed:
            continue
        own, theirs = [*leaves((call.args, call.kwargs))], [*leaves((changed.args, changed.kwargs))]
        places = [at for at, (item, one) in enumerate(zip(own, theirs, strict=False)) if repr(item) != repr(one)]
        if len(own) != len(theirs) or with_leaves(call, {at: theirs[at] for at in places}) != changed:
            return None
        found += [(call.slot, at) for at in places]
    return found[0] if len(found) == 1 else None


def _contents(program: Program) -> Iterator[tuple[str, VariedPart | None, list[Program]]]:
    own, pushed = names(program), cotangents(program)
    for call in program.inputs()[:_MOST]:
        index = call.args[0].index
        array = program.arrays[index]
        if not array.data.size or array.data.dtype.kind != "f":
            continue
        name = own[call.slot]
        what = cotangent_of(program, call.slot) if call.slot in pushed else f"the values of {name}"
        others = (np.full(array.data.shape, 0.5), np.full(array.data.shape, -3.0), _uneven(array.data.shape))
        yield what, (None, index), [with_contents(program, index, other) for other in others]
        if array.dtype == "float32" and call.slot not in pushed:
            arrays = [
                Array(one.data.astype(np.float64), "float64") if one.dtype == "float32" else one
                for one in program.arrays
            ]
            yield f"the dtype of {name}", None, [with_arrays(program, arrays)]


def _uneven(shape: tuple[int, ...]) -> Values:
    return np.asarray(2 * np.cos(np.arange(math.prod(shape)) * 1.7 + 0.3).reshape(shape))


def _literals(program: Program) -> Iterator[tuple[str, VariedPart, list[Program]]]:
    for call in program.calls:
        if call.kind not in OPERATIONS or call.note == LAYOUT or is_backward(call):
            continue
        keys: list[str | None] = [None for item in call.args for _ in leaves(item)]
        equal = Counter(repr(item) for one in call.args for item in leaves(one))
        seen: Counter[str] = Counter()
        keys += [key for key, item in call.kwargs.items() for _ in leaves(item)]
        for position, item in enumerate(leaves((call.args, call.kwargs))):
            others = _other_literals(item)
            if not others:
                continue
            key, value = keys[position], repr(item)
            seen[value] += key is None
            which = f"{_ordinal(seen[value])} {value}" if equal[value] > 1 else value
            text = f"{key}={value}" if key else f"the {which} of {call.target}"
            changed = [with_leaves(call, {position: other}) for other in others]
            if key is not None:
                changed.append(without_keyword(call, key))
            yield text, (call.slot, position), [with_call(program, one) for one in changed]


def _rounded_up(number: float) -> str:
    """Return `number` with three digits and not less than it is, so that the tolerance that is shown passes."""
    three_digits = decimal.Context(prec=3, rounding=decimal.ROUND_CEILING)
    return f"{float(three_digits.create_decimal(repr(number))):.3g}"


def _ordinal(number: int) -> str:
    if number <= 3:
        return ("first", "second", "third")[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _other_literals(item: Any) -> tuple[Any, ...]:
    if type(item) is bool:
        return (not item,)
    if type(item) is int:
        return (item + 1, item - 1, item + 2, *([-item] if item < -2 else []))
    if type(item) is float and math.isfinite(item):
        return (item + 1.0, item * 0.5 - 0.25, *([-item] if item < 0 else []))
    return ()


# -- what passes nearby -------------------------------------------------------------------------------------


def nearest(program: Program, passing: Sequence[Program]) -> list[str]:
    """Return the program in `passing` that differs least from `program`, as the lines of a diff."""
    own, pushed = _lines(program), _cotangents(program)
    found: list[list[str]] = []
    for other in passing:
        if [call.target for call in other.calls if call.kind != "tensor"] != [
            call.target for call in program.calls if call.kind != "tensor"
        ]:
            continue  # a program without the failing call passes, which explains nothing
        if _cotangents(other) != pushed:
            continue  # with zeros as cotangent any gradient passes
        found.append([line for line in difflib.ndiff(own, _lines(other)) if line[:2] in ("- ", "+ ")])
    found = [changed for changed in found if 0 < len(changed) <= 6]
    if not found:
        return []
    return ["Nearest program that passes (- fails, + passes):", *("    " + line for line in min(found, key=len))]


def _lines(program: Program) -> list[str]:
    own, pushed = names(program), cotangents(program)
    lines = program_text(program).splitlines()
    for call in program.inputs():
        if call.slot not in pushed:
            lines.append(f"{own[call.slot]} holds {_in_words(program.arrays[call.args[0].index].data)}")
    return lines


def _in_words(data: Values) -> str:
    """Return a few elements as they are, and the range of many, so that no change of them goes unsaid."""
    if data.size <= _SHOWN:
        return str(data.tolist())
    least, greatest = np.fmin.reduce(data, axis=None), data.max()  # NaN counts as the greatest
    return f"{data.size} elements, " + (f"all {least}" if least == greatest else f"from {least} to {greatest}")


def _cotangents(program: Program) -> list[bytes]:
    pushed = cotangents(program)
    # A cotangent with a memory layout of its own is read by the views that give it this.
    inputs = [call.args[0].index for call in program.inputs() if call.slot in pushed or call.note == COTANGENT]
    return [program.arrays[index].data.tobytes() for index in inputs]


# -- tolerance ----------------------------------------------------------------------------------------------


#: The line if the difference is as large as the value itself, and the line if it is not finite.
_NONE_HELPS = "Tolerance:  no tolerance helps: the difference is as large as the value itself"
_NOT_FINITE = "Tolerance:  no tolerance helps: only one side has NaN or infinity there"

#: The difference below which a result may be rounding error if only zeros are expected.
_NOISE = 1e-3


def _tolerance(shrunk: Agreement, settings: Settings) -> list[str]:
    """Return a line on the smallest relative tolerance, next to the present absolute one, that would let it pass.

    It names the arguments of the test that apply to gradients alone if only a gradient differs.
    """
    first = shrunk.mismatches[0]
    rtol_name, atol_name = ("grad_rtol", "grad_atol") if first.stage == "backward" else ("rtol", "atol")
    if first.special:  # a tolerance does not help with NaN and infinities, the option for special values does
        return ["Would pass: with special_values=False"]
    if first.statistics is None:
        return []
    expected, actual = shrunk.read().get(first.at, (None, None))
    if type(expected) is not TensorValue or type(actual) is not TensorValue:
        return []
    if expected.data.shape != actual.data.shape or expected.data.dtype.kind != "f":
        return []
    _, atol = limits(settings.tolerance_at(first.stage), expected, actual)
    gap = distance(expected.data, actual.data.astype(expected.data.dtype))
    if not np.isfinite(gap).all():
        return [_NOT_FINITE]
    needed = passing_tolerance(expected.data, actual.data, atol)
    if not math.isfinite(needed):
        if gap.max() >= (float(np.abs(expected.data).max()) or _NOISE):  # as large as the value, as below
            return [_NONE_HELPS]
        least = _rounded_up(float(gap.max()))
        return [f"Would pass: with {atol_name}={least}; {rtol_name} does not help where 0 is expected"]
    if round(needed, 3) >= 1:  # as large as the value: such a tolerance would let a missing gradient pass
        return [_NONE_HELPS]
    return [f"Would pass: with {rtol_name}={_rounded_up(needed)} ({atol_name}={atol:g})"]
