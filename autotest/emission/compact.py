"""Writes short reproducers of simple findings: a result differs, a call is rejected or accepted, a call crashes."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import NamedTuple

from autotest.comparison.elementwise import Statistics
from autotest.emission import forked, literals, naming
from autotest.emission.checker import ONCE, SURVIVED, Runs
from autotest.emission.closeness import closeness_of
from autotest.emission.code import IN_PLACE, Printer, indented
from autotest.emission.script import PACKED
from autotest.emission.script_subject import ScriptSubject, docstring
from autotest.program import Call, Program, Ref, refs
from autotest.program.semantics import OPERATIONS, assigns_items, in_place, is_backward

#: A candidate that raises now is another difference, which is told as such.
_COMPARES = """\
try:
    actual = np.array({actual})
except Exception as error:
    sys.exit(print(*f"DIFFERS: {candidate} raises {{type(error).__name__}}: {{error}}".split()) or 1)
if expected.shape == actual.shape and {same}:
    sys.exit(print("same"))
{first}sys.exit(print(*f"DIFFERS: {reference} gives {{expected}}, {candidate} {{actual}}".split()) or 1)
"""

#: Number of elements above which a script prints only the first differing element.
_MOST_PRINTED = 50
_FIRST = """\
if expected.shape == actual.shape:
    at = np.unravel_index(np.argmin({each}), actual.shape)
    expected, actual = f"{{expected[at]}} at {{[*map(int, at)]}}", actual[at]
"""

_FACT = """\
try:
    actual = {fact}
except Exception as error:
    sys.exit(print(*f"DIFFERS: {candidate} raises {{type(error).__name__}}: {{error}}".split()) or 1)
if expected == actual:
    sys.exit(print("same"))
sys.exit(print(*f"DIFFERS: {reference} {what} {{expected}}, {candidate} {{actual}}".split()) or 1)
"""

#: Symptom of the finding -> the expression of the script that is compared, and the words before its value.
_FACTS = {
    "shape": ("tuple(program({namespace}).shape)", "has shape"),
    "dtype": ('str(program({namespace}).dtype).split(".")[-1]', "has dtype"),
    "requires_grad": ("program({namespace}).requires_grad", "has requires_grad"),
    "gradient": ("program({namespace}) is not None", "has a gradient:"),
    "structure": ("type(program({namespace})).__name__", "gives a"),
    "length": ("len(program({namespace}))", "has length"),
    "layout": ('str(program({namespace}).layout).split(".")[-1]', "has layout"),
}

_RUN = """\
def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

"""

_REFUSES = """\
try:
    run({namespace})
    print("same")
except Exception as error:
    print(*f"DIFFERS: {reference} returns, {candidate} raises {{type(error).__name__}}: {{error}}".split())
    sys.exit(1)
"""

_ACCEPTS = """\
try:
    run({root})
    sys.exit(print("cannot tell: {reference} accepts it, too") or 2)
except Exception as error:
    refusal = f"{reference} raises {{type(error).__name__}}: {{error}}"
try:
    result = run({namespace})
except Exception:
    sys.exit(print("same"))
print(*f"DIFFERS: {{refusal}}, {candidate} returns {{result}}".split())
sys.exit(1)
"""

#: Calls that return plain values or arrays, whose results have no `tolist` or need none to be compared.
_PLAIN = frozenset(
    (
        *("item", "tolist", "numpy", "numel", "nelement", "dim", "ndimension", "ndim", "size", "shape", "stride"),
        *("storage_offset", "element_size", "is_contiguous", "is_floating_point", "is_complex", "is_signed"),
        *("equal", "allclose", "is_leaf", "get_last_lr", "get_lr"),
    )
)

#: Source of a function that waits for all results of a program.
READ = """\
def read(value):  # waits for asynchronous results
    return [read(one) for one in value] if isinstance(value, (tuple, list)) else getattr(value, "tolist", list)()

"""

_DIES = """\
side = {namespace} if sys.argv[1:] else {root}
with contextlib.suppress(Exception):  # an exception is not a crash
    read(program(side))
if sys.argv[1:]:
    os._exit({survived})
try:
    status = subprocess.run([sys.executable, __file__, "child"], timeout={patience}).returncode
except subprocess.TimeoutExpired:
    sys.exit(print("DIFFERS: {candidate} hangs: no answer in {patience} s") or 1)
if status == {survived}:  # it has not died
    sys.exit(print("same"))
print(f"DIFFERS: {candidate} ends with status {{status}} (a negative one is the signal that killed it)")
sys.exit(1)
"""

_DIES_IN_SOME_RUNS = """\
side = {namespace} if sys.argv[1:] else {root}
for _ in range({calls} if sys.argv[1:] else 1):
    with contextlib.suppress(Exception):  # an exception is not a crash
        read(program(side))
