"""What the package imports, and that draws depend on the seed only."""

from __future__ import annotations

import ast
import doctest
import os
import pathlib
import subprocess
import sys

import generators

PACKAGE = pathlib.Path(generators.__file__).parent


def test_generators_import_the_standard_library_and_numpy_only() -> None:
    allowed = {*sys.stdlib_module_names, "numpy", "generators"}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file.name}:{node.lineno} imports relatively"
                names = [node.module or ""]
            else:
                continue
            for name in names:
                assert name.partition(".")[0] in allowed, f"{file.name}:{node.lineno} imports {name}"


def test_importing_generators_imports_no_framework() -> None:
    program = (
        "import sys, generators; print([name for name in ('torch', 'oneflow', 'autotest') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_each_file_can_be_imported_first() -> None:
    names = ["generators." + file.stem for file in PACKAGE.glob("*.py")]
    program = """
import importlib, sys
for name in sys.argv[1:]:
    for loaded in [module for module in sys.modules if module.startswith("generators")]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""
    subprocess.run([sys.executable, "-c", program, *names], check=True, capture_output=True)


def test_another_process_draws_the_same() -> None:
    program = (
        "from generators import *\n"
        "from typing import Union\n"
        "trial = tuple(random(1, 6) | nothing(), random(0.0, 1.0), random_shape(), oneof('a', 'b', 'c'),\n"
        "    random_array(ndim=3, contents='special').map(lambda drawn: drawn.data.tobytes().hex()))\n"
        "for seed in range(20):\n"
        "    with using(Source(seed)) as source:\n"
        "        print(trial.value(), random().draw(Union[float, bool, 'builtins.tuple[int, int]']), source.choices)\n"
    )
    outputs = set()
    for hash_seed in ("0", "1", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 20


def test_all_names_what_is_there() -> None:
    assert len(generators.__all__) == len(set(generators.__all__)) > 30
    assert all(hasattr(generators, name) for name in generators.__all__)


def test_the_examples_in_the_documentation_are_true() -> None:
    assert doctest.testmod(generators).failed == 0
    assert doctest.testmod(generators).attempted > 0
