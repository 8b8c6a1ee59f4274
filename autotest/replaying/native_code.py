"""Translates a program to a framework's own API: the statements that its adapter executes, as source."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.emission import names
from autotest.emission.native_script import NativeCode
from autotest.frameworks import Framework, framework
from autotest.frameworks.recorded_calls import run_call
from autotest.frameworks.remote.peer import START
from autotest.frameworks.remote.wire import AnsweringEnd
from autotest.frameworks.traced import NAME, Stopped, TracedGradient, Transcript
from autotest.program import Program, Ref, refs
from autotest.program.paths import indices_of, is_gradient, member_of, owner_of_gradient
from autotest.program.semantics import pushes_gradients

_TEMPORARY = re.compile(r"t\d+")


def as_native_code(program: Program, side: Framework, slot: int, suffix: str = "") -> NativeCode | None:
    """Return `program` as a user of the framework would write it, up to the result of call `slot`.

    Args:
        program: the program.
        side: the framework.
        slot: the call whose result is shown.
        suffix: the part of that result that is shown: ``".grad"``, ``"[1]"``, ``".weight.grad"``.

    Returns:
        The statements, or None if the framework uses torch's names itself. If call `slot` itself raises and `suffix` is
        empty, its statement is the last one.

    Raises:
        NotReplayable: the program cannot be written down.
        Exception: whatever the framework raises in an earlier call.
    """
    made = side.transcribing()
    if made is None:
        return None
    adapter, written = made
    own = names(program)
    values: list[Any] = []
    for call in program.calls:
        try:
            values.append(run_call(call, adapter, values, program.arrays))
        except NotReplayable:
            raise
        except Exception:
            if call.slot != slot or suffix or not written.raised:
                raise  # the adapter raised, after the framework's own calls
            found = written.differentiated
            if found is not None and pushes_gradients(call):
                return _code(written, _rendered(written, found.gradients[0]), found.gradients[0])
            last = written.statements[-1][0]
            needed = _needed(written.statements, [last]) if written.pure and last else written.statements
            return _code(written, _flat(needed), last)
        written.rename(adapter.text_of(values[-1]), own[call.slot])
    result = written.text(adapter.text_of(_at(values[slot], suffix, adapter)))
    later = (Ref(slot) in set(refs(call)) for call in program.calls[slot + 1 :])
    if not suffix and written.differentiated is None and any(later):  # a call may have changed the value that it reads
        return _code(written, _flat(written.statements, [result]), result)
    return _code(written, _rendered(written, result), result)


def as_deadly_code(program: Program, side: Framework) -> NativeCode | None:
    """Return `program` as `as_native_code` does, without making its last call, which kills the process.

    None if no source of the framework's own functions is recorded, or if the last call is none of these.
    """
    made = side.transcribing()
    short = getattr(side, "short", "")
    if made is None or not short:
        return None
    adapter, written = made
    own = names(program)
    values: list[Any] = []
    for call in program.calls:
        written.stops = f"{short}." if call.slot == len(program.calls) - 1 else ""
        try:
            values.append(run_call(call, adapter, values, program.arrays))
        except Stopped:
            last = written.statements[-1][0]
            return _code(written, _flat(written.statements, [last]), last)
        written.rename(adapter.text_of(values[-1]), own[call.slot])
    return None


def _code(written: Transcript, lines: Sequence[str], result: str) -> NativeCode:
    return NativeCode(written.imports, tuple(lines), result, written.list_text, written.dtype_text)


def _at(value: Any, place: str, adapter: Framework) -> Any:
    """Return the part of `value` at `place`: an item, a parameter of a module, or the gradient of one of these."""
    owner = owner_of_gradient(place)
    indices = indices_of(owner)
    if indices is None:
        value = adapter.parameters(value)[member_of(owner)]
    else:
        for index in indices:
            value = value[index]
    return adapter.gradient(value) if is_gradient(place) else value


def _rendered(written: Transcript, result: str) -> list[str]:
    if not written.pure:
        return _flat(written.statements, [result])
    found = written.differentiated
    after = [] if found is None else _needed(written.statements[found.end :], [result])
    used = [result, *(text for _, text in after)]
    if found is None or _names(used).isdisjoint(found.gradients):
        return _flat(_needed(written.statements, [result]), [result])
    if found.trouble:
        raise NotReplayable(found.trouble)
    before = written.statements[: found.end]
    inside = _needed(before, found.outputs, written.varying)
    # Constants are computed outside of the function, including those that the function computes as well.
    taken = [*found.leaves, *found.cotangents, *found.outputs, *(text for _, text in inside), *used]
    own = {name for name, _ in inside}
    around = [*found.leaves, *found.cotangents, *(_names(taken) - own), *_names(used)]
    outside = _needed(before, around)
    return [*_flat(outside, taken), *_function(found, inside), *found.lines, *_flat(after, [result])]


def _function(found: TracedGradient, inside: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f"    {line}" for line in _flat(inside, found.outputs)]
    outputs = found.outputs[0] if len(found.outputs) == 1 else f"[{', '.join(found.outputs)}]"
    return ["", f"def forward({', '.join(found.leaves)}):", *lines, f"    return {outputs}", ""]


def _names(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in NAME.findall(text)}


def _needed(
    statements: Sequence[tuple[str, str]], results: Iterable[str], among: Container[str] | None = None
) -> list[tuple[str, str]]:
    """Return the statements that `results` need. `among` limits them to these names, and to what these need."""
    wanted = _names(results)
    kept = []
    for name, text in reversed(statements):
        if name in wanted and (among is None or name in among):
            kept.append((name, text))
            wanted |= _names([text])
    return kept[::-1]


def _flat(statements: Sequence[tuple[str, str]], results: Sequence[str] = ()) -> list[str]:
    """Return the statements as lines. A temporary that is used once, in the next statement, is inlined."""
    waiting, lines = list(statements), []
    while waiting:
        name, text = waiting.pop(0)
        uses = _count(name, [later for _, later in waiting] + list(results))
        if _TEMPORARY.fullmatch(name) and waiting and uses == 1 == _count(name, [waiting[0][1]]):
            following, rest = waiting[0]
            waiting[0] = following, _plain(re.sub(rf"\b{name}\b", lambda _, inner=text: f"({inner})", rest))  # type: ignore[misc]
        else:
            lines.append(f"{name} = {text}" if name else text)
    return lines


def _plain(text: str) -> str:
    """Return a statement without unnecessary parentheses."""
    plain = ast.unparse(ast.parse(text))
    return plain if '"' in plain else plain.replace("'", '"')


def _count(name: str, texts: Iterable[str]) -> int:
    return sum(NAME.findall(text).count(name) for text in texts)


def main(name: str, files: Sequence[Any]) -> None:
    """Send what one program is in the framework's own terms. Runs in the interpreter that has the framework `name`.

    A slot of None stands for a program whose last call kills the process.
    """
    asked = AnsweringEnd(*files)
    program, slot, suffix = asked.receive()
    try:
        side = framework(name)
        found = as_deadly_code(program, side) if slot is None else as_native_code(program, side, slot, suffix)
    except Exception as error:  # noqa: BLE001 - told, whatever it is
        asked.send(f"{type(error).__name__}: {error}")
    else:
        asked.send(None if found is None else tuple(found))


#: First code of another interpreter that runs `main` of this module.
START_ELSEWHERE = START.replace(
    "from autotest.frameworks.remote.served import main", "from autotest.replaying.native_code import main"
)
