"""Writes reproducers that use each framework's native API, in one interpreter or in one interpreter for each."""

from __future__ import annotations

import re
import textwrap
from typing import Final, NamedTuple

from autotest.comparison.elementwise import Statistics
from autotest.comparison.mismatch import NUMERIC_SYMPTOMS
from autotest.emission import compact, naming
from autotest.emission.checker import SURVIVED
from autotest.emission.closeness import closeness_of
from autotest.emission.script_subject import docstring, quotable
from autotest.program import Program

#: Format strings of the expressions that turn an array into a list, and that return the name of its dtype, where arrays
#: are read as NumPy's and torch's are.
LIST_TEXT: Final = "{}.tolist()"
DTYPE_TEXT: Final = 'str({}.dtype).split(".")[-1]'


class NativeCode(NamedTuple):
    """A program in the native API of a framework: the import lines, the statements, and the observed expression."""

    imports: str
    lines: tuple[str, ...]
    result: str
    #: As `LIST_TEXT` and `DTYPE_TEXT`, for the arrays of the framework.
    list_text: str = LIST_TEXT
    dtype_text: str = DTYPE_TEXT

    def fact(self, symptom: str) -> str:
        """Return the expression of what is compared."""
        own = {"value": self.list_text, "gradient": self.list_text, "dtype": self.dtype_text}
        return own.get(symptom, _FACTS[symptom]).format(self.result)


class ScriptRequest(NamedTuple):
    """What a script has to show."""

    title: str
    notes: list[str]
    symptom: str
    #: The observed name, and how its elements differ if they are compared.
    name: str
    statistics: Statistics | None = None
    #: The interpreter in which the candidate is installed; empty for the script's own.
    python: str = ""
    #: Whether the candidate runs in a child process, which it may kill.
    dies: bool = False
    #: The lines that import the reference.
    imports: tuple[str, ...] = ("import torch",)


#: Symptom of the finding -> the expression of the script that is compared.
_FACTS = {
    "value": LIST_TEXT,
    "gradient": LIST_TEXT,
    "shape": "list({}.shape)",
    "dtype": DTYPE_TEXT,
    "exception": "{}",
    "crash": "{}",
}

#: Source of a function that reads a value: a lazy value is computed only when it is read, and may raise only then.
#: JSON has no complex numbers, so these become their parts.
_READ = """\
def read(value):
    if isinstance(value, complex):
        return {"parts": [value.real, value.imag]}
    return value.tolist() if hasattr(value, "tolist") else str(value)

"""

_CHILD = """\
if sys.argv[1:] == ["child"]:
    try:
        print(json.dumps({{"gives": {actual}()}}, default=read))
    except ImportError as error:
        sys.exit(print("cannot tell:", error) or 2)
    except Exception as error:
        print(json.dumps({{"raises": f"{{type(error).__name__}}: {{error}}"}}))
    sys.exit({survived})

"""

_ELSEWHERE = """\
def restored(found):
    return complex(*found["parts"]) if "parts" in found else found

def elsewhere():
    # The result of {actual} in {place}.
    run = subprocess.run([{python}, __file__, "child"], stdout=subprocess.PIPE, text=True)
    if run.returncode in (1, 2):
        sys.exit(print("cannot tell:", run.stdout.strip()) or 2)
    if run.returncode != {survived}:
        raise RuntimeError(f"ends with status {{run.returncode}} (a negative one is the signal that killed it)")
    came = json.loads(run.stdout.strip().splitlines()[-1], object_hook=restored)
    if "raises" in came:
        raise RuntimeError(f"raises {{came['raises']}}")
    return came["gives"]

"""

#: Part of a script whose candidate is installed in another interpreter.
_OTHER = """\
OTHER = {python}  # or another interpreter, given on the command line
python = sys.argv[1] if sys.argv[1:] else OTHER
if not python:
    sys.exit(print("cannot tell: give the Python interpreter that has {candidate} on the command line") or 2)

"""

_DIES = """\
try:
    {expected}()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
run = subprocess.run([sys.executable, __file__, "child"], stdout=subprocess.PIPE, text=True)
if run.returncode in (1, 2):
    sys.exit(print("cannot tell:", run.stdout.strip()) or 2)
if run.returncode == {survived}:  # it has not died
    sys.exit(print("same"))
print(f"DIFFERS: {candidate} ends with status {{run.returncode}} (a negative one is the signal that killed it)")
sys.exit(1)
"""

