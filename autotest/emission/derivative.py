"""Writes reproducers of gradients that are not the derivative of their own forward, by central differences."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from autotest.emission import literals, naming
from autotest.emission.code import Printer, indented
from autotest.emission.header import script_header
from autotest.emission.script_subject import Script, docstring, quotable
from autotest.program import Program
from autotest.program.paths import gradient_of

_NUMBERS = '''\
EPS, ATOL, RTOL = {eps!r}, {atol!r}, {rtol!r}


def numbers(tensor):
    return np.array(tensor.detach().cpu().tolist())


def differs(own, around, drawn, place):
    """Return whether `own` is not the derivative of a function with values `around` at -EPS, -EPS/16, 0, EPS/16, EPS.

    `drawn` holds all numbers of the input, and `place` those that the steps change.
    """
    below, lower, centre, upper, above = around
    with np.errstate(all="ignore"):
        far, near = (above - below) / (2 * EPS), (upper - lower) * 8 / EPS
        bend, jump = abs(above + below - 2 * centre) / EPS, abs(upper + lower - 2 * centre) * 16 / EPS
        bound, error = ATOL + RTOL * abs(near), abs(far - near)
        size = np.max(np.abs([*np.ravel(drawn[np.isfinite(drawn)]), *around]), initial=0)
        lost = max(abs(own), abs(near)) if np.isfinite(own) else 0
        lost *= 8 * 2**-52 * np.max(np.abs(place), initial=0) / EPS
        unsure = 4 * (error + 16 * 2**-50 * size / EPS + lost) + jump
        # At a pole, a step, a kink or NaN, or if rounding is larger than the change, the differences decide nothing.
        settled = error <= bound + 0.1 * max(abs(far), abs(near))
        if not (np.isfinite(unsure) and settled and abs(bend - jump) <= bound + 0.1 * max(abs(near), bend, jump)):
            return False
        if not np.isfinite(own):  # it may be the derivative at another element, times zero
            return np.isfinite(drawn).all() and unsure <= 10 * bound
        return not min(abs(own - far), abs(own - near)) <= bound + unsure


'''

_CHECK = '''\
def moved(at, step):
    """Return the sum of all results times their cotangents after element `at` of {constant} changed by `step`."""
    kept = {constant}[at]
    {constant}[at] += step
    _, results, _ = program({namespace})
    {constant}[at] = kept
    with np.errstate(all="ignore"):  # without a cotangent, even NaN adds nothing
        return sum(np.where(c == 0, 0, np.conj(c) * numbers(one)).sum().real for c, one in zip(weights, results))


if __name__ == "__main__":
    try:
        gradient, results, cotangents = program({namespace})
        weights = [numbers(c) for c in cotangents] or [np.ones(())] * len(results)
        analytic = np.zeros_like({constant}) if gradient is None else numbers(gradient)
        dtype = {constant}.dtype.name if gradient is None else str(gradient.dtype).split(".")[-1]
    except Exception as error:
        sys.exit(print("cannot tell:", error) or 2)
    if analytic.shape != {constant}.shape or dtype != {constant}.dtype.name:
        told = f"{{dtype}} {{analytic.shape}} of an input {{{constant}.dtype}} {{{constant}.shape}}"
        sys.exit(print("DIFFERS: {name}.grad is", told) or 1)
    wrong = []
    for at in np.ndindex({constant}.shape):
        for part in (1, 1j) if np.iscomplexobj({constant}) else (1,):
            own = np.vdot(part, analytic[at]).real
            around = [moved(at, step * part) for step in (-EPS, -EPS / 16, 0, EPS / 16, EPS)]
            if differs(own, around, {constant}, {constant}[at]):
                numeric = (around[3] - around[1]) * 8 / EPS
                wrong.append((abs(own - numeric), at, own, numeric))
    if not wrong:
        sys.exit(print("same"))
    gap, at, own, numeric = max(wrong)
    print(f"DIFFERS: {name}.grad at {{at}}: analytic {{own:.9g}}, numeric {{numeric:.9g}}, {{gap:.3g}} apart;", end=" ")
    print(f"{{len(wrong)}} of {{{constant}.size}} elements are not the derivative of {side}'s own forward")
    sys.exit(1)
'''


_FORWARD = '''\
def moved(step):
    """Return the results after {constant} changed by `step` times {along}."""
    kept = {constant}.copy()
    {constant}[...] += step * {along}
    _, results = program({namespace})
    {constant}[...] = kept
    return [numbers(result) for result in results]


if __name__ == "__main__":
    try:
        tangents, results = program({namespace})
        tangents = [np.zeros(numbers(r).shape) if t is None else numbers(t) for t, r in zip(tangents, results)]
        values = [moved(step) for step in (-EPS, -EPS / 16, 0, EPS / 16, EPS)]
    except Exception as error:
        sys.exit(print("cannot tell:", error) or 2)
    wrong = []
    for own, *around in zip(tangents, *values):
        for at in np.ndindex(own.shape):
            five = [value[at] for value in around]
            if differs(own[at], five, {constant}, {constant}):
                numeric = (five[3] - five[1]) * 8 / EPS
                wrong.append(f"tangent at {{at}}: forward mode {{own[at]:.9g}}, numeric {{numeric:.9g}}")
    if not wrong:
        sys.exit(print("same"))
    print(f"DIFFERS: {{wrong[0]}}; {{len(wrong)}} are not the derivative of {side}'s own forward along {along}")
    sys.exit(1)
'''


class Derivative(NamedTuple):
    """The subject of a script, and the text at its top.

    Attributes:
        program: a program in double precision, whose last call differentiates.
        sides: the frameworks to import, in order; the last one has the wrong derivative and runs the program.
        array: the index of the captured array with the contents of the leaf.
        title, header: one line that says what the script shows, and further lines.
        eps, atol, rtol: the step of the differences, and the tolerances of derivatives.
    """

    program: Program
    sides: Sequence[Script]
    array: int
    title: str
    header: Sequence[str] = ()
    eps: float = 1e-6
    atol: float = 1e-6
    rtol: float = 1e-4


def derivative_script(
    about: Derivative, *, leaf: tuple[int, str], results: Sequence[int], cotangents: Sequence[int]
) -> str:
    """Return the text of a script that exits with 1 while the gradient of a leaf is wrong, and with 0 if it is right.

    Args:
        about: the subject of the script.
        leaf: slot of the leaf and path below it, ``(0, "")`` or ``(2, ".weight")``.
        results, cotangents: slots of the differentiated results, and of their cotangents.

    Raises:
        NotReplayable: an operand has no source text; the message names the call.
    """
    own = naming.names(about.program)
    name = own[leaf[0]] + leaf[1]
    gradient = naming.expression(gradient_of(name), about.program)
    returned = [gradient, *(_listed(own, slots) for slots in (results, cotangents))]
    shown = [gradient, *(own[slot] for slot in (*results, *cotangents))]
    return _script(about, shown, returned, _CHECK, {"name": name})


def forward_script(about: Derivative, *, along: int, results: Sequence[int], tangents: Sequence[int]) -> str:
    """Return the text of the same script for forward mode.

    Args:
        about: the subject of the script.
        along: the index of the captured array with the tangent of the leaf.
        results, tangents: slots of the results, and of their tangents.

    Raises:
        NotReplayable: an operand has no source text; the message names the call.
    """
    own = naming.names(about.program)
    returned = [_listed(own, slots) for slots in (tangents, results)]
    shown = [own[slot] for slot in (*results, *tangents)]
    return _script(about, shown, returned, _FORWARD, {"along": naming.constants(about.program)[along]})


def _listed(own: dict[int, str], slots: Sequence[int]) -> str:
    return "[" + ", ".join(own[slot] for slot in slots) + "]"


def _script(about: Derivative, shown: Sequence[str], returned: Sequence[str], check: str, more: dict[str, str]) -> str:
    """Return the whole script.

    Args:
        about: the subject of the script.
        shown: names whose values must have a name in the program.
        returned: expressions that the function `program` returns.
        check: the template of the code after the function.
        more: further fields of that template.
    """
    program, side = about.program, about.sides[-1]
    variable = side.namespace if side.namespace.isidentifier() else "framework"
    printer = Printer(program, variable, shown)
    lines = indented(printer.statements())
    lines.append("    " * printer.depth + f"return {', '.join(returned)}")
    constant = naming.constants(program)[about.array]
    filled = {**more, "constant": constant, "namespace": side.namespace, "side": side.name}
    quoted = {key: quotable(text) for key, text in filled.items()}
    frameworks = [line for one in about.sides for line in one.lines]
    data = literals.definitions(program).values()
    return "\n".join(
        [
            *script_header(docstring(about.title, about.header), printer.imports, frameworks, data),
            f"{constant} = {constant}.copy()",
            "",
            "",
            f"def program({variable}):",
            textwrap.indent("\n".join(lines), "    "),
            "",
            "",
            (_NUMBERS + check).format(eps=about.eps, atol=about.atol, rtol=about.rtol, **quoted),
        ]
    )
