"""The activity line is shown on terminals only, and is erased at the end."""

from __future__ import annotations

import io
import re
import time

import pytest

from autotest.report import activity
from autotest.report.activity import doing, shown_on


class Terminal(io.StringIO):
    """Collects what is written. It is a terminal by default."""

    tty = True

    def isatty(self):
        return self.tty


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(activity, "_SHOWN_AFTER", 0.01)
    monkeypatch.setattr(activity, "_TICK", 0.02)


def test_what_lasts_is_told_with_its_seconds_and_the_line_is_erased_in_the_end():
    terminal = Terminal()
    with shown_on(terminal), doing("shrinking"):
        while len(re.findall(r"shrinking\.\.\. \d+ s", terminal.getvalue())) < 2:
            time.sleep(0.005)
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_is_over_at_once_is_not_told(monkeypatch):
    monkeypatch.setattr(activity, "_SHOWN_AFTER", 60.0)
    terminal = Terminal()
    with shown_on(terminal), doing("shrinking"):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_told_where_the_output_is_no_terminal():
    file = Terminal()
    file.tty = False
    with shown_on(file), doing("shrinking"):
        time.sleep(0.05)
    assert file.getvalue() == ""


def test_the_outer_terminal_is_the_one():
    outer, inner = Terminal(), Terminal()
    with shown_on(outer), shown_on(inner), doing("verifying"):
        while "verifying" not in outer.getvalue():
            time.sleep(0.005)
    assert inner.getvalue() == ""


def test_a_terminal_that_goes_away_is_no_failure():
    class Gone(Terminal):
        asked = False

        def write(self, text):
            self.asked = True
            raise ValueError("I/O operation on closed file")

    terminal = Gone()
    with shown_on(terminal), doing("shrinking"):
        while not terminal.asked:
            time.sleep(0.005)
