"""Writes short reproducers of the two plainest findings: one tensor differs, or the candidate dies."""

from __future__ import annotations

import re
import textwrap

from autotest.comparison.elementwise import Statistics
from autotest.emission import forked, literals, naming
from autotest.emission.checker import ONCE, Runs
from autotest.emission.code import IN_PLACE, Printer
from autotest.emission.script import PACKED, Script, quotable
from autotest.program import Program, Ref, refs
from autotest.program.semantics import in_place, is_backward

_TRY = """\
try:
{imports}
    {reference}
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
"""

_COMPARES = """\
actual = np.array(program({namespace}).tolist())
if expected.shape == actual.shape and {same}:
    sys.exit(print("same"))
print(*f"DIFFERS: {reference} gives {{expected}}, {candidate} {{actual}}".split())
sys.exit(1)
"""

_STATE = """\
actual = program({namespace})
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: {reference} gives {{expected}}, {candidate} {{actual}}".split())
sys.exit(1)
"""

_FACT = """\
actual = {fact}
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: {reference} {what} {{expected}}, {candidate} {{actual}}".split())
sys.exit(1)
"""

#: Of complex numbers `numpy.allclose` does not tell the NaN of a real part from that of an imaginary one.
_ALIKE_PARTS = (
    " and all(\n    np.array_equal(np.isnan(part(actual)), np.isnan(part(expected))) for part in (np.real, np.imag)\n)"
)

