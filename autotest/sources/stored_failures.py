"""Provides the programs of stored failures as samples of the operators that they are about."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.frameworks.families import family_of
from autotest.frameworks.namespace import DIFFERENTIABLE
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.program import Program, Ref, operator_of
from autotest.program.semantics import is_module_call
from autotest.program.serialisation import from_json, unpack_arrays


class StoredFailures:
    """A database of the programs of the failures below `directory`, by the cell that they belong to.

    An entry that cannot be read is skipped here; `autotest list` reports it.
    """

    name = "found before"

    def __init__(self, directory: Path) -> None:
        self._failures = directory.absolute() / "failures"

    @functools.cached_property
    def _cells(self) -> Mapping[tuple[str, Form, str], list[Program]]:
        found: dict[tuple[str, Form, str], list[Program]] = {}
        for folder in sorted(self._failures.glob("[!.]*")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                program, slot = _read(folder)
                found.setdefault((*_called(program, slot), _dtype(program)), []).append(program)
        return found

    def entries(self) -> Sequence[DatabaseEntry]:
        return [
            DatabaseEntry(self.name, name, "", family_of(name), (form,), (dtype,), ("found",), {}, mutated=False)
            for name, form, dtype in self._cells
        ]

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        return (Sample(program) for program in self._cells.get((key, form, dtype), ()))


def _read(folder: Path) -> tuple[Program, int]:
    """Return the program of one failure, and the slot of the call that it is about."""
    facts: dict[str, Any] = json.loads((folder / "failure.json").read_bytes())
    arrays = unpack_arrays((folder / "arrays.npz").read_bytes())
    program = from_json(json.loads((folder / "program.json").read_bytes()), arrays)
    divergent = facts["divergent"]
    return program, int(facts["mismatches"][0]["slot"] if divergent is None else divergent)


def _called(program: Program, slot: int) -> tuple[str, Form]:
    """Return the operator that computes the value in `slot`, and the form of the call."""
    name = operator_of(program.calls, slot)
    call = program.calls[min(slot, len(program.calls) - 1)]
    if call.kind != "method":
        return name, "module" if name.startswith("nn.") and name[3].isupper() else "function"
    if is_module_call(call) and type(call.args[0]) is Ref:
        return name, "module"
    return (name.rstrip("_"), "in-place") if name.endswith("_") else (name, "method")


def _dtype(program: Program) -> str:
    dtypes = [call.target for call in program.inputs()]
    return next(iter([*(dtype for dtype in dtypes if dtype in DIFFERENTIABLE), *dtypes]), "float32")
