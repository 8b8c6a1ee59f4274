"""`autotest.oneflow` has the names, defaults and switches of OneFlow's harness."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from pathlib import Path

import numpy as np
import pytest

from autotest.results.divergence import Divergence
from autotest.base.errors import UsageError
from generators import Source, using


def files_of_the_wheel() -> dict[str, ast.Module]:
    """Return the source of its files, which are not imported, because the drop-in replaces this import."""
    found = importlib.util.find_spec("oneflow")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "test_utils" / "automated_test_util"
    return {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")}


def exported(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def test_every_name_that_the_wheel_exports_is_here() -> None:
    here = importlib.import_module("autotest.oneflow")
    files = files_of_the_wheel()
    wanted = {name for file in ("generators", "torch_flow_dual_object") for name in exported(files[file])}
    assert len(wanted) > 20
    assert wanted | {"torch", "profile"} <= set(here.__all__)


@pytest.mark.parametrize("file", ["generators", "torch_flow_dual_object", "profiler"])
def test_every_file_of_the_wheel_has_its_exports_here_too(file: str) -> None:
    here = importlib.import_module(f"autotest.oneflow.{file}")
    missing = [name for name in exported(files_of_the_wheel()[file]) if not hasattr(here, name)]
    assert missing == []


@pytest.mark.parametrize("name", ["autotest", "random_tensor", "choice_tensor"])
def test_arguments_have_the_wheels_names_order_and_defaults(name: str) -> None:
    tree = files_of_the_wheel()["torch_flow_dual_object"]
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    names = [argument.arg for argument in function.args.args]
    defaults = [ast.unparse(default) for default in function.args.defaults]
    here = inspect.signature(getattr(importlib.import_module("autotest.oneflow"), name))
    own = [*here.parameters.values()][: len(names)]
    assert [parameter.name for parameter in own] == names
    shown = [getattr(parameter.default, "__name__", repr(parameter.default)) for parameter in own]
    assert shown[len(names) - len(defaults) :] == [str(eval_of(default)) for default in defaults]


def eval_of(text: str) -> object:
    return text if text in ("float", "int") else repr(ast.literal_eval(text))


def test_validated_false_is_false_and_other_words_are_refused() -> None:
    from autotest.oneflow import autotest

    assert autotest(check_graph="ValidatedFalse")(lambda case: None).__autotest__.check_graph is False  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="check_graph"):
        autotest(check_graph="no")  # type: ignore[arg-type]


def test_align_exception_asks_for_error_parity(monkeypatch: pytest.MonkeyPatch) -> None:
    from autotest.oneflow import autotest, random_tensor

    def body(case: object) -> object:
        return random_tensor(2, 3, 4, requires_grad=False) < random_tensor(2, 3, 4, requires_grad=False)

    monkeypatch.setenv("ONEFLOW_TEST_ALIGN_EXCEPTION", "1")
    assert autotest()(body).__autotest__.check_errors is True  # type: ignore[attr-defined]
    monkeypatch.delenv("ONEFLOW_TEST_ALIGN_EXCEPTION")
    assert autotest()(body).__autotest__.check_errors is False  # type: ignore[attr-defined]


def test_a_tensor_above_the_size_limit_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    from autotest.oneflow import autotest, random_tensor

    monkeypatch.setenv("ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB", "1")

    @autotest(n=1, check_graph=False)
    def large(case: object) -> object:
        return random_tensor(2, 600, 600) + 1

    with pytest.raises(AssertionError, match="expected at most 1 MB"):
        large(None)
    monkeypatch.setenv("ONEFLOW_TEST_TENSOR_SIZE_LIMIT_MB", "2")
    large(None)


def test_verbose_tells_what_was_compared_and_what_the_graph_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from autotest.oneflow import autotest, random_tensor, torch

    @autotest(n=2)
    def said(case: object) -> object:
        with torch.no_grad():
            return random_tensor(2, 3, 4, requires_grad=False) + 1

    monkeypatch.setenv("ONEFLOW_TEST_VERBOSE", "1")
    said(None)
    assert "2 trials agree" in capsys.readouterr().err
    monkeypatch.delenv("ONEFLOW_TEST_VERBOSE")
    said(None)
    assert capsys.readouterr().err == ""


def test_equal_and_reversed_bounds_are_taken_as_numpy_takes_them() -> None:
    from autotest.oneflow import random_tensor

    assert float(random_tensor(1, 3, low=2, high=2).pytorch.max()) == pytest.approx(2)
    assert float(random_tensor(1, 50, low=0.5, high=-0.5).pytorch.min()) >= -0.5


def test_a_wrong_gradient_is_found_with_cotangents_of_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from autotest.frameworks import Pair
    from autotest.frameworks.torch import TorchFramework
    from autotest.oneflow import autotest, random_tensor, torch, torch_flow_dual_object
    from tests.support.faulty import FaultyTorch, with_gradient

    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")
    faulty = FaultyTorch({"relu": with_gradient(lambda gradient: gradient * 2)})
    monkeypatch.setattr(torch_flow_dual_object, "style_pair", lambda: Pair(TorchFramework(), faulty))

    @autotest(n=2, check_grad_use_random_data=False)
    def wrong(case: object) -> object:
        return torch.relu(random_tensor(2, 3, 4, low=1, high=2))

    with pytest.raises(Divergence, match="relu, gradient"):
        wrong(None)


def test_a_wrong_gradient_is_found_where_only_plain_values_are_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    from autotest.frameworks import Pair
    from autotest.frameworks.torch import TorchFramework
    from autotest.oneflow import autotest, random_tensor, torch, torch_flow_dual_object
    from tests.support.faulty import FaultyTorch, with_gradient

    monkeypatch.setenv("AUTOTEST_VERIFY", "0")
    monkeypatch.setenv("AUTOTEST_SHRINK", "0")
    faulty = FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 2)})
    monkeypatch.setattr(torch_flow_dual_object, "style_pair", lambda: Pair(TorchFramework(), faulty))

    @autotest(n=2)
    def wrong(case: object) -> object:
        return torch.exp(random_tensor(2, 3, 4)).is_leaf

    with pytest.raises(Divergence, match="exp, gradient"):
        wrong(None)


def test_numpy_reads_a_dual_array_beside_a_plain_one() -> None:
    from autotest.oneflow import autotest, random_tensor, torch

    @autotest(n=2, check_graph=False)
    def mixed(case: object) -> object:
        x = random_tensor(2, 3, 4, requires_grad=False)
        assert np.allclose(torch.exp(x), np.exp(x.oneflow.numpy()), 1e-4, 1e-4)
        assert np.allclose(x.numpy(), x.oneflow.numpy())
        return torch.exp(x)

    mixed(None)


def test_a_condition_that_is_oneof_is_what_it_draws() -> None:
    from autotest.oneflow import oneof

    with using(Source(3)):
        assert {bool(oneof(True, False)) for _ in range(30)} == {True, False}
        drawn = oneof(True, False)
        assert bool(drawn) is drawn.value()
