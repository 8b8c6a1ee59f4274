"""What a new user gets wrong on a command line is told with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.cli import main


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fuzz", "tests", "--job", "2", "--tiem", "5s"], "unrecognized arguments: --tiem 5s. Did you mean --time?"),
        (["gradients", "tests", "--fail-mising"], "--fail-mising. Did you mean --fail-missing?"),
        (["sweep", "relu"], "autotest sweep: error: unrecognized arguments: relu. Write -k relu to choose by name"),
        (["replay", "--quux"], "autotest replay: error: unrecognized arguments: --quux\n"),
    ],
)
def test_an_unknown_argument_is_told_by_its_command_with_the_nearest_one(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    shown = " ".join(capsys.readouterr().err.split("error: ", 1)[1].split())
    assert " ".join(says.rpartition("error: ")[2].split()) in shown


@pytest.mark.parametrize("command", ["fuzz", "gradients"])
def test_a_file_that_cannot_be_read_is_not_called_one_without_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    (tmp_path / "test_unfinished.py").write_text("def test_a(:\n")
    assert main([command, str(tmp_path)]) == 2
    assert "test_unfinished.py: cannot be imported: SyntaxError: invalid syntax" in capsys.readouterr().err
