"""Checks the gradients of a recorded program by differences."""

from __future__ import annotations

from autotest.emission import names
from autotest.frameworks import Framework, warnings_shown
from autotest.gradients.checking import GradcheckResult, check, forward_rows
from autotest.gradients.function import FunctionOfInputs, second_order
from autotest.gradients.program_function import NotNumeric, ProgramFunction, SingularMatrix, differentiated
from autotest.gradients.public import made_cotangents
from autotest.gradients.rule import RULE
from autotest.program import Program, refs
from autotest.program.semantics import pushes_gradients
from autotest.results.gradient_rows import RowNames


@warnings_shown()  # forward mode of newer torch causes warnings about torch itself
def check_program(
    program: Program, framework: Framework, *, order: int = 1, forward: bool = False
) -> tuple[GradcheckResult, dict[str, tuple[int, str]]]:
    """Compare the gradients that `framework` computes for `program` with differences.

    Args:
        program: the recorded program.
        framework: the framework to run it on.
        order: 2 to also check gradients of gradients.
        forward: whether to also check forward mode, if the framework has it.

    Returns:
        The rows, and for each input that a row names, its slot in `program` and its path inside that value.

    Raises:
        NotNumeric: the program computes with undefined contents, or cannot run in double precision on this framework.
        SingularMatrix: it cannot run with the drawn numbers.
    """
    if not any(map(pushes_gradients, program.calls)):
        return GradcheckResult(), {}
    if any(ref.slot in program.undefined for call in program.calls for ref in refs(call)):
        raise NotNumeric("it computes with unspecified contents, such as a random mask")
    wide, upto, roots, back = differentiated(program)
    shown = names(program)
    outputs = [shown[back[slot]] for slot in roots]
    try:
        runner = ProgramFunction(wide, upto, roots, framework)
        varied = runner.leaves
        if not varied:
            return GradcheckResult(), {}
        inputs = [leaf.tensor for leaf in varied]
        places = {shown[back[leaf.slot]] + leaf.suffix: (back[leaf.slot], leaf.suffix) for leaf in varied}
        function = FunctionOfInputs(framework, runner, inputs, runner.between)
        row_names = RowNames(list(places), outputs)
        found = check(function, RULE, row_names)
        if forward:
            substituted = [position for position, leaf in enumerate(varied) if not runner.is_in_module(leaf)]
            found.rows += forward_rows(function, RULE, row_names, substituted)
        if order == 2 and found.passed:
            cotangents = made_cotangents(framework, runner, inputs)
            places.update({f"cotangent of {shown[back[slot]]}": (back[slot], "") for slot in roots})
            twice = second_order(framework, runner, len(inputs))
            again = FunctionOfInputs(framework, twice, [*inputs, *cotangents], runner.between)
            second = [f"gradient {position}" for position in range(len(again.outputs()))]
            more = check(again, RULE, RowNames(list(places), second))
            found.rows += more.rows
            found.warnings += more.warnings
    except SingularMatrix:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        said = f"{type(error).__name__}: {lines[-1][:200]}"
        raise NotNumeric(f"{framework.name} cannot run the program in double precision ({said})") from error
    return found, places
