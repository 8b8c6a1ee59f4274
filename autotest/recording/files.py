"""Gives the candidate its own copy of each file that a test saves, and makes it load from that copy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.frameworks import files
from autotest.program import File, Operand
from autotest.recording.record import Record

#: Position of the path among the arguments of ``torch.save`` and ``torch.load``. Its keyword is "f" in both.
_POSITION = {files.SAVES: 1, files.LOADS: 0}


class _Path:
    """A path that a test gives to ``torch.save`` or ``torch.load``."""

    __slots__ = ("_saves", "_text")

    def __init__(self, text: str, saves: bool) -> None:
        self._text, self._saves = text, saves

    def _lower(self, record: Record) -> tuple[str, str, Operand]:
        whole = str(Path(self._text).absolute())
        name = record.files.get(whole)
        if name is None and not self._saves:
            return self._text, self._text, whole  # not saved by this test, so both sides read the same file
        if name is None:
            plain = Path(whole).name
            name = plain if plain not in record.files.values() else f"{len(record.files)}-{plain}"
            record.files[whole] = name
        return self._text, files.path(record.pair.candidate, name), File(name)


def with_own_files(
    target: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return the arguments of ``torch.save`` or ``torch.load``, with the path replaced by one that differs by side."""
    at = _POSITION[target]
    if len(args) > at and _is_path(args[at]):
        return [*args[:at], _path(args[at], target), *args[at + 1 :]], kwargs
    if _is_path(kwargs.get("f")):
        return args, {**kwargs, "f": _path(kwargs["f"], target)}
    return args, kwargs


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _path(value: Any, target: str) -> _Path:
    return _Path(os.fsdecode(value), target == files.SAVES)
