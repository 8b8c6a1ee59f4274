"""Default options of a project: the table ``[tool.autotest]`` of its `pyproject.toml`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from autotest.base.errors import UsageError, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "pyproject.toml"
#: The keys of the table, which are the names of the options; for each there is also an ``AUTOTEST_*`` variable.
KEYS = (
    *("candidate", "reference", "seed", "n", "profile", "quick", "deadline", "memory", "ledger"),
    *("dir", "verify", "shrink", "special_values", "coverage", "import"),
)
#: The keys whose values are true or false.
FLAGS = frozenset(("quick", "verify", "special_values", "coverage"))
#: The keys that may have a list of texts; in a variable, these are separated by commas.
LISTS = frozenset(("candidate", "import"))


class Project(NamedTuple):
    """The table of one `pyproject.toml`."""

    #: Values by the name of the environment variable with the same meaning.
    variables: Mapping[str, str] = MappingProxyType({})
    #: Keys of the table that are not among `KEYS`.
    unknown: tuple[str, ...] = ()
    file: Path | None = None


def of_folder(folder: str) -> Project:
    """Return the nearest project at or above `folder`; an empty one if there is none."""
    found = _nearest(folder)
    return Project() if found is None else read(found)


def with_table(paths: Sequence[Path]) -> Project | None:
    """Return the project with a table at or above the first of `paths` that has one; None if no path has one.

    It need not be the project of the working directory.
    """
    for path in paths:
        place = path.absolute()
        found = of_folder(str(place if place.is_dir() else place.parent))
        if found.variables or found.unknown:
            return found
    return None


@functools.lru_cache(maxsize=16)  # every run of a test calls it
def _nearest(folder: str) -> Path | None:
    places = (Path(folder), *Path(folder).parents)
    return next((place / FILE for place in places if (place / FILE).is_file()), None)


def variable_of(option: str) -> str:
    """Return the name of the environment variable for the option named `option`."""
    return f"AUTOTEST_{option.upper()}"


@functools.lru_cache(maxsize=16)
def read(file: Path) -> Project:
    """Return the project of `file`.

    Raises:
        UsageError: the file cannot be read as TOML, ``tool`` or ``tool.autotest`` is not a table, an option has a list
            or a table that it does not take, or is given twice, as ``special-values`` and as ``special_values``.
    """
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as TOML: {error}") from error
    tools = content.get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{file}: [tool] is {tools!r}; expected a table")
    table = tools.get("autotest", {})
    if not isinstance(table, dict):
        raise UsageError(f"{file}: [tool.autotest] is {table!r}; expected a table")
    named: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name in named:
            raise UsageError(f"{file}: [tool.autotest] has both {spelled[name]} and {key}; expected one of them")
        named[name], spelled[name] = value, key
    variables = {variable_of(key): _text(key, value, file) for key, value in named.items() if key in KEYS}
    return Project(MappingProxyType(variables), tuple(key for key in table if key.replace("-", "_") not in KEYS), file)


def _text(key: str, value: Any, file: Path) -> str:
    """Return a value as text, as in its variable; paths are relative to the folder of `file`, not of the process."""
    if isinstance(value, bool) and key in FLAGS:
        return str(int(value))
    if isinstance(value, (list, dict)) and key not in FLAGS:
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if key not in LISTS or not texts or (key == "candidate" and not value):
            expected = "text, or a list of texts that is not empty" if key in LISTS else "one value"
            raise UsageError(f"{file}: [tool.autotest] has {key} = {value!r}; expected {expected}")
        return ",".join(value)
    if key in ("ledger", "dir") and value != "":  # an empty text sets nothing, as in a variable
        return str(file.parent / str(value))
    return str(value)


def unknown_key(key: str, file: Path | None) -> str:
    """Return the warning for an unknown key of ``[tool.autotest]``."""
    known, meant = sorted(KEYS), nearest(key.replace("-", "_"), KEYS) or "."
    return f"Unknown config option in [tool.autotest] of {file}: {key}{meant} Expected one of {', '.join(known)}"
