"""Reductions: sums, means, extremes, norms, variances, running sums, sorting."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch

LAYOUTS = oneof("contiguous", "transposed", "strided", "offset", "expanded")
#: Drawn elements differ, because the deviation of equal elements has its own test.
SPREAD = {"contents": "uniform", "layout": oneof("contiguous", "transposed", "strided", "offset")}


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min"])
@autotest()
def test_of_all_elements(name):
    x = random_tensor(ndim=random(0, 6), dim0=None, low=0.5, high=1.5, layout=LAYOUTS)
    return getattr(torch, name)(x)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "logsumexp"])
@autotest()
def test_along_one_dimension(name):
    ndim = random(1, 6).to(int)
    x = random_tensor(ndim=ndim, dim0=None, low=-2, high=2, layout=LAYOUTS)
    return getattr(torch, name)(x, dim=random(-ndim, ndim), keepdim=random_bool())


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "logsumexp"])
@autotest()
def test_along_two_dimensions(name):
    x = random_tensor(ndim=4, dim0=None, low=-2, high=2)
    return getattr(torch, name)(x, dim=oneof((0, 2), (1, -1), (3, 0), (1, 2)), keepdim=random_bool())


@pytest.mark.parametrize("name", ["max", "min"])
@autotest()
def test_extremes_with_their_places(name):
    ndim = random(1, 5).to(int)
    x = random_tensor(ndim=ndim, dim0=None, low=-2, high=2)
    values, places = getattr(torch, name)(x, dim=random(-ndim, ndim), keepdim=random_bool())
    return values, places


@pytest.mark.parametrize("name", ["amax", "amin", "max", "min"])
@autotest()
def test_extremes_share_the_gradient_of_ties(name):
    x = random_tensor(ndim=2, dim0=3, dim1=6, low=0, high=2, contents="integers")
    return getattr(torch, name)(x)


@pytest.mark.parametrize("name", ["amax", "amin", "sum", "mean", "prod", "logsumexp"])
@autotest(auto_backward=False)
def test_of_special_values(name):
    x = random_tensor(ndim=2, dim0=5, dim1=4, low=-2, high=2, contents="special", requires_grad=False)
    return getattr(torch, name)(x, dim=1)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@autotest(auto_backward=False)
def test_places_of_extremes(name):
    ndim = random(1, 5).to(int)
    x = random_tensor(ndim=ndim, dim0=None, low=-9, high=9, dtype=oneof("float32", "float64", "int64"))
    return getattr(torch, name)(x, dim=random(-ndim, ndim), keepdim=random_bool()), getattr(torch, name)(x)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@autotest(auto_backward=False)
def test_places_of_extremes_among_special_values(name):
    x = random_tensor(ndim=2, dim0=5, dim1=4, contents="special", requires_grad=False)
    return getattr(torch, name)(x, dim=oneof(0, 1))


@pytest.mark.parametrize("name", ["all", "any"])
@autotest(auto_backward=False)
def test_of_booleans(name):
    ndim = random(1, 5).to(int)
    x = random_tensor(ndim=ndim, dim0=None, dtype=bool)
    return getattr(torch, name)(x), getattr(torch, name)(x, dim=random(-ndim, ndim), keepdim=random_bool())


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@autotest(auto_backward=False)
def test_of_other_dtypes(name):
    dtype = oneof("float64", "float32") if name == "mean" else oneof("int32", "int64", "int8", "uint8", "float64")
    x = random_tensor(ndim=2, dim0=3, dim1=4, low=1, high=4, dtype=dtype, requires_grad=False)
    return getattr(torch, name)(x), getattr(torch, name)(x, dim=0)


@pytest.mark.parametrize("name", ["std", "var"])
@autotest()
def test_spread(name):
    ndim = random(1, 5).to(int)
    x = random_tensor(ndim=ndim, dim0=random(2, 6), dim1=random(2, 6), dim2=3, dim3=2, low=-2, high=2, **SPREAD)
    return getattr(torch, name)(x, dim=random(-ndim, ndim), unbiased=random_bool(), keepdim=random_bool())


@pytest.mark.parametrize("name", ["std", "var"])
@autotest(auto_backward=False)
def test_spread_of_equal_elements(name):
    x = random_tensor(shape=(4, 1), low=-9, high=9, contents="uniform", requires_grad=False)
    return getattr(torch, name)(x.expand(4, random(2, 9).to(int)), dim=1)


@pytest.mark.parametrize("name", ["std", "var"])
@autotest(n=10)
def test_gradient_of_the_spread_of_equal_elements(name):
    # Equal integers, whose deviation is exactly 0 on both sides.
    x = random_tensor(shape=(4, 1), low=-9, high=9, contents="integers")
    return getattr(torch, name)(x.expand(4, random(2, 9).to(int)), dim=1)


class TestReduction(unittest.TestCase):
    @autotest()
    def test_methods(self):
        x = random_tensor(ndim=3, dim0=None, dim1=random(2, 6), low=-2, high=2, **SPREAD)
        return (
            x.sum(dim=random(0, 3)),
            x.mean(dim=(0, 1)),
            x.sum(),
            x.amax(dim=1),
            x.std(),
            x.var(dim=2, unbiased=False),
        )

    @autotest(n=10, auto_backward=False)
    def test_sum_of_nothing_is_zero(self):
        x = random_tensor(shape=oneof((0,), (2, 0), (0, 3)), requires_grad=False)
        return torch.sum(x)

    @autotest()
    def test_nansum(self):
        x = random_tensor(ndim=2, dim0=4, dim1=5, low=-2, high=2)
        return torch.nansum(torch.where(x > 1, x * float("nan"), x), dim=random(0, 2), keepdim=random_bool())

    @autotest()
    def test_cumsum(self):
        ndim = random(1, 5).to(int)
        x = random_tensor(ndim=ndim, dim0=None, low=-2, high=2, layout=LAYOUTS)
        return torch.cumsum(x, dim=random(-ndim, ndim))

    @autotest()
    def test_cumprod(self):
        ndim = random(1, 5).to(int)
        x = random_tensor(ndim=ndim, dim0=None, low=0.5, high=1.5)
        return torch.cumprod(x, dim=random(-ndim, ndim))

    @autotest()
    def test_median(self):
        x = random_tensor(ndim=2, dim0=random(1, 5), dim1=random(1, 6), low=-2, high=2, contents="distinct")
        values, places = torch.median(x, dim=oneof(0, 1, -1), keepdim=random_bool())
        return torch.median(x), values, places

    @autotest()
    def test_norm(self):
        x = random_tensor(ndim=2, dim0=None, low=0.5, high=2)
        return torch.norm(x), torch.norm(
            x, p=oneof(1.0, 2.0, 3.0, float("inf")), dim=random(0, 2), keepdim=random_bool()
        )


class TestOrder(unittest.TestCase):
    """Elements are distinct if the order of equal ones is unspecified.

    OneFlow returns indices in int32 (see the ledger). The first test of each operator shows this, and the others
    compare the values.
    """

    @autotest(n=5, auto_backward=False, special_values=False)
    def test_dtype_of_places_of_sort(self):
        # Without NaN, which OneFlow does not move. This has a test below, and would hide the dtype.
        return torch.sort(random_tensor(shape=(6,), requires_grad=False))[1]

    @autotest(n=10, auto_backward=False)
    def test_dtype_of_places_of_argsort(self):
        return torch.argsort(random_tensor(shape=(12,), requires_grad=False))

    @autotest(n=5, auto_backward=False)
    def test_dtype_of_places_of_unique(self):
        return torch.unique(random_tensor(shape=(6,), high=3, dtype=int), return_inverse=True)

    @autotest(check_dtype=False)
    def test_sort(self):
        ndim = random(1, 4).to(int)
        x = random_tensor(ndim=ndim, dim0=None, low=-9, high=9, contents="distinct")
        values, places = torch.sort(x, dim=random(-ndim, ndim), descending=random_bool())
        return values, places

    @autotest(auto_backward=False, check_dtype=False)
    def test_argsort(self):
        ndim = random(1, 4).to(int)
        dtype = oneof("float32", "float64", "int64")
        x = random_tensor(ndim=ndim, dim0=None, low=-200, high=200, dtype=dtype, contents="distinct")
        return torch.argsort(x, dim=random(-ndim, ndim), descending=random_bool())

    @autotest()
    def test_topk(self):
        x = random_tensor(ndim=2, dim0=None, dim1=random(4, 8), low=-9, high=9, contents="distinct")
        values, places = torch.topk(x, random(1, 5).to(int), dim=1, largest=random_bool() | nothing())
        return values, places

    @autotest(auto_backward=False, check_dtype=False)
    def test_sorted_values_with_ties(self):
        x = random_tensor(ndim=1, dim0=random(2, 12), contents="ties", requires_grad=False)
        return torch.sort(x)[0]

    @autotest(auto_backward=False, check_dtype=False)
    def test_sorted_values_with_nan(self):
        # So many that several are special: for a single NaN at the end, both sides agree.
        x = random_tensor(ndim=1, dim0=random(8, 20), contents="special", requires_grad=False)
        return torch.sort(x)[0]

    @autotest(auto_backward=False, check_dtype=False)
    def test_unique(self):
        x = random_tensor(ndim=1, dim0=random(1, 12), low=0, high=6, dtype=oneof("int64", "int32"))
        values, places, counts = torch.unique(x, sorted=True, return_inverse=True, return_counts=True)
        return values, places, counts

    @autotest(auto_backward=False)
    def test_searchsorted(self):
        edges = random_tensor(ndim=1, dim0=random(1, 9), contents="sorted", requires_grad=False)
        x = random_tensor(ndim=2, dim0=None, requires_grad=False)
        return torch.searchsorted(edges, x, right=random_bool())

    @autotest(auto_backward=False)
    def test_bincount(self):
        x = random_tensor(ndim=1, dim0=random(1, 12), low=0, high=6, dtype=int)
        return torch.bincount(x, minlength=random(0, 9).to(int) | nothing())
