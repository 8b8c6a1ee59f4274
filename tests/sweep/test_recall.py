"""The measure of what a sweep finds again: by operator, however it is spelt, and by symptom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotest.results.ledger import LedgerEntry
from benchmarks.recall import known, missed, shows


def entry(symptom: str, operator: str) -> LedgerEntry:
    return LedgerEntry("key", "test.py::test", symptom, "why", operator)


def finding(operator: str, check: str, *calls: str) -> dict[str, Any]:
    return {"operator": operator, "check": check, "calls": list(calls), "message": ""}


@pytest.mark.parametrize("name", ["nn.LeakyReLU", "nn.functional.leaky_relu", "leaky_relu_"])
def test_a_module_and_its_function_are_one_operator(name: str) -> None:
    assert shows(finding(name, "value"), known(entry("value", "nn.LeakyReLU"), Path()))


def test_what_a_program_calls_counts_as_its_operator() -> None:
    assert shows(finding("floor_divide", "value", "floordiv"), known(entry("value", "floordiv"), Path()))


def test_another_symptom_or_operator_does_not_show_it() -> None:
    about = known(entry("gradient", "relu"), Path())
    others = [finding("relu", "value"), finding("elu", "gradient")]
    assert missed([about], others) == [about]
    assert missed([about], [*others, finding("relu", "gradient")]) == []


def test_an_entry_without_an_operator_is_about_the_one_of_its_reproducer(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text('"""optim.SGD: v1 differs."""\n')
    about = known(LedgerEntry("key", "test", "value", "why", reproducer="repro.py"), tmp_path)
    assert about.operators == {"optim.SGD"}
