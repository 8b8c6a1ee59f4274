"""Converts a finding to the files of a stored failure, and back."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.comparison import Mismatch, Statistics
from autotest.program import Program, serialisation
from autotest.results.finding import Finding
from autotest.results.identity import Identity
from autotest.results.layers import ByLayer
from autotest.results.verification import Verification
from autotest.storage.field_types import wrong_field

VERSION = 1
#: The files of a failure's folder; the last three exist only if the finding has a script and a program.
FILES = ("failure.json", "report.txt", "repro.py", "program.json", "arrays.npz")


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """A stored failure."""

    key: str
    path: Path
    finding: Finding
    report: str
    #: When it was stored, as UTC in ISO 8601.
    date: str

    @property
    def seed(self) -> int:
        """The seed of its trial."""
        return self.finding.seed

    @property
    def index(self) -> int:
        """The index of its trial under its base seed."""
        return self.finding.index


def to_files(finding: Finding, report: str | None) -> dict[str, bytes]:
    """Return the files of a failure's folder by name.

    Args:
        finding: the finding.
        report: the text of ``report.txt``; if empty, the messages of the mismatches are used.
    """
    program = finding.program
    files = {"report.txt": (report or "\n".join(item.message for item in finding.mismatches)).rstrip() + "\n"}
    if finding.script is not None:
        files["repro.py"] = finding.script
    found = {name: text.encode("utf-8", "backslashreplace") for name, text in files.items()}
    kept = False
    if program is not None:
        with contextlib.suppress(NotReplayable):
            document, arrays = serialisation.to_json(program), serialisation.pack_arrays(program)
            found |= {"program.json": _json(document), "arrays.npz": arrays}
            kept = True
    facts = {
        "format": "autotest failure",
        "version": VERSION,
        "test": finding.test,
        "file": "" if finding.file is None else str(finding.file.absolute()),
        "operator": finding.operator,
        "identity": None if finding.shown is None else list(finding.shown),
        "base_seed": finding.base_seed,
        "index": finding.index,
        "seed": finding.seed,
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "sides": list(finding.sides),
        "versions": finding.versions,
        "settings": {name: _encoded(value) for name, value in finding.settings.items()},
        "mismatches": [
            {name: _encoded(value) for name, value in dataclasses.asdict(item).items()} for item in finding.mismatches
        ],
        "verdict": list(finding.verdict),
        "shrinking": list(finding.shrinking),
        "happens": list(finding.happens),
        "blame": finding.blame,
        "divergent": finding.divergent,
        "network": None if finding.network is None else finding.network.as_data(),
        "verified": finding.verified.as_data(),
        "has_program": kept,
        "has_script": finding.script is not None,
        "choices": [_encoded(_plain(choice)) for choice in finding.choices],
    }
    return {"failure.json": _json(facts), **found}


def from_files(key: str, path: Path, files: Mapping[str, bytes]) -> Stored:
    """Return the failure that `files` contain.

    Args:
        key: the key of the failure.
        path: the folder of the files.
        files: the contents of the files by name.

    Raises:
        ValueError: the files are damaged; the message says how.
        Exception: ``failure.json`` lacks something, or does not fit the other files.
    """
    _require(files, "failure.json", "report.txt")
    facts = _facts(files)
    script = _script(files) if facts["has_script"] else None
    program = _program(files) if facts["has_program"] else None
    finding = Finding(
        test=facts["test"],
        base_seed=facts["base_seed"],
        index=facts["index"],
        seed=facts["seed"],
        mismatches=tuple([_mismatch_from_json(item) for item in facts["mismatches"]]),
        sides=(facts["sides"][0], facts["sides"][1]),
        program=program,
        versions=facts["versions"],
        settings={name: serialisation.decode(value) for name, value in facts["settings"].items()},
        choices=[serialisation.decode(choice) for choice in facts["choices"]],
        verdict=tuple(facts["verdict"]),
        shrinking=tuple(facts["shrinking"]),
        happens=tuple(facts["happens"]),
        blame=facts["blame"],
        divergent=facts["divergent"],
        network=ByLayer.from_data(facts["network"]),
        shown=Identity(*facts["identity"]) if facts["identity"] else None,
        script=script,
        verified=Verification.from_data(facts["verified"]),
        file=Path(facts["file"]) if facts.get("file") else None,  # earlier versions did not write it
    )
    stored = Stored(key, path, finding, files["report.txt"].decode("utf-8"), facts["date"])
    _must_be_whole(stored)
    return stored


def _facts(files: Mapping[str, bytes]) -> dict[str, Any]:
    facts = _parsed(files, "failure.json")
    if not isinstance(facts, dict) or facts.get("format") != "autotest failure":
        raise ValueError("failure.json was not written by autotest")
    if facts["version"] != VERSION:
        raise ValueError(f"failure.json is of format version {facts['version']!r}; this reads {VERSION}")
    return facts


def _program(files: Mapping[str, bytes]) -> Program:
    _require(files, "program.json", "arrays.npz")
    arrays = serialisation.unpack_arrays(files["arrays.npz"])
    return serialisation.from_json(_parsed(files, "program.json"), arrays)


def _script(files: Mapping[str, bytes]) -> str:
    _require(files, "repro.py")
    return files["repro.py"].decode("utf-8")


def _must_be_whole(stored: Stored) -> None:
    """Raise `ValueError` if a field has a wrong type, or contradicts another one."""
    finding = stored.finding
    shown = [] if finding.shown is None else [finding.shown]
    statistics = [one.statistics for one in finding.mismatches if one.statistics is not None]
    for part in (stored, finding, *shown, *finding.mismatches, *statistics):
        if wrong := wrong_field(part):
            raise ValueError(f"failure.json is damaged: {wrong}")
    if not finding.mismatches:
        raise ValueError("failure.json is damaged: it has no mismatches; expected at least one")
    program, divergent = finding.program, finding.divergent
    if divergent is not None and program is not None and not 0 <= divergent < len(program.calls):
        raise ValueError(f"failure.json is damaged: divergent is {divergent}; program.json has no such call")
    if not finding.operator:  # it is found in the program, which may be another one
        raise ValueError("failure.json is damaged: its mismatch is of no operator")


def _require(files: Mapping[str, bytes], *names: str) -> None:
    for name in names:
        if name not in files:
            raise ValueError(f"{name} is missing")


def _parsed(files: Mapping[str, bytes], name: str) -> Any:
    try:
        return json.loads(files[name])
    except ValueError as error:
        raise ValueError(f"{name} cannot be read: {error}") from error


def _plain(value: Any) -> Any:
    """Return `value` with tuples as lists; choices are named tuples, whose fields are then identified by position."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _encoded(value: Any) -> Any:
    """Return `value` as JSON, or its repr if it cannot be written as data: the failure must be stored in any case."""
    try:
        return serialisation.encode(value)
    except NotReplayable:
        return repr(value)


def _mismatch_from_json(facts: dict[str, Any]) -> Mismatch:
    fields = {name: serialisation.decode(value) for name, value in facts.items()}
    if fields["statistics"] is not None:
        fields["statistics"] = Statistics(**fields["statistics"])
    return Mismatch(**fields)


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii")
