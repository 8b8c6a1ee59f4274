"""Test files are imported with the folders that the project's pytest settings add to the path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotest.sources.collection import collect
from autotest.sources.pytest_paths import python_path

TEST = """
from autotest import autotest, random_tensor, torch
import {module}

@autotest(n=1)
def test_it():
    return torch.relu(random_tensor())
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.ini", "[pytest]\npythonpath = . src\n"),
        (".pytest.ini", "[pytest]\npythonpath =\n  .\n  src\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = [".", "src"]\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ". src"\n'),
        ("tox.ini", "[pytest]\npythonpath = . src\n"),
        ("setup.cfg", "[tool:pytest]\npythonpath = . src\n"),
    ],
)
def test_a_test_file_imports_from_where_pytest_would(tmp_path: Path, monkeypatch, name: str, text: str) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    module = f"lies_in_src_of_{tmp_path.name}"
    (tmp_path / name).write_text(text)
    for folder in ("src", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / f"{module}.py").write_text("")
    (tmp_path / "tests" / "test_it.py").write_text(TEST.format(module=module))
    assert python_path(tmp_path / "tests") == (tmp_path, tmp_path / "src")
    found = collect([tmp_path / "tests"])
    assert found.broken == []
    assert [test.name for test in found.tests] == ["test_it"]


def test_the_nearest_settings_of_pytest_hold_and_other_files_are_none(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = src\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    (inner / "setup.cfg").write_text("no settings at all")
    assert python_path(inner) == (tmp_path / "src",)
    nearer = inner / "nearer"
    nearer.mkdir()
    (nearer / "pytest.ini").write_text("")
    assert python_path(nearer) == ()
