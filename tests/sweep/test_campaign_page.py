"""A campaign of tests as a map, and the results of earlier runs."""

from __future__ import annotations

import collections
import json
from pathlib import Path
from typing import Any

import pytest

from autotest.report import sweep_html
from autotest.results.campaign_map import campaign_map
from autotest.results.identity import Identity
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.sweep_format import as_data
from autotest.results.tasks import FindingRecord, Where
from autotest.results.verification import State, Verification
from autotest.storage import trends

GOOD, BAD, KILLS = (Where(Path("tests/test_x.py"), f"test_x.py::test_{name}", 7) for name in ("exp", "relu", "mm"))


def found(where: Where, symptom: str) -> FindingRecord:
    identity = Identity("nn.relu", symptom, "forward", "candidate", "not close", "ordinary")
    return FindingRecord(f"relu-{symptom}", identity, where, 4, f"kept/relu-{symptom}", Verification(State.VERIFIED),
                 "torch is right", "not close: 1 / 2", "the report", blame="candidate")  # fmt: skip


@pytest.fixture
def progress() -> CampaignProgress:
    tests = [TestProgress(where, tried=25, accepted=20, rejections=collections.Counter({"no": 5})) for where in
             (GOOD, BAD, KILLS)]  # fmt: skip
    findings = [found(BAD, "value"), found(KILLS, "crash")]
    made = CampaignProgress(7, tests, found={one.identity: one for one in findings})
    made.seen[findings[0].identity] = 3
    return made


def test_every_test_is_a_cell_with_what_it_came_to(progress: CampaignProgress) -> None:
    swept, findings = campaign_map(progress, ("torch", "mine"), {}, {"relu-value": "print(1)"})
    statuses = {row.key.operator: row.cell.status for row in swept.rows.values()}
    assert statuses == {GOOD.test: "agrees", BAD.test: "differs", KILLS.test: "dies"}
    document = as_data(swept, findings)
    cell = next(cell for cell in document["cells"] if cell["operator"] == BAD.test)
    assert (cell["accepted"], cell["refused"], cell["checks"]["value"]) == (20, 5, [20, 23])
    (number,) = cell["findings"]
    finding = document["findings"][number]
    assert (finding["script"], finding["program"]) == ("print(1)", "the report")
    assert finding["verified"] == "verified in a fresh interpreter"
    assert finding["blame"] == "candidate"
    assert "http" not in sweep_html.page({**document, "rows": "test"})


@pytest.mark.slow
def test_the_page_filters_findings_by_blame_and_offers_nothing_that_is_always_empty(
    browser: Any, progress: CampaignProgress, tmp_path: Path
) -> None:
    document = as_data(*campaign_map(progress, ("torch", "mine"), {}, {}))
    file = tmp_path / "map.html"
    file.write_text(sweep_html.page({**document, "rows": "test"}), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(".row")
    assert page.is_hidden("#dtype")
    page.select_option("#blame", "candidate")
    shown = {row.get_attribute("data-operator") for row in page.query_selector_all(".row")}
    page.close()
    assert shown == {BAD.test, KILLS.test}


def test_runs_of_the_same_thing_are_remembered_in_order(tmp_path: Path) -> None:
    trends.append_run(tmp_path, "sweep", "2026-11-20", {"agrees": 1, "differs": 2, "dies": 0})
    trends.append_run(tmp_path, "another", "2026-11-21", {"agrees": 9})
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write("{broken\n[]\n")
    runs = trends.append_run(tmp_path, "sweep", "2026-11-22", {"agrees": 3})
    assert [(run["date"], run["counts"]) for run in runs] == [
        ("2026-11-20", {"agrees": 1, "differs": 2}),
        ("2026-11-22", {"agrees": 3}),
    ]


def test_a_run_that_was_cut_off_while_it_was_written_costs_no_other_run(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"what": "sweep", "da', encoding="utf-8")
    trends.append_run(tmp_path, "sweep", "2026-11-21", {"agrees": 1})
    runs = trends.append_run(tmp_path, "sweep", "2026-11-22", {"agrees": 2})
    assert [run["date"] for run in runs] == ["2026-11-21", "2026-11-22"]


def test_a_history_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (run,) = trends.append_run(tmp_path / "file", "sweep", "2026-11-22", {"agrees": 3})
    assert json.dumps(run)
