"""A ledger expects the same findings of a sweep as of tests, for its own candidate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from autotest.comparison import Mismatch
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.results.finding import Finding
from autotest.results.ledger import LedgerEntry
from autotest.results.sweep import CellKey
from autotest.results.sweep_findings import SweepFinding, known

ENTRY = LedgerEntry(
    "key", "test.py::test", "dtype", "why", "neg", "actual float32", candidate="mine*", versions=">=1,<2"
)


def finding(operator: str, message: str) -> SweepFinding:
    cell = CellKey(operator, "function", "int32")
    return SweepFinding(0, operator, "dtype", "", message, f"{cell}, sample 1", [cell], 1, 1, None)


@pytest.mark.parametrize(
    ("operator", "message", "candidate", "version", "reason"),
    [
        ("neg", "actual float32", "mine", "1.5", "why"),
        ("neg", "actual float32", "mine+other", "1.5", "why"),
        ("neg", "actual float32", "yours", "1.5", ""),
        ("neg", "actual float32", "mine", "2.0", ""),
        ("neg", "actual int8", "mine", "1.5", ""),
        ("abs", "actual float32", "mine", "1.5", ""),
    ],
)
def test_an_entry_is_about_an_operator_of_a_candidate_and_its_versions(
    operator: str, message: str, candidate: str, version: str, reason: str
) -> None:
    found = finding(operator, message)
    known([found], [ENTRY], ("torch", candidate), {candidate: version})
    assert found.known == reason


def test_a_variant_is_known_by_what_is_known_of_its_operator() -> None:
    found = finding("sub", "actual float32")
    found.cells.append(CellKey("neg:of_complex_numbers", "function", "complex64"))
    known([found], [ENTRY], ("torch", "mine"), {"mine": "1.5"})
    assert found.known == "why"


def test_an_entry_may_be_about_some_versions_of_the_reference() -> None:
    entry = LedgerEntry("key", "test.py::test", "dtype", "why", "neg", reference_versions=">=2.13")
    for version, reason in {"2.13.1": "why", "2.0.1": ""}.items():
        found = finding("neg", "actual float32")
        known([found], [entry], ("torch", "mine"), {"mine": "1", "torch": version})
        assert found.known == reason


def hidden_finding(calls: Callable[[], tuple[Call, ...]], *, special: bool) -> SweepFinding:
    found = finding("sub", "expected 1.0, actual nan")
    data = Array(np.ones(1, "float32"), "float32")
    program = Program((tensor_call(0, 0, data, requires_grad=False), *calls()), (data,))
    mismatch = Mismatch("v1", 1, "value", "forward", "candidate", found.message, special=special)
    found.finding = Finding("sweep", 0, -1, 0, (mismatch,), ("torch", "mine"), program, {}, {})
    return found


def test_what_has_been_looked_into_is_known_by_what_it_was_found_to_be_as_in_tests() -> None:
    """The cell is ``sub``. In its samples another operator differs, in special values only."""
    entry = LedgerEntry("key", "test.py::test", "special values", "why", "neg")
    found = hidden_finding(lambda: (Call("function", "neg", (Ref(0),), {}, 1),), special=True)
    known([found], [entry], ("torch", "mine"), {"mine": "1"})
    assert found.known == "why"
    ordinary = hidden_finding(lambda: (Call("function", "neg", (Ref(0),), {}, 1),), special=False)
    known([ordinary], [entry], ("torch", "mine"), {"mine": "1"})
    assert not ordinary.known
