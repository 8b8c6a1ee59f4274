"""Types of command-line arguments for argparse (numbers, shards, seeds), and checks of output files."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autotest.base.errors import UsageError


def argument_type(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return `read` with its `UsageError` converted to argparse's error, so that argparse prints the message."""

    def reading(text: str) -> Any:
        try:
            return read(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reading


def positive(text: str) -> int:
    """Return `text` as an integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, at least 1")
    return int(text)


def whole(text: str) -> int:
    """Return `text` as an integer of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, 0 or more")
    return int(text)


def shard(text: str) -> tuple[int, int]:
    """Return ``1/4``, the first of four shards, as ``(1, 4)``."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r}: expected I/K with 1 <= I <= K, such as 1/4")
    return int(match[1]), int(match[2])


def seed(text: str) -> int | str:
    """Return a base seed as an integer, or ``random`` unchanged."""
    if text == "random":
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, 0 or more, or random")
    return int(text)


def write(path: Path, text: str) -> None:
    """Write `text` to the file `path`. Raises `UsageError` if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def make_folder(path: Path) -> None:
    """Create the folder `path` and its parents where they are missing. Raises `UsageError` if that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {path} cannot be created: {error.strerror}") from error


def append(path: Path, text: str) -> None:
    """Append `text` to the file `path`, or create the file. Raises `UsageError` if that fails.

    Rewriting a file of the user would lose it if the disk is full, and change its line ends.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def must_be_writable(path: Path) -> None:
    """Raise `UsageError` if `path` cannot be written; called before a long run whose results go there."""
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path} cannot be written: the folder {path.parent} does not exist")
    if path.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder; give the name of a file")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: permission denied")
