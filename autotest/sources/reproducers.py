"""Turns a reproducer's script into the body of a test, which runs the script's function on both sides."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.program import Array, Call, Program, Ref, refs
from autotest.program.numpy_scalars import is_whole
from autotest.program.rewriting import assembled
from autotest.program.semantics import is_class
from autotest.recording.dual import Value, torch
from autotest.recording.recorder import current


class _Namespace:
    """The dual namespace, except that arrays become inputs of the recorded program, like those that a test draws."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def tensor(self, data: Any, *args: Any, requires_grad: bool = False, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None or args or kwargs or not isinstance(data, np.ndarray):
            return torch.tensor(data, *args, requires_grad=requires_grad, **kwargs)
        return Value(recorder, recorder.tensor(Array(data, data.dtype.name), requires_grad=requires_grad))


def body_of(script: str, place: str) -> Callable[[], None]:
    """Return a test body that does what the function ``program`` of a reproducer does, on both sides at once.

    The rest of the script is not run, except for top-level imports, which name no frameworks, arrays and functions.

    Args:
        script: the source of the reproducer.
        place: the script's name in error messages.

    Raises:
        UsageError: The script has no function ``program``.
    """
    tree = ast.parse(script)
    if not any(isinstance(node, ast.FunctionDef) and node.name == "program" for node in tree.body):
        raise UsageError(f"{place}: expected a reproducer, which has a function called program")
    wanted = ast.Module(list(_definitions(tree)), type_ignores=[])
    names: dict[str, Any] = {}
    exec(compile(wanted, place, "exec"), names)  # noqa: S102 - a script of the user's own project

    def body() -> None:
        names["program"](_Namespace())

    return body


def tolerance_of(script: str) -> tuple[float, float] | None:
    """Return ``(rtol, atol)`` of a short reproducer; None if it has tolerances by dtype, or none."""
    found = re.search(r"close\(actual, expected, ([-\d.e]+), ([-\d.e]+)", script)
    return (float(found[1]), float(found[2])) if found else None


def with_shared_state(program: Program) -> Program:
    """Return `program` with each ``copy_`` of an input into a new module or tensor replaced by a shared state.

    A trial shares states without ``copy_``, which is an operator under test and would be compared. Reads of gradients
    are removed, because gradients are compared in any case.
    """
    calls = {call.slot: call for call in program.calls}
    inside = 0
    for call in program.calls:
        inside += {"enter": 1, "exit": -1}.get(call.kind, 0)
        if inside and call.target == "copy_" and all(type(item) is Ref for item in call.args):
            target, source = call.args
            root, name = _member(calls, target.slot)
            if calls[source.slot].kind != "tensor":
                continue
            content = calls[source.slot].args[0]
            if name and is_class(calls[root]):
                calls[call.slot] = Call("load_state", "", (Ref(root), {name: content}), {}, call.slot)
            elif calls[root].kind == "tensor":
                calls[call.slot] = Call("overwrite", "", (Ref(root), content), {}, call.slot)
    gone = {call.slot for call in program.calls if call.kind == "getattr" and call.target == "grad"}
    while True:
        kept = [call for call in calls.values() if call.slot not in gone]
        read = {ref.slot for call in kept for ref in refs(call)}
        idle = {call.slot for call in kept if call.kind == "getattr" or call.target == "getitem"} - read
        idle = {slot for slot in idle if is_class(calls[_member(calls, slot)[0]])}
        idle |= {call.slot for call in kept if call.kind == "tensor"} - read
        if not idle:
            return assembled(kept, program.arrays, program.undefined)[0]
        gone |= idle


def _member(calls: Mapping[int, Call], slot: int) -> tuple[int, str]:
    """Return the slot of the object that the value in `slot` is a member of, and the path: ``(0, "1.weight")``."""
    call = calls[slot]
    if call.kind == "getattr" or (
        call.kind == "operator" and call.target == "getitem" and (is_whole(call.args[1]) or type(call.args[1]) is str)
    ):
        root, path = _member(calls, call.args[0].slot)
        own = call.target if call.kind == "getattr" else str(call.args[1])
        return root, f"{path}.{own}".lstrip(".")
    return slot, ""


def _definitions(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef):
            yield node
        elif isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if all(name.isupper() for name in names):
                yield node
