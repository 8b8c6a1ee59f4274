"""A lazy module is imported when one of its functions is called, and only if it is installed."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest.frameworks.lazy_imports import LazyModule, lazily_imported

PARTS = """
def double(x):
    return 2 * x

NAMES = ("a", "b")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Write a package with a module `parts`, and unload it afterwards."""
    (tmp_path / "later_package").mkdir()
    (tmp_path / "later_package" / "__init__.py").write_text("")
    (tmp_path / "later_package" / "parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield "later_package"
    for name in [name for name in sys.modules if name.startswith("later_package")]:
        del sys.modules[name]


def put_off(name: str) -> dict[str, Any]:
    """Return the names of a script that imports from `name` while `name` is lazy."""
    namespace: dict[str, Any] = {}
    with lazily_imported(name):
        exec(f"from {name} import NAMES, double\nimport {name} as parts", namespace)  # noqa: S102 - an import statement
    assert name not in sys.modules
    return namespace


def test_what_was_put_off_is_imported_when_it_is_called(package: str) -> None:
    imported = put_off(f"{package}.parts")
    assert imported["double"](4) == 8
    assert f"{package}.parts" in sys.modules
    assert imported["parts"].double(5) == 10


def test_what_was_put_off_is_imported_when_it_is_gone_through(package: str) -> None:
    imported = put_off(f"{package}.parts")
    assert "b" in imported["NAMES"]
    assert list(imported["NAMES"]) == ["a", "b"]


def test_what_was_put_off_is_wrapped_and_copied_without_being_imported(package: str) -> None:
    double = put_off(f"{package}.parts")["double"]

    @functools.wraps(double)
    def wrapped(x: int) -> int:
        return int(double(x))

    assert copy.deepcopy({"of": double})["of"] is double
    assert f"{package}.parts" not in sys.modules
    assert wrapped(3) == 6


def test_what_is_called_while_it_is_put_off_is_told(package: str) -> None:
    with lazily_imported(f"{package}.parts"), pytest.raises(ImportError, match=r"parts\.double is used while"):
        sys.modules[f"{package}.parts"].double(1)


def test_what_is_imported_already_and_what_is_not_installed_are_as_ever() -> None:
    with lazily_imported("json.decoder", "no_such_package.parts"):
        assert not isinstance(sys.modules["json.decoder"], LazyModule)
        assert "no_such_package.parts" not in sys.modules
    assert "json.decoder" in sys.modules


LISTED = """
import sys
from autotest.frameworks import framework
for database in framework("torch").sample_databases():
    assert database.entries()
    if database.name == "operators":
        assert [*database.samples("fft.rfft", "function", "float32", "sample", 1)]
        assert [*database.samples("special.i0e", "function", "float32", "reference", 1)]
print(*[name for name in ("scipy.signal", "scipy.stats", "torch._inductor", "torch._dynamo") if name in sys.modules])
"""


def test_torchs_databases_are_listed_without_what_their_samples_need_nothing_of(importable_elsewhere: None) -> None:
    ran = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stderr


def test_a_database_that_needs_what_was_put_off_is_imported_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from autotest.frameworks.torch_samples import torch_testing

    tried: list[bool] = []

    def import_module(name: str) -> str:
        tried.append(isinstance(sys.modules.get("no_module_yet"), LazyModule))
        if tried[-1]:
            raise TypeError("isinstance() arg 2 must be a type")
        return name

    monkeypatch.setattr(torch_testing, "_SELDOM", ("no_module_yet",))
    monkeypatch.setattr("autotest.frameworks.lazy_imports._installed", lambda name: True)
    monkeypatch.setattr(torch_testing.importlib, "import_module", import_module)
    assert torch_testing.internal.__wrapped__("some_database") == "torch.testing._internal.some_database"
    assert tried == [True, False]
