"""Inside of `warnings_off`, NumPy neither warns nor raises; afterwards it does what it did before."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from autotest.base.numpy_warnings import warnings_off

GREATEST = np.array([np.finfo(np.float64).max])


def overflow() -> None:
    assert np.isinf(GREATEST * 2).all()


def test_nothing_is_warned_of_or_raised_inside() -> None:
    with np.errstate(all="raise"), warnings_off():
        overflow()
        assert np.isnan(GREATEST * 0 / 0).all()


@pytest.mark.parametrize("fails", [False, True])
def test_afterwards_it_is_as_before(fails: bool) -> None:
    with np.errstate(over="raise", invalid="warn", divide="ignore"):
        before = np.geterr()
        with contextlib.suppress(KeyError), warnings_off(), warnings_off():
            overflow()
            if fails:
                raise KeyError
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            overflow()


def test_the_size_of_buffers_stays_what_the_process_set() -> None:
    before = np.setbufsize(4096)
    try:
        with warnings_off():
            assert np.getbufsize() == 4096
        assert np.getbufsize() == 4096
    finally:
        np.setbufsize(before)
