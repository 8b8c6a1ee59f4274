"""Which parts of a report are coloured on a terminal. The stored report has no colours."""

from __future__ import annotations

import io
import re

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from autotest.cli.display import show_report
from autotest.report.colours import pieces
from tests.support import faults


def marked(report):
    found = list(pieces(report))
    assert "".join(text for text, _ in found) == report
    assert all(text for text, _ in found)
    return [(role, text) for text, role in found if role]


def test_a_real_report_in_its_parts(quick, against):
    against(faults.wrong_relu())
    with pytest.raises(Divergence) as raised:
        autotest(n=1)(lambda: torch.relu(random_tensor(low=1, high=2)))()
    report = str(raised.value)
    assert "\x1b" not in report
    assert all("\x1b" not in kept.read_text() for kept in quick.rglob("*") if kept.suffix in (".txt", ".py", ".json"))
    roles = dict(marked(report))
    assert roles["headline"] == "faulty diverges from torch: relu, value (forward)"
    assert roles["verdict"].startswith("Verdict:    faulty: ")
    assert roles["divergent"].endswith("torch.relu(x0)  # <-- first divergent call")
    assert float(roles["actual"]) == pytest.approx(float(roles["expected"]) + 1)


@pytest.mark.parametrize(
    ("message", "expected", "actual"),
    [
        ("  - v1: expected shape (2, 3), actual (3,). expected=torch actual=oneflow", "shape (2, 3)", "(3,)"),
        ("  - v1: expected\n    -0.25, actual\n    0.5 (none allowed)", "-0.25", "0.5"),
        ("  - v1: expected dtype int64, actual float32. expected=torch", "dtype int64", "float32"),
    ],
)
def test_both_values_of_a_mismatch_wherever_its_lines_are_broken(message, expected, actual):
    assert marked(message) == [("expected", expected), ("actual", actual)]


@pytest.mark.parametrize("text", ["", "nothing of note\n", "as expected, nothing\n\nelse, actual or not."])
def test_other_text_is_left_alone(text):
    assert marked(text) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "coloured"),
    [(Terminal, None, True), (Terminal, "1", False), (io.StringIO, None, False)],
)
def test_show_has_colours_on_a_terminal_only(monkeypatch, stream, no_color, coloured):
    pytest.importorskip("rich")
    output = stream()
    monkeypatch.setattr("sys.stdout", output)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    report = "one diverges from two: relu [bold], value (forward)\n" + "word " * 40 + "\n"
    show_report(report)
    shown = output.getvalue()
    assert ("\x1b[1;31mone diverges" in shown) == coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == report
