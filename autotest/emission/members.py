"""Writes the place of a value inside of another one as a Python expression: members of modules, items of containers.

Frameworks name all members of a module alike, ``0.a-b.weight``. Whether a number is an index or a name, and how a name
that is no identifier is read, depends on the class of the module that contains it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from autotest.emission.quoting import string
from autotest.program import Call, Operand, Program, Ref
from autotest.program.semantics import is_class

_LISTS = frozenset(("nn.Sequential", "nn.ModuleList", "nn.ParameterList"))
_DICTS = frozenset(("nn.ModuleDict", "nn.ParameterDict"))

#: Calls that put a named member into a module, and calls after which the names of its members are not known.
_NAMING = frozenset(("add_module", "register_module", "setitem"))
_MOVING = frozenset(("append", "extend", "insert", "pop", "update", "delitem", "clear"))

#: An index or key in brackets, whose text may contain dots and brackets, or a name after a dot.
_STEP = re.compile(r"""(\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]'"]*)\])|\.([^.\[]+)""")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_METHOD = re.compile(r"[a-z_]+\(\)")


class Holder(NamedTuple):
    """A module that a program creates: its class, and its members by name, as far as the program's calls tell."""

    target: str
    members: dict[str, Operand]


def holders(program: Program) -> dict[int, Holder]:
    """Return the modules that `program` creates, by slot."""
    found: dict[int, Holder] = {}
    for call in program.calls:
        if is_class(call):
            found[call.slot] = Holder(call.target, _given(call))
            continue
        first = call.args[0] if call.args else None
        owner = found.get(first.slot) if type(first) is Ref else None
        if owner is None:
            continue
        if call.target == "deepcopy":
            found[call.slot] = Holder(owner.target, dict(owner.members))
        elif call.kind == "setattr" and type(call.args[1]) is Ref:
            owner.members[call.target] = call.args[1]
        elif call.target in _NAMING and len(call.args) == 3:
            owner.members[str(call.args[1])] = call.args[2]
        elif call.target in _MOVING:
            owner.members.clear()
    return found


def _given(call: Call) -> dict[str, Operand]:
    """Return the members with which a container is created; nothing for other classes."""
    given: Operand = [*call.args, *call.kwargs.values()]
    if call.target not in _LISTS | _DICTS or not given:
        return {}
    if len(given) == 1 and (call.target != "nn.Sequential" or isinstance(given[0], dict)):
        given = given[0]
    if isinstance(given, dict):
        return {str(name): item for name, item in given.items()}
    if call.target in _DICTS or not isinstance(given, (list, tuple)):
        return {}
    return {str(at): item for at, item in enumerate(given)}


def inside(owner: str, steps: str, slot: int | None = None, known: Mapping[int, Holder] = MappingProxyType({})) -> str:
    """Return the expression for the value at `steps` inside of the value called `owner`.

    Args:
        owner: the expression of the value that contains it.
        steps: the place, such as ``.0.weight`` or ``['key'][0]``.
        slot: the slot of `owner`, if it has one.
        known: the modules that the program creates, by slot. The numbers of other modules are indices.
    """
    text, at = owner, 0
    holder = None if slot is None else known.get(slot)
    while at < len(steps):
        step = _STEP.match(steps, at)
        if step is None:
            return text + steps[at:]
        at = step.end()
        if step[1]:
            text, holder = text + step[1], None
            continue
        name = step[2]
        text = _member(text, name, holder)
        item = holder.members.get(name) if holder is not None else None
        holder = known.get(item.slot) if type(item) is Ref else None
    return text


def _member(owner: str, name: str, holder: Holder | None) -> str:
    if _METHOD.fullmatch(name) or (name.isidentifier() and not keyword.iskeyword(name)):
        return f"{owner}.{name}"
    if holder is not None and holder.target in _DICTS:
        return f"{owner}[{string(name)}]"
    if _NUMBER.fullmatch(name) and _is_index(name, holder):
        return f"{owner}[{name}]"
    return f"getattr({owner}, {string(name)})"


def _is_index(name: str, holder: Holder | None) -> bool:
    """Whether the member called `name`, a number, is also the item at this index."""
    if holder is None:
        return True
    # A Sequential may have other numbers as names than their indices.
    return holder.target in _LISTS and (name not in holder.members or [*holder.members].index(name) == int(name))
