"""The names that a program's values have in reproducers, reports and messages.

The invariant: a name is a letter or two and a number, and says what the value is for.

* ``x0``, ``x1``, ...: tensors made from captured arrays, counted in the order of the program;
* ``c7``: such a tensor that is only ever handed to a call of ``backward`` or ``grad``, by its slot;
* ``m2``: what a class of the framework returned (its path ends in a capitalised word), by its slot;
* ``o5``: the same for an optimizer (a class below ``optim``), by its slot;
* ``ctx3``: a value that the program enters as a context manager, by its slot;
* ``v4``: everything else, by its slot.

Captured arrays are constants: ``X0`` belongs to ``x0``, ``C7`` to ``c7``, any other is ``A`` and its index.
"""

from __future__ import annotations

import ast
import enum
import itertools
import re

from autotest.program import Call, Captured, Program, captured, refs
from autotest.program.paths import gradient_of
from autotest.program.semantics import assigns_items, is_backward, is_class, makes_optimizer, pushes_gradients

#: Calls that leave no value of their own worth naming in a list of what can be observed.
_WITHOUT_RESULT = frozenset(("setattr", "load_state", "overwrite", "enter", "exit"))


class Role(enum.Enum):
    """What a value of a program is for; the letters that its name begins with."""

    INPUT = "x"
    COTANGENT = "c"
    MODULE = "m"
    OPTIMIZER = "o"
    CONTEXT = "ctx"
    RESULT = "v"


def roles(program: Program) -> dict[int, Role]:
    """What each slot of `program` is for."""
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
    """The name of each slot of `program`."""
    inputs = itertools.count()
    return {
        slot: f"{role.value}{next(inputs) if role is Role.INPUT else slot}" for slot, role in roles(program).items()
    }


def cotangents(program: Program) -> set[int]:
    """Slots of input tensors without gradient that only ``backward`` and ``grad`` read, after what they start from."""
    free = {call.slot for call in program.inputs() if not call.kwargs.get("requires_grad")}
    pushed: set[int] = set()
    read_otherwise: set[int] = set()
    for call in program.calls:
        read = free.intersection([ref.slot for ref in refs(call)])
        if read and pushes_gradients(call):
            pushed.update(read)
            read = read.intersection([ref.slot for ref in refs(call._replace(args=call.args[:1], kwargs={}))])
        read_otherwise |= read
    return pushed - read_otherwise


def constants(program: Program) -> dict[int, str]:
    """The name of each captured array that `program` reads, by index."""
    own = names(program)
    found: dict[int, str] = {}
    for call in program.calls:
        for item in captured(call):
            found.setdefault(item.index, own[call.slot].upper() if _is_input(call) else f"A{item.index}")
    return dict(sorted(found.items()))


def _is_input(call: Call) -> bool:
    return call.kind == "tensor" and len(call.args) == 1 and type(call.args[0]) is Captured


def observables(program: Program) -> list[tuple[str, str]]:
    """``(name, expression)`` of all that can be looked at when `program` has run, in the program's order.

    Inputs stand there with their gradient when they ask for one; results stand there whole, whatever they are.
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


def expression(name: str, own: dict[int, str]) -> str:
    """Python for an observed `name` such as ``m2.0.weight.grad`` or ``v3[1]``.

    A numbered part of a module's path is how a container numbers its children: it becomes an index. Raises
    `ValueError` when the name does not begin with a name of the program or is no expression.
    """
    head = re.match(r"[a-z]+\d+", name)
    if head is None or head.group() not in own.values():
        raise ValueError(f"observed name {name!r}: expected it to begin with one of {', '.join(own.values()) or '-'}")
    text = head.group() + _indexed(name[head.end() :])
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        raise ValueError(f"observed name {name!r}: it cannot be read as an expression; got {text!r}") from None
    return text


def path(owner: str, name: str) -> str:
    """Python for the part of module `owner` that is called `name`, such as ``m2`` and ``0.weight``."""
    return owner + _indexed(f".{name}")


def _indexed(steps: str) -> str:
    """`steps` with numbers as indices, but for those in the keys of a dict."""
    parts = re.split(r"""(\['[^']*'\]|\["[^"]*"\])""", steps)
    return "".join(part if at % 2 else re.sub(r"\.(\d+)(?=[.\[]|$)", r"[\1]", part) for at, part in enumerate(parts))


def is_observable(name: str, own: dict[int, str]) -> bool:
    """Whether `expression` takes `name`."""
    try:
        expression(name, own)
    except ValueError:
        return False
    return True


def root(text: str) -> str:
    """The program's name that an observed name or expression begins with."""
    head = re.match(r"[a-z]+\d+", text)
    return head.group() if head else text