_VALUES = """\
try:
    expected = {expected}()
    actual = {actual}()
    same = {same}
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: {reference} gives {{expected}}, {candidate} {{actual}}".split())[:1000])
sys.exit(1)
"""

_REFUSES = """\
try:
    {expected}()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    json.dumps({actual}(), default=read)
    print("same")
except ImportError as error:
    sys.exit(print("cannot tell:", error) or 2)
except Exception as error:
    print(*f"DIFFERS: {reference} returns, {candidate} {raised}".split())
    sys.exit(1)
"""


def script(
    program: Program, reference: str, candidate: str, terms: NativeCode | None, asked: ScriptRequest
) -> str | None:
    """Return the text of a script, or None if the finding is not simple enough.

    Args:
        program: the program.
        reference, candidate: the names of the frameworks.
        terms: the program in the candidate's native API. If None, the candidate runs the same code as the reference,
            which makes sense only in another interpreter.
        asked: what the script has to show.
    """
    fact = _FACTS.get(asked.symptom)
    if fact is None or program.undefined or (asked.symptom in NUMERIC_SYMPTOMS and asked.statistics is None):
        return None
    expression = naming.expression(asked.name, program)
    found = compact.function_body(program, "torch", expression, fact.format(expression), large=True)
    if found is None:
        return None
    in_child = bool(asked.python) or asked.dies
    own, other = "in_torch", "in_another" if terms is None else f"in_{_word(terms.imports)}"
    functions = [_function(own, [*asked.imports, *found.lines])]
    if terms is None:
        other = own
    else:
        result = [f"return {terms.fact(asked.symptom)}"] if terms.result else []
        functions.append(_function(other, [*terms.imports.splitlines(), *terms.lines, *result]))
    names = {
        "expected": own,
        "actual": "elsewhere" if in_child else other,
        "reference": quotable(reference),
        "candidate": quotable(candidate),
        "raised": "{error}" if in_child else "raises {type(error).__name__}: {error}",  # elsewhere() says what raises
    }
    place = "the other interpreter" if asked.python else "a process of its own"
    python = "python" if asked.python else "sys.executable"
    crashes = asked.symptom == "crash"
    parts = _CHILD if crashes else _CHILD + _ELSEWHERE
    child = parts.format(actual=other, place=place, python=python, survived=SURVIVED) if in_child else ""
    if asked.python:
        child = _OTHER.format(python=repr(asked.python), candidate=names["candidate"]) + child
    check = _DIES if crashes else _REFUSES if asked.symptom == "exception" else _VALUES
    refuses = check is _REFUSES
    definition, same = _same(asked)
    modules = {"sys", *found.modules, *(("json", "subprocess") if in_child else ("json",) if refuses else ())}
    return "\n".join(
        [
            docstring(asked.title, asked.notes),
            f"import {', '.join(sorted(modules))}",
            "import numpy as np",
            "",
            *found.definitions(),
            *functions,
            definition
            + (_READ if in_child or refuses else "")
            + child
            + check.format(same=same, survived=SURVIVED, **names),
        ]
    )


def without_place(text: str) -> str:
    """Return the script `text` without the path of the other interpreter, for users on other machines."""
    return re.sub(r"^OTHER = .*$", 'OTHER = ""', text, flags=re.MULTILINE)


def _function(name: str, lines: list[str]) -> str:
    return f"def {name}():\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _word(imports: str) -> str:
    """Return the name of a framework in a script: ``mx`` for ``import mlx.core as mx``."""
    *_, last = (line for line in imports.splitlines() if line.startswith("import "))
    return last.split()[-1].replace(".", "_")


def _same(asked: ScriptRequest) -> tuple[str, str]:
    """Return the condition under which a script finds no difference, after the definition that the condition needs."""
    found = asked.statistics
    if asked.symptom not in NUMERIC_SYMPTOMS or found is None:
        return "", "expected == actual"
    closeness = closeness_of(found)
    return closeness.definition, f"np.shape(expected) == np.shape(actual) and {closeness.whole}"
