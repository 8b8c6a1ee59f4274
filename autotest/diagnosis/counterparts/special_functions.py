"""Computes special functions with SciPy, or by formula if SciPy is not installed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.special_series import FUNCTIONS
from autotest.program.semantics import plain_name

#: The names of special functions in `scipy.special`, by their names in torch.
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in "erf erfc erfcx erfinv ndtr ndtri log_ndtr expit logit i0 i0e i1 i1e zeta".split()},
        **{name: name for name in "polygamma gammainc gammaincc xlog1py xlogy entr".split()},
        "lgamma": "gammaln",
        "gammaln": "gammaln",
        "digamma": "psi",
        "psi": "psi",
        "mvlgamma": "multigammaln",
        "igamma": "gammainc",
        "igammac": "gammaincc",
        "bessel_j0": "j0",
        "bessel_j1": "j1",
        "bessel_y0": "y0",
        "bessel_y1": "y1",
        "modified_bessel_i0": "i0",
        "modified_bessel_i1": "i1",
        "modified_bessel_k0": "k0",
        "modified_bessel_k1": "k1",
        "scaled_modified_bessel_k0": "k0e",
        "scaled_modified_bessel_k1": "k1e",
    }
)


def special_result(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the name of the oracle for the special function `name` and its result; None if there is no oracle."""
    plain = plain_name(name)
    if name.startswith("Tensor.polygamma"):
        args = (args[1], args[0])  # x.polygamma(n)
    with np.errstate(all="ignore"), contextlib.suppress(Exception):  # the oracle may not support these arguments
        if plain in _NAMES and args and not kwargs and (scipy := _scipy(_NAMES[plain], args)) is not None:
            return "SciPy", scipy
        if plain in FUNCTIONS:
            return "its formula", FUNCTIONS[plain](*args, **kwargs)
    return None


def _scipy(own: str, args: Sequence[Any]) -> Any:
    if own == "polygamma" and (np.equal(np.floor(args[1]), args[1]) & np.less_equal(args[1], 0)).any():
        return None  # at its poles, SciPy takes another limit than torch
    if own == "gammaln" and np.isneginf(args[0]).any():
        return None  # C's lgamma returns infinity here, SciPy minus infinity
    if own in ("gammaln", "multigammaln") and (np.abs(args[0]) < np.finfo(np.float64).tiny).any():
        return None  # SciPy takes subnormal numbers for zero
    try:
        return np.asarray(getattr(importlib.import_module("scipy.special"), own)(*args))
    except (ImportError, AttributeError, TypeError):
        return None
