"""Prints a program as Python statements, one for each call."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import keyword
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.emission import literals, members, naming
from autotest.emission.quoting import bracketed, string
from autotest.emission.shared_memory import SHARES
from autotest.program import Call, Captured, File, Program, Ref, Root, leaves, refs

#: Binary operators by their names in :mod:`operator`.
ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}
_BINARY = ARITHMETIC | COMPARISONS | {"is_": "is", "is_not": "is not"}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "not_": "not "}
#: Augmented assignments by their names in :mod:`operator`: ``iadd`` is ``+=``.
IN_PLACE = {f"i{name.rstrip('_')}": f"{sign}=" for name, sign in ARITHMETIC.items()}


#: Placeholder for the slot of the exit of a context that the program never leaves.
UNCLOSED = -1


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """One call as source: its slot, its depth of ``with`` blocks, and its lines without indentation."""

    slot: int
    depth: int
    lines: tuple[str, ...]


def indented(statements: Iterable[Statement]) -> list[str]:
    """Return the lines of `statements`, indented by the depth of ``with`` blocks."""
    return ["    " * item.depth + line for item in statements for line in item.lines]


class Printer:
    """Prints the calls of one program.

    Args:
        program: the program to print.
        namespace: the variable that contains the framework.
        observed: names of values that are read after the program has run, and therefore need a variable.
        width: maximum number of columns, for calls that can be broken.
        data: whether captured arrays are named constants; otherwise their shape and dtype are printed.
        inline: expressions for captured arrays, by index, that are printed where the arrays are used.
        returned: the name of a value that the last statement returns directly, if it makes this value.
    """

    def __init__(
        self,
        program: Program,
        namespace: str,
        observed: Iterable[str] = (),
        *,
        width: int = 100,
        data: bool = True,
        inline: Mapping[int, str] = MappingProxyType({}),
        returned: str = "",
    ) -> None:
        self._program = program
        self._namespace = namespace
        self._width = width
        self._data = data
        self._names = naming.names(program)
        self._constants, self._inline = {**naming.constants(program), **inline}, inline
        self._returned = returned
        self._reads = Counter(ref.slot for call in program.calls for ref in refs(call))
        kept = {naming.root(name) for name in observed}
        self._kept = {slot for slot, name in self._names.items() if name in kept}
        self._pairs = _balanced(program.calls)
        self._hidden = self._inlined()
        #: Modules of the standard library that the statements need; set while printing.
        self.imports: set[str] = set()
        #: Number of ``with`` blocks that are open at the end of the program; set while printing.
        self.depth = 0
        #: Whether the last statement returns the value named `returned`; set while printing.
        self.returns = False

    def statements(self) -> list[Statement]:
        """Return the statements of all calls in order.

        Raises:
            NotReplayable: an operand has no source text; the message names the call.
        """
        found: list[Statement] = []
        depth = 0
        operands = (item for call in self._program.calls for item in leaves((call.args, call.kwargs)))
        if self._data and any(type(item) is File for item in operands):
            self.imports.add("tempfile")
            found.append(Statement(-1, 0, ("folder = tempfile.TemporaryDirectory()",)))
        for call in self._program.calls:
            if call.slot in self._hidden:
                continue
            if call.kind == "exit" and call.slot in self._pairs:
                if found and found[-1].slot == self._pairs[call.slot]:
                    found.append(Statement(call.slot, depth, ("pass",)))
                depth -= 1
                continue
            try:
                lines = self._lines(call)
            except NotReplayable as error:
                raise NotReplayable(f"call {call.slot} ({call.kind} {call.target}): {error}") from None
            if not lines:
                continue
            if call.note:
                lines[0] += "  # " + " ".join(call.note.split())
            found.append(Statement(call.slot, depth, tuple(lines)))
            if call.kind == "enter" and call.slot in self._pairs:
                depth += 1
        self.depth = depth
        return found

    # -- operands ---------------------------------------------------------------------------------------

    def text(self, operand: Any) -> str:
        self.imports |= literals.modules_of(operand)
        return literals.literal(operand, self._leaf)

    def _leaf(self, item: Ref | Root | Captured | File) -> str:
        if type(item) is Ref:
            call = self._hidden.get(item.slot)
            return self._expression(call)[0] if call is not None else self._names[item.slot]
        if type(item) is Root:
            return f"{self._namespace}.{item.path}" if item.path else self._namespace
        if type(item) is File:
            # The folder is a local variable of the function around the statements, so each side has its own.
            return f"folder.name + {string('/' + item.name)}" if self._data else string(item.name)
        assert type(item) is Captured
        if self._data:
            return self._constants[item.index]
        return f"array({self._shape(item)})"

    def _shape(self, item: Captured) -> str:
        array = self._program.arrays[item.index]
        return f"{array.data.shape}, {string(array.dtype)}"

    def _term(self, operand: Any) -> str:
        return bracketed(self.text(operand))

    def _owner(self, operand: Any) -> str:
        """Return the text of an operand before a dot or a bracket."""
        text = self.text(operand)
        return f"({text})" if text.startswith("-") or type(operand) in (int, float, complex) else text

    def _arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> list[str]:
        parts = [self.text(item) for item in args]
        odd = {key: item for key, item in kwargs.items() if not key.isidentifier() or keyword.iskeyword(key)}
        parts += [f"{key}={self.text(item)}" for key, item in kwargs.items() if key not in odd]
        return [*parts, f"**{self.text(odd)}"] if odd else parts

    # -- calls ------------------------------------------------------------------------------------------

    def _lines(self, call: Call) -> list[str]:
        """Return the lines of the statement for `call`."""
        used = self._reads[call.slot] or call.slot in self._kept
        name = self._names[call.slot]
        target = f"{name} = " if used else ""
        kind, args = call.kind, call.args
        if kind == "setattr":
            return [self._attribute(args[0], call.target, "setattr", args[1])]
        if kind in ("load_state", "overwrite"):
            return self._written(call)
        if kind == "enter":
            if call.slot not in self._pairs:
                return [f"{target}{self._owner(args[0])}.__enter__()"]
            return [f"with {self.text(args[0])}{f' as {name}' if used else ''}:"]
        if kind == "exit":
            return [f"{self._owner(args[0])}.__exit__(None, None, None)"]
        if kind == "operator" and call.target == "setitem":
            return [f"{self._owner(args[0])}[{literals.index(args[1], self._leaf)}] = {self.text(args[2])}"]
        if kind == "operator" and call.target == "delitem":
            return [f"del {self._owner(args[0])}[{literals.index(args[1], self._leaf)}]"]
        if kind == "operator" and call.target in IN_PLACE and type(args[0]) is Ref:
            # Assign to a new name, so that the earlier name keeps its value if the type has no in-place operator.
            sign = IN_PLACE[call.target]
            if used:
                return [f"{name} = {self.text(args[0])}", f"{name} {sign} {self.text(args[1])}"]
            return [f"{self.text(args[0])} {sign} {self.text(args[1])}"]
        if call.slot == len(self._program.calls) - 1 and name == self._returned:
            self.returns = True
            target = "return "
        return self._broken(target, *self._expression(call))

    def _broken(self, target: str, text: str, parts: list[str] | None) -> list[str]:
        """Return ``target + text``, broken at the arguments if it is too wide.

        Args:
            target: the assignment or ``return`` before the expression.
            text: the expression.
            parts: the arguments at the end of `text`; None or empty if it cannot be broken.
        """
        if not parts or len(target) + len(text) + 4 <= self._width:
            return [target + text]
        rows = [""]
        for part in parts:
            if rows[-1] and len(rows[-1]) + len(part) + 2 > self._width - 8:
                rows.append("")
            rows[-1] += f" {part}," if rows[-1] else f"{part},"
        opening = text[: -len(", ".join(parts)) - 1]
        return [target + opening, *(f"    {row}" for row in rows), ")"]

    def _expression(self, call: Call) -> tuple[str, list[str] | None]:
        """Return ``(text, arguments)`` of a call that is an expression; arguments are None if it cannot be broken."""
        kind, args, kwargs = call.kind, call.args, call.kwargs
        if kind == "tensor":
            return self._tensor(call)
        if kind == "function":
            return self._call(f"{self._namespace}.{call.target}", args, kwargs)
        if kind == "method":
            owner = self._owner(args[0])
            return self._call(owner if call.target == "__call__" else f"{owner}.{call.target}", args[1:], kwargs)
        if kind == "builtin" and call.target == "deepcopy":
            self.imports.add("copy")
            return self._call("copy.deepcopy", args, kwargs)
        if kind == "builtin":
            return self._call(call.target, args, kwargs)
        if kind == "getattr":
            return self._attribute(args[0], call.target, "getattr"), None
        return self._operator(call)

    def _call(self, function: str, args: Iterable[Any], kwargs: dict[str, Any]) -> tuple[str, list[str]]:
        parts = self._arguments(args, kwargs)
        return f"{function}({', '.join(parts)})", parts

    def _tensor(self, call: Call) -> tuple[str, list[str] | None]:
        item: Any = call.args[0]
        array = self._program.arrays[item.index]
        if self._data and call.kwargs.get(SHARES):
            # Copy named constants: both sides use them, and one side may write into them.
            own = self.text(item) + (".copy()" if item.index not in self._inline else "")
            grad = ".requires_grad_()" if call.kwargs.get("requires_grad") else ""
            return f"{self._namespace}.from_numpy({own}){grad}", None
        parts = [self.text(item) if self._data else self._shape(item)]
        if self._data and array.data.dtype.name != array.dtype:
            parts.append(f"dtype={self._namespace}.{array.dtype}")
        if call.kwargs.get("device", "cpu") != "cpu":
            parts.append(f"device={self.text(call.kwargs['device'])}")
        if call.kwargs.get("requires_grad"):
            parts.append("requires_grad=True")
        function = f"{self._namespace}.tensor" if self._data else "tensor"
        return f"{function}({', '.join(parts)})", None

    def _attribute(self, owner: Any, name: str, function: str, *value: Any) -> str:
        values = [self.text(item) for item in value]
        if not name.isidentifier() or keyword.iskeyword(name):
            return f"{function}({', '.join([self.text(owner), string(name), *values])})"
        return f"{self._owner(owner)}.{name}" + (f" = {values[0]}" if values else "")

    def _operator(self, call: Call) -> tuple[str, list[str] | None]:
        name, args = call.target, call.args
        if name == "getitem" and len(args) == 2:
            return f"{self._owner(args[0])}[{literals.index(args[1], self._leaf)}]", None
        if name == "contains" and len(args) == 2:
            return f"{self._term(args[1])} in {self._term(args[0])}", None
        if name in _BINARY and len(args) == 2 and not call.kwargs:
            return f"{self._term(args[0])} {_BINARY[name]} {self._term(args[1])}", None
        if name in _UNARY and len(args) == 1:
            return f"{_UNARY[name]}{self._term(args[0])}", None
        if name in ("abs", "divmod"):
            return self._call(name, args, call.kwargs)
        self.imports.add("operator")
        return self._call(f"operator.{name}", args, call.kwargs)

    @functools.cached_property
    def _holders(self) -> Mapping[int, members.Holder]:
        return members.holders(self._program)

    def _written(self, call: Call) -> list[str]:
        """Return statements that overwrite contents in place, without recording gradients, as the adapters do."""
        owner: Any = call.args[0]
        state: Any = call.args[1]
        place = self._owner(owner)
        if call.kind == "load_state":
            pairs = [
                (members.inside(place, f".{name}", owner.slot, self._holders), item) for name, item in state.items()
            ]
        else:
            pairs = [(place, state)]
        writes = [f"    {place}.copy_({self._fresh(item)})" for place, item in pairs]
        return [f"with {self._namespace}.no_grad():", *writes] if writes else []

    def _fresh(self, item: Any) -> str:
        return self._tensor(Call("tensor", "", (item,), {}, 0))[0]

    # -- calls printed inside other statements -----------------------------------------------------------

    def _inlined(self) -> dict[int, Call]:
        """Return the calls printed inside their only reader: cotangents, and contexts entered by the next call."""
        calls = self._program.calls
        pushed = naming.cotangents(self._program)
        found = {
            call.slot: call
            for call in calls
            if call.slot in pushed and self._reads[call.slot] == 1 and call.slot not in self._kept
        }
        for call, after in itertools.pairwise(calls):
            # Only if the calls are adjacent: creating a context after another call could change its meaning.
            if (
                after.kind == "enter"
                and after.slot in self._pairs
                and after.args == (Ref(call.slot),)
                and self._reads[call.slot] == (1 if self._pairs[after.slot] == UNCLOSED else 2)
                and call.kind in ("function", "method", "getattr")
                and call.slot not in self._kept
            ):
                found[call.slot] = call
        return found


def _balanced(calls: tuple[Call, ...]) -> dict[int, int]:
    """Return the slots of matching enter and exit calls, each mapped to the other; empty if they do not nest.

    A block that the program never leaves continues to the end of the program. Contexts that do not nest cannot be
    written as ``with`` blocks; then all contexts are written as plain calls.
    """
    pairs: dict[int, int] = {}
    opened: list[Call] = []
    for call in calls:
        if call.kind == "enter":
            opened.append(call)
        elif call.kind == "exit":
            if not opened or opened[-1].args != call.args:
                return {}
            entered = opened.pop()
            pairs[entered.slot], pairs[call.slot] = call.slot, entered.slot
    return pairs | {call.slot: UNCLOSED for call in opened}
