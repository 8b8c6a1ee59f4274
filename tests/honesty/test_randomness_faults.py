"""Faults of random numbers and of generators (14 to 17)."""

from __future__ import annotations

import math

import pytest
import torch as real

from autotest import Divergence, TooFewAccepted, autotest, nothing, random, random_tensor, torch
from tests.support.faulty import FaultyTorch, plus

SIZE = random(1, 1000)


def drawn_by(body, n=20):
    drawn = []
    autotest(n=n)(lambda: drawn.append(body()) or torch.ones(1))()
    return drawn


def test_two_runs_draw_the_same(against):
    against()

    def body():
        x = random_tensor(ndim=2)
        y = torch.randn(2)
        return repr((x.reference.tolist(), random(0, 10**9).value(), y.reference.tolist()))  # because NaN != NaN

    one, two = drawn_by(body), drawn_by(body)
    assert one == two
    assert len(set(one)) == 20


def test_other_peoples_random_state_changes_nothing(against):
    def numbers():
        return torch.randn(2).reference.tolist()

    against()
    real.manual_seed(1)
    one = drawn_by(numbers, n=3)
    real.manual_seed(2)
    assert drawn_by(numbers, n=3) == one


def test_a_generator_at_module_level_draws_anew_in_each_trial(caught, against):
    against()
    sizes = drawn_by(SIZE.value)
    assert len(set(sizes)) > 10

    def body():
        x = torch.ones(SIZE.to(int))
        assert x.shape == (SIZE.value(),)
        return torch.relu(x)

    # A generator that draws only once would find this only by chance.
    wrong = FaultyTorch({"relu": lambda relu: lambda x: relu(x) + (len(x) % 7 == 0)})
    caught(body, wrong, "value", n=60)


def test_an_untyped_generator_is_never_none(caught):
    def body():
        return torch.nn.functional.leaky_relu(random_tensor(shape=(3,), low=-1), random())

    wrong = FaultyTorch(
        {"nn.functional.leaky_relu": lambda original: lambda x, slope: original(x, slope) + (slope is not None)}
    )
    caught(body, wrong, "value")


def test_a_positional_nothing_is_no_argument(caught, against):
    def body():
        return torch.sum(random_tensor(shape=(2, 3), low=1, high=2), nothing())

    # If it were passed on as an object, the reference would refuse it each time.
    caught(body, FaultyTorch({"sum": lambda original: lambda x, *args: original(x, *args) + (not args)}), "value")

    class Nobody:
        pass

    against()
    with pytest.raises(TooFewAccepted, match="sum: TypeError"):
        autotest(n=1)(lambda: torch.sum(random_tensor(), Nobody()))()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.randn(3),
        lambda: torch.rand(2, 3),
        lambda: torch.randint(0, 100, (5,)).float(),
        lambda: torch.randperm(9).float(),
        lambda: torch.empty(3).uniform_(1, 2),
        lambda: torch.normal(0.0, 1.0, (4,)),
        lambda: torch.nn.init.xavier_uniform_(torch.empty(3, 4)),
        lambda: torch.nn.Linear(3, 4).weight.detach(),  # noqa: PLW0108 - the module is made in the trial
        lambda: torch.bernoulli(torch.full((9,), 0.5)),
    ],
)
def test_random_numbers_are_the_same_data_on_both_sides(caught, draw):
    # Both sides draw from the same stream, so that the candidate's own numbers never equal the reference's.
    caught(lambda: torch.exp(draw()), FaultyTorch({"exp": plus(1.0)}), "value", n=5)


def test_a_wrong_shape_of_random_numbers(caught):
    caught(lambda: torch.rand(3) + 1, FaultyTorch({"rand": lambda rand: lambda *size: rand(*size, 1)}), "shape")


def test_a_random_mask_of_the_wrong_dtype(caught):
    wrong = FaultyTorch({"nn.functional.dropout": lambda dropout: lambda x: dropout(x).double()})
    caught(lambda: torch.nn.functional.dropout(random_tensor(shape=(3,))), wrong, "dtype", auto_backward=False)


@pytest.mark.parametrize(
    ("draw", "declared"),
    [
        (lambda: random_tensor(ndim=3, dim0=2, dim1=5), lambda x: x.dim() == 3 and x.shape[0] == 2 and x.shape[1] == 5),
        (lambda: random_tensor(shape=(2, 3)), lambda x: x.shape == (2, 3)),
        (lambda: random_tensor(ndim=2, dim0=random(4, 6).to(int)), lambda x: x.shape[0] in (4, 5)),
        (lambda: random_tensor(ndim=1, dim0=50, low=3, high=4), lambda x: bool((x >= 3).all() and (x < 4).all())),
        (lambda: random_tensor(dtype=int, low=0, high=3), lambda x: set(x.flatten().tolist()) <= {0, 1, 2}),
        (lambda: random_tensor(dtype="float64"), lambda x: x.dtype == real.float64),
    ],
)
def test_declared_shapes_and_bounds_are_the_ones_tested(caught, draw, declared):
    def body():
        return torch.clone(draw())

    # The fault shows only if the declaration is true, in each trial.
    wrong = FaultyTorch({"clone": lambda clone: lambda x: clone(x) + bool(declared(x.detach()))})
    found = caught(body, wrong, "value", n=10)
    assert found.finding.index == 0


def test_every_declared_size_comes_up(against):
    against()
    shapes = {tuple(shape) for shape in drawn_by(lambda: random_tensor(ndim=2).shape, n=200)}
    assert {size for shape in shapes for size in shape} > {1, 2, 3, 4, 5, 6, 9, 17, 33}
    assert max(math.prod(shape) for shape in shapes) > 4096
    assert set(drawn_by(lambda: random_tensor().dim(), n=20)) == {0, 1, 2, 3, 4}


def test_a_fault_that_one_draw_in_a_hundred_shows(against):
    against(FaultyTorch({"relu": lambda relu: lambda x: relu(x) + (x.shape[0] == 77)}))

    @autotest(n=1000)
    def body():
        return torch.relu(torch.ones(random(0, 100).to(int)))

    with pytest.raises(Divergence):
        body()
