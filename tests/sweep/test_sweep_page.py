"""The page of a map in a browser: it loads without errors and network, searches, filters, opens and copies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.report import sweep_html
from autotest.results.accuracy import Accuracy
from autotest.results.sweep import Cell, CellDivergence, CellKey, SweepMap, SweepRow
from autotest.results.sweep_findings import findings
from autotest.results.sweep_format import as_data
from autotest.results.verification import State, Verification

OPERATORS = 4000
SCRIPT = 'print("</script> & <b>shown as it is</b>")\n'


def document() -> dict[str, Any]:
    swept = SweepMap(("torch", "other"), {"torch": "2.0.1", "other": "1.0"}, 0, "autotest sweep", date="2026-11-22")
    for number in range(OPERATORS):
        for dtype in ("float32", "int64"):
            key = CellKey(f"operator{number}", "function", dtype)
            cell = Cell(accepted=3)
            cell.check("value", passed=True, times=3)
            swept.rows[key] = SweepRow(key, f"family {number % 7}", "operators", cell)
    wrong = swept.rows[CellKey("operator77", "function", "float32")].cell
    wrong.check("value", passed=False)
    errors = Accuracy()
    errors.reference.add(np.array([0.5]))
    errors.candidate.add(np.array([40.0]))
    wrong.measured(errors)
    wrong.diverged(CellDivergence("value", "not close", "v1: not close. <b>Mismatched</b> 1 / 3", "sample 2"))
    found = findings(swept)
    found[0].script, found[0].text, found[0].blame = SCRIPT, "v1 = torch.operator77(x0)", "candidate"
    found[0].verified, found[0].place = Verification(State.VERIFIED), "kept/operator77"
    history = [{"date": f"2026-11-{day}", "counts": {"agrees": 7990 + day, "differs": 3}} for day in (20, 21)]
    changed = {"cell": "operator77/function/float32", "before": "agrees", "after": "differs (value)"}
    return {**as_data(swept, found), "history": history, "changes": {"worse": [changed], "better": [], "added": []}}


def test_the_page_of_four_thousand_operators_is_small_and_names_no_other_file() -> None:
    page = sweep_html.page(document())
    assert len(page) < 1 << 20
    assert "http" not in page
    assert "src=" not in page


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the data of the page, made by the fixture's parameter: at the import, each worker would make all of it."""
    made: dict[str, Any] = getattr(request, "param", document)()
    return made


@pytest.fixture
def page(browser: Any, tmp_path: Path, shown: dict[str, Any]) -> Iterator[Any]:
    file = tmp_path / "map.html"
    file.write_text(sweep_html.page(shown), encoding="utf-8")
    opened = browser.new_page(viewport={"width": 1300, "height": 800})
    troubles: list[str] = []
    opened.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(file.as_uri())
    opened.wait_for_selector(".row")
    yield opened
    assert troubles == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    opened.close()


def operators(page: Any) -> list[str]:
    return [row.get_attribute("data-operator") for row in page.query_selector_all(".row")]


@pytest.mark.slow
def test_only_rows_in_view_are_drawn(page: Any) -> None:
    assert 0 < len(operators(page)) < 100
    assert f"{OPERATORS} operators" in page.text_content("#count")


def with_a_long_name() -> dict[str, Any]:
    made = document()
    made["cells"][0]["operator"] = "nn.functional.an_operator_of_a_long_name:with_variant"
    made["cells"][0]["left_out"] = {"no time for the rest of its samples": 5}
    return made


@pytest.mark.slow
@pytest.mark.parametrize("shown", [with_a_long_name], indirect=True, ids=[""])
@pytest.mark.parametrize("width", [1300, 390])
def test_columns_stand_below_one_another_whatever_operators_are_called(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.click(".row >> nth=1")
    lefts = """rows => rows.map(row => [...row.children].map(cell => Math.round(cell.getBoundingClientRect().left)))"""
    places = page.eval_on_selector_all(".head, .row", lefts)
    assert len(places) > 10
    assert all(one == places[0] for one in places)


@pytest.mark.slow
@pytest.mark.parametrize("shown", [with_a_long_name], indirect=True, ids=[""])
def test_samples_that_were_left_out_are_counted_as_the_summary_counts_them(page: Any) -> None:
    assert f"{3 * 2 * OPERATORS + 5:,} samples" in page.text_content("#about")


@pytest.mark.slow
def test_rows_further_down_are_drawn_when_they_come_into_view(page: Any) -> None:
    before = operators(page)
    page.evaluate("document.getElementById('table').scrollTop = 50000")
    page.wait_for_function(f"document.querySelector('.row').dataset.operator !== '{before[0]}'")
    assert not set(before) & set(operators(page))


@pytest.mark.slow
def test_search_and_filters_leave_what_fits(page: Any) -> None:
    page.fill("#search", "operator77")
    assert operators(page)[0].startswith("operator77")
    page.fill("#search", "")
    page.click("[data-status=differs]")
    assert operators(page) == ["operator77"]
    page.click("[data-status=differs]")
    page.select_option("#check", "value")
    page.select_option("#blame", "candidate")
    assert operators(page) == ["operator77"]
    page.select_option("#dtype", "int64")
    assert operators(page) == []


@pytest.mark.slow
def test_since_last_time_shows_what_changed(page: Any) -> None:
    page.click("#changed")
    assert operators(page) == ["operator77"]


@pytest.mark.slow
def test_a_click_opens_the_findings_and_the_script_is_copied_as_it_is(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-status=differs]")
    page.click(".row")
    assert "<b>Mismatched</b>" in page.text_content("#panel .finding")
    assert page.text_content("#panel .script") == SCRIPT
    page.click("#panel .copy")
    page.wait_for_function("document.querySelector('#panel .copy').textContent === 'copied'")
    assert page.evaluate("navigator.clipboard.readText()") == SCRIPT


@pytest.mark.slow
def test_a_script_says_whether_it_was_seen_to_show_the_finding(page: Any) -> None:
    page.click("[data-status=differs]")
    page.click(".row")
    said = page.text_content("#panel .verified")
    assert said == "reproducer: verified in a fresh interpreter (kept/operator77/repro.py)"


@pytest.mark.slow
def test_the_last_runs_are_drawn_side_by_side(page: Any) -> None:
    titles = [run.get_attribute("title") for run in page.query_selector_all("#history > div")]
    assert titles == ["2026-11-20: 8010 agrees, 3 differs", "2026-11-21: 8011 agrees, 3 differs"]
    box = page.query_selector("#history > div").bounding_box()
    assert box["height"] > 20


@pytest.mark.slow
def test_a_click_shows_the_errors_of_both_sides(page: Any) -> None:
    page.fill("#search", "operator77")
    page.click(".row")
    assert "torch 0.5, 0.5; other 40, 40 (worse)" in page.text_content("#panel")


@pytest.mark.slow
def test_the_keyboard_reaches_everything(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("operator77")
    page.focus(".row")
    first = page.evaluate("document.activeElement.dataset.operator")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.operator") != first
    page.keyboard.press("Enter")
    assert page.is_visible("#panel")
    page.keyboard.press("Escape")
    assert not page.is_visible("#panel")


@pytest.mark.slow
def test_a_narrow_screen_shows_the_findings_below(page: Any) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.click(".row")
    panel, table = page.query_selector("#panel").bounding_box(), page.query_selector("#table").bounding_box()
    assert panel["y"] >= table["y"] + table["height"] - 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
