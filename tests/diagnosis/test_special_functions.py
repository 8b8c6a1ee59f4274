"""Formulas of special functions: torch agrees with each, where it is equally exact."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autotest.diagnosis.counterparts.special_series import FUNCTIONS

EVERYWHERE = np.linspace(-8.87, 8.91, 61)
POSITIVE = np.linspace(0.013, 9.1, 61)
BETWEEN = np.linspace(0.001, 0.999, 61)
SMALL = np.linspace(-2.9, 2.95, 61)
CASES = {
    **dict.fromkeys("erf erfc erfcx ndtr log_ndtr gammaln digamma psi".split(), (EVERYWHERE,)),
    **dict.fromkeys("i0 i0e i1 i1e modified_bessel_i0 modified_bessel_i1 spherical_bessel_j0".split(), (EVERYWHERE,)),
    **dict.fromkeys("modified_bessel_k0 modified_bessel_k1".split(), (EVERYWHERE,)),
    **dict.fromkeys("scaled_modified_bessel_k0 scaled_modified_bessel_k1".split(), (EVERYWHERE,)),
    **dict.fromkeys("bessel_j0 bessel_j1 bessel_y0 bessel_y1".split(), (SMALL,)),
    "ndtri": (BETWEEN,),
    "erfinv": (2 * BETWEEN - 1,),
    "zeta": (POSITIVE + 1, POSITIVE[::-1]),
    "gammainc": (POSITIVE, POSITIVE[::-1]),
    "gammaincc": (POSITIVE, POSITIVE[::-1]),
    "polygamma": (2, POSITIVE),
    "multigammaln": (POSITIVE + 2, 3),
}


def computed(name, args):
    given = [torch.from_numpy(one.copy()) if isinstance(one, np.ndarray) else one for one in args]
    return getattr(torch.special, name)(*given).numpy()


@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name):
    np.testing.assert_allclose(FUNCTIONS[name](*CASES[name]), computed(name, CASES[name]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["bessel_j1", "i1", "i1e", "erf", "erfinv", "spherical_bessel_j0"])
def test_small_numbers_have_all_their_digits(name):
    small = np.array([0.0, 1e-14, -3e-9, 2e-5])
    np.testing.assert_allclose(FUNCTIONS[name](small), computed(name, (small,)), rtol=1e-9, atol=0)


def test_every_formula_is_tried_by_one_of_its_names():
    others = {"lgamma": "gammaln", "mvlgamma": "multigammaln", "igamma": "gammainc", "igammac": "gammaincc"}
    assert {others.get(name, name) for name in FUNCTIONS} == set(CASES)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("digamma", (-1.0,)),
        ("digamma", (np.inf,)),
        ("zeta", (0.5, 1.0)),
        ("bessel_j0", (5.0,)),
        ("igamma", (500.0, 1.0)),
    ],
)
def test_a_formula_has_no_opinion_at_a_pole_or_where_torch_itself_is_not_exact(name, args):
    with pytest.raises(ValueError, match=r"^$"):
        FUNCTIONS[name](*args)