if sys.argv[1:]:
    os._exit({survived})
statuses = []
for _ in range({processes}):
    try:
        statuses.append(subprocess.run([sys.executable, __file__, "child"], timeout={patience}).returncode)
    except subprocess.TimeoutExpired:
        statuses.append("no answer in {patience} s")
        break  # the next run may take as long
deaths = [status for status in statuses if status != {survived}]
if not deaths:
    sys.exit(print("same"))
print(f"DIFFERS: {candidate} dies in {{len(deaths)}} of {{len(statuses)}} runs: {{deaths}}")
sys.exit(1)
"""

#: Maximum number of characters of data that are written where they are used instead of as a named constant.
_INLINE = 60


def differing_tensor(about: ScriptSubject, name: str, found: Statistics) -> str | None:
    """Return the script for one observed tensor called `name` whose elements differ, or None if no short one exists.

    `found` contains the statistics of the differing elements, with the tolerances.
    """
    expression, call = _observed(about, name)
    plain = _is_plain(call)
    if call.kind == "getattr" and not plain:
        return None
    quantized = found.dtype.startswith(("qint", "quint"))
    read = "run({})" if plain else "program({}).dequantize().tolist()" if quantized else "program({}).tolist()"
    actual = read.format(about.fields["namespace"])
    closeness = closeness_of(found)
    first = _FIRST.format(each=closeness.each) if found.total > _MOST_PRINTED else ""
    check = _COMPARES.format(same=closeness.whole, first=first, actual=actual, **about.fields)
    reference = f"expected = np.array({read.format(about.root)})"
    opening = closeness.definition + (_RUN if plain else "") + about.imports_then(reference)
    return script(about, expression, opening + check)


def differing_plain(about: ScriptSubject, name: str) -> str | None:
    """Return the script for one observed value called `name`, or None if no short one exists.

    The value is an integer, a boolean, a text, or a container of these.
    """
    expression, call = _observed(about, name)
    if not _is_plain(call):
        return None
    check = _FACT.format(fact=f"run({about.fields['namespace']})", what="gives", **about.fields)
    return script(about, expression, _RUN + about.imports_then(f"expected = run({about.root})") + check)


def _observed(about: ScriptSubject, name: str) -> tuple[str, Call]:
    """Return the expression for the observed `name`, and the call that made the value."""
    own = naming.names(about.program)
    slot = next(slot for slot, known in own.items() if known == naming.root(name))
    return naming.expression(name, about.program), about.program.calls[slot]


def _is_plain(call: Call) -> bool:
    return call.kind == "builtin" or call.target in _PLAIN


def differing_fact(about: ScriptSubject, name: str, symptom: str) -> str | None:
    """Return the script for an observed tensor called `name` with another property, or None if no short one exists.

    The property is named by `symptom`, a key of `_FACTS` such as ``"shape"``; for ``"gradient"``, one side has none.
    """
    if symptom not in _FACTS:
        return None
    fact, words = _FACTS[symptom]
    reference = f"expected = {fact.format(namespace=about.root)}"
    own = fact.format(namespace=about.fields["namespace"])
    check = _FACT.format(fact=own, what=words, **about.fields)
    expression = naming.expression(name, about.program)
    return script(about, expression, about.imports_then(reference) + check)


def refusing_candidate(about: ScriptSubject) -> str | None:
    """Return the script for a program whose last call the candidate rejects, or None if no short one exists."""
    last = about.program.calls[-1]
    if last.kind not in (*OPERATIONS, "builtin", "getattr") or is_backward(last):
        return None
    check = _RUN + about.imports_then(f"run({about.root})") + _REFUSES.format(**about.fields)
    return script(about, _result(about.program, assigns_items(last)), check)


def accepting_candidate(about: ScriptSubject) -> str | None:
    """Return the script for a program whose last call only the candidate accepts, or None if no short one exists."""
    last = about.program.calls[-1]
    if last.kind not in OPERATIONS or last.target == "backward":
        return None
    check = _RUN + about.imports_then() + _ACCEPTS.format(root=about.root, **about.fields)
    return script(about, _result(about.program, assigns_items(last)), check)


def unlike_module(about: ScriptSubject) -> str | None:
    """Return the script for a module whose parameters or buffers have other names or shapes on the candidate.

    The last call of the program must create the module; otherwise, or if no short script exists, return None.
    """
    slot = about.program.calls[-1].slot
    if naming.roles(about.program)[slot] is not naming.Role.MODULE:
        return None
    module = naming.names(about.program)[slot]
    state = f"{{name: tuple(item.shape) for name, item in [*{module}.named_parameters(), *{module}.named_buffers()]}}"
    namespace = about.fields["namespace"]
    check = _FACT.format(fact=f"program({namespace})", what="gives", **about.fields)
    return script(about, module, about.imports_then(f"expected = program({about.root})") + check, state)


def dying_candidate(about: ScriptSubject, runs: Runs = ONCE) -> str | None:
    """Return the script for a program that crashes the candidate, or None if no short one exists.

    The candidate runs in child processes of the script; `runs` sets how many, and how often in each.
    """
    last = about.program.calls[-1]
    if last.kind not in OPERATIONS or is_backward(last):
        return None
    check = READ + about.imports_then()
    if runs.forked:
        check += forked.short(about.root, about.fields["namespace"], about.fields["candidate"], runs)
        modules = ("contextlib", "os", "signal", "sys")
    else:
        numbers = {"processes": runs.processes, "calls": runs.calls, "patience": forked.TIMEOUT, "survived": SURVIVED}
        check += (_DIES_IN_SOME_RUNS if runs.often else _DIES).format(root=about.root, **numbers, **about.fields)
        modules = ("contextlib", "os", "subprocess", "sys")
    # For an in-place call, read the operand that it changes, because the call may return nothing on one side.
    return script(about, _result(about.program, in_place(last)), check, modules=modules)


def _result(program: Program, changes: bool) -> str:
    """Return the name of the last call's result, or, if it `changes` its first operand, of that operand."""
    last = program.calls[-1]
    changed = next(refs(last), None) if changes else None
    return naming.names(program)[last.slot if changed is None else changed.slot]


