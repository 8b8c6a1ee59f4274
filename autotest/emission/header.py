"""The first part of scripts about one side, or one mode of it: docstring, imports, data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from autotest.emission.literals import Definition
from autotest.emission.script import PACKED
from autotest.emission.script_subject import imported_once

_UNPACKING = ("base64", "zlib")


def script_header(top: str, modules: Iterable[str], frameworks: Iterable[str], data: Iterable[Definition]) -> list[str]:
    """Return the lines of a script from its docstring to the definitions of its arrays.

    Args:
        top: the docstring, with quotes.
        modules: modules of the standard library that the rest of the script needs.
        frameworks: lines that import the frameworks.
        data: the definitions of the arrays.
    """
    data = [*data]
    packed = any(one.packed for one in data)
    return [
        top,
        "",
        *(f"import {module}" for module in sorted({"sys", *modules, *(_UNPACKING if packed else ())})),
        "",
        "import numpy as np",
        "",
        "try:",
        textwrap.indent("\n".join(imported_once(frameworks)), "    "),
        "except (ImportError, OSError) as error:",
        '    sys.exit(print("cannot tell:", error) or 2)',
        "",
        *([PACKED, ""] if packed else []),
        *(one.statement for one in data),
    ]
