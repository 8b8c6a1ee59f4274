"""Finds the modules that register the operators of ``torch.ops`` that a program calls, for its scripts."""

from __future__ import annotations

import sys
from typing import Any

from autotest.frameworks.scripts import way_to
from autotest.program import Program

#: Classes of torch whose objects register operators; a module keeps them, as an operator ends with its library.
_REGISTERING = frozenset(("Library", "CustomOpDef"))


def registering_lines(program: Program) -> tuple[str, ...]:
    """Return the lines that import the modules that register operators that `program` calls; none for torch's own."""
    functions = (call.target for call in program.calls if call.kind == "function")
    spaces = {target.split(".")[1] for target in functions if target.startswith("ops.")}
    if not spaces:
        return ()
    # Any of several modules that hold the registering object will do: who imports one imports them all.
    found: dict[str, tuple[str, ...]] = {}
    for name, module in [*sys.modules.items()]:
        held = [] if name.partition(".")[0] in ("torch", "__main__") else [*getattr(module, "__dict__", {}).values()]
        for space in spaces.intersection(map(_namespace, held)):
            found.setdefault(space, (*way_to(module, name), f"import {name}"))
    return tuple(dict.fromkeys(line for lines in found.values() for line in lines))


def _namespace(value: Any) -> str:
    """Return the namespace of operators that `value` registers; "" if it is another object."""
    kind = type(value)
    if kind.__name__ not in _REGISTERING or not kind.__module__.startswith("torch."):
        return ""
    return str(getattr(value, "ns", "") or getattr(value, "_namespace", ""))
