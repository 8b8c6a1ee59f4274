"""Reads a file of harvested calls, and reports the lines that are damaged."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from autotest.base.errors import UsageError
from autotest.base.plural import several, thousands
from autotest.frameworks.harvester.calls_file import FORMAT, VERSION
from autotest.frameworks.samples import Form

_FORMS = frozenset(get_args(Form))


@dataclasses.dataclass(frozen=True, slots=True)
class HarvestedCall:
    """One distinct call of the harvested program. Its arguments are still JSON."""

    name: str
    form: Form
    args: list[Any]
    kwargs: Mapping[str, Any]
    #: Whether gradients were enabled.
    gradients: bool
    #: The module whose forward made the call; empty outside of modules.
    within: str
    #: Its line number in the file.
    line: int
    #: For a module: its constructor call, its parameters and buffers, and its mode.
    constructor: Mapping[str, Any] | None = None
    state: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    training: bool = False
    #: How many times it was made, counting only processes that exited normally.
    times: int = 0

    @property
    def signature(self) -> str:
        """A key that is equal for calls that differ only in the contents of tensors."""
        return json.dumps([self.name, self.form, _plain(self.args), _plain(self.kwargs), self.gradients,
                           _plain(self.constructor), _plain(self.state), self.training], sort_keys=True)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Harvest:
    """The contents of a file of harvested calls."""

    calls: list[HarvestedCall]
    #: The command that ran the program, and its version of torch.
    command: list[str]
    torch: str
    #: Line numbers of unreadable lines, and the error of the first one.
    broken: list[int]
    why: str
    #: name -> number of calls that were not recorded
    left_out: Mapping[str, int]

    def notes(self, path: Path) -> list[str]:
        """Return what is missing from the calls, as sentences for a report."""
        notes = []
        if self.broken:
            first = f"line {self.broken[0]}: {self.why}"
            notes.append(f"{several(len(self.broken), 'line')} of {path} ({first}); the others were used")
        if self.left_out:
            names = ", ".join(sorted(self.left_out)[:5])
            number = thousands(sum(self.left_out.values()), "call")
            notes.append(f"{number} that `autotest harvest` did not keep, of {names}")
        return notes


def read(path: Path) -> Harvest:
    """Return the distinct calls in `path`.

    Raises:
        UsageError: The file cannot be read, or is not written by this version of ``autotest harvest``.
    """
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); `autotest harvest -o {path} -- python train.py` writes it"
        ) from error
    calls: dict[str, HarvestedCall] = {}
    numbers: dict[tuple[int, int], str] = {}
    times: collections.Counter[str] = collections.Counter()
    left_out: collections.Counter[str] = collections.Counter()
    broken: list[int] = []
    header: dict[str, Any] = {}
    why = ""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            if "format" in found:
                _check_header(found, path)
                header = header or found
            elif "times" in found:
                made = {(found["process"], int(key)): count for key, count in found["times"].items()}
                # The line of the call may be missing, and with it the call's name.
                times.update({numbers[key]: count for key, count in made.items() if key in numbers})
                left_out.update(found["left_out"])
            else:
                call = _call(found, number)
                calls.setdefault(call.signature, call)
                numbers[found["process"], found["call"]] = call.signature
        except UsageError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            broken.append(number)
            why = why or f"{type(error).__name__}: {error}"
    if not header:
        raise UsageError(f"{path} is not a file written by `autotest harvest`: it has no header line")
    counted = [dataclasses.replace(call, times=times[signature]) for signature, call in calls.items()]
    return Harvest(counted, list(header.get("command", ())), str(header.get("torch", "")), broken, why, left_out)


def _check_header(found: Mapping[str, Any], path: Path) -> None:
    if found["format"] != FORMAT:
        raise UsageError(f"{path} is not a file written by `autotest harvest`: its format is {found['format']!r}")
    if found.get("version") != VERSION:
        raise UsageError(
            f"{path} has format version {found.get('version')!r}, but this autotest reads version {VERSION}; harvest "
            "again with this version of autotest"
        )


def _call(found: Mapping[str, Any], number: int) -> HarvestedCall:
    if found["form"] not in _FORMS:
        raise ValueError(f"unknown form: {found['form']!r}")
    if (
        not isinstance(found["args"], list)
        or not isinstance(found["kwargs"], dict)
        or not isinstance(found["call"], int)
    ):
        raise TypeError("args, kwargs or call has a wrong type")
    module = found["form"] == "module"
    return HarvestedCall(
        str(found["name"]), found["form"], found["args"], found["kwargs"], bool(found["gradients"]),
        str(found["within"]), number, found["constructor"] if module else None, found["state"] if module else {},
        bool(found.get("training")),
    )  # fmt: skip


def _plain(value: Any) -> Any:
    """Return `value` without the contents of tensors."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in ("range", "nonfinite", "contents")}
    return value
