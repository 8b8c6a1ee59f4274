"""Reads pytest's setting `pythonpath`, the folders that a project's tests import from."""

from __future__ import annotations

import configparser
import contextlib
import functools
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: pytest's configuration files by precedence, with the section that makes a file one; the first two always are.
_FILES = (
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", ""),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)


@functools.lru_cache(maxsize=64)
def python_path(folder: Path) -> tuple[Path, ...]:
    """Return the folders that pytest's settings, in `folder` or the nearest parent with any, put on the path."""
    for place in (folder, *folder.parents):
        for name, section in _FILES:
            found = _settings(place / name, section)
            if found is not None:
                return tuple((place / entry).resolve() for entry in _listed(found.get("pythonpath", "")))
    return ()


def _settings(file: Path, section: str) -> dict[str, Any] | None:
    """Return pytest's settings in `file`; None if it has none or cannot be read, which pytest itself reports."""
    with contextlib.suppress(OSError, ValueError, configparser.Error):
        text = file.read_text(encoding="utf-8")
        if not section:
            found = tomllib.loads(text).get("tool", {}).get("pytest", {}).get("ini_options")
            return found if isinstance(found, dict) else None
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        if parser.has_section(section):
            return dict(parser[section])
        return {} if file.name in ("pytest.ini", ".pytest.ini") else None
    return None


def _listed(value: Any) -> Iterator[str]:
    yield from shlex.split(value) if isinstance(value, str) else map(str, value)
