"""Differences that only NaN, infinities or the edge of a domain show have their own symptom, and can be excluded."""

from __future__ import annotations

import numpy as np
import pytest
import torch as real

import generators
from autotest import Divergence, UsageError, autotest, random_tensor, torch
from autotest.results.identity import identity_of
from autotest.results.ledger import LedgerEntry
from tests.support.faulty import FaultyTorch, plus
from tests.support.faulty import with_gradient as with_changed_gradient
from tests.support.running import trial
from tests.wrong_operators.wrong import as_it_lies, gradient_where

NAN, INF = float("nan"), float("inf")
#: NaN becomes zero, and infinities stay.
LOSES_NAN = {"relu": lambda relu: lambda x: relu(x.nan_to_num(nan=0.0, posinf=float("inf"), neginf=float("-inf")))}
#: Only the sign bit of NaN, a truth value, is wrong.
SEES_NO_NAN = {"isnan": lambda isnan: lambda x: isnan(x) & False}


@pytest.fixture(autouse=True)
def _quick(quick: object) -> None:
    """Disable verification and shrinking."""


def relu() -> object:
    return torch.relu(random_tensor(ndim=2))


def isnan() -> object:
    return torch.isnan(random_tensor(ndim=2))


def log() -> object:
    return torch.log(random_tensor(ndim=2, low=-3, high=3, requires_grad=False))


def found(body, **settings):
    with pytest.raises(Divergence) as raised:
        autotest(auto_backward="auto", **settings)(body)()
    return raised.value.finding


@pytest.mark.parametrize(("body", "fault"), [(relu, LOSES_NAN), (isnan, SEES_NO_NAN)])
def test_what_only_nan_shows_is_called_so(against, body, fault):
    against(FaultyTorch(fault))
    finding = found(body)
    assert finding.first.heading == "special values"
    assert "special values (forward)" in str(finding_text(finding))


def test_what_is_read_as_if_it_lay_otherwise_is_an_ordinary_difference_among_nan_too(against):
    against(FaultyTorch({"neg": lambda neg: lambda x: neg(as_it_lies(x))}))
    finding = found(lambda: torch.neg(random_tensor(shape=(3, 4), contents="special", layout="transposed")), n=1)
    assert any(np.isnan(array.data).any() for array in finding.program.arrays)
    assert finding.first.heading == "value"


def test_what_ordinary_complex_numbers_show_is_ordinary_among_nan_too(against):
    against(FaultyTorch({"conj": lambda conj: lambda x: x * 2}))
    finding = found(lambda: torch.conj(random_tensor(shape=(3, 4), contents="special", dtype="complex64")), n=1)
    assert any(np.isnan(array.data).any() for array in finding.program.arrays)
    assert finding.first.heading == "value"


@pytest.mark.parametrize(("most", "heading"), [(30, "value"), (2**30, "special values")])
def test_what_integers_show_whose_powers_are_finite_is_ordinary_beside_greater_ones(against, most, heading):
    against(FaultyTorch({"ldexp": lambda ldexp: lambda x, power: ldexp(x, power.where(power <= most, 0))}))
    finding = found(lambda: torch.ldexp(random_tensor(shape=(1,), low=1, high=2), torch.tensor([2**31 - 1])), n=1)
    assert finding.first.heading == heading


@pytest.mark.parametrize(
    ("relu", "heading"),
    [(lambda x: x, "value"), (lambda x: x.clamp_(0).nan_to_num_(nan=0.0, posinf=INF), "special values")],
)
def test_what_a_call_in_place_leaves_of_ordinary_numbers_is_ordinary_beside_nan_too(against, relu, heading):
    def body():
        x = random_tensor(shape=(4, 6), contents="special", requires_grad=False)
        torch.nn.functional.relu(x, inplace=True)
        return x

    against(FaultyTorch({"nn.functional.relu": lambda _: lambda x, inplace: relu(x)}))
    finding = found(body, n=1)
    assert any(np.isnan(array.data).any() for array in finding.program.arrays)
    assert finding.first.heading == heading


def finding_text(finding):
    from autotest.report.text import divergence

    return divergence(finding, "", "")


