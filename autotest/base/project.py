"""What a project asks for by default: the table ``[tool.autotest]`` of its `pyproject.toml`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from autotest.base.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "pyproject.toml"
#: The keys, which are the names of the options; each is an ``AUTOTEST_*`` variable, too.
KEYS = (
    *("candidate", "reference", "seed", "n", "profile", "quick", "deadline", "memory", "ledger"),
    *("dir", "verify", "shrink", "special_values", "coverage", "import"),
)


class Project(NamedTuple):
    """What one `pyproject.toml` says."""

    #: Values by the name of the variable that has the same meaning.
    variables: Mapping[str, str] = MappingProxyType({})
    #: Keys of the table that mean nothing.
    unknown: tuple[str, ...] = ()
    file: Path | None = None


def of_folder(folder: str) -> Project:
    """The nearest project at `folder` or above it; an empty one where there is none."""
    found = _nearest(folder)
    return Project() if found is None else read(found)


def with_table(paths: Sequence[Path]) -> Project | None:
    """The project of the first of `paths` at or above which one has a table; the working directory's need not be it."""
    for path in paths:
        place = path.absolute()
        found = of_folder(str(place if place.is_dir() else place.parent))
        if found.variables or found.unknown:
            return found
    return None


@functools.lru_cache(maxsize=16)  # every run of a test asks for it
def _nearest(folder: str) -> Path | None:
    places = (Path(folder), *Path(folder).parents)
    return next((place / FILE for place in places if (place / FILE).is_file()), None)


def variable_of(option: str) -> str:
    """The variable of the environment that says the same as the option called `option`."""
    return f"AUTOTEST_{option.upper()}"


@functools.lru_cache(maxsize=16)
def read(file: Path) -> Project:
    """What `file` says; raises `UsageError` where it is no TOML."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as TOML: {error}") from error
    table = content.get("tool", {}).get("autotest", {})
    if not isinstance(table, dict):
        raise UsageError(f"{file}: [tool.autotest] is {table!r}; expected a table")
    named = {str(key).replace("-", "_"): value for key, value in table.items()}
    variables = {variable_of(key): _text(key, value, file) for key, value in named.items() if key in KEYS}
    return Project(MappingProxyType(variables), tuple(key for key in table if key.replace("-", "_") not in KEYS), file)


def _text(key: str, value: Any, file: Path) -> str:
    """A value as its variable spells it; paths are the file's own, wherever the process runs."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return ",".join(map(str, value))
    if key in ("ledger", "dir"):
        return str(file.parent / str(value))
    return str(value)


def unknown_key(key: str, file: Path | None) -> str:
    """The warning for a key of ``[tool.autotest]`` that means nothing."""
    return f"Unknown config option in [tool.autotest] of {file}: {key}. Expected one of {', '.join(sorted(KEYS))}"
