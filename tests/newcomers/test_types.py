"""The type information for editors agrees with the interface, and the README's tests type-check."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import autotest
import generators

ROOT = Path(__file__).parents[2]
STUB = ast.parse((ROOT / "autotest" / "__init__.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
#: Name -> what it is called with: a function, or the `__init__` of a class of generators.
CALLED = FUNCTIONS | {
    name: method
    for name, node in CLASSES.items()
    for method in node.body
    if isinstance(method, ast.FunctionDef) and method.name == "__init__"
}

#: What users write and torch's own tensors would be accepted in.
PLAIN = """
from typing import Any

from autotest import DualObject, Generator, autotest, broadcast_tensors, nothing, oneof, random, random_tensor, torch

precise = autotest(n=3, rtol=1e-3, check_values=None, special_values=None)


def sizes() -> Generator:
    return random(1, 6) * 2 % 5 | random(1, 6).to(int).map(abs) | nothing()


@precise
def test_tensors(name: str) -> torch.Tensor:
    x = random_tensor(ndim=oneof(1, 2), contents="ties" if name else random(1, 2))
    x = x.flatten()
    several = [random_tensor(shape=(3,)), random_tensor(shape=(3,))]
    several.append(torch.zeros(3))
    several.extend(broadcast_tensors(2))
    assert isinstance(x, DualObject)
    print(x.reference.shape, x.candidate.shape, x.pytorch, x.abs())
    return torch.cat(several)


@autotest()
def test_generators() -> Any:
    m = torch.nn.Linear(random(1, 4), sizes(), bias=random() | nothing())
    return torch.nn.functional.softmax(m(random_tensor()), dim=random(0, 2)), sizes().value()


test_tensors("name")
"""
#: A test in the style of OneFlow's own, whose import was changed.
OLD = """
import unittest

from autotest.oneflow import *


class TestOld(unittest.TestCase):
    @autotest(n=5, auto_backward=False, check_graph=True)
    def test_old(test_case):
        x = random_tensor(ndim=2, dim0=random(1, 6), dim1=3).to(random_device())
        y = choice_tensor(18, (2, 3), dtype=float)
        test_case.assertTrue(x.oneflow.shape == x.pytorch.shape)
        return torch.relu(x + 1) / 2 - x[0], (x > 0.5) & (y < 1)
"""
#: Each line except the first is a mistake.
WRONG = """from autotest import Divergence, autotest, random, random_tensor, torch
torch.sofmax(random_tensor())
autotest(rtl=1)
autotest(check_grad="numerical")
random_tensor(ndims=2)
random(1, 2, 3)
torch.relu(3, 4)
random_tensor().contigous()
Divergence.findings
"""


def test_the_stub_names_what_the_package_exports():
    imports = [node for node in STUB.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    assert set(autotest.__all__) <= imported | set(FUNCTIONS) | set(CLASSES)
    (listed,) = [node.value for node in STUB.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    assert ast.literal_eval(listed) == autotest.__all__  # mypy imports these names by `from autotest import *`


@pytest.mark.parametrize("name", CALLED)
def test_a_function_of_the_stub_takes_what_the_real_one_takes(name):
    told = _parameters(CALLED[name].args)
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    real = inspect.signature(getattr(autotest, name)).parameters.values()
    # Only the library passes `children`.
    taken = {item.name: item.default for item in real if item.kind not in starred and item.name != "children"}
    if name == "skip_grad_check":
        taken["reason"] = inspect.Parameter.empty  # it has a default only to say what is missing
    assert [*told.items()] == [*taken.items()]


def _parameters(arguments: ast.arguments) -> dict[str, Any]:
    """Return the defaults of all parameters by name, but for `self`; `inspect.Parameter.empty` if there is none."""
    listed = [*arguments.posonlyargs, *arguments.args]
    required: list[ast.expr | None] = [None] * (len(listed) - len(arguments.defaults))
    defaults = zip(
        [*listed, *arguments.kwonlyargs], [*required, *arguments.defaults, *arguments.kw_defaults], strict=True
    )
    return {item.arg: _default(value) for item, value in defaults if item.arg != "self"}


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return inspect.Parameter.empty
    return getattr(builtins, node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def test_the_options_of_the_decorator_have_the_same_types_in_the_stub():
    arguments = FUNCTIONS["autotest"].args
    told = {item.arg: ast.unparse(item.annotation) for item in (*arguments.args, *arguments.kwonlyargs)}
    real = {name: item.annotation for name, item in inspect.signature(autotest.autotest).parameters.items()}
    assert {name: text.replace("_Limit", "Limit") for name, text in told.items()} == real


@pytest.mark.parametrize(("alias", "names"), [("_Contents", generators.CONTENTS), ("_Layout", generators.LAYOUTS)])
def test_editors_offer_all_kinds_of_contents_and_layouts(alias, names):
    (value,) = [node.value for node in STUB.body if isinstance(node, ast.AnnAssign) and node.target.id == alias]
    assert set(ast.literal_eval(value.slice)) == set(names)


@pytest.fixture
def folder(tmp_path):
    """A folder with the README's tests, plain tests, and mistakes."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    for index, block in enumerate(blocks):
        (tmp_path / f"snippet{index}.py").write_text(block, encoding="utf-8")
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "old.py").write_text(OLD, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    return tmp_path


def _output(*command: str, folder: Path, **environment: str) -> str:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        timeout=280,
        check=False,
    ).stdout


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_the_readmes_tests_type_check_and_mistakes_do_not(folder):
    options = ("--config-file=", "--ignore-missing-imports", "--check-untyped-defs")
    output = _output(sys.executable, "-m", "mypy", *options, ".", folder=folder, MYPYPATH=str(ROOT))
    lines = [line for line in output.splitlines() if ": error: " in line]
    assert list(dict.fromkeys(line.partition(": ")[0] for line in lines)) == [f"wrong.py:{n}" for n in range(2, 10)], (
        output
    )
    assert 'wrong.py:2: error: Module has no attribute "sofmax"' in lines[0]
    assert 'wrong.py:3: error: Unexpected keyword argument "rtl" for "autotest"' in lines[1]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright (npm install pyright)")
def test_pyright_accepts_the_readmes_tests_and_no_mistakes(folder):
    options = {"extraPaths": [str(ROOT)], "reportMissingImports": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    found = json.loads(_output("pyright", "--pythonpath", sys.executable, "--outputjson", folder=folder))
    errors = [
        (Path(item["file"]).name, item["range"]["start"]["line"] + 1)
        for item in found["generalDiagnostics"]
        # OneFlow sets its dtypes in a way that no type checker sees.
        if item["severity"] == "error" and not item["message"].endswith('of module "oneflow"')
    ]
    assert sorted(set(errors)) == [("wrong.py", line) for line in range(2, 10)], found["generalDiagnostics"]
