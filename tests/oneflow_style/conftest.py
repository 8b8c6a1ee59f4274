"""Runs test files in the style of OneFlow's own with this library or, on request, with OneFlow's harness.

The files import ``oneflow.test_utils.automated_test_util`` as OneFlow's do. Unless AUTOTEST_STYLE is "oneflow", that is
`autotest.oneflow`, put in its place before they are imported. Without OneFlow they are not collected.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from pathlib import Path

import pytest

#: Beginning of the paths of this folder's files. As text, because a comparison with the parents of ten thousand paths
#: takes a quarter of a second.
HERE = f"{Path(__file__).parent}{os.sep}"
INSTALLED = importlib.util.find_spec("oneflow") is not None and sys.version_info < (3, 11)
collect_ignore_glob = [] if INSTALLED else ["test_*.py"]

if INSTALLED:
    # OneFlow's harness reads these when it is imported.
    os.environ.setdefault("ONEFLOW_TEST_CPU_ONLY", "1")
    os.environ.setdefault("ONEFLOW_PROFILE_RUN_NUM", "20")
    os.environ.setdefault("GLOG_minloglevel", "3")
    from autotest.oneflow import stand_in

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autotest.frameworks.oneflow_import import import_oneflow

        import_oneflow()
        importlib.import_module("torch")
        importlib.import_module("oneflow.unittest")
        if os.environ.get("AUTOTEST_STYLE") == "oneflow":
            importlib.import_module("oneflow.test_utils.automated_test_util")
        else:
            stand_in()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.oneflow)


@pytest.fixture(autouse=True)
def _kept_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path / "kept"))
