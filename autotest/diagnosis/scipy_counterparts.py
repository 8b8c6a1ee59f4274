"""What SciPy computes for a special function, or its formula where that is not installed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.numpy_special import FUNCTIONS
from autotest.program.semantics import plain_name

#: Their names in `scipy.special`, by torch's.
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
    """Who computes the special function `name`, and the result; None where nobody does."""
    plain = plain_name(name)
    if name.startswith("Tensor.polygamma"):
        args = (args[1], args[0])  # x.polygamma(n)
    with np.errstate(all="ignore"), contextlib.suppress(Exception):  # a form of the call that it does not know
        if plain in _NAMES and args and not kwargs and (scipy := _scipy(_NAMES[plain], args)) is not None:
            return "SciPy", scipy
        if plain in FUNCTIONS:
            return "its formula", FUNCTIONS[plain](*args, **kwargs)
    return None


def _scipy(own: str, args: Sequence[Any]) -> Any:
    if own == "polygamma" and (np.equal(np.floor(args[1]), args[1]) & np.less_equal(args[1], 0)).any():
        return None  # at its poles, SciPy means another limit than torch
    if own == "gammaln" and np.isneginf(args[0]).any():
        return None  # where C has infinity, SciPy has minus infinity
    try:
        return np.asarray(getattr(importlib.import_module("scipy.special"), own)(*args))
    except (ImportError, AttributeError, TypeError):
        return None
