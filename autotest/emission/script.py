"""Assembles a reproducer: docstring, program, data, and the part that checks."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence

from autotest.emission import checker, forked, literals, naming
from autotest.emission.checker import ONCE, Criterion, Runs
from autotest.emission.code import Printer, indented
from autotest.emission.naming import Role
from autotest.emission.quoting import string
from autotest.emission.script_subject import Script, ScriptSubject, imported_once, quotable
from autotest.program import Program
from autotest.program.paths import is_gradient

PACKED = '''\
def packed(dtype, shape, text):
    """Return the array with the compressed bytes `text`."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)
'''


def reproducer(about: ScriptSubject, criterion: Criterion, runs: Runs | None = None) -> str:
    """Return the text of a script that runs a program on both sides and reports whether they still diverge.

    The script exits with 1 while the divergence happens, with 0 if it does not, and with 2 if it cannot tell: a
    framework is missing, or the reference rejects the program. Each difference that it prints begins with the name of
    an observed value or of a framework.

    Args:
        about: the program, its sides and the text at the top.
        criterion: the values to compare, and the differences that count.
        runs: if given, the candidate runs in child processes, as many and as often as it says, whatever the symptom.

    Raises:
        NotReplayable: an operand has no source text; the message names the call.
        ValueError: an observed name does not belong to the program.
    """
    program, (reference, candidate), symptom = about.program, about.sides, criterion.symptom
    dies = runs is not None or symptom in ("crash", "hang", "out of memory")
    refuses = symptom in ("exception", "accepted")
    variable = reference.namespace if reference.namespace.isidentifier() else "framework"
    # If the finding is an exception or a death, all results are read, to wait for them, but only the end is compared.
    whole = criterion.observed is None or dies or refuses
    pairs = _observed(program, None if whole else criterion.observed)
    printer = Printer(program, variable, [expression for _, expression in pairs])
    body = indented(printer.statements())
    returned = _returned(pairs, printer.depth)
    data = literals.definitions(program).values()
    small = [one.statement for one in data if not one.packed]
    large = [one.statement for one in data if one.packed]

    sides = {
        "reference": reference.namespace,
        "candidate": candidate.namespace,
        "reference_name": quotable(reference.name),
        "candidate_name": quotable(candidate.name),
    }
    modules = {"sys", *printer.imports, *(("base64", "zlib") if large else ())}
    if dies:
        check, needed = _death_check(sides, symptom, runs or ONCE)
        modules |= needed
    elif refuses:
        check = checker.refuses(sides, accepted=symptom == "accepted")
    else:
        has_modules, has_containers = _kinds(program, [expression for _, expression in pairs])
        check = checker.values(
            sides,
            criterion,
            modules=has_modules,
            containers=has_containers,
            devices=candidate.on_cpu,
            undefined=_undefined(program, pairs),
        )

    notes = list(about.notes)
    if not whole:
        notes.append(f"Compared: {', '.join(name for name, _ in pairs)}.")
    parts = [
        _docstring(about.title, notes),
        _imports(modules, reference, candidate),
        "\n".join(small) + "\n\n" * bool(small) if small else "",
        f"def program({variable}):\n" + textwrap.indent("\n".join([*body, *returned]), "    ") + "\n\n",
        "\n".join([PACKED, "", *large, ""]) + "\n" if large else "",
        check,
    ]
    return "\n".join(part for part in parts if part)


def _death_check(sides: dict[str, str], symptom: str, runs: Runs) -> tuple[str, set[str]]:
    """Return the part for a candidate that may die, and the modules that this part needs."""
    if runs.forked:
        return checker.running(sides, forked.whole(sides, runs)), {"os", "signal"}
    hangs = symptom == "hang" and not runs.often
    check = checker.dies(sides, runs, raising=symptom == "out of memory", hangs=hangs)
    return check, {"os", "signal", "subprocess", *(("time",) if hangs else ())}


def _kinds(program: Program, expressions: Sequence[str]) -> tuple[bool, bool]:
    """Return whether any of `expressions` is a module, and whether any may be a container."""
    roles = naming.roles(program)
    by_name = {name: roles[slot] for slot, name in naming.names(program).items()}
    tensors = [is_gradient(text) or by_name.get(naming.root(text)) is Role.INPUT for text in expressions]
    return any(by_name.get(text) is Role.MODULE for text in expressions), not all(tensors)


def program_text(program: Program, marked: int | None = None, named: Sequence[str] = ()) -> str:
    """Return only the program, as readable code for reports.

    Args:
        program: the program; its arrays are written as ``tensor(shape, dtype)``.
        marked: the slot whose call is marked as the first divergent one.
        named: the names of values that the report tells of. A cotangent among them gets a variable of its own.
    """
    own, pushed = naming.names(program), naming.cotangents(program)
    shown = [own[slot] for slot in pushed if own[slot] in map(naming.root, named)]
    printer = Printer(program, "torch", shown, width=100, data=False)
    statements = printer.statements()
    if marked is not None:
        # A call that is written inside the line of its reader is marked in that line.
        at = next((index for index, item in enumerate(statements) if item.slot >= marked), None)
        if at is not None:
            item = statements[at]
            lines = (item.lines[0] + "  # <-- first divergent call", *item.lines[1:])
            statements[at] = dataclasses.replace(item, lines=lines)
    body = indented(statements)
    if statements and statements[-1].depth < printer.depth:
        body.append("    " * printer.depth + "pass")
    return "\n".join(body)


def _observed(program: Program, wanted: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return ``(name, expression)`` of the values that the program returns."""
    if wanted is None:
        return naming.observables(program)
    observable = naming.ObservedNames(program)
    return [(name, observable.expression(name)) for name in dict.fromkeys(wanted)]


def _undefined(program: Program, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of the observed values in `pairs` that are, or are part of, results with undefined contents."""
    own = naming.names(program)
    undefined = {own[slot] for slot in program.undefined}
    return [name for name, text in pairs if naming.root(text) in undefined and not is_gradient(text)]


def _returned(pairs: Sequence[tuple[str, str]], depth: int) -> list[str]:
    indent = "    " * depth
    items = [f"{string(name)}: {expression}" for name, expression in pairs]
    line = f"{indent}return {{{', '.join(items)}}}"
    if len(line) <= 96:
        return [line]
    # Names are texts: a line may only end after an item.
    text = textwrap.fill(
        ", ".join(item.replace(" ", "\0") for item in items) + ",",
        92 - len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    rows = [f"{indent}    {row}" for row in text.replace("\0", " ").split("\n")]
    return [f"{indent}return {{", *rows, f"{indent}}}"]


def _docstring(title: str, notes: Sequence[str]) -> str:
    """Return the docstring of a script: its title, notes, and the meaning of its exit status."""
    lines = [
        " ".join(title.split()),
        "",
        *notes,
        "Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.",
    ]
    return '"""' + quotable("\n".join(lines)) + '\n"""\n'


def _imports(modules: set[str], reference: Script, candidate: Script) -> str:
    lines = imported_once((*reference.lines, *candidate.lines))
    return "\n".join(
        [
            *(f"import {name}" for name in sorted(modules)),
            "",
            "import numpy as np",
            "",
            "try:",
            textwrap.indent("\n".join(lines), "    "),
            "except (ImportError, OSError) as error:",
            '    print("cannot tell:", error)',
            "    sys.exit(2)",
            "",
        ]
    )
