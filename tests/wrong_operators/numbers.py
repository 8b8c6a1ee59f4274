"""Operators that are wrong for some numbers: negative, large, small, whole, equal, special ones."""

from __future__ import annotations

from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.wrong import (
    Wrong,
    both_given,
    fills,
    given,
    in_single,
    of_two,
    off,
    when,
    where,
)
from tests.wrong_operators.wrong import (
    torch as real,
)


def one(name: str, **more: object) -> object:
    """Return the test that a new user would write for an operator with one argument."""

    def body() -> object:
        part = torch
        for word in name.split("."):
            part = getattr(part, word)
        return part(random_tensor(ndim=2, **more))

    return body


def two(name: str, **more: object) -> object:
    """Return the same for two arguments."""
    return lambda: getattr(torch, name)(random_tensor(ndim=2, **more), random_tensor(ndim=2, **more))


def beside(relation: Any, step: float, x: Any) -> object:
    """Return a test of `relation` between numbers and the numbers that are `step` greater."""
    return relation(x, x + step)


NEGATIVE = [
    Wrong("relu returns its input", "relu", lambda relu: lambda x: x * 1, one("relu")),
    Wrong("abs of negative numbers", "abs", where(lambda x: x < 0), one("abs")),
    Wrong("sign of negative numbers", "sign", where(lambda x: x < 0, lambda r: r * 0), one("sign")),
    Wrong("floor truncates", "floor", lambda floor: lambda x: x.trunc(), one("floor")),
    Wrong("ceil rounds away from zero", "ceil", where(lambda x: x < 0, lambda r: r - 1), one("ceil")),
    Wrong("round rounds halves up", "round", lambda original: lambda x: (x + 0.5).floor(), one("round")),
    Wrong("trunc floors", "trunc", lambda trunc: lambda x: x.floor(), one("trunc")),
    Wrong("elu of negative numbers", "nn.functional.elu", where(lambda x: x < -1), one("nn.functional.elu")),
    Wrong(
        "leaky_relu leaks nothing",
        "nn.functional.leaky_relu",
        lambda f: lambda x: x.relu(),
        one("nn.functional.leaky_relu"),
    ),
    Wrong(
        "atan2 in one quadrant",
        "atan2",
        of_two(lambda r, y, x: real().where((x < 0) & (y < 0), off(r), r)),
        two("atan2"),
    ),
    Wrong(
        "floor_divide truncates",
        "floor_divide",
        lambda f: lambda x, y: real().div(x, y, rounding_mode="trunc"),
        two("floor_divide", requires_grad=False),
    ),
    Wrong(
        "remainder takes the sign of the dividend",
        "remainder",
        lambda f: lambda x, y: real().fmod(x, y),
        two("remainder"),
    ),
    Wrong("fmod takes the sign of the divisor", "fmod", lambda f: lambda x, y: real().remainder(x, y), two("fmod")),
    Wrong(
        "pow of negative bases",
        "pow",
        where(lambda x: x < 0, lambda r: r.abs()),
        lambda: torch.pow(random_tensor(ndim=2), 3),
    ),
    Wrong("prod forgets signs", "prod", given(lambda x: x.abs()), one("prod")),
]

