"""The recall of a sweep is measured by operator, under all of its names, and by symptom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotest.results.ledger import LedgerEntry
from benchmarks.recall import Known, known, missed, shows


def entry(symptom: str, operator: str) -> LedgerEntry:
    return LedgerEntry("key", "test.py::test", symptom, "why", operator)


def finding(operator: str, check: str, *calls: str, message: str = "", sample: str = "") -> dict[str, Any]:
    return {"operator": operator, "check": check, "calls": list(calls), "message": message, "sample": sample}


def of_reproducer(folder: Path, *lines: str, operator: str = "", symptom: str = "value") -> Known:
    """Return the known entry whose reproducer's program has these lines."""
    body = "".join(f"    {line}\n" for line in lines)
    (folder / "repro.py").write_text(f'"""backward: x0.grad differs."""\ndef program(torch):\n{body}')
    return known(LedgerEntry("key", "test", symptom, "why", operator, reproducer="repro.py"), folder)


@pytest.mark.parametrize("name", ["nn.LeakyReLU", "nn.functional.leaky_relu", "leaky_relu_"])
def test_a_module_and_its_function_are_one_operator(name: str) -> None:
    assert shows(finding(name, "value"), known(entry("value", "nn.LeakyReLU"), Path()))


def test_what_another_package_calls_so_is_another_operator() -> None:
    assert not shows(finding("masked.amax", "value"), known(entry("value", "amax"), Path()))


def test_what_a_program_calls_counts_as_its_operator() -> None:
    assert shows(finding("floor_divide", "value", "floordiv"), known(entry("value", "floordiv"), Path()))


def test_what_puts_inputs_into_their_places_is_not_what_a_finding_is_about() -> None:
    about = known(entry("crash", "getitem"), Path())
    assert not shows(finding("relu", "survives", "getitem", "relu"), about)
    assert shows(finding("__getitem__", "survives", "getitem"), about)
    optimizer = finding("optim.SGD", "gradient", "mul", "backward", "step")
    assert not shows(optimizer, known(entry("gradient", "mul"), Path()))


def test_another_symptom_or_operator_does_not_show_it() -> None:
    about = known(entry("gradient", "relu"), Path())
    others = [finding("relu", "value"), finding("elu", "gradient")]
    assert missed([about], [{"findings": others}]) == [about]
    assert missed([about], [{"findings": others}, {"findings": [finding("relu", "gradient")]}]) == []


@pytest.mark.parametrize(
    ("symptom", "other"),
    [
        ("accepted", finding("relu", "errors", message="relu: torch accepts, oneflow raised RuntimeError")),
        ("exception", finding("relu", "errors", message="relu: torch refuses (RuntimeError: no), oneflow accepts.")),
        ("gradient", finding("relu", "gradient", message="backward: torch accepts, oneflow raised RuntimeError")),
        ("value", finding("relu", "alias", sample="relu/out=/float32, sample 0")),
        ("shape", finding("relu", "gradient", message="x0.grad: not close")),
    ],
)
def test_what_a_check_holds_besides_does_not_show_it(symptom: str, other: dict[str, Any]) -> None:
    assert not shows(other, known(entry(symptom, "relu"), Path()))


def test_what_the_candidate_lacks_is_found_where_cells_are_absent_for_the_want_of_it() -> None:
    about = known(entry("exception", "nn.Unflatten"), Path())
    cell = {"status": "absent", "absent": "oneflow has no nn.Unflatten"}
    assert missed([about], [{"findings": [], "cells": [cell]}]) == []
    for other in ({**cell, "absent": "oneflow has no Tensor.unflatten"}, {**cell, "status": "agrees"}):
        assert missed([about], [{"findings": [], "cells": [other]}]) == [about]


def test_an_entry_is_about_what_its_reproducer_calls_last(tmp_path: Path) -> None:
    lines = ("v1 = x0 * 1", "m2 = torch.nn.CELU(inplace=True)", "v3 = m2(v1)", "v3.backward(torch.tensor(1.0))")
    assert of_reproducer(tmp_path, *lines).operators == {"nn.CELU"}
    # The operator of the test's trial is kept if the reproducer calls it.
    assert of_reproducer(tmp_path, *lines, operator="mul").operators == {"mul", "nn.CELU"}
    assert of_reproducer(tmp_path, *lines, operator="nn.ELU").operators == {"nn.CELU"}


@pytest.mark.parametrize(
    ("line", "operator"),
    [
        ("return x0[v1]", "getitem"),
        ("return torch.topk(x0, 2)[0]", "topk"),
        ("x0[1:3] = x1", "setitem"),
        ("return x0 % 2", "mod"),
        ("return x0.unfold(-1, 3, 1)", "Tensor.unfold"),
        ("return torch.nn.BatchNorm1d(1)(torch.tensor(np.array([1.0])))", "nn.BatchNorm1d"),
    ],
)
def test_all_ways_to_call_are_read(line: str, operator: str, tmp_path: Path) -> None:
    assert of_reproducer(tmp_path, line).operators == {operator}


def test_an_entry_about_a_step_is_about_its_optimizer(tmp_path: Path) -> None:
    lines = ("o1 = torch.optim.SGD([x0])", "x0.sum().backward()", "o1.step()", "return x0 - x1")
    assert of_reproducer(tmp_path, *lines).operators == {"optim.SGD"}
