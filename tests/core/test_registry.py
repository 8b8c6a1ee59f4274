"""Frameworks are found by name; if there is none of a name, the error is one sentence."""

from __future__ import annotations

import sys

import pytest

from autotest import FrameworkMissing, UsageError, autotest, torch
from autotest.frameworks import registry
from autotest.frameworks.namespace import Namespace
from autotest.frameworks.torch import TorchFramework


def not_a_framework():
    return object()


def test_torch_and_oneflow_ship():
    assert {"torch", "oneflow"} <= set(registry.names())
    assert isinstance(registry.framework("torch"), TorchFramework)


def test_a_factory_in_any_module_will_do():
    assert registry.framework("tests.support.faults:wrong_relu").name == "faulty"


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("caffe", UsageError, "no framework is named 'caffe'. Registered are .*torch.*MODULE:FACTORY"),
        ("tests.support.faults:nobody", UsageError, "is not a factory of a framework"),
        ("no_such_module_anywhere:made", FrameworkMissing, "cannot be imported"),
        ("onefow", UsageError, "no framework is named 'onefow'. Did you mean 'oneflow'"),
        ("torch+compiled", UsageError, r"Did you mean 'torch\+compile'"),
        ("builtins:object", UsageError, "made something of type object; expected an autotest.frameworks.Framework"),
    ],
)
def test_a_bad_name_is_refused_in_one_sentence(name, error, says):
    with pytest.raises(error, match=says):
        registry.framework(name)


def test_the_name_of_an_own_library_or_adapter_is_answered_with_what_to_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="`autotest adapter new kernels` writes an adapter to begin with"):
        registry.framework("kernels")
    (tmp_path / "kernels_adapter.py").write_text("def factory(): ...\n")
    for name in ("kernels", "kernels_adapter"):
        with pytest.raises(UsageError, match=r"For kernels_adapter.py, write kernels_adapter:factory$"):
            registry.framework(name)


def test_an_adapter_that_cannot_be_imported_says_where(tmp_path, monkeypatch):
    (tmp_path / "broken_adapter.py").write_text("import os\n\nraise RuntimeError('no driver')\n")
    monkeypatch.syspath_prepend(tmp_path)
    said = r"adapter of framework 'broken_adapter:made' .* RuntimeError: no driver \(.*broken_adapter.py, line 3\)"
    with pytest.raises(FrameworkMissing, match=said):
        registry.framework("broken_adapter:made")


def test_making_an_adapter_imports_nothing():
    assert Namespace("imaginary", "no_such_module_anywhere").name == "imaginary"


def test_a_missing_framework_says_what_to_install_or_choose(against):
    against(Namespace("imaginary", "no_such_module_anywhere"))

    @autotest(n=1)
    def body():
        return torch.ones(1)

    with pytest.raises(
        FrameworkMissing, match=r"'imaginary' cannot be imported .*install it, or choose .*AUTOTEST_CANDIDATE"
    ):
        body()


def test_missing_torch_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(FrameworkMissing, match="pip install torch"):
        TorchFramework().root  # noqa: B018


def test_a_pair_is_made_once(monkeypatch):
    monkeypatch.undo()
    assert registry.pair("torch", "torch") is registry.pair("torch", "torch")


ADAPTERS = """
from autotest.frameworks import Namespace
from autotest.frameworks.functional import Functional


def broken():
    return None.of_somebody


class Abstract(Functional):
    module = "numpy"


def abstract():
    return Abstract("abstract")


class Nameless(Namespace):
    def __init__(self):
        pass


def nameless():
    return Nameless()
"""


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        ("broken", r"broken' cannot make its framework: AttributeError: 'NoneType' .*adapters_that_fail.py, line 7\)"),
        ("abstract", r"abstract' cannot make its framework: TypeError: Can't instantiate abstract class Abstract "),
        ("nameless", r"made a Nameless without a name: its __init__ has to call super\(\).__init__\(name, ...\)"),
        ("absent", r"'adapters_that_fail:absent' is not a factory of a framework"),
    ],
)
def test_what_a_factory_gets_wrong_is_told_in_one_sentence(tmp_path, monkeypatch, factory, told):
    (tmp_path / "adapters_that_fail.py").write_text(ADAPTERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "adapters_that_fail", raising=False)
    with pytest.raises(UsageError, match=told):
        registry.framework(f"adapters_that_fail:{factory}")
