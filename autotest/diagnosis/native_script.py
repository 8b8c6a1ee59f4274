"""Writes the reproducer of a finding in the candidate's own API, if that is not torch's."""

from __future__ import annotations

import contextlib
import sys

from autotest.base.errors import NotReplayable
from autotest.emission import names
from autotest.emission.native_script import NativeCode, ScriptRequest, script
from autotest.frameworks import Pair
from autotest.frameworks.remote.interpreter import Interpreter
from autotest.frameworks.remote.peer import Peer
from autotest.program import Program
from autotest.replaying.native_code import START_ELSEWHERE, as_native_code
from autotest.results.finding import Finding


def native_script(finding: Finding, pair: Pair) -> str | None:
    """Return a script that needs neither this library nor an adapter; None if there is no such script."""
    candidate, first, program = pair.candidate, finding.first, finding.program
    assert program is not None
    elsewhere = isinstance(candidate, Interpreter)
    own = names(program).get(first.slot)
    # The missing result of a call that raises has a name, too.
    name = own if first.symptom == "exception" else first.name
    if not (elsewhere or candidate.translates) or own is None or name != own + first.place:
        return None
    try:
        terms = _terms(program, pair, first.slot, first.place)
        if terms is None and not (elsewhere and candidate.inner == "torch"):  # type: ignore[attr-defined]
            return None
        reference, other = pair.sides
        differs = f"{first.name} differs in {first.symptom} between {reference} and {other}"
        shows = f"{other} raises where {reference} does not" if first.symptom == "exception" else differs
        asked = ScriptRequest(
            f"{finding.operator}: {shows}.",
            [finding.provenance, *finding.verdict[:1]],
            first.symptom,
            name,
            first.statistics,
            candidate.absolute_path if isinstance(candidate, Interpreter) else "",
            imports=pair.scripts(program)[0].lines,
        )
        return script(program, reference, other, terms, asked)
    except Exception:  # noqa: BLE001 - if this script cannot be written, the general one is used
        return None


def native_crash_script(finding: Finding, pair: Pair) -> str | None:
    """Return a script for a call that kills the process, as `native_script` does. It is not made here."""
    candidate, program = pair.candidate, finding.program
    assert program is not None
    if not candidate.translates or finding.first.side == "reference" or isinstance(candidate, Interpreter):
        return None
    try:
        with contextlib.closing(Peer(sys.executable, candidate.origin, START_ELSEWHERE)) as peer:
            found = peer.ask((program, None, ""))
        if not isinstance(found, tuple):
            return None
        reference, other = pair.sides
        title = f"{finding.operator}: {other} crashes, {reference} does not."
        notes = [finding.provenance, *finding.verdict[:1]]
        last, imports = names(program)[len(program.calls) - 1], pair.scripts(program)[0].lines
        asked = ScriptRequest(title, notes, "crash", last, dies=True, imports=imports)
        return script(program, reference, other, NativeCode(*found), asked)
    except Exception:  # noqa: BLE001 - if this script cannot be written, the general one is used
        return None


def _terms(program: Program, pair: Pair, slot: int, suffix: str) -> NativeCode | None:
    candidate = pair.candidate
    if not isinstance(candidate, Interpreter):
        return as_native_code(program, candidate, slot, suffix)
    if candidate.inner == "torch":
        return None
    with contextlib.closing(Peer(candidate.python, candidate.inner, START_ELSEWHERE)) as peer:
        found = peer.ask((program, slot, suffix))
    if isinstance(found, str):
        raise NotReplayable(found)
    return None if found is None else NativeCode(*found)
