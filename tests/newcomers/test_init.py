"""`autotest init` and `--version`, which a new user runs first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import autotest
from autotest import cli
from autotest.cli import init

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def initialised(project: Path, *options: str) -> int:
    return cli.main(["init", str(project), "--candidate", "torch", *options])


def test_a_project_gets_a_test_file_settings_and_a_workflow(tmp_path, capsys):
    assert initialised(tmp_path) == 0
    said = capsys.readouterr().out
    for name in ("tests/test_alignment.py", "pyproject.toml", ".github/workflows/autotest.yml", ".gitignore"):
        assert f"wrote    {tmp_path / name}" in said
    assert said.endswith(f"Next: pytest {tmp_path / 'tests/test_alignment.py'}\n")
    settings = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert settings["tool"]["autotest"]["candidate"] == "torch"
    assert "autotest fuzz tests --time 60s" in (tmp_path / ".github/workflows/autotest.yml").read_text()


def test_the_first_test_file_passes(tmp_path, pytester, quick, monkeypatch):
    initialised(pytester.path)
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    pytester.runpytest_inprocess("tests").assert_outcomes(passed=5)


def test_what_is_there_already_is_left_or_extended(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"')
    (tmp_path / ".gitignore").write_text("*.pyc")
    initialised(tmp_path)
    (tmp_path / "tests/test_alignment.py").write_text("# mine")
    capsys.readouterr()
    initialised(tmp_path)
    assert capsys.readouterr().out.count("left     ") == 4
    assert (tmp_path / "tests/test_alignment.py").read_text() == "# mine"
    content = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert content["project"]["name"] == "mine"
    assert content["tool"]["autotest"]["candidate"] == "torch"
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n.autotest/\n"


def test_a_project_that_is_not_there_is_said(tmp_path, capsys):
    assert initialised(tmp_path / "nowhere") == 2
    assert "no such folder" in capsys.readouterr().err


def test_settings_that_are_not_toml_are_left_alone(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text("[tool")
    assert initialised(tmp_path) == 2
    assert "not valid TOML, so nothing can be added" in capsys.readouterr().err
    assert (tmp_path / "pyproject.toml").read_text() == "[tool"


def test_settings_to_which_no_table_can_be_added_are_left_alone(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text("tool = {mine = {}}")
    assert initialised(tmp_path) == 2
    assert "a table [tool.autotest] cannot be added at its end" in capsys.readouterr().err
    assert (tmp_path / "pyproject.toml").read_text() == "tool = {mine = {}}"


def test_existing_lines_keep_their_line_ends_and_their_encoding(tmp_path):
    settings, ignored = b'[project]\r\nname = "mine"\r\n', "gr\u00fcn\r\n".encode("latin-1")
    (tmp_path / "pyproject.toml").write_bytes(settings)
    (tmp_path / ".gitignore").write_bytes(ignored)
    assert initialised(tmp_path) == 0
    assert (tmp_path / "pyproject.toml").read_bytes().startswith(settings)
    assert (tmp_path / ".gitignore").read_bytes() == ignored + b".autotest/\n"


@pytest.mark.parametrize(("candidate", "extras"), [("oneflow", "[fuzz,oneflow]"), ("mine:factory", "[fuzz]")])
def test_the_workflow_installs_what_the_candidate_needs(candidate, extras):
    assert init.requirement(candidate).startswith(f"dual-autotest{extras}")


@pytest.mark.parametrize(
    ("origin", "installs", "noted"),
    [
        ({"url": "file:///srv/dual-autotest", "dir_info": {}}, '"dual-autotest[fuzz]"', True),
        (
            {"url": "https://host/it", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            '"dual-autotest[fuzz] @ git+https://host/it@abc"',
            False,
        ),
        ({}, '"dual-autotest[fuzz]"', False),
    ],
)
def test_a_workflow_says_where_ci_has_no_folder_to_install_from(tmp_path, capsys, monkeypatch, origin, installs, noted):
    monkeypatch.setattr(init, "_origin", lambda: origin)
    initialised(tmp_path)
    workflow = (tmp_path / ".github/workflows/autotest.yml").read_text()
    assert f"- run: pip install pytest {installs}\n" in workflow
    assert ("installed from a folder: write where CI can install it" in workflow) == noted
    assert ("was installed from a folder of this machine" in capsys.readouterr().out) == noted


def test_folders_with_spaces_are_quoted(tmp_path, capsys):
    (tmp_path / "my kernels").mkdir()
    initialised(tmp_path / "my kernels", "--tests", "my tests")
    path = tmp_path / "my kernels" / "my tests" / "test_alignment.py"
    assert capsys.readouterr().out.endswith(f"Next: pytest '{path}'\n")
    workflow = (tmp_path / "my kernels" / ".github/workflows/autotest.yml").read_text()
    assert "- run: pytest 'my tests'\n" in workflow


def test_the_version_is_told_by_the_command_and_by_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"dual-autotest {autotest.__version__}\n"
    assert autotest.__version__[0].isdigit()


def test_a_candidate_that_nobody_has_is_told_before_anything_is_written(tmp_path, capsys):
    assert initialised(tmp_path, "--candidate", "onefow") == 2
    assert "no framework is named 'onefow'. Did you mean 'oneflow'? Registered are" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
