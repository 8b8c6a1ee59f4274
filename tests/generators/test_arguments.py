"""Arguments drawn from a signature: reproducible by seed, of accepted types, and adapted after refusals."""

from __future__ import annotations

import numpy as np

from generators import Source
from generators.arguments import ArgumentSampler, Parameter, TensorSpec, contents

SIGNATURE = (Parameter("input", "tensor"), Parameter("dim", "integer"), Parameter("keepdim", "flag", optional=True))


def test_the_same_seed_draws_the_same_arguments() -> None:
    assert ArgumentSampler(SIGNATURE).draw(Source(3)) == ArgumentSampler(SIGNATURE).draw(Source(3))


def test_each_parameter_is_given_what_it_takes() -> None:
    source = Source(0)
    drawn = [ArgumentSampler(SIGNATURE).draw(source).arguments for _ in range(20)]
    assert all(isinstance(one["input"], TensorSpec) and type(one["dim"]) is int for one in drawn)
    assert {"keepdim" in one for one in drawn} == {True, False}


def test_tensors_of_one_call_often_have_one_shape() -> None:
    source = Source(0)
    pairs = [
        ArgumentSampler((Parameter("x", "tensor"), Parameter("y", "tensor"))).draw(source).arguments for _ in range(40)
    ]
    assert sum(one["x"].shape == one["y"].shape for one in pairs) > 20


def test_what_is_refused_is_drawn_less_often_and_what_is_accepted_more_often() -> None:
    def zeros(arguments: ArgumentSampler) -> int:
        source = Source(5)
        return sum(arguments.draw(source).arguments["dim"] == 0 for _ in range(60))

    taught, source = ArgumentSampler(SIGNATURE), Source(1)
    for _ in range(60):
        drawn = taught.draw(source)
        taught.learn(drawn, accepted=drawn.arguments["dim"] == 0)
    assert zeros(taught) > 2 * zeros(ArgumentSampler(SIGNATURE))


def test_contents_are_what_was_asked_for() -> None:
    values, dtype = contents(TensorSpec((2, 3), "values"), "float32", 1)
    assert (values.shape, values.dtype, dtype) == ((2, 3), np.float32, "float32")
    places, dtype = contents(TensorSpec((4,), "indices"), "float32", 1)
    assert dtype == "int64"
    assert set(places.tolist()) <= {0, 1}
    positive, _ = contents(TensorSpec((9,), "positive"), "float64", 2)
    assert (positive > 0).all()