SIZE = [
    Wrong("exp beyond 3", "exp", where(lambda x: x > 3), one("exp")),
    Wrong(
        "expm1 is the first term of its series",
        "expm1",
        where(lambda x: x.abs() < 0.1, lambda r: r * 0.99),
        one("expm1"),
    ),
    Wrong("log1p cancels near zero", "log1p", where(lambda x: x.abs() < 1e-2, lambda r: r * 1.01), one("log1p")),
    Wrong("log below one half", "log", where(lambda x: (x < 0.5) & (x > 0)), one("log")),
    Wrong("sqrt beyond one hundred", "sqrt", where(lambda x: x > 100), one("sqrt")),
    Wrong("sigmoid far below zero", "sigmoid", where(lambda x: x < -9), one("sigmoid")),
    Wrong("tanh saturates early", "tanh", where(lambda x: x.abs() > 3, lambda r: r.sign()), one("tanh")),
    Wrong("sin of great numbers", "sin", where(lambda x: x.abs() > 50), one("sin")),
    Wrong("erf beyond 2", "erf", where(lambda x: x.abs() > 2, lambda r: r.sign()), one("erf")),
    Wrong(
        "softplus never becomes linear",
        "nn.functional.softplus",
        lambda f: lambda x: x.exp().log1p(),
        one("nn.functional.softplus"),
    ),
    Wrong(
        "softmax without its maximum",
        "softmax",
        lambda f: lambda x, dim: x.exp() / x.exp().sum(dim, keepdim=True),
        lambda: torch.softmax(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "logsumexp without its maximum",
        "logsumexp",
        lambda f: lambda x, dim: x.exp().sum(dim).log(),
        lambda: torch.logsumexp(random_tensor(ndim=2), dim=1),
    ),
    Wrong("asin near one", "asin", where(lambda x: (x.abs() > 0.8) & (x.abs() < 1)), one("asin")),
    Wrong("acosh beyond 100", "acosh", where(lambda x: x > 100), one("acosh")),
    Wrong("gelu far below zero", "nn.functional.gelu", where(lambda x: x < -3), one("nn.functional.gelu")),
    Wrong(
        "hardswish at its upper end",
        "nn.functional.hardswish",
        where(lambda x: (x > 2) & (x < 3)),
        one("nn.functional.hardswish"),
    ),
    Wrong("relu6 is relu", "nn.functional.relu6", lambda f: lambda x: x.relu(), one("nn.functional.relu6")),
    Wrong(
        "clamp has no upper end",
        "clamp",
        lambda f: lambda x, low, high: x.clamp(min=low),
        lambda: torch.clamp(random_tensor(ndim=2), -1, 2),
    ),
    Wrong(
        "smooth_l1_loss is always square",
        "nn.functional.smooth_l1_loss",
        lambda f: lambda x, y: 0.5 * ((x - y) ** 2).mean(),
        lambda: torch.nn.functional.smooth_l1_loss(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong("norm overflows", "norm", given(lambda x: x.clamp(-100, 100)), one("norm")),
]

EQUAL = [
    Wrong("lt is le", "lt", lambda f: lambda x, y: x <= y, two("lt")),
    Wrong("ge is gt", "ge", lambda f: lambda x, y: x > y, two("ge")),
    Wrong("eq of zeros", "eq", of_two(lambda r, x, y: r & ~((x == 0) & (y == 0))), two("eq")),
    Wrong(
        "maximum gives the gradient of equals to the second",
        "maximum",
        lambda f: lambda x, y: real().where(x > y, x, y),
        two("maximum"),
    ),
    Wrong(
        "amax gives the gradient to one of equals",
        "amax",
        lambda f: lambda x, dim: x.max(dim)[0],
        lambda: torch.amax(random_tensor(ndim=2), 1),
    ),
    Wrong(
        "unique keeps equals", "unique", lambda f: lambda x: x.flatten().sort()[0], one("unique", requires_grad=False)
    ),
    Wrong("sign of zero", "sign", where(lambda x: x == 0, lambda r: r + 1), one("sign")),
    Wrong("logical_not of zero", "logical_not", where(lambda x: x == 0), one("logical_not")),
    Wrong(
        "count_nonzero counts zeros",
        "count_nonzero",
        lambda f: lambda x: real().tensor(x.numel()),
        one("count_nonzero"),
    ),
    Wrong("heaviside at zero", "heaviside", where(lambda x: x == 0), two("heaviside", requires_grad=False)),
    Wrong("frac of whole numbers", "frac", where(lambda x: x == x.round(), lambda r: r + 1), one("frac")),
    Wrong(
        "isclose is eq",
        "isclose",
        lambda f: lambda x, y: x == y,
        lambda: beside(torch.isclose, 1e-6, random_tensor(ndim=2)),
    ),
]

SPECIAL = [
    Wrong("maximum loses NaN", "maximum", both_given(fills), two("maximum")),
    Wrong(
        "minimum loses NaN of the second",
        "minimum",
        lambda f: lambda x, y: f(x, real().where(y.isnan(), x, y)),
        two("minimum"),
    ),
    Wrong("relu of NaN is zero", "relu", given(fills), one("relu")),
    Wrong("sum skips NaN", "sum", given(fills), one("sum")),
    Wrong(
        "max skips NaN",
        "max",
        given(lambda x: fills(x, -1e30)),
        one("max"),
    ),
    Wrong("clamp of NaN", "clamp", given(fills), lambda: torch.clamp(random_tensor(ndim=2), -1, 1)),
    Wrong("isfinite of infinities", "isfinite", lambda f: lambda x: ~x.isnan(), one("isfinite")),
    Wrong("isinf of minus infinity", "isinf", lambda f: lambda x: x == float("inf"), one("isinf")),
    Wrong("isnan is never", "isnan", lambda f: lambda x: f(x) & False, one("isnan")),
    Wrong("gt with NaN", "gt", of_two(lambda r, x, y: r | y.isnan()), two("gt")),
    Wrong("sqrt of negative numbers", "sqrt", given(lambda x: x.abs()), one("sqrt")),
    Wrong("log of zero", "log", where(lambda x: x == 0, lambda r: r * 0), one("log")),
    Wrong("exp of minus infinity", "exp", where(lambda x: x == float("-inf"), lambda r: r + 1), one("exp")),
    Wrong("reciprocal of minus zero", "reciprocal", where(lambda x: x == 0, lambda r: r.abs()), one("reciprocal")),
    Wrong(
        "reciprocal flushes subnormal numbers",
        "reciprocal",
        given(lambda x: real().where(x.abs() < 1e-37, x * 0, x)),
        one("reciprocal"),
    ),
    Wrong("square overflows early", "square", where(lambda x: x.abs() > 1e18, lambda r: r * 0), one("square")),
    Wrong("tanh of infinity", "tanh", where(lambda x: x.isinf(), lambda r: r * 0), one("tanh")),
    Wrong(
        "where drops NaN",
        "where",
        lambda f: lambda c, x, y: f(c, fills(x), y),
        lambda: torch.where(random_tensor(ndim=2) > 0, random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "sort puts NaN first",
        "sort",
        lambda f: lambda x: f(fills(x, -1e30)),
        lambda: torch.sort(random_tensor(ndim=1))[0],
    ),
    Wrong(
        "cumsum starts again after NaN",
        "cumsum",
        lambda f: lambda x, dim: f(fills(x), dim),
        lambda: torch.cumsum(random_tensor(ndim=2), 1),
    ),
    Wrong(
        "mean of infinities",
        "mean",
        given(lambda x: x.nan_to_num(nan=float("nan"))),
        lambda: torch.mean(random_tensor(ndim=2), dim=1),
    ),
    Wrong("atan2 of minus zero", "atan2", lambda f: lambda y, x: f(y + 0.0, x + 0.0), two("atan2")),
]

WIDTH = [
    Wrong("log of float64 in float32", "log", in_single, one("log")),
    Wrong("exp of float64 in float32", "exp", in_single, one("exp")),
    Wrong("sum of float64 in float32", "sum", in_single, one("sum")),
    Wrong(
        "matmul of float64 in float32",
        "matmul",
        in_single,
        lambda: torch.matmul(random_tensor(ndim=2, dim1=5), random_tensor(ndim=2, dim0=5)),
    ),
    Wrong("div of float64 in float32", "div", in_single, two("div")),
    Wrong("mean is float32", "mean", when(lambda x: x.dtype == real().float64, lambda r: r.float()), one("mean")),
    Wrong("sin of float64", "sin", when(lambda x: x.dtype == real().float64), one("sin")),
]

WHOLE = [
    Wrong("abs of the least int", "abs", where(lambda x: x == real().iinfo(x.dtype).min), one("abs", dtype=int)),
    Wrong("sum of ints beyond 2**24", "sum", lambda f: lambda x: f(x.float()).long(), one("sum", dtype=int)),
    Wrong(
        "add goes through float64",
        "add",
        lambda f: lambda x, y: f(x.double(), y.double()).long(),
        two("add", dtype=int),
    ),
    Wrong("mul saturates", "mul", of_two(lambda r, x, y: r.clamp(-(2**31), 2**31)), two("mul", dtype=int)),
    Wrong(
        "maximum of ints as 32 bits",
        "maximum",
        lambda f: lambda x, y: f(x.int(), y.int()).long(),
        two("maximum", dtype=int),
    ),
    Wrong(
        "floor_divide of ints truncates",
        "floor_divide",
        lambda f: lambda x, y: real().div(x, y, rounding_mode="trunc"),
        lambda: torch.floor_divide(random_tensor(ndim=2, dtype=int), 3),
    ),
    Wrong("bitwise_and of negative ints", "bitwise_and", where(lambda x: x < 0), two("bitwise_and", dtype=int)),
    Wrong("neg of int8", "neg", where(lambda x: x == -128), one("neg", dtype="int8")),
    Wrong(
        "int to float loses bits",
        "eq",
        lambda f: lambda x, y: f(x.float(), y.float()),
        lambda: beside(torch.eq, 1, random_tensor(ndim=2, dtype=int)),
    ),
    Wrong("any of one true", "any", lambda f: lambda x: x.float().mean() > 0.3, one("any", dtype=bool)),
    Wrong("all of one false", "all", lambda f: lambda x: x.float().mean() > 0.7, one("all", dtype=bool)),
    Wrong(
        "cumsum of int32 wraps at 16 bits",
        "cumsum",
        where(lambda x: x.abs() > 2**15),
        lambda: torch.cumsum(random_tensor(ndim=1, dtype="int32"), 0),
    ),
]

NUMBERS = [*NEGATIVE, *SIZE, *EQUAL, *SPECIAL, *WIDTH, *WHOLE]
