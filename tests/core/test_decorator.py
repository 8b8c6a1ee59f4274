"""`@autotest` under unittest and pytest, and its errors for bad arguments."""

from __future__ import annotations

import functools
import inspect
import os
import types
import unittest

import pytest

from autotest import (
    Divergence,
    NothingCompared,
    TooFewAccepted,
    UsageError,
    autotest,
    constant,
    random,
    random_tensor,
    skip_grad_check,
    torch,
)
from autotest.recording.recorder import current
from autotest.trials.driver import driven_by
from tests.support import faults
from tests.support.faulty import FaultyTorch, plus


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n": 0}, r"n=0\): expected a whole number of trials, at least 1"),
        ({"n": 2.5}, "n=2.5"),
        ({"n": True}, "n=True"),
        ({"rtol": -1e-4}, "rtol=-0.0001.*finite number >= 0"),
        ({"atol": float("nan")}, "atol=nan"),
        ({"atol": "small"}, "atol='small'"),
        ({"auto_backward": "always"}, "auto_backward='always'.*\"auto\""),
        ({"auto_backward": 1}, "auto_backward=1"),
        ({"check_dtype": 1}, "check_dtype=1"),
        ({"check_graph": None}, "check_graph=None"),
    ],
)
def test_a_bad_argument_is_refused_by_name_when_the_decorator_runs(arguments, says):
    with pytest.raises(UsageError, match=says):
        autotest(**arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"rtol": 1.5}, r"autotest\(rtol=1.5\): zeros pass"),
        ({"rtol": {"float16": 1}}, r"autotest\(rtol={'float16': 1}\): zeros pass"),
        ({"rtol": 1e-3, "grad_rtol": 2}, r"autotest\(grad_rtol=2\): zeros pass"),
    ],
)
def test_a_tolerance_with_which_zeros_always_pass_is_allowed_and_told_at_its_line(arguments, says):
    with pytest.warns(UserWarning, match=says) as told:
        autotest(**arguments)
    assert [warning.filename for warning in told] == [__file__]


def test_no_other_tolerance_is_told_of(recwarn):
    autotest(rtol=0.99, grad_rtol={"float16": 0.5}, atol=10)
    assert not recwarn.list


def test_forgotten_parentheses_are_explained():
    with pytest.raises(UsageError, match=r"@autotest\(\)"):

        @autotest
        def body():
            return None


def test_only_plain_functions_can_be_decorated():
    async def later():
        return None

    def several():
        yield None

    async def several_later():
        yield None

    class Callable:
        def __call__(self):
            return None

    for wrong, says in (
        (later, "later: it is a coroutine function; write `def`"),
        (several, "several: it is a generator; return what it yields"),
        (several_later, "it is a generator"),
        (functools.partial(later), "coroutine"),
        (int, "is a class: write a function"),
        (len, "len.* is a callable object"),
        (Callable(), "is a callable object: write a function .* or one that calls it"),
        (functools.partial(Callable()), "callable object"),
        (3, "3 is no function"),
    ):
        with pytest.raises(UsageError, match=says):
            autotest()(wrong)


def check(operation, x=None, *, scale=1):
    assert (operation, scale) == ("relu", 2)
    return getattr(torch, operation)(random_tensor()) * scale


test_of_a_partial = autotest(n=2)(functools.partial(check, "relu", scale=2))
test_of_a_lambda = autotest(n=2)(lambda: torch.relu(random_tensor()))


def test_a_partial_is_a_test_of_the_function_with_what_is_bound(quick, against):
    against(faults.wrong_relu())
    with pytest.raises(Divergence, match=r"test_decorator.py::test_of_a_partial\['relu', scale=2\], trial 0"):
        test_of_a_partial()
    assert test_of_a_partial.__name__ == "check"
    assert list(inspect.signature(test_of_a_partial).parameters) == ["x", "scale"]


class TestMethodsWithoutSelf:
    @autotest(n=2)
    @staticmethod
    def test_a_static_method_below():
        return torch.relu(random_tensor())

    @staticmethod
    @autotest(n=2)
    def test_a_static_method_above():
        return torch.relu(random_tensor())

    @skip_grad_check(reason="to see that it gets through")
    @autotest(n=2)
    @classmethod
    def test_a_class_method_below(cls):
        assert cls is TestMethodsWithoutSelf
        return torch.relu(random_tensor(requires_grad=False))

    def test_they_are_called_as_they_are_written(self, quick, against):
        against(faults.wrong_relu())
        for method in ("test_a_static_method_below", "test_a_static_method_above", "test_a_class_method_below"):
            with pytest.raises(Divergence, match=rf"::TestMethodsWithoutSelf\.{method}, trial 0"):
                getattr(self, method)()
        assert self.test_a_class_method_below.__autotest__.skip_grad == "to see that it gets through"


