"""The arguments of `@autotest`: what each one does, their precedence, and errors for values without sense."""

from __future__ import annotations

import importlib
import inspect
import runpy
import warnings

import pytest

from autotest import (
    Divergence,
    FrameworkMissing,
    Pair,
    UsageError,
    autotest,
    random_tensor,
    skip_grad_check,
    torch,
)
from autotest.base.settings import Settings
from autotest.frameworks.torch import TorchFramework
from autotest.trials.driver import driven_by
from tests.support import faults
from tests.support.faulty import FaultyTorch, plus, with_gradient
from tests.support.running import trials


def relu():
    return torch.relu(random_tensor(shape=(2, 3), low=1, high=2, dtype="float32"))


def half():
    return torch.relu(random_tensor(shape=(2, 3), low=1, high=2).to(torch.float64))


def test_only_the_first_three_arguments_go_by_position():
    kinds = [parameter.kind for parameter in inspect.signature(autotest).parameters.values()]
    assert kinds[:3] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 3
    assert set(kinds[3:]) == {inspect.Parameter.KEYWORD_ONLY}


def test_the_old_second_argument_is_told_by_its_name():
    with pytest.raises(UsageError, match=r"the second argument is rtol, .* write auto_backward=False"):
        autotest(20, False)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"rtol": {"float15": 1}}, r"expected dtypes among float16, .*compared exactly"),
        ({"rtol": {"int64": 1}}, r"expected dtypes among"),
        ({"rtol": {"flaot32": 1}}, r"Did you mean 'float32'\?"),
        ({"atol": {"float16": -1}}, r"atol\['float16'\]=-1\): expected a finite number >= 0"),
        ({"atol": {}}, "atol={}"),
        ({"grad_rtol": "much"}, "grad_rtol='much'"),
        ({"check_values": True, "check_allclose": False}, "expected only one of them, because they are two names"),
        ({"check_values": False, "check_allclose": True}, r"check_values=False, check_allclose=True\): expected only"),
        ({"rtol": 1e-3, "check_values": False}, r"rtol=0.001\): expected check_values=True as well"),
        (
            {"check_grad": "intermediate", "check_values": False},
            r"check_grad='intermediate'\): expected check_val",
        ),
        ({"grad_order": 2, "check_values": False}, r"grad_order=2\): expected check_values=True as well"),
        ({"seed": -1}, "seed=-1"),
        ({"deadline": 0}, "deadline=0"),
        ({"deadline": "soon"}, "expected a time such as 60s"),
        ({"pinned": (1, "x")}, "pinned="),
        ({"pinned": [(1, 2, 3)]}, "base seed, trial"),
        ({"pinned": 7}, r"pinned=\(7,\)\): expected \(base seed, trial\)"),
        ({"pair": 3}, r"expected an autotest.Pair"),
        ({"pair": lambda candidate: candidate}, "a function without arguments that makes one"),
        ({"pair": Pair(TorchFramework(), TorchFramework()), "candidate": "torch"}, "expected only one of them"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(arguments, says):
    with pytest.raises(UsageError, match=says):
        autotest(**arguments)


def test_a_function_that_makes_no_pair_is_told_with_the_line_of_the_test():
    @autotest(pair=lambda: 3)
    def body():
        return random_tensor(ndim=1)

    with pytest.raises(
        UsageError, match=r"test_interface.py:\d+: autotest\(pair=\.\.\.\): the function returned 3; expected an"
    ):
        body()


def test_a_dtype_is_told_by_its_name(against):
    against()
    with pytest.raises(UsageError, match="; write 'float32'"):
        autotest(rtol={torch.float32: 1})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: autotest(rtoll=1), r"^autotest\(\) has no argument 'rtoll'. Did you mean 'rtol'\?$"),
        (lambda: autotest(gradients=1), r"^autotest\(\) has no argument 'gradients': expected some of n, rtol, "),
        (
            lambda: autotest(2, 1e-3, 1e-3, True),
            r"^autotest\(\): too many positional arguments; expected some of n, rtol, atol, and by keyword only auto_",
        ),
        (lambda: autotest(n="3"), r"^autotest\(n='3'\): expected a whole number of trials, at least 1$"),
        (lambda: skip_grad_check(reasn="none"), "has no argument 'reasn'. Did you mean 'reason'"),
    ],
)
def test_a_wrong_argument_is_told_at_the_line_that_has_it(call, says):
    with pytest.raises(UsageError, match=says) as raised:
        call()
    assert [entry.path.name for entry in raised.traceback if not entry.ishidden(raised)] == ["test_interface.py"] * 2
    assert raised.value.__suppress_context__


