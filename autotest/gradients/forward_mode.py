"""Programs in forward mode, and the comparison of their results' tangents with differences along one direction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from autotest.emission import names
from autotest.frameworks import Framework
from autotest.gradients.evidence import Line, has_ties, is_rough, magnitude_of, refuted
from autotest.gradients.function import FORWARD_MODE, Real, from_reals, reals, reals_of
from autotest.gradients.program_function import ProgramFunction, differentiated
from autotest.gradients.reverse_mode import CapturedLeaf, WrongElement, constant, extent_of, flowing_through, is_wide
from autotest.gradients.rule import RULE
from autotest.program import Array, Call, Program, Ref, reading, refs
from autotest.program.rewriting import assembled, tensor_call, with_contents
from autotest.replaying.replay import Replayed, replay
from autotest.results.gradient_rows import Jacobians, row_of


def in_forward_mode(program: Program, framework: Framework) -> Iterator[Program]:
    """Yield, for each input of `program` that requires grad, a program in double precision that gives it a tangent."""
    wide, upto, roots, _ = differentiated(program)
    runner = ProgramFunction(wide, upto, roots, framework)
    for call in wide.calls[:upto]:
        if call.kind != "tensor" or not call.kwargs["requires_grad"]:
            continue
        made, places = _with_tangent(wide, upto, roots, call)
        for slot, (array, device) in runner.constants.items():
            made = constant(made, places[slot], array, device)
        yield made


def _with_tangent(wide: Program, upto: int, roots: list[int], leaf: Call) -> tuple[Program, dict[int, int]]:
    base = len(wide.calls)
    level, entered, tangent, dual = range(base, base + 4)
    array = wide.arrays[leaf.args[0].index]
    along = np.random.default_rng(leaf.slot).uniform(0.5, 1.0, reals(array.data).size)
    arrays = (*wide.arrays, Array(from_reals(along, array.data), array.dtype))

    instead = {leaf.slot: Ref(dual)}
    calls = [
        Call("function", f"{FORWARD_MODE}.dual_level", (), {}, level),
        Call("enter", "", (Ref(level),), {}, entered),
    ]
    for call in wide.calls[:upto]:
        calls.append(call if call.slot <= leaf.slot else reading(call, instead))
        if call.slot == leaf.slot:
            calls.append(tensor_call(tangent, len(arrays) - 1, arrays[-1], requires_grad=False, note="tangent"))
            calls.append(Call("function", f"{FORWARD_MODE}.make_dual", (Ref(leaf.slot), Ref(tangent)), {}, dual))
    for at, root in enumerate(roots):
        pair = base + 4 + 2 * at
        calls.append(Call("function", f"{FORWARD_MODE}.unpack_dual", (instead.get(root, Ref(root)),), {}, pair))
        calls.append(Call("getattr", "tangent", (Ref(pair),), {}, pair + 1))
    return assembled(calls, arrays)


@dataclasses.dataclass(frozen=True, slots=True)
class ForwardParts:
    """The slots and captured arrays of the parts of a program from `in_forward_mode`."""

    leaf: CapturedLeaf
    #: Index of the captured array of the leaf's tangent.
    along: int
    results: list[int]
    tangents: list[int]
    #: Slot of the first call that uses the leaf with its tangent.
    first: int


def parts_of(program: Program) -> ForwardParts | None:
    """Return the parts that `in_forward_mode` added to `program`, or None if shrinking removed some of them."""
    dual = next((call for call in program.calls if call.target == f"{FORWARD_MODE}.make_dual"), None)
    pairs = {call.slot: call.args[0].slot for call in program.calls if call.target == f"{FORWARD_MODE}.unpack_dual"}
    reads = [call for call in program.calls if call.kind == "getattr" and call.target == "tangent"]
    if dual is None or not reads or not any(Ref(dual.slot) in refs(call) for call in program.calls):
        return None
    if not all(call.args[0].slot in pairs for call in reads):
        return None
    sources = [program.calls[item.slot] for item in dual.args if type(item) is Ref]
    if len(sources) != 2 or not all(call.kind == "tensor" for call in sources):
        return None
    leaf, along = sources
    captured = CapturedLeaf(leaf.slot, "", leaf.args[0].index)
    results = [pairs[call.args[0].slot] for call in reads]
    first = next(call.slot for call in program.calls if Ref(dual.slot) in refs(call))
    return ForwardParts(captured, along.args[0].index, results, [call.slot for call in reads], first)


def wrong_tangent(program: Program, framework: Framework, *, finite: bool = False) -> WrongElement | None:
    """Return the first wrong element of a tangent, or None if all are right or the program does not run.

    Args:
        program: a program from `in_forward_mode`.
        framework: the framework to run it on.
        finite: whether to consider only finite elements of tangents.
    """
    parts = parts_of(program)
    if parts is None or not is_wide(program):
        return None
    try:
        return _wrong(program, parts, framework, finite)
    except Exception:  # noqa: BLE001 - from the framework; a program that does not run proves nothing
        return None


def _wrong(program: Program, parts: ForwardParts, framework: Framework, finite: bool) -> WrongElement | None:
    own = names(program)
    centre, tangents = _run(program, parts, framework, 0.0)
    drawn = reals(program.arrays[parts.leaf.index].data)
    if has_ties(drawn, RULE.eps):
        return None
    moved = magnitude_of([drawn])[0]
    extent = extent_of(program, centre)
    for o, slot in enumerate(parts.results):
        tangent = tangents[o]
        analytic = np.zeros(centre[o].size) if tangent is None else tangent
        line = Line(lambda step, o=o: _run(program, parts, framework, step)[0][o], *extent, moved)  # type: ignore[misc]
        wrong, numeric = refuted(analytic, line, RULE)
        inner = lambda step, slot=slot: _between(program, parts, framework, step, slot)  # noqa: E731
        if wrong.any() and is_rough(inner, RULE, analytic[wrong]):
            continue
        for at in np.flatnonzero(wrong):
            if finite and not np.isfinite(analytic[at]):
                continue
            name = own[parts.leaf.slot]
            pair = Jacobians((name, own[slot]), analytic[at].reshape(1, 1), numeric[at].reshape(1, 1))
            row = row_of(pair, RULE.atol, RULE.rtol, note="forward mode, along one direction")
            return WrongElement(parts.leaf, name, dataclasses.replace(row, output_index=f"number {at}"))
    return None


def _run(
    program: Program, parts: ForwardParts, framework: Framework, step: float
) -> tuple[list[Real], list[Real | None]]:
    """Return the results and their tangents, with the leaf moved by `step` times its tangent."""
    run = _moved(program, parts, framework, step)
    tangents = [run.values[slot] for slot in parts.tangents]
    return reals_of(framework, [run.values[slot] for slot in parts.results]), [
        None if one is None else reals_of(framework, [one])[0] for one in tangents
    ]


def _between(program: Program, parts: ForwardParts, framework: Framework, step: float, judged: int) -> list[Real]:
    """Return the intermediate results, without that in slot `judged`; see `_run`."""
    run = _moved(program, parts, framework, step)
    return flowing_through(program.calls, run, framework, run.values[judged])


def _moved(program: Program, parts: ForwardParts, framework: Framework, step: float) -> Replayed:
    index = parts.leaf.index
    moved = program.arrays[index].data + step * program.arrays[parts.along].data
    run = replay(with_contents(program, index, moved), framework)
    if run.error is not None:
        raise run.error
    return run
