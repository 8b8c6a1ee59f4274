"""The reproducer of a gradient that is not the derivative of its own forward: analytic against central differences."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from autotest.emission import literals, naming
from autotest.emission.about import Script, docstring, quotable
from autotest.emission.code import Printer, indented
from autotest.emission.header import script_header
from autotest.program import Program
from autotest.program.paths import gradient_of

_CHECK = '''\
def numbers(tensor):
    return np.array(tensor.detach().cpu().tolist())


def moved(at, step):
    """What is pushed back from, each result times its cotangent, when element `at` of {constant} is moved by `step`."""
    kept = {constant}[at]
    {constant}[at] += step
    _, results, _ = program({namespace})
    {constant}[at] = kept
    return sum(np.vdot(c, numbers(result)).real for c, result in zip(weights, results))


if __name__ == "__main__":
    EPS, ATOL, RTOL = {eps!r}, {atol!r}, {rtol!r}
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
            below, centre, above = (moved(at, step * part) for step in (-EPS, 0, EPS))
            numeric, left, right = (above - below) / (2 * EPS), (centre - below) / EPS, (above - centre) / EPS
            slack = 10 * (ATOL + RTOL * max(abs(left), abs(right)))
            # At a kink, where left and right differ, whatever lies between them is right.
            kink = abs(right - left) > slack and min(left, right) - slack <= own <= max(left, right) + slack
            if not (abs(own - numeric) <= ATOL + RTOL * abs(numeric) or kink):
                wrong.append((abs(own - numeric), at, own, numeric))
    if not wrong:
        sys.exit(print("same"))
    gap, at, own, numeric = max(wrong)
    print(f"DIFFERS: {name}.grad at {{at}}: analytic {{own:.9g}}, numeric {{numeric:.9g}}, {{gap:.3g}} apart;", end=" ")
    print(f"{{len(wrong)}} of {{{constant}.size}} elements are not the derivative of {side}'s own forward")
    sys.exit(1)
'''


_FORWARD = '''\
def numbers(tensor):
    return np.array(tensor.detach().cpu().tolist())


def moved(step):
    """The results when {constant} is moved by `step` times {along}."""
    kept = {constant}.copy()
    {constant}[...] += step * {along}
    _, results = program({namespace})
    {constant}[...] = kept
    return [numbers(result) for result in results]


if __name__ == "__main__":
    EPS, ATOL, RTOL = {eps!r}, {atol!r}, {rtol!r}
    try:
        tangents, results = program({namespace})
        tangents = [np.zeros(numbers(r).shape) if t is None else numbers(t) for t, r in zip(tangents, results)]
        below, centre, above = moved(-EPS), moved(0), moved(EPS)
    except Exception as error:
        sys.exit(print("cannot tell:", error) or 2)
    wrong = []
    for own, low, middle, high in zip(tangents, below, centre, above):
        numeric, left, right = (high - low) / (2 * EPS), (middle - low) / EPS, (high - middle) / EPS
        slack = 10 * (ATOL + RTOL * np.maximum(abs(left), abs(right)))
        # At a kink, where left and right differ, whatever lies between them is right.
        between = (np.minimum(left, right) - slack <= own) & (own <= np.maximum(left, right) + slack)
        kink = (abs(right - left) > slack) & between
        for at in np.argwhere(~((abs(own - numeric) <= ATOL + RTOL * abs(numeric)) | kink)).tolist():
            at = tuple(at)
            wrong.append(f"tangent at {{at}}: forward mode {{own[at]:.9g}}, numeric {{numeric[at]:.9g}}")
    if not wrong:
        sys.exit(print("same"))
    print(f"DIFFERS: {{wrong[0]}}; {{len(wrong)}} are not the derivative of {side}'s own forward along {along}")
    sys.exit(1)
'''


class Derivative(NamedTuple):
    """What a script is about, and what stands at its top.

    Attributes:
        program: in double precision; its last call differentiates.
        sides: how frameworks are imported, in order; the last one is the guilty one, which is asked.
        array: the captured array that the leaf's contents come from.
        title, header: what the script shows in one line, and further lines.
        eps, atol, rtol: the step of the differences, and what a derivative may be off by.
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
    """The text of a script that exits 1 while the gradient of a leaf is not the derivative, and 0 when it is.

    Args:
        leaf: slot of the leaf and path below it, ``(0, "")`` or ``(2, ".weight")``.
        results, cotangents: slots of what is pushed into, and of what is pushed.

    Raises:
        NotReplayable: an operand has no source text; the message names the call.
    """
    own = naming.names(about.program)
    name = own[leaf[0]] + leaf[1]
    gradient = naming.expression(gradient_of(name), own)
    returned = [gradient, *(_listed(own, slots) for slots in (results, cotangents))]
    shown = [gradient, *(own[slot] for slot in (*results, *cotangents))]
    return _script(about, shown, returned, _CHECK, {"name": name})


def forward_script(about: Derivative, *, along: int, results: Sequence[int], tangents: Sequence[int]) -> str:
    """The same for forward mode: the leaf has the tangent in the captured array `along`, and `results` `tangents`."""
    own = naming.names(about.program)
    returned = [_listed(own, slots) for slots in (tangents, results)]
    shown = [own[slot] for slot in (*results, *tangents)]
    return _script(about, shown, returned, _FORWARD, {"along": naming.constants(about.program)[along]})


def _listed(own: dict[int, str], slots: Sequence[int]) -> str:
    return "[" + ", ".join(own[slot] for slot in slots) + "]"


def _script(about: Derivative, shown: Sequence[str], returned: Sequence[str], check: str, more: dict[str, str]) -> str:
    """The whole file: what it shows, its data, the program that returns `returned`, and `check` with its names."""
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
            check.format(eps=about.eps, atol=about.atol, rtol=about.rtol, **quoted),
        ]
    )


__all__ = ["Derivative", "derivative_script", "forward_script"]