def test_an_error_inside_of_a_call_is_none_of_its_arguments():
    class Odd:
        def __str__(self) -> str:
            raise TypeError("of its own")

    with pytest.raises(TypeError, match=r"^of its own$"):
        autotest(rtol=Odd())


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        ("onefow", "no framework is named 'onefow'. Did you mean 'oneflow'"),
        ("no_such_module:made", "cannot be imported: No module named 'no_such_module'"),
        ("math:nothing", "is not a factory of a framework"),
        ("math:sin", "is not a factory of a framework, which must work without arguments"),
    ],
)
def test_a_candidate_that_is_none_is_told_at_the_line_of_the_test(monkeypatch, candidate, says):
    monkeypatch.delenv("AUTOTEST_CANDIDATE", raising=False)
    test = autotest(candidate=candidate)(relu)
    place = rf"^test_interface.py:{relu.__code__.co_firstlineno}: autotest\(candidate='{candidate}'\): "
    with pytest.raises((UsageError, FrameworkMissing), match=f"{place}.*{says}") as raised:
        test()
    assert raised.value.__suppress_context__


def test_check_allclose_is_another_name_for_check_values(quick, against):
    against(faults.wrong_relu())
    autotest(n=2, check_values=False)(relu)()
    autotest(n=2, check_allclose=False)(relu)()
    with pytest.raises(Divergence):
        autotest(n=2, check_allclose=True)(relu)()


def test_a_tolerance_for_one_dtype_leaves_the_others_as_they_are(quick, against):
    against(FaultyTorch({"relu": plus(1e-3)}))
    autotest(n=2, atol={"float32": 1e-2})(relu)()
    with pytest.raises(Divergence, match=r"1e-09 \+ 1e-09"):
        autotest(n=2, atol={"float32": 1e-2})(half)()


def test_gradients_may_have_a_tolerance_of_their_own(quick, against):
    against(FaultyTorch({"relu": with_gradient(lambda gradient: gradient + 1e-3)}))
    autotest(n=2, rtol=0.0, atol=1e-6, grad_atol=1e-2)(relu)()
    with pytest.raises(Divergence, match="gradient"):
        autotest(n=2, rtol=0.0, atol=1e-6)(relu)()


@pytest.mark.parametrize("tolerance", [{"atol": 1e-2}, {"atol": {"float32": 1e-2}}])
def test_gradients_of_a_dtype_without_a_tolerance_of_its_own_have_that_of_values(quick, against, tolerance):
    against(FaultyTorch({"relu": with_gradient(lambda gradient: gradient + 1e-3)}))
    autotest(n=2, **tolerance, grad_atol={"float16": 1e-1})(relu)()
    with pytest.raises(Divergence, match="gradient"):
        autotest(n=2, **tolerance, grad_atol={"float32": 1e-5})(relu)()
    with pytest.raises(Divergence, match="gradient"):
        autotest(n=2, grad_atol={"float16": 1e-1})(relu)()


def in_another_order(original):
    return lambda x: original(x.flip(0).cumsum(0)[-1:])


def cancelling():
    x = random_tensor(shape=(2000,), low=-1000, high=1000, dtype="float32", layout="contiguous")
    return torch.sum(x - torch.mean(x))


@pytest.mark.parametrize(
    "tolerance",
    [{"grad_rtol": 1e-3}, {"grad_atol": {"float32": 1e-2}}, {"rtol": {"float16": 1e-2}, "atol": {"float64": 0}}],
)
def test_a_tolerance_of_gradients_or_of_another_dtype_leaves_rounding_what_it_is(quick, against, tolerance):
    against(FaultyTorch({"sum": in_another_order}))
    autotest(special_values=False)(cancelling)()
    autotest(special_values=False, **tolerance)(cancelling)()
    with pytest.raises(Divergence, match="sum, value"):
        autotest(special_values=False, rtol={"float32": 1e-4})(cancelling)()


def small():
    return torch.relu(random_tensor(ndim=1, low=1e-8, high=2e-8, dtype="float32"))


@pytest.mark.parametrize("tolerance", [{}, {"atol": {"float16": 1e-2}}])
def test_a_tolerance_of_another_dtype_leaves_that_of_small_numbers_as_it_is(quick, against, tolerance):
    against(FaultyTorch({"relu": plus(1e-7)}))
    with pytest.raises(Divergence, match="relu, value"):
        autotest(n=2, **tolerance)(small)()


