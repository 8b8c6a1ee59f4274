"""How a script begins that is about one side, or one mode of it: what it shows, its imports, its data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from autotest.emission.about import imported_once
from autotest.emission.literals import Definition
from autotest.emission.script import PACKED

_UNPACKING = ("base64", "zlib")


def script_header(top: str, modules: Iterable[str], frameworks: Iterable[str], data: Iterable[Definition]) -> list[str]:
    """The lines up to the definitions of arrays, which are `data`; `top` is the docstring.

    `modules` are those of the standard library that the rest needs; `frameworks` the lines that import these.
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
