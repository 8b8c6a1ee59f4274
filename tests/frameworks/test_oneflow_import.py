"""OneFlow can be imported before or after torch. If it cannot be imported, one sentence says what to do.

Imports run in new interpreters, because a process imports a framework only once.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from autotest.base.errors import FrameworkMissing
from autotest.frameworks import oneflow_import


def run(code: str, *flags: str) -> str:
    """Return the output of `code` in a new interpreter, which must exit with 0."""
    command = [sys.executable, *flags, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_of_oneflow() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "oneflow"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder the only place for imports; modules that are imported already remain, except for OneFlow's."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in (*modules_of_oneflow(), "triton._C.libtriton"):  # other tests may have imported either
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delenv("GLOG_minloglevel", raising=False)
    yield tmp_path
    for name in modules_of_oneflow():  # those of `tmp_path`: a later test would take them for OneFlow
        del sys.modules[name]


def install(site: Path, body: str = "", *, core: bool = True, version: str = "0.9.0") -> None:
    """Write a package `oneflow` into `site`."""
    (site / "oneflow").mkdir()
    (site / "oneflow" / "__init__.py").write_text(body)
    if core:
        (site / "oneflow" / "_oneflow_internal.so").touch()
    about = site / f"oneflow-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: oneflow\nVersion: {version}\n")


def in_one_sentence(error: pytest.ExceptionInfo[FrameworkMissing]) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert "pip install 'dual-autotest[oneflow]'" in text, "says what to install"
    assert "AUTOTEST_CANDIDATE" in text, "says what to choose instead"
    return text


@pytest.mark.oneflow
@pytest.mark.parametrize("order", ["oneflow first", "torch first"])
def test_the_import_order_does_not_matter_even_when_warnings_are_errors(order: str) -> None:
    imports = ["flow = oneflow_import.import_oneflow()", "import torch"]
    lines = imports if order == "oneflow first" else imports[::-1]
    code = "\n".join(["from autotest.frameworks import oneflow_import", *lines, "print(flow.ones(2).sum().item())"])
    assert run(code, "-W", "error").split() == ["2.0"]


@pytest.fixture(scope="module")
def lines_for_a_script() -> tuple[str, ...]:
    """Return what the lines are in a new interpreter, because other tests may have imported Triton into this one."""
    asked = "from autotest.frameworks import framework; print(*framework('oneflow').script().lines, sep='\\n')"
    return (*run(asked).splitlines(),)


@pytest.mark.oneflow
@pytest.mark.parametrize("order", ["oneflow first", "torch first"])
def test_the_lines_for_a_script_import_it_without_this_library(order: str, lines_for_a_script: tuple[str, ...]) -> None:
    own = lines_for_a_script
    lines = [*own, "import torch"] if order == "oneflow first" else ["import torch", *own]
    assert len(own) <= 3
    assert run("\n".join([*lines, "print(oneflow.ones(2).sum().item())"])).split() == ["2.0"]


@pytest.mark.oneflow
def test_an_import_after_triton_is_refused_as_it_would_end_the_process() -> None:
    code = """
        import triton
        from autotest.base.errors import FrameworkMissing
        from autotest.frameworks import oneflow_import
        try:
            oneflow_import.import_oneflow()
        except FrameworkMissing as error:
            print(error)
    """
    assert "`import oneflow` in a conftest.py" in run(code)
    assert run("import oneflow\nimport triton\nprint('imported')").split()[-1] == "imported"


@pytest.mark.oneflow
def test_all_libraries_are_found_where_the_extra_puts_them() -> None:
    code = """
        import ctypes, os
        from autotest.frameworks import oneflow_import
        names = [name for package, names in oneflow_import.LIBRARIES for name in names]
        def loaded(name):
            try:
                return bool(ctypes.CDLL(name, mode=os.RTLD_NOLOAD))
            except OSError:
                return False
        print(any(map(loaded, names)), oneflow_import.load_libraries(), all(map(loaded, names)))
    """
    assert run(code).strip() == "False [] True"


def test_a_missing_oneflow_is_refused(site: Path) -> None:
    with pytest.raises(FrameworkMissing) as error:
        oneflow_import.import_oneflow()
    assert "not installed" in in_one_sentence(error)


def test_the_placeholder_without_a_core_is_refused_before_it_is_imported(site: Path) -> None:
    install(site, "raise SystemExit('imported')", core=False, version="0.7.0")
    with pytest.raises(FrameworkMissing) as error:
        oneflow_import.import_oneflow()
    text = in_one_sentence(error)
    assert "oneflow 0.7.0 has no compiled core" in text
    assert f"CPython {sys.version_info.major}.{sys.version_info.minor}" in text


def test_libraries_that_are_nowhere_are_named_when_the_import_fails(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oneflow_import, "LIBRARIES", (("no-such-package", ("libno-such.so.8",)),))
    install(site, "raise ImportError('libno-such.so.8: cannot open shared object file')")
    with pytest.raises(FrameworkMissing) as error:
        oneflow_import.import_oneflow()
    assert "not found: libno-such.so.8" in in_one_sentence(error)


def test_a_build_that_needs_no_such_libraries_is_not_refused(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oneflow_import, "LIBRARIES", (("no-such-package", ("libno-such.so.8",)),))
    install(site, "import os\nlevel = os.environ['GLOG_minloglevel']")
    assert oneflow_import.import_oneflow().level == "3", "quiet from its import on"


def test_a_log_level_that_the_user_chose_stays(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oneflow_import, "LIBRARIES", ())
    monkeypatch.setenv("GLOG_minloglevel", "0")
    install(site, "import os\nlevel = os.environ['GLOG_minloglevel']")
    assert oneflow_import.import_oneflow().level == "0"


def test_a_library_is_loaded_from_the_package_that_brought_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = site / "some_cuda-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-cuda\nVersion: 1\n")
    (about / "RECORD").write_text("some/lib/libsome.so.8,,\nsome/readme.txt,,\n")
    (site / "some/lib").mkdir(parents=True)
    for name in ("some/lib/libsome.so.8", "some/readme.txt"):
        (site / name).touch()  # current Pythons leave out what is not there
    asked: list[str] = []

    def load(path: str, mode: int = 0) -> None:
        asked.append(path)
        if path != str(site / "some/lib/libsome.so.8"):
            raise OSError(path)

    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr(oneflow_import, "LIBRARIES", (("some-cuda", ("libsome.so.8", "libother.so.8")),))
    assert importlib.metadata.version("some-cuda") == "1"
    assert oneflow_import.load_libraries() == ["libother.so.8"]
    assert asked[-1] == "libother.so.8", "what no package brought may still be found by the system"