@autotest(n=2)
def test_a_plain_function():
    return torch.relu(random_tensor())


@pytest.fixture
def factor():
    return 3


@autotest(n=2)
def test_a_function_with_a_fixture(factor):
    assert factor == 3
    return random_tensor() * factor


@pytest.mark.parametrize("operation", ["exp", "sin"])
@autotest(n=2)
def test_a_parametrized_function(operation):
    return getattr(torch, operation)(random_tensor())


class TestPytestClass:
    @autotest(n=2)
    def test_a_method(self):
        return torch.exp(random_tensor())

    @pytest.mark.parametrize("keepdim", [True, False])
    @autotest(n=2)
    def test_a_method_with_parameters_and_a_fixture(self, keepdim, factor):
        return torch.sum(random_tensor() * factor, dim=0, keepdim=keepdim)


@pytest.mark.usefixtures("quick")
class TestUnittestClass(unittest.TestCase):
    def setUp(self):
        self.layer = torch.nn.Linear(3, 4)
        self.ran = []

    @autotest(n=3)
    def test_a_module_of_setup(self):
        return self.layer(random_tensor(ndim=2, dim1=3))

    @autotest(n=3)
    def test_subtests(self):
        for operation in ("exp", "sin"):
            with self.subTest(operation=operation):
                self.ran.append(operation)
                y = getattr(torch, operation)(random_tensor())
        return y

    @autotest(n=3)
    def test_assertions_of_the_test_case(self):
        x = random_tensor(ndim=2)
        self.assertEqual(x.dim(), 2)  # noqa: PT009 - unittest style is what is tested
        self.assertIsInstance(x, torch.Tensor)  # noqa: PT009
        return x + 1


class Failing(unittest.TestCase):
    """Run by the tests below, and not collected."""

    __test__ = False

    @autotest(n=3)
    def divergence(self):
        return torch.relu(random_tensor())

    @autotest(n=3)
    def divergence_in_subtest(self):
        with self.subTest(part=1):
            return torch.relu(random_tensor())

    @autotest(n=2)
    def refused_in_subtest(self):
        with self.subTest(part=1):
            return torch.ones(2) @ torch.ones(3)

    @autotest(n=3)
    def assertion(self):
        torch.ones(1)
        self.fail("the body's own")

    @autotest(n=3)
    def mistake(self):
        return torch.ones(1) + undefined_name  # noqa: F821


def outcome_of(name):
    result = unittest.TestResult()
    Failing(name).run(result)
    return result


@pytest.mark.parametrize("name", ["divergence", "divergence_in_subtest", "refused_in_subtest", "assertion"])
def test_unittest_counts_a_finding_as_one_failure(name, against):
    against(faults.wrong_relu())
    result = outcome_of(name)
    assert (len(result.failures), len(result.errors)) == (1, 0)


def test_unittest_counts_a_mistake_as_an_error(against):
    result = outcome_of("mistake")
    assert (len(result.failures), len(result.errors)) == (0, 1)
    assert "undefined_name" in result.errors[0][1]


def test_the_first_failing_trial_ends_the_test(against):
    against(faults.wrong_relu())
    ran = []

    @autotest(n=5)
    def body():
        ran.append(1)
        return torch.relu(random_tensor())

    with pytest.raises(Divergence):
        body()
    assert len(ran) == 1


def test_the_tests_id_is_the_same_under_every_runner():
    seen = []

    @autotest(n=2)
    def test_local(*arguments, **named):
        pass

    with driven_by(lambda test, context: seen.append(test.id)):
        Failing("divergence").debug()
        test_a_plain_function()
        test_local()
        test_local(b=2, a="x")
        test_local(object())
    assert seen == [
        "test_decorator.py::Failing.divergence",
        "test_decorator.py::test_a_plain_function",
        "test_decorator.py::test_local",
        "test_decorator.py::test_local[a='x', b=2]",
        "test_decorator.py::test_local[object]",
    ]


def _made():
    @autotest(n=2)
    def test_inner():
        pass

    return test_inner


given_another_name = functools.partial(_made())


def test_a_test_that_a_function_made_is_called_by_the_global_that_leads_to_it():
    seen = []
    with driven_by(lambda test, context: seen.append(test.id)):
        given_another_name()
        _made()()
    assert seen == ["test_decorator.py::given_another_name", "test_decorator.py::test_inner"]


def test_a_decorated_function_keeps_its_name_its_signature_and_says_what_it_is():
    @autotest(n=7)
    def documented(one):
        """What it does."""

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "What it does."
    assert documented.__autotest__.n == 7


