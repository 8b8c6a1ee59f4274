"""Writes reproducers of differences other than in values: strides, shared memory, and nondeterministic results."""

from __future__ import annotations

from typing import Final

from autotest.emission import naming
from autotest.emission.compact import READ, script
from autotest.emission.script_subject import ScriptSubject

_STRIDES: Final = """\
def strides(tensor):  # of the dimensions that have more than one element
    return [step for step, size in zip(tensor.stride(), tensor.shape) if size > 1]

"""

_ALIAS: Final = """\
def together(framework):
    operand, result = program(framework)
    if result is operand:
        return "is its operand"
    before = repr(operand.tolist())
    other = framework.tensor((np.array(result.tolist()) == 0).tolist(), dtype=result.dtype)
    with framework.no_grad():
        result.copy_(other)
    return "has its own memory" if repr(operand.tolist()) == before else "shares memory with its operand"

"""

_STATE: Final = """\
try:
    actual = {fact}({namespace})
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(f"DIFFERS: {said}")
sys.exit(1)
"""

#: How many times a script repeats a program whose result should always be the same.
_TIMES: Final = 30
_REPEATS: Final = """\
try:
    first = repr(read(program({namespace})))
    for time in range({times}):
        again = repr(read(program({namespace})))
        if again != first:
            print(f"DIFFERS: {candidate} gives {{first}}, and {{again}} for the same inputs"[:1000])
            sys.exit(1)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
print("same in {times} runs")
"""


def other_strides(about: ScriptSubject, name: str) -> str | None:
    """Return the script for a result called `name` with other strides, or None if no short one exists."""
    said = "{reference} has strides {{expected}}, {candidate} {{actual}}".format(**about.fields)
    asks = "def laid_out(framework):\n    return strides(program(framework))\n\n"
    expression = naming.expression(name, about.program)
    return script(about, expression, _STRIDES + asks + _state(about, "laid_out", said), large=True)


def other_sharing(about: ScriptSubject, name: str, operand: int) -> str | None:
    """Return the script for a result called `name` that shares memory with an input on one side only.

    `operand` is the slot of the input. Return None if no short script exists.
    """
    said = "the result {{expected}} on {reference}, and {{actual}} on {candidate}".format(**about.fields)
    own = naming.names(about.program)
    expression = naming.expression(name, about.program)
    both = f"{own[operand]}, {expression}"
    return script(about, expression, _ALIAS + _state(about, "together", said), both, large=True)


def nondeterministic(about: ScriptSubject, name: str) -> str | None:
    """Return the script for a candidate whose value called `name` changes when the program runs again.

    Return None if no short script exists.
    """
    check = READ + about.imports_then() + _REPEATS.format(times=_TIMES, **about.fields)
    expression = naming.expression(name, about.program)
    return script(about, expression, check, large=True)


def _state(about: ScriptSubject, fact: str, said: str) -> str:
    """Return the part of a script that compares the results of the function `fact` and prints `said` if they differ."""
    check = _STATE.format(fact=fact, said=said, namespace=about.fields["namespace"])
    return about.imports_then(f"expected = {fact}({about.root})") + check