#: What of a tensor is compared, by the symptom of the finding.
_FACTS = {
    "shape": "tuple(program({namespace}).shape)",
    "dtype": 'str(program({namespace}).dtype).split(".")[-1]',
    "requires_grad": "program({namespace}).requires_grad",
    "gradient": "program({namespace}) is None",
    "structure": "type(program({namespace})).__name__",
    "length": "len(program({namespace}))",
}
#: What a script says that it is.
_CALLED = {
    "shape": "has shape",
    "dtype": "has dtype",
    "requires_grad": "has requires_grad",
    "gradient": "lacks a gradient:",
    "structure": "gives a",
    "length": "gives this many parts:",
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

#: Calls that return a number or an array, which has nothing to be listed or is one already.
_PLAIN = frozenset(("item", "tolist", "numpy"))

IMPORTS = """\
try:
{imports}
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
"""

#: Waits for all of what a program returned.
READ = """\
def read(value):  # which waits for it
    return [read(one) for one in value] if isinstance(value, (tuple, list)) else getattr(value, "tolist", list)()

"""

_DIES = """\
side = {namespace} if sys.argv[1:] else {root}
with contextlib.suppress(Exception):  # raising is no dying, on either side
    read(program(side))
if sys.argv[1:]:
    os._exit(0)
status = subprocess.run([sys.executable, __file__, "child"], timeout=60).returncode
if status == 0:
    sys.exit(print("same"))
print(f"DIFFERS: {candidate} ends with status {{status}} (a negative one is the signal that killed it)")
sys.exit(1)
"""

_DIES_IN_SOME_RUNS = """\
side = {namespace} if sys.argv[1:] else {root}
for _ in range({calls} if sys.argv[1:] else 1):
    with contextlib.suppress(Exception):  # raising is no dying, on either side
        read(program(side))
if sys.argv[1:]:
    os._exit(0)
statuses = []
for _ in range({processes}):
    try:
        statuses.append(subprocess.run([sys.executable, __file__, "child"], timeout=60).returncode)
    except subprocess.TimeoutExpired:
        statuses.append("no answer in 60 s")
        break  # the next one may take as long
deaths = [status for status in statuses if status != 0]
if not deaths:
    sys.exit(print("same"))
print(f"DIFFERS: {candidate} dies in {{len(deaths)}} of {{len(statuses)}} runs: {{statuses}}")
sys.exit(1)
"""

#: Data of up to this many characters stands where it is used.
_INLINE = 60


def differing_tensor(
    program: Program, sides: tuple[Script, Script], title: str, notes: list[str], name: str, found: Statistics
) -> str | None:
    """The script for one observed tensor, called `name`, whose elements differ as `found` says."""
    own = naming.names(program)
    expression = naming.expression(name, own)
    slot = next(slot for slot, known in own.items() if known == naming.root(name))
    if program.calls[slot].kind in ("builtin", "getattr") or program.calls[slot].target in _PLAIN:
        return None
    exact = "np.array_equal(expected, actual)"
    close = f"np.allclose(actual, expected, {found.rtol!r}, {found.atol!r}, equal_nan=True)"
    if found.dtype.startswith("complex"):
        close += _ALIKE_PARTS
    same = close if found.dtype.startswith(("float", "bfloat", "complex")) else exact
    root = sides[0].namespace
    check = _COMPARES.format(same=same, **names_of(sides))
    first = f"expected = np.array(program({root}).tolist())"
    opening = _TRY.format(imports=imports_of(sides), reference=first)
    return script(program, root, title, notes, expression, "sys", opening + check)


def differing_fact(
    program: Program, sides: tuple[Script, Script], title: str, notes: list[str], name: str, symptom: str
) -> str | None:
    """The script for one observed tensor, called `name`, of another shape or dtype, or which one side does not have."""
    fact = _FACTS.get(symptom)
    if fact is None:
        return None
    root = sides[0].namespace
    opening = _TRY.format(imports=imports_of(sides), reference=f"expected = {fact.format(namespace=root)}")
    check = _FACT.format(fact=fact.format(namespace=sides[1].namespace), what=_CALLED[symptom], **names_of(sides))
    expression = naming.expression(name, naming.names(program))
    return script(program, root, title, notes, expression, "sys", opening + check)


def refusing_candidate(program: Program, sides: tuple[Script, Script], title: str, notes: list[str]) -> str | None:
    """The script for a program whose last call the candidate refuses."""
    last = program.calls[-1]
    if last.kind not in ("function", "method", "operator", "builtin", "getattr") or is_backward(last):
        return None
    root = sides[0].namespace
    opening = _RUN + _TRY.format(imports=imports_of(sides), reference=f"run({root})")
    own = naming.names(program)[last.slot]
    return script(program, root, title, notes, own, "sys", opening + _REFUSES.format(**names_of(sides)))


def accepting_candidate(program: Program, sides: tuple[Script, Script], title: str, notes: list[str]) -> str | None:
    """The script for a program whose last call the candidate accepts, and the reference refuses."""
    last = program.calls[-1]
    if last.kind not in ("function", "method", "operator") or last.target == "backward":
        return None
    root = sides[0].namespace
    check = _RUN + IMPORTS.format(imports=imports_of(sides)) + _ACCEPTS.format(root=root, **names_of(sides))
    return script(program, root, title, notes, naming.names(program)[last.slot], "sys", check)


def unlike_module(program: Program, sides: tuple[Script, Script], title: str, notes: list[str]) -> str | None:
    """The script for a new module, the last call, whose parameters or buffers are called or shaped otherwise."""
    module = naming.names(program)[program.calls[-1].slot]
    if not module.startswith("m"):
        return None
    state = f"{{name: tuple(item.shape) for name, item in [*{module}.named_parameters(), *{module}.named_buffers()]}}"
    root = sides[0].namespace
    opening = _TRY.format(imports=imports_of(sides), reference=f"expected = program({root})")
    return script(program, root, title, notes, module, "sys", opening + _STATE.format(**names_of(sides)), state)


def dying_candidate(
    program: Program, sides: tuple[Script, Script], title: str, notes: list[str], runs: Runs = ONCE
) -> str | None:
    """The script for a program that the candidate does not survive; it runs in a child of the script, as often as
    `runs` says.
    """
    own = naming.names(program)
    last = program.calls[-1]
    if last.kind not in ("function", "method", "operator") or is_backward(last):
        return None
    # What a call changes in place is read: on one side or the other it may return nothing.
    changed = next(refs(last), None) if in_place(last) else None
    check = READ + IMPORTS.format(imports=imports_of(sides))
    if runs.forked:
        check += forked.short(sides[0].namespace, sides[1].namespace, sides[1].name, runs)
        modules = "contextlib, os, signal, sys"
    else:
        check += (_DIES_IN_SOME_RUNS if runs.often else _DIES).format(
            root=sides[0].namespace, processes=runs.processes, calls=runs.calls, **names_of(sides)
        )
        modules = "contextlib, os, subprocess, sys"
    expression = own[last.slot if changed is None else changed.slot]
    return script(program, sides[0].namespace, title, notes, expression, modules, check)


def names_of(sides: tuple[Script, Script]) -> dict[str, str]:
    reference, candidate = sides
    return {"namespace": candidate.namespace, "reference": reference.name, "candidate": candidate.name}


def imports_of(sides: tuple[Script, Script]) -> str:
    return textwrap.indent("\n".join(dict.fromkeys((*sides[0].lines, *sides[1].lines))), "    ")


def script(
    program: Program,
    variable: str,
    title: str,
    notes: list[str],
    expression: str,
    modules: str,
    check: str,
    returned: str = "",
    *,
    large: bool = False,
) -> str | None:
    """The file, whose program returns `expression`, or what is made of it in `returned`; `large` data may be packed."""
    found = function_body(program, variable, expression, returned, large=large)
    if found is None:
        return None
    body, constants, imports = found
    return "\n".join(
        [
            docstring(title, notes),
            f"import {', '.join(sorted({*modules.split(', '), *imports}))}",
            "import numpy as np",
            "",
            *([PACKED] if "zlib" in imports else []),
            *([*constants, ""] if constants else []),
            f"def program({variable}):",
            textwrap.indent(body, "    "),
            "",
            check,
        ]
    )


def function_body(
    program: Program, variable: str, expression: str, returned: str = "", *, large: bool = False
) -> tuple[str, list[str], set[str]] | None:
    """The lines of a function that runs `program` on the namespace `variable`, with a statement that returns.

    Beside them constants that stand before it, and modules that it needs. None where it is no short one: where data is
    packed, unless it may be `large`.
    """
    data = [literals.definition(name, program.arrays[at].data, 100) for at, name in naming.constants(program).items()]
    printer = Printer(program, variable, [expression, *_rebinding(program, naming.root(expression))])
    statements = printer.statements()
    if (not large and any(packed for _, packed in data)) or not variable.isidentifier() or printer.depth:
        return None
    body = "\n".join(["    " * item.depth + line for item in statements for line in item.lines])
    constants: list[str] = []
    for text in (text for text, _ in data):
        name, _, value = text.partition(" = ")
        if "\n" in value or len(value) > _INLINE:
            constants.append(text)
        else:
            body = re.sub(rf"\b{name}\b", value.replace("\\", "\\\\"), body)
    head, assigned, last = body.rpartition(f"\n{expression} = ")
    short = assigned and "\n" not in last and not returned
    body = f"{head}\nreturn {last}" if short else f"{body}\nreturn {returned or expression}"
    packs = {"base64", "zlib"} if any(packed for _, packed in data) else set()
    return body, constants, printer.imports | packs


def _rebinding(program: Program, looked_at: str) -> list[str]:
    """What operators in place make of the value called `looked_at`: by a name of its own, so that this one stays."""
    own = naming.names(program)
    return [
        own[call.slot]
        for call in program.calls
        if call.kind == "operator" and call.target in IN_PLACE
        if type(call.args[0]) is Ref and own[call.args[0].slot] == looked_at
    ]


def docstring(title: str, notes: list[str]) -> str:
    """The top of a short script."""
    lines = [f"{title} Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.", *notes]
    return '"""' + quotable("\n".join(lines)) + '"""'
