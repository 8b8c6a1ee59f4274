"""Replaces calls of an `nn.Sequential` by calls of its layers, so that each layer can be examined separately."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterator

from autotest.program.calls import Call, Operand, Program, Ref, Scope
from autotest.program.rewriting import assembled
from autotest.program.semantics import is_class, is_module_call

_SEQUENTIAL = "nn.Sequential"
#: Calls on a container that change what it computes after it was built.
_CHANGING = frozenset(
    (
        *("append", "insert", "extend", "pop", "add_module", "register_module", "setattr", "setitem", "delitem"),
        *("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"),
        *("register_full_backward_pre_hook", "register_backward_hook"),
    )
)


def with_layers_unrolled(program: Program) -> Program:
    """Return `program` with every call of a Sequential replaced by one call for each of its layers.

    This covers only Sequentials that were built from modules of the program and not changed afterwards. If none is
    called, `program` itself is returned.
    """
    return unrolled(program)[0]


def unrolled(program: Program) -> tuple[Program, dict[int, int]]:
    """Return what `with_layers_unrolled` returns, and the new slot of each old one."""
    inside = {call.slot: _layers(call) for call in program.calls if _is_sequential(call)}
    for call in program.calls:
        if call.args and type(call.args[0]) is Ref and (call.target or call.kind) in _CHANGING:
            inside.pop(call.args[0].slot, None)
    fresh, calls, undefined = itertools.count(len(program.calls)), [], set(program.undefined)
    for call in program.calls:
        layers = _called(call, inside)
        steps = [*_steps(call, call.args[1], layers, inside, fresh)] if layers else [call]
        calls += steps
        if call.slot in program.undefined:  # it is not known which of the layers makes it undefined
            undefined.update(step.slot for step in steps)
    if len(calls) == len(program.calls):
        return program, {call.slot: call.slot for call in calls}
    return assembled(calls, program.arrays, undefined)


def _is_sequential(call: Call) -> bool:
    return is_class(call) and call.target == _SEQUENTIAL and not call.kwargs


def _layers(call: Call) -> dict[str, Ref]:
    """Return the layers of a Sequential by name; nothing if they are not values of the program."""
    by_name = len(call.args) == 1 and type(call.args[0]) is OrderedDict
    given = dict(call.args[0]) if by_name else {str(at): item for at, item in enumerate(call.args)}
    return given if all(type(item) is Ref for item in given.values()) else {}


def _called(call: Call, inside: dict[int, dict[str, Ref]]) -> dict[str, Ref]:
    """Return the layers of the Sequential that `call` calls; nothing if it calls something else."""
    one = is_module_call(call) and len(call.args) == 2 and not call.kwargs and type(call.args[0]) is Ref
    return inside.get(call.args[0].slot, {}) if one else {}


def _steps(
    call: Call, given: Operand, layers: dict[str, Ref], inside: dict[int, dict[str, Ref]], fresh: Iterator[int]
) -> Iterator[Call]:
    """Yield the calls of `layers` in order; the last one writes the slot of `call`."""
    scope = call.scope or Scope("Sequential")
    for at, (name, layer) in enumerate(layers.items()):
        slot = call.slot if at == len(layers) - 1 else next(fresh)
        step = call._replace(args=(layer, given), slot=slot, scope=scope.child(name))
        deeper = _called(step, inside)
        yield from _steps(step, given, deeper, inside, fresh) if deeper else [step]
        given = Ref(slot)
