"""After a test, Python's and NumPy's own generators continue where they were before it."""

# ruff: noqa: NPY002 - these generators are tested

from __future__ import annotations

import random as python_random
from collections.abc import Iterator

import numpy as np
import pytest

from autotest import autotest, random_tensor, torch


@pytest.fixture(autouse=True)
def _generators_of_this_process(quick, against) -> Iterator[None]:
    against()
    python, numpy, bits = python_random.getstate(), np.random.get_state(), np.random.get_bit_generator()
    yield
    python_random.setstate(python)
    np.random.set_bit_generator(bits)
    np.random.set_state(numpy)


def seeded() -> None:
    python_random.seed(5)
    np.random.set_bit_generator(np.random.MT19937(5))


def in_the_middle_of_a_pair() -> None:
    seeded()
    np.random.normal()  # it draws two numbers at once, and keeps the second one


def with_another_bit_generator() -> None:
    seeded()
    np.random.set_bit_generator(np.random.PCG64(5))
    np.random.normal()


def drawn() -> tuple[float, ...]:
    return python_random.random(), np.random.normal(), np.random.normal(), np.random.rand()


@autotest(n=3)
def draws():
    drawn()
    np.random.normal()
    return torch.relu(random_tensor(2))


@autotest(n=3)
def fails():
    drawn()
    raise RuntimeError("of the body")


@autotest(n=1)
def draws_of_another_bit_generator():
    np.random.set_bit_generator(np.random.PCG64(1))
    return torch.relu(random_tensor(2))


@pytest.mark.parametrize("prepare", [seeded, in_the_middle_of_a_pair, with_another_bit_generator])
def test_after_a_test_the_numbers_go_on_as_without_it(prepare):
    prepare()
    expected = drawn()
    prepare()
    bits = np.random.get_bit_generator()
    draws()
    assert np.random.get_bit_generator() is bits
    assert drawn() == expected


@pytest.mark.parametrize("test", [fails, draws_of_another_bit_generator])
def test_whatever_a_body_does_the_numbers_go_on_after_it(test):
    in_the_middle_of_a_pair()
    expected = drawn()
    in_the_middle_of_a_pair()
    try:
        test()
    except RuntimeError as error:
        assert "of the body" in str(error)  # noqa: PT017 - only one of the two raises
    assert drawn() == expected


def test_a_body_that_calls_another_test_draws_on_as_without_it():
    seen: list[list[tuple[float, ...]]] = []
    for calls in (False, True):
        numbers: list[tuple[float, ...]] = []

        @autotest(n=3)
        def test_outer():
            np.random.rand()
            if calls:  # noqa: B023 - run before the next round
                draws()
            numbers.append(drawn())  # noqa: B023 - as above
            return torch.relu(random_tensor(2))

        test_outer()
        seen.append(numbers)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 3
