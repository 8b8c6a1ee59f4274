"""If a body saves a file, each side saves its own, also in replays and scripts."""

from __future__ import annotations

import io
import os
import runpy
import tempfile
from pathlib import Path

import pytest
import torch as plain

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.emission import program_text
from autotest.emission.checker import Criterion
from autotest.emission.script import Script, reproducer
from autotest.emission.script_subject import ScriptSubject
from autotest.program import File
from autotest.program.serialisation import from_json, pack_arrays, to_json, unpack_arrays
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, pair_with, trial


def rows():
    return random_tensor(ndim=2, dim0=4, dim1=3)


def saved_as_a_folder(value, path):
    """Save a folder, as OneFlow does: no other framework can then write a file of that name."""
    Path(path).mkdir(exist_ok=True)
    plain.save(value, Path(path) / "all")


def loaded_from_a_folder(path):
    return plain.load(Path(path) / "all")


FOLDERS = {"save": lambda save: saved_as_a_folder, "load": lambda load: loaded_from_a_folder}


def kept_elsewhere():
    return {one.name for one in Path(tempfile.gettempdir()).glob(f"autotest-{os.getpid()}-*")}


@pytest.mark.parametrize("written", [str, Path])
def test_each_side_saves_into_a_file_of_its_own(tmp_path, written):
    def body():
        torch.save({"rows": rows()}, written(tmp_path / "a.pt"))
        again = torch.load(written(tmp_path / "a.pt"))["rows"]
        torch.save(again * 2, written(tmp_path / "a.pt"))
        return torch.load(written(tmp_path / "a.pt")) + again

    before = kept_elsewhere()
    outcome = trial(body, FaultyTorch(FOLDERS))
    assert agrees(outcome)
    assert (tmp_path / "a.pt").is_file()  # the body finds its file
    assert kept_elsewhere() <= before
    assert not agree(outcome.program, pair_with(FaultyTorch(FOLDERS)), Settings()).mismatches
    assert kept_elsewhere() <= before


def test_a_path_may_be_given_by_its_name(tmp_path):
    def body():
        torch.save(rows(), f=tmp_path / "a.pt")
        return torch.load(f=tmp_path / "a.pt")

    outcome = trial(body)
    assert agrees(outcome)
    assert outcome.program.calls[1].kwargs == {"f": File("a.pt")}


def test_files_of_one_name_in_two_folders_are_two_files(tmp_path):
    def body():
        x = rows()
        for at, folder in enumerate(("one", "two")):
            (tmp_path / folder).mkdir(exist_ok=True)
            torch.save(x + at, tmp_path / folder / "a.pt")
        return torch.load(tmp_path / "one" / "a.pt") - torch.load(tmp_path / "two" / "a.pt")

    outcome = trial(body, FaultyTorch(FOLDERS))
    assert agrees(outcome)
    assert not agree(outcome.program, pair_with(FaultyTorch(FOLDERS)), Settings()).mismatches


def test_what_was_there_before_the_trial_is_read_by_both(tmp_path):
    plain.save(plain.arange(6.0), tmp_path / "a.pt")
    assert agrees(trial(lambda: torch.load(tmp_path / "a.pt") + rows()[0, 0]))


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up")
def test_a_program_that_saves_is_data_and_a_script_that_runs_anywhere(tmp_path, monkeypatch, capsys):
    def body():
        torch.save(rows(), tmp_path / "a.pt")
        return torch.load(tmp_path / "a.pt").exp()

    program = trial(body).program
    assert from_json(to_json(program), unpack_arrays(pack_arrays(program))) is not None
    assert 'torch.save(x0, "a.pt")' in program_text(program)
    sides = Script("one", ("import torch",), "torch"), Script("other", ("import torch",), "torch")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = elsewhere / "repro.py"
    script.write_text(reproducer(ScriptSubject(program, sides, "files", ()), Criterion()))
    monkeypatch.chdir(elsewhere)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert not ended.value.code, capsys.readouterr().out
    assert [one.name for one in elsewhere.iterdir()] == ["repro.py"]


def test_a_buffer_is_still_a_buffer():
    def body():
        buffer = io.BytesIO()
        torch.save(rows(), buffer)
        buffer.seek(0)
        return torch.load(buffer)

    assert agrees(trial(body))
