"""Which public names of both sides have accepted samples, and why the others have none."""

from __future__ import annotations

import pytest

from autotest.frameworks import Pair
from autotest.program import Call, Ref
from autotest.report import sweep_markdown, sweep_text
from autotest.results.sweep import Cell, CellDivergence, CellKey, SweepMap, SweepRow
from autotest.results.sweep_coverage import of_modules, of_names
from autotest.results.sweep_findings import findings
from autotest.sweeping.coverage import public_name, shared_names
from tests.support.faulty import FaultyTorch
from tests.sweep.planted import TORCH


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (Call("function", "nn.functional.relu", (Ref(0),), {}, 1), "nn.functional.relu"),
        (Call("method", "add_", (Ref(0), 1), {}, 1), "Tensor.add_"),
        (Call("operator", "and_", (Ref(0), Ref(0)), {}, 1), "Tensor.__and__"),
        (Call("operator", "sub", (1, Ref(0)), {}, 1), "Tensor.__rsub__"),
        (Call("getattr", "T", (Ref(0),), {}, 1), "Tensor.T.__get__"),
        (Call("method", "__call__", (Ref(0), Ref(0)), {}, 1), ""),
    ],
)
def test_a_call_is_of_the_name_that_its_user_wrote(call: Call, name: str) -> None:
    assert public_name(call) == name


def test_a_name_that_the_candidate_lacks_is_not_shared() -> None:
    every, without = (set(shared_names(Pair(TORCH, FaultyTorch(missing=missing)))) for missing in ((), ("erfinv",)))
    assert every - without == {"erfinv"}
    assert {"add", "Tensor.add_", "Tensor.__add__"} <= without


def test_the_log_of_a_sweep_names_what_it_found() -> None:
    rows = {}
    for at, checks in enumerate([("value", "dtype"), ("value",), *[("errors",)] * 19]):
        key = CellKey(f"op{at:02}", "function", "float32")
        rows[key] = SweepRow(key, "", "operators", Cell(accepted=1))
        for check in checks:
            rows[key].cell.diverged(CellDivergence(check, check, check, "sample 1", samples=1))
    swept = SweepMap(("torch", "other"), {}, 0, "", rows)
    found = findings(swept)
    found[0].known = found[1].known = "the ledger says why"
    lines = sweep_text.summary(swept, found).splitlines()
    at = lines.index("22 distinct findings about 21 operators:")
    assert lines[at + 1] == "  op01: value"
    assert lines[at + 2] == "  op02: errors"
    assert lines[-1] == "  and 1 more operator; --markdown, --json and --html list all"
    assert lines[at + 20] == "  op20: errors"
    found[2].place = ".autotest/failures/op01-value-1"
    assert sweep_text.summary(swept, found).splitlines()[-1].startswith("`autotest list` and `autotest show KEY`")


def test_one_sample_of_one_cell_is_counted_as_one() -> None:
    key = CellKey("exp", "function", "float32")
    swept = SweepMap(("torch", "other"), {}, 0, "", {key: SweepRow(key, "", "operators", Cell(accepted=1))})
    counted = "1 sample of 1 cell (operator/form/dtype) of 1 operator in "
    assert f"other against torch: {counted}" in sweep_text.summary(swept, [])
    page = sweep_markdown.page(swept, [])
    assert "1 sample of 1 cell; a cell is one operator" in page
    assert "1 cell exists on both sides" in page


def test_what_has_no_accepted_sample_is_named_with_its_reason() -> None:
    cell = Cell(accepted=2, called={"add", "Tensor.add"})
    stuck = Cell()
    stuck.left_out["no data"] = 3
    rows = {
        key: SweepRow(key, "", database, held)
        for key, database, held in (
            (CellKey("add", "function", "float32"), "operators", cell),
            (CellKey("sub", "function", "float32"), "operators", stuck),
            (CellKey("nn.ReLU", "module", "float32"), "modules", Cell(accepted=1)),
            (CellKey("nn.ReLU", "module", "bfloat16"), "modules", Cell(absent="other has no bfloat16")),
            (CellKey("nn.Fold", "module", "float32"), "modules", stuck),
            (CellKey("nn.GRU", "module", "float32"), "modules", Cell(absent="there is none")),
            (CellKey("nn.GRU", "module", "float64"), "modules", Cell()),
        )
    }
    swept = SweepMap(("torch", "other"), {}, 0, "", rows, shared=["add", "sub", "mul", "Tensor.add"])
    assert of_names(swept).without == {"sub": "no data", "mul": "no source has inputs for it"}
    assert str(of_names(swept)) == "2 of 4 (50.0%)"
    assert of_modules(swept).without == {"nn.Fold": "no data"}
    assert "2 of 4 (50.0%) shared public names, 1 of 2 (50.0%) shared classes" in sweep_text.summary(swept, [])
    assert "- no data: `sub`" in sweep_markdown.page(swept, [])
