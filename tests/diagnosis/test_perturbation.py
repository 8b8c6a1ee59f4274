"""The rounding errors that inputs are changed by are drawn as NumPy draws them for the seed of the run."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.diagnosis.rounding.perturbation import perturbed
from autotest.program import Array


@pytest.mark.parametrize("run", [4, 5])
def test_a_run_draws_what_numpy_draws_for_its_seed_each_time(run: int) -> None:
    array = Array(np.linspace(1, 2, 60), "float64")
    random, masks = (np.random.Generator(np.random.SFC64(seed)) for seed in ((run, 0), (run // 2, 1)))
    changed = masks.integers(0, 2, 60) == run % 2
    expected = array.data * (1 + random.uniform(-1e-3, 1e-3, 60) * changed)
    for _ in range(2):  # the state of the seed is kept, and must not be the one that a generator changes
        (moved,) = perturbed([array], 1e-3, run)
        assert (moved.data == expected).all()
