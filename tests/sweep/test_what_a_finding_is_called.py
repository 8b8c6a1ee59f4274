"""Unspecified results are no findings, and each fault is one finding under the right check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest.frameworks import Pair
from autotest.frameworks.torch_samples.torch_options import changed_options
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.report import sweep_markdown
from autotest.results.sweep import Cell, CellDivergence, CellKey, SweepMap, SweepRow
from autotest.results.sweep_findings import findings
from autotest.sweeping.judgement import SampleJudgement
from autotest.sweeping.judging import Judge
from tests.sweep.planted import TORCH, fault

EQUALS = Array(np.array([[3.0, 1.0, 3.0, 3.0], [2.0, 2.0, 2.0, 5.0]], "float32"), "float32")
NUMBERS = Array(np.array([[3.0, 1.0, -2.0, 4.0], [-2.5, 2.0, 0.5, 5.0]], "float32"), "float32")


def program(name: str, *rest: object, of: Array = NUMBERS, **named: object) -> Program:
    return Program(
        (tensor_call(0, 0, of, requires_grad=False), Call("function", name, (Ref(0), *rest), named, 1)), (of,)
    )


def written_into(name: str, **named: object) -> Program:
    """Return an in-place operator that works on a copy."""
    clone = Call("method", "clone", (Ref(0),), {}, 1)
    calls = (tensor_call(0, 0, NUMBERS, requires_grad=False), clone, Call("function", name, (Ref(1),), named, 2))
    return Program(calls, (NUMBERS,))


def judged(path: str, change: Callable[[Any], Any], asked: Program) -> SampleJudgement:
    return Judge(Pair(TORCH, fault(path, change))).judge(asked)


def checks_that_fail(found: SampleJudgement) -> set[str]:
    return {failure.check for failure in found.failures}


def last_of_equals(topk: Any) -> Any:
    """A candidate may visit rows in reverse order, and have indices of 32 bits."""

    def chosen(x: Any, k: int, dim: int = -1) -> Any:
        values, indices = topk(x.flip(dim), k, dim)
        return torch.return_types.topk((values, (x.shape[dim] - 1 - indices).to(torch.int32)))

    return chosen


def off_by_one(topk: Any) -> Any:
    def chosen(x: Any, k: int, dim: int = -1) -> Any:
        values, indices = topk(x, k, dim)
        return torch.return_types.topk((values, ((indices + 1) % x.shape[dim]).to(torch.int32)))

    return chosen


def test_indices_of_other_equal_values_are_no_fault_whatever_else_differs() -> None:
    assert checks_that_fail(judged("topk", last_of_equals, program("topk", 2, 1, of=EQUALS))) == {"dtype"}
    assert checks_that_fail(judged("topk", off_by_one, program("topk", 2, 1, of=EQUALS))) == {"dtype", "value"}


@pytest.mark.parametrize(("asked", "failing"), [({"sorted": False}, set()), ({}, {"value"})])
def test_results_that_were_asked_for_in_any_order_may_come_in_any_order(
    asked: dict[str, Any], failing: set[str]
) -> None:
    def backwards(topk: Any) -> Any:
        return lambda x, k, **named: torch.return_types.topk([part.flip(-1) for part in topk(x, k, **named)])

    assert checks_that_fail(judged("topk", backwards, program("topk", 2, **asked))) == failing


def test_what_was_to_work_in_place_and_does_not_is_no_wrong_value() -> None:
    asked = written_into("nn.functional.relu", inplace=True)

    def elsewhere(relu: Any) -> Any:
        return lambda x, inplace=False: relu(x)

    def wrong(relu: Any) -> Any:
        return lambda x, inplace=False: relu(x, inplace=inplace).mul_(2)

    assert checks_that_fail(judged("nn.functional.relu", elsewhere, asked)) == {"alias"}
    assert checks_that_fail(judged("nn.functional.relu", wrong, asked)) == {"value"}


def test_a_wrong_item_of_a_tuple_is_told_once_also_where_it_is_taken_out() -> None:
    def doubled(sort: Any) -> Any:
        def wrong(x: Any) -> Any:
            values, indices = sort(x)
            return torch.return_types.sort((values * 2, indices))

        return wrong

    asked = program("sort")
    taken = Call("operator", "getitem", (Ref(1), 0), {}, 2)
    found = judged("sort", doubled, Program((*asked.calls, taken), asked.arrays))
    assert [(failure.check, failure.message[:5]) for failure in found.failures] == [("value", "v1[0]")]


def test_a_backward_that_is_refused_for_what_went_before_it_is_no_finding_of_its_own() -> None:
    def cut(exp: Any) -> Any:
        return lambda x: exp(x).detach()

    x = tensor_call(0, 0, NUMBERS, requires_grad=True)
    found = judged("exp", cut, Program((x, Call("function", "exp", (Ref(0),), {}, 1)), (NUMBERS,)))
    assert ["requires_grad" in failure.message for failure in found.failures] == [True]


def test_options_that_torch_keeps_to_itself_are_not_tried() -> None:
    options = {name for name, _ in changed_options(torch.nn.Embedding, 2, ())}
    assert "sparse" in options
    assert not {name for name in options if name.startswith("_")}


def test_the_page_counts_cells_that_were_run_and_tells_the_worst_first() -> None:
    made = SweepMap(("torch", "other"), {}, 0, "autotest sweep")
    ran = Cell(accepted=2)
    for check, message in (("strides", "other strides"), ("gradient", "another gradient")):
        ran.check(check, passed=False)  # type: ignore[arg-type]
        ran.diverged(CellDivergence(check, message, message, "sample 0"))  # type: ignore[arg-type]
    agrees = Cell(accepted=1)
    agrees.check("value", passed=True)
    for dtype, cell in (("float32", ran), ("float64", agrees), ("int64", Cell())):
        key = CellKey("abs", "function", dtype)
        made.rows[key] = SweepRow(key, "elementwise, unary", "operators", cell)
    page = sweep_markdown.page(made, findings(made))
    assert "| `abs` | 1 of 2 | strides, gradient | another gradient |" in page
