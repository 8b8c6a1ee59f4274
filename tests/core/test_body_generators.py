"""Python's and NumPy's own generators are seeded for each trial whose body draws from them, and only for these."""

from __future__ import annotations

import random

import numpy as np
import pytest

from autotest.trials import body_generators
from autotest.trials.body_generators import BodyGenerators

# ruff: noqa: NPY002 - these generators are tested


@pytest.fixture(autouse=True)
def _as_before():
    python, numpy = random.getstate(), np.random.get_state()
    yield
    random.setstate(python)
    np.random.set_state(numpy)


def drawn(seed, draw):
    body_generators.seed(seed)
    return draw()


DRAWS = {
    "random.random": random.random,
    "random.gauss": lambda: random.gauss(0, 1),
    "numpy.random.rand": np.random.rand,
    "numpy.random.normal": np.random.normal,
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_every_trial_draws_as_it_does_alone(draw):
    generators = BodyGenerators()
    assert [generators.run(seed, draw) for seed in range(3)] == [drawn(seed, draw) for seed in range(3)]


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("first", [1, 5, 64, 65])
def test_a_body_that_begins_to_draw_late_draws_as_it_does_alone(draw, first):
    generators = BodyGenerators()

    def run(seed):
        return generators.run(seed, draw if seed >= first else lambda: None)

    given = [run(seed) for seed in range(first + 3)][first:]
    assert given == [drawn(seed, draw) for seed in range(first, first + 3)]


@pytest.mark.parametrize("end", [ValueError, pytest.fail.Exception, pytest.skip.Exception])
def test_what_an_unseeded_trial_raised_is_what_it_raises_seeded(end):
    generators = BodyGenerators()

    def fails():
        raise end(str(random.random()))

    generators.run(0, lambda: None)
    with pytest.raises(end, match=str(drawn(1, random.random))):
        generators.run(1, fails)


def test_a_body_that_draws_nothing_runs_once_a_trial_and_is_seeded_once():
    generators, runs, states = BodyGenerators(), [], set()
    for seed in range(10):
        generators.run(seed, lambda: (runs.append(0), states.add(random.getstate()[1][:-1])))
    assert len(runs) == 10
    assert len(states) == 2  # the state of a seed is computed when the first number is drawn
