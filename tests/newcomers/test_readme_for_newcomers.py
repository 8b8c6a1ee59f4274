"""The README begins with the reader's own project, and names every variable and option."""

from __future__ import annotations

import re
from pathlib import Path

from autotest.base import options, project
from autotest.cli import init_templates
from autotest.pytest_plugin import command_line

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_it_begins_with_the_readers_project_and_shows_the_file_that_init_writes():
    sections = re.findall(r"^## (.*)$", README, flags=re.MULTILINE)
    assert sections[0] == "Your project"
    assert f"```python\n{init_templates.tests('oneflow')}```" in README


def test_every_variable_is_named():
    known = set(re.findall(r"``(AUTOTEST_\w+)``", options.__doc__ or ""))
    assert len(known) > 10
    assert [name for name in known if f"`{name}`" not in README] == []


def test_every_key_of_the_projects_table_is_a_variable():
    known = set(re.findall(r"``AUTOTEST_(\w+)``", options.__doc__ or ""))
    assert {key.upper() for key in project.KEYS} == known - {"TRIAL", "PROJECT"}


def test_every_option_of_pytest_is_named():
    assert [name for name, _, _ in command_line.OPTIONS if f"--autotest-{name}" not in README] == []
    assert "--autotest-quick" in README
