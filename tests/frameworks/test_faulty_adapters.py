"""A mistake in an adapter of functions is named, and is not taken for a function that the framework lacks."""

from __future__ import annotations

import re

import numpy as np
import pytest

from autotest import random_tensor, torch
from autotest.base.errors import AdapterWrong
from tests.support import running
from tests.support.block_framework import BlockFramework
from tests.support.forward_framework import ForwardFramework
from tests.support.hand_written_framework import HandWrittenFramework


def tanh():
    return torch.tanh(random_tensor(shape=(2, 3)))


def missing_name(self):
    return {"tanh": self.root.tanhh}


class Misspelt(ForwardFramework):
    spelling = property(missing_name)


class MisspeltBackward(HandWrittenFramework):
    backward = property(missing_name)


class Listing(ForwardFramework):
    """Its tanh returns a list of numbers, not an array."""

    @property
    def spelling(self):
        return {"tanh": lambda input: self.root.tanh(input).tolist()}


SAID = r"raised AttributeError: module 'numpy' has no attribute 'tanhh' \(.*test_faulty_adapters.py, line"


def test_a_name_that_the_library_lacks_in_the_table_of_functions_is_an_error_at_its_line():
    with pytest.raises(AdapterWrong, match=f"`spelling` {SAID}"):
        running.trial(tanh, Misspelt())


def test_a_name_that_the_library_lacks_in_the_table_of_backward_functions_is_a_finding():
    (mismatch,) = running.trial(tanh, MisspeltBackward()).mismatches
    assert re.search(f"`backward` {SAID}", mismatch.message)


class Prefixed(ForwardFramework):
    @property
    def spelling(self):
        return {"torch.tanh": self.root.tanh}


def test_a_name_that_begins_with_torch_is_an_error_that_says_what_to_write():
    with pytest.raises(AdapterWrong, match=r"`spelling` has 'torch\.tanh': write 'tanh'"):
        running.trial(tanh, Prefixed())


def test_a_result_of_another_type_is_a_finding_and_does_not_count_as_absent():
    (mismatch,) = running.trial(tanh, Listing()).mismatches
    assert "forward raised AttributeError: 'list' object has no attribute" in mismatch.message


class WithoutGradients(BlockFramework):
    def vjp(self, function, arrays, cotangents):
        return [None for _ in arrays]


class WithFewerGradients(BlockFramework):
    def vjp(self, function, arrays, cotangents):
        return super().vjp(function, arrays, cotangents)[1:]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (WithoutGradients, "x0.grad: torch has a gradient, otherwise has none"),
        (WithFewerGradients, r"the adapter's `vjp` returned 0 gradients for 1 arrays"),
    ],
)
def test_gradients_that_an_adapter_does_not_return_are_told_as_such(made, told):
    (mismatch,) = running.trial(lambda: torch.tanh(random_tensor(shape=(2, 3), requires_grad=True)), made()).mismatches
    assert re.search(told, mismatch.message), mismatch.message


class Boxing(BlockFramework):
    """Its function of two results returns one object for both while it is differentiated."""

    differentiating = False

    @property
    def spelling(self):
        def both(input, dim):
            found = self.root.average(input, axis=dim)
            return found if self.differentiating else (found, self.array(np.zeros(()), "int64"))

        return {"max": both}

    def vjp(self, function, arrays, cotangents):
        self.differentiating = True
        return super().vjp(function, arrays, cotangents)


def test_a_function_with_another_number_of_results_while_it_is_differentiated_is_told_so():
    outcome = running.trial(lambda: torch.max(random_tensor(shape=(1,), requires_grad=True), dim=0), Boxing())
    assert "returned 2 results, and where it is differentiated a single Block" in outcome.mismatches[0].message
