"""NumPy's counterparts of operators without samples in torch: torch agrees with each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autotest.diagnosis.counterparts.numpy_result import numpy_result
from autotest.diagnosis.counterparts.polynomials import POLYNOMIALS
from autotest.diagnosis.counterparts.special_functions import special_result
from autotest.diagnosis.counterparts.values import OrderDependent

F = torch.nn.functional
RANDOM = np.random.Generator(np.random.SFC64(0))


def some(*shape: int) -> Any:
    return np.asarray(RANDOM.uniform(-2, 2, shape))


SYMMETRIC = some(3, 3) + 5 * np.eye(3)
SYMMETRIC = SYMMETRIC + SYMMETRIC.T
SHOWN = np.array([[True, True, True, False], [True, True, False, True], [True, True, True, True]])
COMPLEX = np.array([1 + 2j, -1 + 0.5j])
DEGREES = RANDOM.integers(0, 9, 40)
CASES: tuple[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], ...] = (
    ("nn.functional.affine_grid", F.affine_grid, (some(2, 2, 3), (2, 1, 3, 4)), {"align_corners": False}),
    ("nn.functional.affine_grid", F.affine_grid, (some(2, 2, 3), (2, 1, 3, 1)), {"align_corners": True}),
    ("chain_matmul", torch.chain_matmul, (some(2, 3), some(3, 4), some(4, 2)), {}),
    ("linalg.multi_dot", torch.linalg.multi_dot, ((some(2, 3), some(3, 4), some(4, 2)),), {}),
    ("nn.functional.channel_shuffle", F.channel_shuffle, (some(1, 6, 2, 2), 2), {}),
    ("nn.functional.pixel_shuffle", F.pixel_shuffle, (some(2, 8, 2, 3), 2), {}),
    ("nn.functional.pixel_shuffle", F.pixel_shuffle, (some(4, 2, 3), 2), {}),
    ("nn.functional.pixel_unshuffle", F.pixel_unshuffle, (some(2, 2, 4, 6), 2), {}),
    ("gru_cell", torch.gru_cell, (some(2, 3), some(2, 4), some(12, 3), some(12, 4), some(12), some(12)), {}),
    ("lstm_cell", torch.lstm_cell, (some(2, 3), (some(2, 4), some(2, 4)), some(16, 3), some(16, 4)), {}),
    ("rnn_tanh_cell", torch.rnn_tanh_cell, (some(2, 3), some(2, 4), some(4, 3), some(4, 4), some(4), some(4)), {}),
    ("rnn_relu_cell", torch.rnn_relu_cell, (some(2, 3), some(2, 4), some(4, 3), some(4, 4)), {}),
    ("vander", torch.vander, (some(4),), {"increasing": True}),
    ("linalg.vander", torch.linalg.vander, (some(4),), {}),
    ("slogdet", torch.slogdet, (SYMMETRIC,), {}),
    ("linalg.eigvalsh", torch.linalg.eigvalsh, (SYMMETRIC,), {}),
    ("linalg.pinv", torch.linalg.pinv, (some(4, 3),), {}),
    ("linalg.cholesky", torch.linalg.cholesky, (SYMMETRIC,), {"upper": True}),
    ("nn.functional.grid_sample", F.grid_sample, (some(1, 2, 4, 5), some(1, 3, 3, 2) / 2), {"align_corners": False}),
    ("nn.functional.grid_sample", F.grid_sample, (some(1, 2, 4, 5), some(1, 3, 3, 2)),
     {"align_corners": True, "padding_mode": "border"}),
    ("renorm", torch.renorm, (some(3, 4), 2, 1, 1.0), {}),
    ("cdist", torch.cdist, (some(3, 4), some(5, 4)), {"p": 1.5}),
    ("histc", torch.histc, (some(30),), {"bins": 5, "min": -1, "max": 2}),
    ("sort", torch.sort, (some(3, 4),), {"dim": 0, "descending": True}),
    ("argsort", torch.argsort, (some(3, 4),), {}),
    ("topk", torch.topk, (some(3, 4), 2), {"dim": 0, "largest": False}),
    ("max", torch.max, (some(3, 4), 1), {"keepdim": True}),
    ("min", torch.min, (some(3, 4), 0), {}),
    ("median", torch.median, (some(3, 4), 1), {}),
    ("kthvalue", torch.kthvalue, (some(3, 4), 2), {"dim": 0, "keepdim": True}),
    ("dist", torch.dist, (some(3, 4), some(4)), {"p": 3}),
    ("moveaxis", torch.moveaxis, (some(2, 3, 4), 0, 2), {}),
    ("div", torch.div, (some(3, 4), some(4)), {"rounding_mode": "trunc"}),
    ("var", torch.var, (some(3, 4), False), {}),
    ("special.expm1", torch.special.expm1, (some(3),), {}),
    ("diagflat", torch.diagflat, (some(3), 1), {}),
    *(("nn.functional.interpolate", F.interpolate, (some(2, 3, 5, 7),), {"mode": mode, **sizes})
      for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")
      for sizes in ({"size": (3, 11)}, {"scale_factor": 1.5}, {"scale_factor": (2.0, 0.7)})),
    ("nn.functional.interpolate", F.interpolate, (some(2, 3, 5, 7),),
     {"mode": "bicubic", "scale_factor": 1.7, "recompute_scale_factor": True, "align_corners": True}),
    ("nn.functional.upsample_nearest", F.upsample_nearest, (some(2, 3, 5, 7),), {"size": (10, 3)}),
    ("nn.functional.upsample_bilinear", F.upsample_bilinear, (some(2, 3, 5, 7),), {"scale_factor": 2}),
    ("nn.functional.max_unpool1d", F.max_unpool1d, (some(2, 2, 2), np.array([[[0, 3], [1, 2]]] * 2), 2), {}),
    ("nn.functional.max_unpool1d", F.max_unpool1d, (some(1, 1, 2), np.array([[[0, 4]]]), 2), {"output_size": (5,)}),
    *(("nn.functional.ctc_loss", F.ctc_loss,
       (np.log(RANDOM.dirichlet(np.ones(4), (6, 2))), np.array([[1, 1, 2], [2, 3, 0]]), np.array([6, 5]),
        np.array([3, 2])), {"reduction": reduction}) for reduction in ("mean", "sum", "none")),
    ("special.round", torch.special.round, (some(9) * 1e4,), {"decimals": -2}),
    ("round", torch.round, (some(9),), {"decimals": 3}),
    *((f"masked.{name}", getattr(torch.masked, name), (some(3, 4), 1), {"mask": SHOWN})
      for name in "sum prod amax amin argmax argmin logsumexp cumsum cumprod mean var std".split()),
    *((f"masked.{name}", getattr(torch.masked, name), (some(3, 4), 1), {})
      for name in ("softmax", "softmin", "log_softmax")),
    *((f"masked.{name}", getattr(torch.masked, name), (some(), 0), {}) for name in ("cumsum", "cumprod")),
    ("masked.norm", torch.masked.norm, (some(3, 4), 3.0, 0), {"mask": SHOWN}),
    *((f"signal.windows.{name}", getattr(torch.signal.windows, name), (7,), {"sym": sym, "dtype": torch.float64})
      for name in "hann hamming blackman nuttall general_hamming bartlett cosine exponential gaussian".split()
      for sym in (True, False)),
    ("signal.windows.general_cosine", torch.signal.windows.general_cosine, (7,),
     {"a": [0.4, 0.3, 0.2], "dtype": torch.float64}),
    *((name, getattr(torch, name), (some(2, 3), dim), {"keepdim": keepdim})
      for name in "sum mean amax amin var std nansum nanmean".split() for dim in ((), []) for keepdim in (True, False)),
    *((name, getattr(torch, name), (some(2, 3), ()), {}) for name in ("count_nonzero",)),
    ("logsumexp", torch.logsumexp, (some(2, 3), ()), {"keepdim": True}),
    ("norm", torch.norm, (some(2, 3), 2.0, ()), {}),
    *((f"masked.{name}", getattr(torch.masked, name), (some(3, 4), ()), {"mask": SHOWN})
      for name in "sum prod amax amin logsumexp mean var std".split()),
    ("masked.norm", torch.masked.norm, (some(3, 4), 3.0, ()), {"mask": SHOWN}),
    ("roll", torch.roll, (some(2, 3), 1, ()), {}),
    ("roll", torch.roll, (some(2, 3), [1, 2], [0, 1]), {}),
    ("pow", torch.pow, (COMPLEX, 2), {}),
    ("pow", torch.pow, (COMPLEX, 0.5), {}),
    ("pow", torch.pow, (2, COMPLEX), {}),
    ("pow", torch.pow, (COMPLEX, COMPLEX), {}),
    ("pow", torch.pow, (np.array([3**30, -(3**35)]), 1), {}),
    ("pow", torch.pow, (np.array([2, 3], "int8"), np.array([6, 4])), {}),
    *((name, getattr(torch, name), (np.array([0, 1, 200], "uint8"), number), {})
      for name in "add sub mul".split() for number in (-1, 100)),
    ("sign", torch.sign, (np.array([-2.0, 0.0, np.inf]),), {}),
    *((f"special.{name}", getattr(torch.special, name), (some(40), DEGREES), {})
      for name in (*POLYNOMIALS,)),
)  # fmt: skip


def tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, tuple) and any(isinstance(item, np.ndarray) for item in value):
        return tuple(tensors(item) for item in value)
    return value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "function", "args", "kwargs"), CASES)
def test_torch_agrees(name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
    said = numpy_result(name, args, kwargs)
    given = function(*map(tensors, args), **{key: tensors(value) for key, value in kwargs.items()})
    several = isinstance(given, tuple)
    assert said is not None
    for one, other in zip(said if several else (said,), given if several else (given,), strict=True):
        assert one.shape == tuple(other.shape)
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-9, atol=1e-9)


INF, NAN, GREAT = np.inf, np.nan, 1e308


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("pow", (np.array([2, -1]), np.array([-1, -2]))),
        ("pow", (np.array([2, 5]), np.array([70, 30]))),
        ("pow", (np.array([2], "int8"), 8)),
        ("pow", (np.array([0j, 1j]), -1)),
        ("pow", (np.array([INF + 1j]), 2)),
        ("sign", (np.array([NAN, 1.0]),)),
        ("searchsorted", (np.array([1.0, 2.0]), np.array([NAN]))),
        ("searchsorted", (np.array([1.0, NAN]), np.array([3.0]))),
    ],
)
def test_numpy_has_no_opinion_where_frameworks_are_free(name: str, args: tuple[Any, ...]) -> None:
    assert numpy_result(name, args, {}) is None


#: Arguments for which a formula gives NaN or underflows if it is computed as written.
INFINITE: tuple[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], ...] = (
    ("logsumexp", torch.logsumexp, (np.array([-INF, -INF]), 0), {}),
    ("logsumexp", torch.logsumexp, (np.array([[INF, 1.0], [-INF, 1.0]]), 1), {"keepdim": True}),
    ("masked.logsumexp", torch.masked.logsumexp, (np.array([[INF, 1.0], [-INF, 2.0]]), 1), {}),
    ("masked.logsumexp", torch.masked.logsumexp, (np.array([[0.0, 1.0], [-2000.0, -2001.0]]), 1), {}),
    ("sort", torch.sort, (np.array([INF, 1.0, -INF]),), {}),
    ("topk", torch.topk, (np.array([INF, 1.0, -INF]), 2), {}),
)  # fmt: skip


@pytest.mark.parametrize(("name", "function", "args", "kwargs"), INFINITE)
def test_torch_agrees_about_infinities(
    name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
) -> None:
    test_torch_agrees(name, function, args, kwargs)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("lerp", (np.array([INF]), np.array([1.0]), 0.7)),
        ("cdist", (np.array([[INF]]), np.array([[INF]]), 0.0)),
        ("matmul", (np.array([GREAT, GREAT, -GREAT]), np.array([7.0, -7.0, 1.0]))),
        ("addmm", (np.zeros((1, 1)), np.array([[GREAT, -GREAT]]), np.array([[7.0], [7.0]]))),
        ("std", (np.array([GREAT, -GREAT]),)),
        ("inner", (np.array([-0.0]), np.array([[NAN], [1.0]]))),
        ("fft.rfft", (np.array([INF, 1.0]),)),
        (
            "nn.functional.scaled_dot_product_attention",
            (np.ones((2, 2)), np.ones((2, 2)), np.array([[1, 1], [NAN, 1]])),
        ),
        ("nn.functional.group_norm", (some(1, 2, 3), 1, np.array([INF, 1.0]))),
    ],
)
def test_numpy_has_no_opinion_where_the_order_of_computing_decides(name: str, args: Any) -> None:
    with pytest.raises(OrderDependent):
        numpy_result(name, args, {})


@pytest.mark.parametrize("name", ["all", "any", "sum", "amax"])
def test_all_and_any_over_no_dimension_reduce_none_and_sums_reduce_all(name: str) -> None:
    x = np.array([[1.0, 0.0]])
    own = numpy_result(name, (x,), {"dim": ()})
    try:
        expected = getattr(torch, name)(torch.from_numpy(x), dim=())
    except TypeError:
        pytest.skip(f"this torch refuses no dimension in {name}")
    assert np.asarray(own).tolist() == expected.tolist()


def test_what_overflows_in_any_order_is_infinite() -> None:
    assert numpy_result("mul", (np.array([GREAT]), np.array([-GREAT])), {}) == [-INF]
    assert numpy_result("polar", (np.array([INF]), np.array([2.0])), {}) == [complex(-INF, INF)]
    assert numpy_result("exp", (np.array([800.0, -GREAT]),), {}).tolist() == [INF, 0.0]


def test_the_logarithm_of_the_gamma_function_is_that_of_c_at_minus_infinity() -> None:
    assert special_result("special.gammaln", (np.array([-INF]),), {})[1] == [INF]


@pytest.mark.parametrize("args", [("special.gammaln",), ("mvlgamma", 1)])
def test_subnormal_numbers_are_no_poles_of_the_gamma_function(args: tuple[Any, ...]) -> None:
    name, *rest = args
    (found,) = special_result(name, (np.array([5e-324]), *rest), {})[1]
    assert found == pytest.approx(744.4400719213812)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("linalg.inv", (np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]]),)),
        ("inverse", (np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]]),)),
        ("mode", (np.array([1.0, 2.0]),)),
        ("histc", (np.array([0.0, 1.0]), 2, 0, 2)),
        ("index_put", (np.zeros(3), (np.array([1, 1]),), np.array([1.0, 2.0]))),
        ("heaviside", (np.array([np.nan]), np.array([0.5]))),
        ("nn.functional.max_unpool1d", (np.array([[1.0, 2.0]]), np.array([[1, 1]]), 2)),
        ("nn.functional.interpolate", (np.ones((1, 1, 10)), 9 * 10**6)),
        ("special.laguerre_polynomial_l", (np.ones(1), np.array([50]))),
        ("linalg.inv", (np.array([[1.0, INF], [0.0, 1.0]]),)),
        ("signal.windows.kaiser", (5,)),
        ("quantile", (np.array([0.5, 1.0, INF]), 0.5)),  # the middle one, as torch says; NumPy says NaN
        ("nanquantile", (np.array([-INF, 1.0, NAN, 2.0]), 0.5)),
        ("trapezoid", (np.array([1, 2], "uint8"), np.array([3, 1], "uint8"))),
        ("cumulative_trapezoid", (np.array([9, 9], "int8"), np.array([-60, 60], "int8"))),
        (
            "nn.functional.cosine_embedding_loss",
            (np.full((2, 3), 16, "uint8"), np.full((2, 3), 2, "uint8"), np.ones(2)),
        ),
    ],
)
def test_numpy_has_no_opinion_where_the_answer_is_anybodys(name: str, args: Any) -> None:
    assert numpy_result(name, args, {}) is None


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("sort", (np.array([1.0, 2.0, 1.0]),)),
        ("topk", (np.array([1.0, 2.0, 2.0]), 2)),
        ("max", (np.array([1.0, 2.0, 2.0]), 0)),
        ("median", (np.array([2.0, 1.0, 1.0]), 0)),
        ("kthvalue", (np.array([2.0, 1.0, 1.0]), 1)),
        ("sort", (np.array([INF, 1.0, INF]),)),
        ("topk", (np.array([-INF, -INF, 1.0]), 2)),
    ],
)
def test_of_equal_elements_any_may_be_the_one(name: str, args: Any) -> None:
    values, places = numpy_result(name, args, {})
    assert values is not None
    assert places is None


def test_numpy_has_no_opinion_about_attention_of_a_wholly_masked_row() -> None:
    operands = some(2, 4), some(3, 4), some(3, 5)
    masked = np.array([[True, False, True], [False, False, False]])
    assert numpy_result("nn.functional.scaled_dot_product_attention", (*operands, masked), {}) is None
    assert numpy_result("nn.functional.scaled_dot_product_attention", (*operands, SHOWN[:2, :3]), {}) is not None


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_numpy_has_no_opinion_about_a_softmax_in_another_dtype(name: str) -> None:
    ones = np.ones(3, "float32")
    assert numpy_result(f"nn.functional.{name}", (ones, 0), {"dtype": torch.float64}) is None
    assert numpy_result(f"nn.functional.{name}", (ones, 0), {"dtype": None}).dtype == "float32"


def test_numpy_has_no_opinion_about_a_condition_by_keyword() -> None:
    yes, ones = np.array([True]), np.ones(1)
    assert numpy_result("Tensor.where", (ones,), {"condition": yes, "other": ones}) is None
    assert numpy_result("Tensor.where", (ones, yes, 2 * ones), {}) == 1