def test_settings_are_law(against):
    against(FaultyTorch({"relu": plus(1e-3)}))

    def body():
        return torch.relu(random_tensor())

    autotest(n=2, atol=1e-2)(body)()
    autotest(n=2, check_allclose=False)(body)()
    with pytest.raises(Divergence):
        autotest(n=2, atol=1e-4, rtol=0.0)(body)()


def test_dtypes_are_compared_unless_told_otherwise(against):
    against(FaultyTorch({"relu": lambda relu: lambda x: relu(x).double()}))

    def body():
        return torch.relu(random_tensor(requires_grad=False))

    autotest(n=2, check_dtype=False, auto_backward=False)(body)()
    with pytest.raises(Divergence) as caught:
        autotest(n=2, auto_backward=False)(body)()
    assert caught.value.finding.first.symptom == "dtype"


def test_the_environment_chooses_seed_and_trial(monkeypatch, against):
    drawn = []

    @autotest(n=4)
    def body():
        drawn.append(random(0, 1 << 30).value())
        return torch.ones(1)

    body()
    fixed = list(drawn)
    drawn.clear()
    monkeypatch.setenv("AUTOTEST_TRIAL", "2")
    body()
    assert drawn == fixed[2:3]
    monkeypatch.setenv("AUTOTEST_SEED", "1")
    body()
    assert drawn[1] != drawn[0]
    monkeypatch.setenv("AUTOTEST_SEED", "soon")
    with pytest.raises(UsageError, match="AUTOTEST_SEED='soon'"):
        body()


def test_a_test_does_not_change_the_environment(against):
    before = dict(os.environ)
    test_a_plain_function()
    assert dict(os.environ) == before
    assert current() is None


def test_a_decorated_test_inside_of_another_is_a_trial_of_its_own(against):
    inner_ran = []

    @autotest(n=2)
    def inner():
        inner_ran.append(1)
        return torch.exp(random_tensor())

    @autotest(n=2)
    def outer():
        x = random_tensor()
        inner()
        return x + constant(1)

    outer()
    assert len(inner_ran) == 4


def test_a_test_that_only_calls_another_one_is_told_that_this_ran_its_own_trials(against):
    @autotest(n=2)
    def scaled(factor):
        return torch.exp(random_tensor()) * factor

    @autotest(n=2)
    def only_calls_another():
        return scaled(factor=2)

    with pytest.raises(
        NothingCompared, match=r"called scaled, which is a decorated test .* call scaled\.__wrapped__\(\.\.\.\)"
    ):
        only_calls_another()

    @autotest(n=2)
    def calls_what_it_wraps():
        return scaled.__wrapped__(factor=2)

    calls_what_it_wraps()


def test_refused_bodies_fail_with_a_reason(against):
    @autotest(n=2)
    def body():
        return torch.ones(2) @ torch.ones(3)

    with pytest.raises(TooFewAccepted, match="matmul: RuntimeError"):
        body()


class WithoutSelf(unittest.TestCase):
    """Run by the test below, and not collected."""

    __test__ = False

    @autotest(n=2)
    def written_without_self():
        return torch.relu(random_tensor(2))


def test_a_method_without_self_is_told_at_its_own_line():
    with pytest.raises(
        UsageError, match=r"test_decorator.py:\d+: WithoutSelf.written.*write `def written_\w+\(self\):`"
    ):
        WithoutSelf("written_without_self").written_without_self()


def test_a_test_that_is_called_with_too_little_is_told_at_its_own_line(against):
    against()
    with pytest.raises(UsageError, match=r"test_decorator.py:\d+: .*: missing a required argument: 'x'"):
        autotest(n=2)(lambda x: x)()


def test_what_a_test_takes_is_known_of_keywords_and_through_what_stands_around_it(against):
    against()

    def body(x):
        return torch.relu(random_tensor(x))

    @functools.wraps(body)
    def around(*args):
        return body(*args)

    for taking in (around, lambda *, x: x):
        with pytest.raises(UsageError, match=r"missing a required (keyword-only )?argument: 'x'"):
            autotest(n=2)(taking)()
    autotest(n=2)(around)(2)
    with pytest.raises(UsageError, match="too many positional arguments"):
        autotest(n=2)(types.MethodType(body, 2))(3)


def test_decorating_twice_is_refused():
    with pytest.raises(UsageError, match=r"@autotest decorates .* twice"):
        autotest()(autotest()(lambda: torch.ones(2)))


def test_the_skip_of_gradients_needs_its_reason():
    with pytest.raises(UsageError, match="expected a reason why"):
        skip_grad_check(lambda: torch.ones(2))
