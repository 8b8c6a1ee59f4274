"""A framework with torch's names, which may consist of torch, is read like torch, and its scripts import it."""

from __future__ import annotations

import importlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
import torch as real

from autotest.diagnosis.verification import verify
from autotest.emission import reproducer
from autotest.emission.checker import Criterion
from autotest.emission.script_subject import ScriptSubject
from autotest.frameworks import Namespace, Pair, framework
from autotest.results.verification import State, Verification
from tests.support.block_framework import BlockFramework

KERNELS = """
from torch import *


def relu(x):
    return x
"""

ADAPTER = """
from autotest.frameworks import Namespace


class Mine(Namespace):
    def resolve(self, path):
        return (lambda x: x) if path == "relu" else super().resolve(path)


def factory():
    return Mine("my kernels", module="torch")
"""


@pytest.mark.parametrize(
    "made",
    [
        lambda: real._efficientzerotensor((3,)),
        lambda: real.tensor([1 + 2j, 3j]).conj(),
        lambda: real.tensor([1 + 2j, 3j]).conj().imag,
        lambda: real.tensor([0.0, 2.0]).to_sparse(),
    ],
    ids=["zeros without memory", "a conjugate", "a negative", "a sparse one"],
)
def test_what_numpy_cannot_read_of_torch_is_settled_first(made):
    torch, mine = framework("torch"), Namespace("mine", module="torch")
    for _ in range(20):  # uninitialised memory may contain zeros by chance
        filled = np.full(3, 7.0)
        del filled
        assert np.array_equal(mine.to_numpy(made()), torch.to_numpy(made()))


@pytest.mark.parametrize("adapted", [False, True], ids=["a module", "an adapter that computes otherwise"])
def test_the_script_of_what_lies_in_the_project_finds_it_from_the_project_alone(build, tmp_path, monkeypatch, adapted):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "mine_of_a_project.py").write_text(ADAPTER if adapted else KERNELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "src")
    try:
        name = "mine_of_a_project"
        mine = framework(f"{name}:factory") if adapted else Namespace("mine", module=name)
        build.function("relu", build.tensor([-1.0, 2.0]))
        program = build.program()
        sides = Pair(framework("torch"), mine).scripts(program)
        script = reproducer(ScriptSubject(program, sides, "relu", ()), Criterion(observed=["v1"]))
    finally:
        sys.modules.pop("mine_of_a_project", None)
    assert verify(script) == Verification(State.VERIFIED)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "repro.py").write_text(script)
    told = subprocess.run([sys.executable, "kept/repro.py"], capture_output=True, text=True, check=False)
    assert (told.returncode, str(tmp_path) in script) == (1, False), told.stdout
    assert script.count("import sys") == 1


FUNCTIONS = """
from tests.support.block_framework import BlockFramework


class Arrays(BlockFramework):
    module = "arrays_of_a_project"
"""


def test_the_script_of_a_framework_of_functions_finds_it_and_its_adapter_from_the_project(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "arrays_of_a_project.py").write_text("Block = int")
    (tmp_path / "adapter_of_a_project.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path, tmp_path / "src"):
        monkeypatch.syspath_prepend(place)
    try:
        candidate = importlib.import_module("adapter_of_a_project").Arrays()
        candidate.__dict__["root"] = importlib.import_module("arrays_of_a_project")
        lines, (_, written) = candidate.script().lines, candidate.transcribing()
    finally:
        for name in ("adapter_of_a_project", "arrays_of_a_project"):
            sys.modules.pop(name, None)
    assert [line.partition("  #")[0] for line in lines[:3]] == [
        "import sys",
        "sys.path.append('.')",
        "sys.path.append('src')",
    ]
    first, folder, own = written.imports.splitlines()
    assert (first, folder.partition("  #")[0]) == ("import sys", "sys.path.append('src')")
    assert own == "import arrays_of_a_project as other"


def test_the_script_of_an_installed_framework_says_no_folder():
    assert Namespace("mine", module="torch").script().lines == ("import torch",)


def test_a_framework_of_functions_may_have_a_name_of_several_words():
    lines = BlockFramework(made_by="framework").script().lines
    assert lines[-1] == "otherwise = speaking_torch('tests.support.block_framework:framework')"
    renamed = BlockFramework()
    renamed.name = "my-own arrays"
    compile("\n".join(renamed.script().lines), "", "exec")
    assert renamed.script().namespace.isidentifier()


def test_a_script_on_an_adapter_compares_modules_and_tensors(build, tmp_path, capsys):
    build.method("__call__", build.function("nn.ReLU"), build.tensor([-1.0, 2.0]))
    sides = Pair(framework("torch"), BlockFramework(made_by="framework")).scripts(build.program())
    script = tmp_path / "repro.py"
    script.write_text(reproducer(ScriptSubject(build.program(), sides, "nn.ReLU", ()), Criterion()))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert (capsys.readouterr().out, ended.value.code) == ("same\n", 0)
