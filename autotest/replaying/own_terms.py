"""What a program is in a framework's own terms: the statements that its adapter makes of it, as source."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.emission import names
from autotest.emission.own_terms import OwnTerms
from autotest.frameworks import Framework, framework
from autotest.frameworks.peer import START
from autotest.frameworks.traced import Differentiated, Written
from autotest.frameworks.wire import receive, send
from autotest.program import Program
from autotest.replaying.replay import perform

_NAME = re.compile(r"\b[a-z]+\d+\b")
_TEMPORARY = re.compile(r"t\d+")
_STEP = re.compile(r"\[(\d+)\]|\.([A-Za-z_][\w.]*)")


def in_own_terms(program: Program, side: Framework, slot: int, suffix: str = "") -> OwnTerms | None:
    """`program` as `side` would be asked for it by its users, up to what call `slot` gives.

    `suffix` says what of that is looked at: ``".grad"``, ``"[1]"``, ``".weight.grad"``. None where the framework speaks
    torch's names itself. Raises `NotReplayable` where it cannot be written down, and what the framework raises in an
    earlier call than the one that is looked at, whose statement is the last one in any case.
    """
    made = side.transcribing()
    if made is None:
        return None
    adapter, written = made
    own = names(program)
    values: list[Any] = []
    for call in program.calls:
        try:
            values.append(perform(call, adapter, values, program.arrays, {}))
        except Exception:
            if call.slot != slot or suffix or not written.statements:
                raise
            return OwnTerms(written.imports, tuple(_flat(written.statements)), written.statements[-1][0])
        written.rename(adapter.text_of(values[-1]), own[call.slot])
    value = values[slot]
    for index, attribute in _STEP.findall(suffix):
        if index:
            value = value[int(index)]
        else:
            name, _, rest = attribute.rpartition(".")
            if attribute != "grad" and rest != "grad":
                name, rest = attribute, ""
            value = adapter.parameters(value)[name] if name else value
            value = adapter.gradient(value) if rest == "grad" else value
    result = written.text(adapter.text_of(value))
    return OwnTerms(written.imports, tuple(_rendered(written, result)), result)


def _rendered(written: Written, result: str) -> list[str]:
    found = written.differentiated
    if found is None or result not in found.gradients:
        return _flat(_needed(written.statements, [result]) if written.pure else written.statements, [result])
    forward = written.statements[: found.end]
    outside = _needed(forward, [*found.leaves, *found.cotangents])
    inside = [item for item in _needed(forward, found.outputs) if item not in outside]
    if any(name in _used(outside) for name, _ in inside):
        raise NotReplayable("what is differentiated is also computed from what stands around it")
    return [*_flat(outside, [*found.leaves, *found.cotangents]), *_function(found, inside), *found.lines]


def _function(found: Differentiated, inside: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f"    {line}" for line in _flat(inside, found.outputs)]
    outputs = found.outputs[0] if len(found.outputs) == 1 else f"[{', '.join(found.outputs)}]"
    return ["", f"def forward({', '.join(found.leaves)}):", *lines, f"    return {outputs}", ""]


def _used(statements: Iterable[tuple[str, str]]) -> set[str]:
    return {name for _, text in statements for name in _NAME.findall(text)}


def _needed(statements: Sequence[tuple[str, str]], results: Iterable[str]) -> list[tuple[str, str]]:
    """Those statements that `results` need."""
    wanted = {name for result in results for name in _NAME.findall(result)}
    kept = []
    for name, text in reversed(statements):
        if name in wanted:
            kept.append((name, text))
            wanted |= set(_NAME.findall(text))
    return kept[::-1]


def _flat(statements: Sequence[tuple[str, str]], results: Sequence[str] = ()) -> list[str]:
    """The statements as lines; what is used once, in the next of them, stands where it is used."""
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
    """A statement without the parentheses that it does not need."""
    plain = ast.unparse(ast.parse(text))
    return plain if '"' in plain else plain.replace("'", '"')


def _count(name: str, texts: Iterable[str]) -> int:
    return sum(_NAME.findall(text).count(name) for text in texts)


def main(name: str) -> None:
    """Answer, in the interpreter that has the framework called `name`, what one program is in its terms."""
    answers, questions = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # what the framework prints is no answer
    program, slot, suffix = receive(questions)
    try:
        found = in_own_terms(program, framework(name), slot, suffix)
    except Exception as error:  # noqa: BLE001 - told, whatever it is
        send(answers, f"{type(error).__name__}: {error}")
    else:
        send(answers, None if found is None else tuple(found))


#: What another interpreter begins with that is to answer so.
START_ELSEWHERE = START.replace(
    "from autotest.frameworks.served import main", "from autotest.replaying.own_terms import main"
)
