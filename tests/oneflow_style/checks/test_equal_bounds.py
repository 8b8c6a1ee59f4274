"""In OneFlow's style, a tensor whose bounds are equal has that number in it."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.oneflow.generators import drawn_array
from generators import Source, using


@pytest.mark.parametrize("number", [0.7, 0.1, -0.7, 0.9, 1, 0])
def test_equal_bounds_give_that_number(number: float) -> None:
    with using(Source(1)):
        values = drawn_array(1, (5,), number, number, "float32").value().data
    assert values.tolist() == [np.float32(number)] * 5