def test_what_the_edge_of_a_domain_shows_is_called_so_without_any_nan_among_the_inputs(against):
    against(FaultyTorch({"log": lambda log: lambda x: log(x.abs())}))
    finding = found(log)
    assert finding.first.heading == "special values"
    assert not any(np.isnan(array.data).any() for array in finding.program.arrays)


def tensor(*numbers, grad=False):
    return torch.tensor(numbers, dtype=torch.float32, requires_grad=grad)


def plus_one(function):
    return lambda *operands: function(*operands) + 1


def with_gradient(change):
    return lambda relu: lambda x: relu(x) + change(x)


#: A body, the fault of the candidate, and the symptom of the difference.
CASES = {
    "a NaN is lost": (lambda: torch.relu(tensor(NAN, 1)), LOSES_NAN, "special values"),
    "a NaN comes of an ordinary number": (
        lambda: torch.relu(tensor(1, 2)),
        {"relu": lambda relu: lambda x: relu(x) * NAN},
        "value",
    ),
    "a NaN comes of an ordinary number, beside one that is given": (
        lambda: torch.relu(tensor(NAN, 1)),
        {"relu": lambda relu: lambda x: relu(x) * NAN},
        "value",
    ),
    "a NaN spreads": (
        lambda: torch.relu(tensor(NAN, 1)),
        {"relu": lambda relu: lambda x: relu(x) + x.sum() * 0},
        "special values",
    ),
    "an ordinary number is wrong beside a NaN": (lambda: torch.relu(tensor(NAN, 1)), {"relu": plus_one}, "value"),
    "an ordinary number is wrong in a call that no NaN goes into": (
        lambda: (torch.neg(tensor(NAN, 1)), torch.relu(tensor(1, 2))),
        {"relu": plus_one},
        "value",
    ),
    "an index is another with a NaN": (
        lambda: torch.argmax(tensor(3, NAN, 1)),
        {"argmax": lambda argmax: lambda x: argmax(x.nan_to_num(nan=-9.0))},
        "special values",
    ),
    "an index is another with a NaN, and without": (
        lambda: torch.argmax(tensor(3, NAN, 1)),
        {"argmax": plus_one},
        "value",
    ),
    "a sum leaves an infinity out": (
        lambda: torch.sum(tensor(INF, 1, 2)),
        {"sum": lambda total: lambda x: total(x.nan_to_num(posinf=0.0))},
        "special values",
    ),
    "beyond the edge of a domain": (
        lambda: torch.log(tensor(-1)),
        {"log": lambda log: lambda x: log(x.abs())},
        "special values",
    ),
    "an infinity is as wrong as great numbers": (
        lambda: torch.relu(tensor(-INF, 1)),
        {"relu": lambda relu: lambda x: real.where(x < -1000, x, relu(x))},
        "value",
    ),
    "a tiny number is as wrong as small ones": (
        lambda: torch.sign(tensor(1e-42, 1)),
        {"sign": lambda sign: lambda x: sign(real.where(x.abs() < 1e-3, x * 0, x))},
        "value",
    ),
    "at a pole": (
        lambda: torch.reciprocal(tensor(0, 1)),
        {"reciprocal": lambda reciprocal: lambda x: reciprocal(x).clamp(max=1e30)},
        "special values",
    ),
    "a result that is too great": (
        lambda: torch.exp(tensor(200)),
        {"exp": lambda exp: lambda x: exp(x.clamp(max=80.0))},
        "special values",
    ),
    "of what lies beyond an edge": (lambda: torch.isnan(torch.log(tensor(-1, 2))), SEES_NO_NAN, "special values"),
    "an ordinary number beside what lies beyond an edge": (
        lambda: torch.relu(torch.log(tensor(-1, 2))),
        {"relu": plus_one},
        "value",
    ),
    "what comes of a difference beyond an edge": (
        lambda: torch.isfinite(torch.log(tensor(-1, 2))),
        {"log": lambda log: lambda x: log(x.abs())},
        "special values",
    ),
    "the gradient of ordinary numbers beside a NaN": (
        lambda: torch.relu(tensor(NAN, 1, grad=True)),
        {"relu": with_gradient(lambda x: x - x.detach())},
        "gradient",
    ),
    "the gradient at an infinity": (
        lambda: torch.relu(tensor(INF, 1, grad=True)),
        {"relu": lambda relu: lambda x: relu(x.clamp(max=1e30))},
        "special values",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_difference_is_called_depends_on_the_operands_of_its_call(against, case):
    body, fault, heading = CASES[case]
    against(FaultyTorch(fault))
    finding = found(body, n=1)
    assert (finding.first.heading, finding.identity.symptom) == (heading, heading)


@pytest.mark.parametrize("case", CASES)
def test_it_is_left_out_where_it_is_called_special_and_not_where_it_is_ordinary(against, case):
    body, fault, heading = CASES[case]
    against(FaultyTorch(fault))
    if heading == "special values":
        autotest(n=1, auto_backward="auto", special_values=False)(body)()
    else:
        assert found(body, n=1, special_values=False).first.heading == heading


SHRUNK = ("a NaN is lost", "an ordinary number is wrong beside a NaN", "of what lies beyond an edge")


@pytest.mark.parametrize("case", SHRUNK)
def test_a_smaller_program_is_called_what_its_trial_was(against, case, monkeypatch):
    body, fault, heading = CASES[case]
    monkeypatch.setenv("AUTOTEST_SHRINK", "20")
    against(FaultyTorch(fault))
    assert found(body, n=1).first.heading == heading


def test_what_ordinary_numbers_show_is_not(against):
    against(FaultyTorch({"relu": plus(1.0)}))
    finding = found(relu)
    assert (finding.first.heading, finding.index) == ("value", 0)


def test_what_only_great_numbers_show_is_called_so_where_ordinary_numbers_cancel_and_differ_by_rounding(against):
    some = np.random.default_rng(0).uniform(-9e3, 9e3, 256)
    numbers = np.concatenate([[3e38, -3e38, 3e38, -3e38], some, -some]).astype("float32")

    def greatest_first(original):
        def summed(x):
            with np.errstate(over="ignore"):
                return original(x.new_tensor(np.add.accumulate(np.sort(x.numpy())[::-1])[-1]))

        return summed

    against(FaultyTorch({"sum": greatest_first}))
    x = {"shape": numbers.shape, "dtype": "float32", "contents": lambda bits, spec: numbers, "requires_grad": False}
    finding = found(lambda: torch.sum(random_tensor(**x)), n=1)
    assert finding.first.heading == "special values"


@pytest.mark.parametrize("amount", [1e-3, 1.0])
def test_a_fault_of_single_precision_is_ordinary_beside_special_numbers(against, amount):
    against(FaultyTorch({"atan": lambda atan: lambda x: atan(x) + amount * (x.dtype == real.float32)}))
    finding = found(lambda: torch.atan(tensor(NAN, 1, 3)), n=1)
    assert finding.first.heading == "value"


def test_a_wrong_gradient_behind_a_mask_is_ordinary_beside_infinities_that_the_mask_selects(against):
    against(FaultyTorch({"masked_select": with_changed_gradient(lambda gradient: 1.5 * gradient)}))

    numbers = np.array([INF, INF, -INF, -INF, -1, -2], dtype="float32")
    drawn = {"shape": numbers.shape, "dtype": "float32", "contents": lambda bits, spec: numbers, "requires_grad": True}

    def body():
        x = random_tensor(**drawn)
        return torch.masked_select(x, x > 0)

    assert found(body, n=1).first.heading == "gradient"


def test_a_gradient_that_is_wrong_for_all_great_numbers_is_ordinary_at_infinity_too():
    def body() -> object:
        return torch.nn.functional.softplus(random_tensor(shape=(40,), low=-3, high=3, contents="special"))

    outcome = trial(body, FaultyTorch({"nn.functional.softplus": gradient_where(lambda x: x > 20)}))
    assert [(item.heading, item.special) for item in outcome.mismatches] == [("gradient", False)]


def test_a_nan_where_the_reference_has_a_number_is_no_special_value(against):
    against(FaultyTorch({"relu": lambda relu: lambda x: relu(x) * float("nan")}))
    assert found(relu).first.heading == "value"


@pytest.mark.parametrize(("body", "fault"), [(relu, LOSES_NAN), (isnan, SEES_NO_NAN)])
def test_a_test_can_leave_them_out(against, body, fault):
    against(FaultyTorch(fault))
    autotest(auto_backward="auto", special_values=False)(body)()


def test_where_they_are_left_out_the_edge_of_a_domain_does_not_count_either(against):
    against(FaultyTorch({"log": lambda log: lambda x: log(x.abs())}))
    autotest(auto_backward="auto", special_values=False)(log)()


def test_where_they_are_left_out_only_ordinary_numbers_are_drawn(against):
    against()
    drawn = []

    @autotest(n=60, special_values=False)
    def body():
        x = random_tensor(ndim=2)
        drawn.append(x.reference.detach().numpy())
        return torch.relu(x)

    body()
    every = np.concatenate([one.reshape(-1).astype("float64") for one in drawn])
    assert np.isfinite(every).all()
    assert abs(every).max() < 1e5
    assert not ((every == 0) & np.signbit(every)).any()


def test_the_environment_can_leave_them_out_of_every_test(against, monkeypatch):
    against(FaultyTorch(LOSES_NAN))
    monkeypatch.setenv("AUTOTEST_SPECIAL_VALUES", "0")
    autotest()(relu)()


def test_a_flood_of_them_is_one_finding(against):
    against(FaultyTorch(LOSES_NAN))
    keys = set()
    for low, rank in ((None, 1), (None, 2), (None, 3)):
        finding = found(lambda low=low, rank=rank: torch.relu(random_tensor(ndim=rank, low=low)))
        keys.add(identity_of(finding.first, finding.operator, finding.program).key)
    assert len(keys) == 1


def test_the_ledger_can_expect_them_alone(against):
    against(FaultyTorch(LOSES_NAN))
    mismatch = found(relu).first
    assert LedgerEntry("k", "*", "special values", "r", "relu").covers(mismatch, "relu")
    assert LedgerEntry("k", "*", "value", "r", "relu").covers(mismatch, "relu")
    against(FaultyTorch({"relu": plus(1.0)}))
    ordinary = found(relu, special_values=False).first
    assert not LedgerEntry("k", "*", "special values", "r", "relu").covers(ordinary, "relu")


def test_whether_they_are_wanted_is_yes_or_no():
    with pytest.raises(UsageError, match="special_values"):
        autotest(special_values="no")


def test_a_difference_of_all_numbers_is_ordinary_also_behind_a_computed_subnormal_number():
    def body():
        subnormal = random_tensor(shape=(3,), low=1e-40, high=1e-39, dtype="float32")
        return torch.atan(torch.cat([subnormal, torch.ones(2)]))

    (found,) = trial(body, FaultyTorch({"atan": lambda atan: lambda x: atan(x) * 1.1})).mismatches[:1]
    assert (found.symptom, found.special) == ("value", False)


@pytest.mark.parametrize("contents", ["special", generators.special(0.5), generators.oneof("special", "special")])
def test_special_contents_contradict_a_test_that_excludes_special_values(against, contents) -> None:
    against(FaultyTorch())

    @autotest(n=1, special_values=False)
    def contradictory() -> object:
        return torch.relu(random_tensor(ndim=2, contents=contents))

    said = "in a test with special_values=False: differences at NaN, infinities and similar numbers would not count"
    with pytest.raises(generators.GeneratorError, match=said):
        contradictory()


def test_special_contents_are_allowed_where_only_the_project_excludes_special_values(against, monkeypatch) -> None:
    against(FaultyTorch())
    monkeypatch.setenv("AUTOTEST_SPECIAL_VALUES", "0")

    @autotest(n=1, special_values=True)
    def asking() -> object:
        return torch.relu(random_tensor(ndim=2, contents="special"))

    asking()


def test_whole_numbers_at_the_limits_count_without_special_values(against) -> None:
    against(FaultyTorch())

    @autotest(n=1, special_values=False)
    def asking() -> object:
        return torch.neg(random_tensor(ndim=2, dtype="int32", contents="special"))

    asking()
