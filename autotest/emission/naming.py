"""The names of a program's values in reproducers, reports and messages.

A name consists of letters, which tell the role of the value, and a number. The number is the slot of the value, except
for inputs, which are counted.

* ``x0``, ``x1``, ...: input tensors made from captured arrays, in program order;
* ``c7``: a cotangent, a tensor made from a captured array that only calls of ``backward`` or ``grad`` read;
* ``m2``: an object of a class of the framework (its path ends in a capitalised word), such as a module;
* ``o5``: an optimizer (a class below ``optim``);
* ``ctx3``: a value that the program enters as a context manager;
* ``v4``: any other result.

Captured arrays are constants: ``X0`` belongs to ``x0``, ``C7`` to ``c7``; any other is ``A`` and its index.
"""

from __future__ import annotations

import ast
import enum
import itertools
import re

from autotest.emission import members
from autotest.program import Call, Captured, Program, Ref, captured, refs
from autotest.program.paths import gradient_of
from autotest.program.semantics import (
    assigns_items,
    is_backward,
    is_class,
    makes_optimizer,
    pushed_pairs,
    pushes_gradients,
)

#: Kinds of calls whose results are not worth observing.
_WITHOUT_RESULT = frozenset(("setattr", "load_state", "overwrite", "enter", "exit"))


class Role(enum.Enum):
    """The role of a value in a program; the enum's value is the letters at the start of its name."""

    INPUT = "x"
    COTANGENT = "c"
    MODULE = "m"
    OPTIMIZER = "o"
    CONTEXT = "ctx"
    RESULT = "v"


def roles(program: Program) -> dict[int, Role]:
    """Return the role of each slot of `program`."""
    entered = {ref.slot for call in program.calls if call.kind == "enter" for ref in refs(call)}
    pushed = cotangents(program)
    return {call.slot: _role(call, entered, pushed) for call in program.calls}


def _role(call: Call, entered: set[int], pushed: set[int]) -> Role:
    if call.slot in entered:
        return Role.CONTEXT
    if call.slot in pushed:
        return Role.COTANGENT
    if call.kind == "tensor":
        return Role.INPUT
    if not is_class(call):
        return Role.RESULT
    return Role.OPTIMIZER if makes_optimizer(call) else Role.MODULE


def names(program: Program) -> dict[int, str]:
    """Return the name of each slot of `program`."""
    inputs = itertools.count()
    return {
        slot: f"{role.value}{next(inputs) if role is Role.INPUT else slot}" for slot, role in roles(program).items()
    }


def cotangents(program: Program) -> set[int]:
    """Return the slots of cotangents.

    These are input tensors without gradient that only ``backward`` and ``grad`` read, and not as their first argument.
    """
    free = {call.slot for call in program.inputs() if not call.kwargs.get("requires_grad")}
    pushes = [call for call in program.calls if pushes_gradients(call)]
    pushed = free.intersection([ref.slot for call in pushes for ref in refs(call)])
    if not pushed:
        return pushed
    own = {call.slot for call in pushes}
    # Of a call that pushes gradients, only the first argument is read otherwise.
    firsts = [call._replace(args=call.args[:1], kwargs={}) for call in pushes]
    others = [call for call in program.calls if call.slot not in own]
    read_otherwise = {ref.slot for call in (*others, *firsts) for ref in refs(call)}
    return pushed - read_otherwise


def cotangent_of(program: Program, slot: int) -> str:
    """Return the words for the cotangent in `slot`, by the result it is pushed back from: a program shows no name."""
    own = names(program)
    for call in program.calls:
        if not pushes_gradients(call):
            continue
        for root, one in pushed_pairs(call):
            if type(root) is Ref and one == Ref(slot):
                return f"the cotangent of {own[root.slot]}"
    return f"the cotangent {own[slot]}"


def constants(program: Program) -> dict[int, str]:
    """Return the name of each captured array that `program` reads, by index."""
    own = names(program)
    found: dict[int, str] = {}
    for call in program.calls:
        for item in captured(call):
            found.setdefault(item.index, own[call.slot].upper() if _is_input(call) else f"A{item.index}")
    return dict(sorted(found.items()))


def _is_input(call: Call) -> bool:
    return call.kind == "tensor" and len(call.args) == 1 and type(call.args[0]) is Captured


def observables(program: Program) -> list[tuple[str, str]]:
    """Return ``(name, expression)`` of all values that can be observed after `program` has run, in program order.

    These are inputs, their gradients if they require one, and whole results of any type.
    """
    own, known = names(program), roles(program)
    found: list[tuple[str, str]] = []
    for call in program.calls:
        name = own[call.slot]
        if call.kind in _WITHOUT_RESULT or known[call.slot] in (Role.CONTEXT, Role.COTANGENT):
            continue
        if assigns_items(call) or is_backward(call) or (call.kind == "method" and call.target == "zero_grad"):
            continue
        found.append((name, name))
        if call.kind == "tensor" and call.kwargs.get("requires_grad"):
            found.append((gradient_of(name), gradient_of(name)))
    return found


class ObservedNames:
    """The expressions for observed names of one program, which may have hundreds: it is read only once for them."""

    def __init__(self, program: Program) -> None:
        self._slots = {own: slot for slot, own in names(program).items()}
        self._holders = members.holders(program)

    def expression(self, name: str) -> str:
        """Return the Python expression for `name` such as ``m2.0.weight.grad`` or ``v3[1]``.

        Raises:
            ValueError: the name does not begin with a name of the program, or is no expression.
        """
        head = re.match(r"[a-z]+\d+", name)
        if head is None or head.group() not in self._slots:
            expected = ", ".join(self._slots) or "-"
            raise ValueError(f"observed name {name!r}: expected it to begin with one of {expected}")
        text = members.inside(head.group(), name[head.end() :], self._slots[head.group()], self._holders)
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            raise ValueError(f"observed name {name!r}: it cannot be read as an expression; got {text!r}") from None
        return text

    def __contains__(self, name: str) -> bool:
        """Whether `expression` accepts `name`."""
        try:
            self.expression(name)
        except ValueError:
            return False
        return True


def expression(name: str, program: Program) -> str:
    """Return the Python expression for an observed `name` of `program`; see `ObservedNames.expression` for errors."""
    return ObservedNames(program).expression(name)


def path(owner: str, name: str) -> str:
    """Return the Python expression for the member `name` of module `owner`, such as ``m2`` and ``0.weight``."""
    return members.inside(owner, f".{name}")


def is_observable(name: str, program: Program) -> bool:
    """Whether `expression` accepts `name`."""
    return name in ObservedNames(program)


def root(text: str) -> str:
    """Return the program's name at the start of an observed name or expression."""
    head = re.match(r"(?:getattr\()*([a-z]+\d+)", text)
    return head[1] if head else text
