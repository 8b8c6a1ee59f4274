"""The report names in one line the feature that a failure needs, and none if every input shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotest import Divergence, autotest, random_tensor, skip_grad_check, torch
from autotest.diagnosis.explaining.decisive_magnitudes import infinite
from autotest.report.text import WIDTH
from tests.support.faulty import FaultyTorch
from tests.wrong_operators.inference import INFERENCE
from tests.wrong_operators.memory import MEMORY
from tests.wrong_operators.numbers import NUMBERS
from tests.wrong_operators.wrong import Wrong, fills, gradient_where, of_two, off, repeats, when

WRONG = {wrong.name: wrong for wrong in [*NUMBERS, *MEMORY, *INFERENCE]}

#: Some of our wrong operators, with the text that the line must contain.
NEEDS = {
    "relu reads memory as it lies": "only with transposed, strided or pitched memory",
    "mul reads its second as it lies": "only with transposed, strided or pitched memory of x1",
    "clone of expanded memory": "only with expanded memory",
    "exp forgets the offset": "only with strided or offset memory",
    "the gradient of expanded memory": "only with expanded memory",
    "exp after blocks of eight": "needs 9 elements or more",
    "sum leaves out the last of a row": "needs 9 elements or more",
    "sigmoid beyond 4096 elements": "needs 4097 elements or more",
    "softmax of long rows": "needs 33 elements or more",
    "relu of NaN is zero": "only where an element is NaN",
    "gt with NaN": "only where an element of x1 is NaN",
    "tanh of infinity": "only where an element is infinite",
    "reciprocal of minus zero": "only where an element is -0.0",
    "sign of zero": "only where an element is zero",
    "floor truncates": "only where an element is negative",
    "relu6 is relu": "only where an element is above about 6",
    "expm1 is the first term of its series": "only where an element is closer to zero than about 0.1",
    "lt is le": "only where elements of x0 and x1 are equal",
    "neg of int8": "only where an element is the smallest integer of int8",
    "sigmoid's gradient in float64": "only in float64",
    "mul where the second is broadcast": "only where x1 is broadcast",
    "abs of a single number": "only with rank 0",
    "neg of rank four": "only with rank 4",
    "var of one element": "only with a dimension of 1",
    "mean of a negative dimension": "only where dim is negative",
    "mish without gradients": "only with requires_grad=False",
    "linear's gradient of weights in a first layer": "only where x0 requires no grad",
}


pytestmark = pytest.mark.usefixtures("shrinking")


def happens(against: Callable[..., object], wrong: Wrong) -> str:
    """Return the line of the plainest test's report that says when the failure happens; "" if there is none."""
    against(wrong.candidate())
    with pytest.raises(Divergence) as caught:
        skip_grad_check(reason="planted faults")(autotest()(wrong.body))()
    told = re.search(r"^Happens: .*(?:\n {12}.*)*", str(caught.value), re.MULTILINE)
    if told is None:
        return ""
    assert max(map(len, told[0].splitlines())) <= WIDTH
    return " ".join(told[0].split()).removeprefix("Happens: ")


@pytest.mark.oneflow
def test_cotangents_are_converted_with_the_inputs_before_a_dtype_is_named():
    def body() -> Any:
        x = random_tensor(0, dtype="float32", requires_grad=True)
        y = x.clone()
        return y.fill_(0.0), x

    with pytest.raises(Divergence) as caught:  # OneFlow's backward of fill_ writes zeros into the cotangent
        autotest(n=2)(body)()
    assert caught.value.finding.operator == "fill_"
    assert "only in float32" not in caught.value.finding.happens


@pytest.mark.parametrize("name", NEEDS)
@pytest.mark.filterwarnings("ignore")
def test_the_feature_that_matters_is_named(against, name: str) -> None:
    assert happens(against, WRONG[name]) == NEEDS[name]


def test_nothing_is_named_where_anything_shows_it(against) -> None:
    always = Wrong("exp is off", "exp", when(lambda x: True), lambda: torch.exp(random_tensor(ndim=2)))
    assert happens(against, always) == ""


