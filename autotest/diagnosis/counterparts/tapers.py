"""The window functions of ``torch.signal.windows``, except Kaiser's, which torch scales in single precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values

_OF_THE_TENSOR = ("dtype", "layout", "device", "requires_grad")


def _taper(shape: Callable[..., Values]) -> NumpyFunction:
    """Return the window function of `shape`, which takes the elements' positions in [0, 1] and the number of steps."""

    def window(M: int, *args: Any, sym: bool = True, **named: Any) -> Any:  # noqa: N803 - the operators' own name
        if M < 2:
            raise Unsupported
        steps = M - 1 if sym else M
        kept = {key: value for key, value in named.items() if key not in _OF_THE_TENSOR}
        return shape(np.arange(M) / steps, steps, *args, **kept)

    return window


def _cosines(weights: Sequence[float]) -> Callable[..., Values]:
    def shape(at: Values, steps: int) -> Values:
        terms = [(-1) ** k * weight * np.cos(2 * np.pi * k * at) for k, weight in enumerate(weights)]
        return np.asarray(sum(terms))

    return shape


def _exponential(at: Values, steps: int, *, center: Any = None, tau: float = 1.0) -> Values:
    middle = steps / 2 if center is None else center
    return np.asarray(np.exp(-np.abs(at * steps - middle) / tau))


def _gaussian(at: Values, steps: int, *, std: float = 1.0) -> Values:
    return np.asarray(np.exp(-(((at - 0.5) * steps / std) ** 2) / 2))


def _half_sine(at: Values, steps: int) -> Values:
    # The window extends half a sample to both sides, so that its ends are not zero.
    return np.asarray(np.sin(math.pi * (at * steps + 0.5) / (steps + 1)))


TAPERS: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "hann": _taper(_cosines((0.5, 0.5))),
        "hamming": _taper(_cosines((0.54, 0.46))),
        "blackman": _taper(_cosines((0.42, 0.5, 0.08))),
        "nuttall": _taper(_cosines((0.3635819, 0.4891775, 0.1365995, 0.0106411))),
        "general_hamming": _taper(lambda at, steps, *, alpha=0.54: _cosines((alpha, 1 - alpha))(at, steps)),
        "general_cosine": _taper(lambda at, steps, *, a: _cosines(a)(at, steps)),
        "bartlett": _taper(lambda at, steps: 1 - np.abs(2 * at - 1)),
        "cosine": _taper(_half_sine),
        "exponential": _taper(_exponential),
        "gaussian": _taper(_gaussian),
    }
)