def test_a_graph_check_without_a_graph_mode_is_an_error(quick, against):
    against(faults.none())
    with pytest.raises(UsageError, match=r"check_graph=True\): faulty has no graph mode, so nothing would be"):
        autotest(n=2, check_graph=True)(relu)()


# -- by test ------------------------------------------------------------------------------------------------------


def pair_of(test):
    seen = []
    with driven_by(lambda test, context: seen.append(context.pair)):
        test()
    return seen[0]


def test_a_candidate_by_test_goes_before_the_projects_and_not_before_the_processs(monkeypatch, tmp_path, quick):
    (tmp_path / "pyproject.toml").write_text('[tool.autotest]\ncandidate = "tests.support.faults:missing_relu"\n')
    monkeypatch.chdir(tmp_path)
    own = autotest(n=2, candidate="tests.support.faults:wrong_relu")(relu)
    assert pair_of(own).candidate._origin == "tests.support.faults:wrong_relu"
    assert pair_of(autotest(n=2)(relu)).candidate._origin == "tests.support.faults:missing_relu"
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:none")
    assert pair_of(own).candidate._origin == "tests.support.faults:none"


def test_nothing_goes_before_a_pair(monkeypatch, quick):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:none")
    pair = Pair(TorchFramework(), faults.wrong_relu())
    assert pair_of(autotest(n=2, pair=pair)(relu)) is pair
    assert pair_of(autotest(n=2, pair=lambda: pair)(relu)) is pair
    with pytest.raises(Divergence):
        autotest(n=2, pair=pair)(relu)()


def drawn(**arguments):
    seen = []

    @autotest(n=2, **arguments)
    def test_drawing():
        x = random_tensor(shape=(2,))
        seen.append(float(x.reference.detach()[0]))
        return torch.relu(x)

    test_drawing()
    return seen


def test_a_seed_by_test_goes_before_the_default_and_not_before_the_processs(quick, against, monkeypatch):
    against()
    assert drawn(seed=5) == drawn(seed=5) != drawn()
    monkeypatch.setenv("AUTOTEST_SEED", "9")
    assert drawn(seed=5) == drawn()


def test_pinned_trials_are_run_first_whatever_the_seed(quick, against):
    against()
    elsewhere = drawn(seed=7)
    assert drawn(pinned=(7, 1)) == [elsewhere[1], *drawn()]
    assert drawn(pinned=[(7, 1), (7, 0)]) == [elsewhere[1], elsewhere[0], *drawn()]


def test_a_pinned_trial_that_diverges_fails_the_test_and_names_itself(tmp_path):
    def body():
        return torch.relu(random_tensor(shape=(2, 3), low=1, high=2))

    with pytest.raises(Divergence, match="trial 4 of base seed 7"):
        trials(body, tmp_path, faults.wrong_relu(), n=2, pinned=((7, 4),))


def test_a_deadline_by_test_reads_times_as_the_command_line_does():
    @autotest(deadline="2m")
    def test_slow():
        pass

    assert test_slow.__autotest__.deadline == 120.0


def test_settings_that_an_older_version_kept_are_read():
    kept = Settings.kept({"n": 3, "check_allclose": False, "gone": 1, "pinned": [[1, 2]]})
    assert (kept.n, kept.check_values, kept.pinned) == (3, False, ((1, 2),))


def test_the_types_of_the_interface_are_public():
    import autotest as library

    for name in ("Framework", "Pair", "Settings", "Finding", "Program", "Divergence"):
        found = getattr(library, name)
        assert found.__doc__
        assert name in library.__all__
    assert library.Divergence("text").finding is None


def test_the_dual_torch_is_no_module_to_import_from():
    for name in ("autotest.torch", "autotest.torch.nn.functional"):
        with pytest.raises(ImportError, match="write `from autotest import torch`, then `F = "):
            importlib.import_module(name)
    from autotest import torch

    assert repr(torch) == "<dual torch>"


def test_a_test_that_loses_its_name_to_a_later_one_is_told(tmp_path):
    first = "@autotest()\ndef test_a(): pass\n"
    for text, told in (
        (first * 2, ["test_it.py:2: test_a is replaced by the test at line 4, which has the same name"]),
        (first, []),
    ):
        (tmp_path / "test_it.py").write_text(f"from autotest import autotest\n{text}")
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            runpy.run_path(str(tmp_path / "test_it.py"))
        assert [str(one.message) for one in heard if one.category is UserWarning] == told