def test_what_lies_beside_a_larger_operand_is_broadcast_only_where_the_operator_does_that(against) -> None:
    def wrong(conv1d: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, weight: conv1d(x, weight).flip(-1)

    def body() -> Any:
        return torch.nn.functional.conv1d(random_tensor(shape=(1, 1, 4)), random_tensor(shape=(1, 1, 1)))

    assert "broadcast" not in happens(against, Wrong("conv1d backwards", "nn.functional.conv1d", wrong, body))


def test_what_fails_whichever_operand_is_broadcast_names_neither(against) -> None:
    def body() -> Any:
        return torch.mul(random_tensor(shape=(3,)), random_tensor(shape=(1,)))

    wrong = of_two(lambda result, x, y: off(result) if x.shape != y.shape else result)
    either = Wrong("mul where either is broadcast", "mul", wrong, body)
    assert happens(against, either) == "only where an operand is broadcast"


def test_equal_elements_are_named(against) -> None:
    wrong = Wrong(
        "cumsum where an element is there twice",
        "cumsum",
        when(lambda x: len(x.unique()) < x.numel()),
        lambda: torch.cumsum(random_tensor(ndim=1, low=-3), 0),
    )
    assert happens(against, wrong) == "only where elements are equal"


@pytest.mark.parametrize(
    ("value", "said"), [("inf", "only where an element is +infinity"), ("-inf", "only where an element is -infinity")]
)
def test_an_infinity_of_one_sign_is_named_with_it(against, value: str, said: str) -> None:
    wrong = Wrong(
        "atan of one infinity",
        "atan",
        lambda atan: lambda x: atan(x) + (x == float(value)).to(x.dtype),
        lambda: torch.atan(random_tensor(ndim=2)),
    )
    assert happens(against, wrong) == said


@pytest.mark.parametrize(("needed", "said"), [(np.inf, "+infinity"), (-np.inf, "-infinity")])
def test_the_infinity_that_a_failure_needs_is_named_beside_the_other_one(needed: float, said: str) -> None:
    data = np.array([-np.inf, np.inf, 1], "float32")
    assert infinite(data, lambda other: "fails" if needed in other else "passes")[0] == said
    assert infinite(data, lambda other: "fails" if np.isinf(other).sum() == 2 else "passes")[0] == "infinite"


def test_what_fails_at_an_infinity_and_at_nan_is_not_said_to_need_one_of_them(against) -> None:
    wrong = Wrong(
        "relu makes all numbers finite",
        "relu",
        lambda relu: lambda x: relu(x).nan_to_num(),
        lambda: torch.relu(random_tensor(ndim=2)),
    )
    # -infinity passes: its relu is zero.
    assert happens(against, wrong) == "only where an element is NaN or infinite"


@pytest.mark.parametrize(("width", "said"), [(1e-3, "about 1"), (0, "1")])
def test_a_narrow_range_is_not_said_to_be_one_number(against, width: float, said: str) -> None:
    wrong = Wrong(
        "log of about one",
        "log",
        lambda log: lambda x: log(x) + ((x - 1).abs() <= width).to(x.dtype),
        lambda: torch.log(random_tensor(ndim=2, low=0.5, high=3)),
    )
    assert happens(against, wrong) == f"only where an element is {said}"


def test_the_inputs_of_an_operator_that_writes_into_them_are_what_they_were_before(against) -> None:
    body = lambda: torch.relu_(random_tensor(ndim=2, requires_grad=False))  # noqa: E731
    of_contiguous = Wrong("relu_ of other memory", "relu_", lambda f: lambda x: f(x) if x.is_contiguous() else x, body)
    assert happens(against, of_contiguous) == "only with transposed, strided or pitched memory"
    small = Wrong("relu_ of large numbers", "relu_", lambda f: lambda x: f(x).mul_(1 + (x > 100).to(x.dtype)), body)
    assert happens(against, small) == "only where an element is above about 100"


def test_an_infinity_that_is_as_wrong_as_great_numbers_is_not_what_matters(against) -> None:
    wrong = Wrong(
        "relu of great negative numbers",
        "relu",
        lambda relu: lambda x: relu(x) + (x / 100).where(x < -1000, 0.0),
        lambda: torch.relu(random_tensor(ndim=2)),
    )
    assert happens(against, wrong) == "only where an element is below about -1000"


def test_sizes_are_tried_with_other_orders_of_the_numbers(against) -> None:
    wrong = Wrong(
        "all of the first",
        "all",
        lambda _: lambda x: x.reshape(-1)[0] if x.numel() else x.new_tensor(True),
        lambda: torch.all(random_tensor(ndim=1, dtype="bool")),
    )
    assert happens(against, wrong) == "needs 2 elements or more"


def test_a_matrix_in_other_order_has_no_channels(against) -> None:
    wrong = Wrong(
        "exp of three dimensions in other order",
        "exp",
        when(lambda x: x.ndim == 3 and x.stride() == (1, len(x), len(x) * x.shape[1])),
        lambda: torch.exp(random_tensor(ndim=3).transpose(0, 2)),
    )
    assert "channels" not in happens(against, wrong)


def test_two_features_that_are_both_needed_are_both_named(against) -> None:
    both = Wrong(
        "cos of long rows of negative numbers",
        "cos",
        lambda cos: lambda x: off(cos(x)) if x.numel() > 8 and bool((x < 0).any()) else cos(x),
        lambda: torch.cos(random_tensor(ndim=2)),
    )
    assert happens(against, both) == "needs 9 elements or more, only where an element is negative"


def test_memory_is_named_where_numbers_stand_in_it(against) -> None:
    both = Wrong(
        "cos of transposed memory that holds NaN",
        "cos",
        lambda cos: lambda x: cos(fills(x) if x.dim() == 2 and x.stride(0) < x.stride(1) else x),
        lambda: torch.cos(random_tensor(ndim=2, layout="transposed")),
    )
    told = happens(against, both)
    assert "only with transposed memory" in told
    assert "NaN" in told


def test_a_gradient_that_is_wrong_in_strided_memory_says_so(against) -> None:
    wrong = Wrong(
        "sin's gradient",
        "sin",
        gradient_where(lambda x: not x.is_contiguous()),
        lambda: torch.sin(random_tensor(ndim=2)),
    )
    assert "transposed" in happens(against, wrong)


def test_what_matters_does_not_speak_of_how_memory_was_made(against) -> None:
    against(WRONG["relu reads memory as it lies"].candidate())
    with pytest.raises(Divergence) as caught:
        autotest()(lambda: torch.relu(random_tensor(ndim=2)))()
    assert "transpose," not in str(caught.value)
    assert "of transpose" not in str(caught.value)


def test_an_expanded_operand_beside_one_of_another_shape_is_named(against) -> None:
    wrong = of_two(lambda result, x, y: off(result) if repeats(x) and x.shape != y.shape else result)
    against(FaultyTorch({"add": wrong}))
    with pytest.raises(Divergence) as caught:
        autotest()(lambda: torch.add(random_tensor(shape=(3, 1), layout="expanded"), random_tensor(shape=(3, 4))))()
    assert "only with expanded memory of x0" in caught.value.finding.happens