def script(
    about: ScriptSubject,
    expression: str,
    check: str,
    returned: str = "",
    *,
    modules: Sequence[str] = ("sys",),
    large: bool = False,
) -> str | None:
    """Return the text of a script with a function `program` and a check, or None if `function_body` returns None.

    Args:
        about: the program, its sides and the text at the top.
        expression: the observed expression, which the function returns.
        check: the code after the function.
        returned: an expression made from `expression`, which the function returns instead.
        modules: modules of the standard library that `check` needs.
        large: whether compressed arrays are allowed.
    """
    found = function_body(about.program, about.root, expression, returned, large=large)
    if found is None:
        return None
    return "\n".join(
        [
            docstring(about.title, about.notes),
            f"import {', '.join(sorted({*modules, *found.modules}))}",
            "import numpy as np",
            "",
            *found.definitions(),
            f"def program({about.root}):",
            textwrap.indent("\n".join(found.lines), "    "),
            "",
            check,
        ]
    )


class Body(NamedTuple):
    """The body of a function that runs a program and returns an expression, and the code that it needs before it."""

    lines: Sequence[str]
    #: Statements that define arrays.
    constants: Sequence[str]
    #: Modules of the standard library that it imports.
    modules: Collection[str]
    #: Whether any array is compressed.
    packed: bool

    def definitions(self) -> list[str]:
        """Return the lines that must be written before the function."""
        return [*([PACKED] if self.packed else []), *([*self.constants, ""] if self.constants else [])]


def function_body(
    program: Program, variable: str, expression: str, returned: str = "", *, large: bool = False
) -> Body | None:
    """Return the body of a function that runs `program` and returns an expression, or None if it is not short.

    Args:
        program: the program.
        variable: the function's parameter, the namespace of a framework. It must be an identifier.
        expression: the observed expression.
        returned: the expression that the function returns; `expression` if empty.
        large: whether compressed arrays are allowed. A function with these is not short otherwise.
    """
    if not variable.isidentifier() or (not large and literals.has_packed(program)):
        return None
    data = literals.definitions(program)
    packed = any(one.packed for one in data.values())
    inline = {at: one.value for at, one in data.items() if not one.packed and len(one.value) <= _INLINE}
    observed = [expression, *_rebinding(program, naming.root(expression))]
    printer = Printer(program, variable, observed, inline=inline, returned="" if returned else expression)
    statements = printer.statements()
    if printer.depth:
        return None
    lines = indented(statements)
    if not printer.returns:
        lines.append(f"return {returned or expression}")
    constants = [one.statement for at, one in data.items() if at not in inline]
    return Body(lines, constants, printer.imports | ({"base64", "zlib"} if packed else set()), packed)


def _rebinding(program: Program, looked_at: str) -> list[str]:
    """Return the names of the results of in-place operators on the value called `looked_at`.

    These results get names of their own, so that the name `looked_at` keeps its value.
    """
    own = naming.names(program)
    return [
        own[call.slot]
        for call in program.calls
        if call.kind == "operator" and call.target in IN_PLACE
        if type(call.args[0]) is Ref and own[call.args[0].slot] == looked_at
    ]
