"""How a reproducer imports a framework: directly if its names are torch's, else through its adapter."""

from __future__ import annotations

import os
import site
import sys
from pathlib import Path
from typing import Any

from autotest.emission import Script

#: Methods that an adapter overrides if it computes something differently from the module that it wraps.
_ANSWERS = (
    "import_root",
    "root",
    "resolve",
    "operation",
    "invoke",
    "tensor",
    "from_numpy",
    "overwrite",
    "gradient",
    "gradients",
)


def importing(framework: Any, module: str) -> Script:
    """Return the script that imports `module`, whose names are torch's.

    If the adapter changes the results of a program, the script imports the adapter instead.
    """
    own = next((kind for kind in type(framework).__mro__ if _answers(kind)), None)
    if own is None or not framework.origin:
        return Script(framework.name, (*way_to(framework.root, module), f"import {module}"), module)
    return through_adapter(framework, own, module)


def through_adapter(framework: Any, own: type, module: str) -> Script:
    """Return the script that gets `framework` from this library's registry.

    Before that, it finds what lies in the project's folder: the adapter's class `own`, and the framework's `module`.
    """
    ways = (*way_to(sys.modules[own.__module__], own.__module__), *way_to(framework.root, module))
    called = framework.name if framework.name.isidentifier() and framework.name != "torch" else "candidate"
    asked = f"{called} = speaking_torch({framework.origin!r})"
    lines = (*dict.fromkeys(ways), "from autotest.frameworks import speaking_torch", asked)
    return Script(framework.name, lines, called)


def _answers(kind: type) -> bool:
    """Return whether this class is defined outside of this library and changes the results of a program."""
    return not kind.__module__.startswith("autotest.") and any(name in vars(kind) for name in _ANSWERS)


def way_to(root: Any, module: str) -> tuple[str, ...]:
    """Return the lines that let a script import `root` if it is stored below the working folder.

    That is the case for the sources of a user's own project. Installed packages need no lines.
    """
    file = getattr(root, "__file__", None)
    if not isinstance(file, str):
        return ()
    depth = module.count(".") + (Path(file).name == "__init__.py")
    folder = Path(os.path.abspath(file)).parents[depth]  # noqa: PTH100 - symbolic links stay unresolved
    here = Path.cwd()
    if not folder.is_relative_to(here) or str(folder) in {*site.getsitepackages(), site.getusersitepackages()}:
        return ()
    where = folder.relative_to(here).as_posix()
    return "import sys", f"sys.path.append({where!r})  # where {module} lies, from the project's folder"
