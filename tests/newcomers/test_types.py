"""The type information for editors agrees with the interface, and the README's tests type-check."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autotest

ROOT = Path(__file__).parents[2]
STUB = ast.parse((ROOT / "autotest" / "__init__.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def test_the_stub_names_what_the_package_exports():
    imports = [node for node in STUB.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    assert set(autotest.__all__) <= imported | set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_stub_takes_what_the_real_one_takes(name):
    arguments = FUNCTIONS[name].args
    told = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    real = inspect.signature(getattr(autotest, name)).parameters.values()
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    taken = [item.name for item in real if item.kind not in starred]
    assert told == [item for item in taken if item != "children"]  # only the library passes this


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_the_readmes_tests_type_check_and_mistakes_do_not(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    for index, block in enumerate(blocks):
        (tmp_path / f"snippet{index}.py").write_text(block, encoding="utf-8")
    wrong = "from autotest import autotest, random_tensor, torch\ntorch.sofmax(random_tensor())\nautotest(rtl=1)\n"
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", "--check-untyped-defs", "."],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=280,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(lines) == 2, done.stdout
    assert 'wrong.py:2: error: Module has no attribute "sofmax"' in lines[0]
    assert 'wrong.py:3: error: Unexpected keyword argument "rtl" for "autotest"' in lines[1]
