"""Factors of a matrix are judged by their defining properties, because they are not unique."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.counterparts.factors import PROPERTIES, distances
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, returning
from tests.support.running import pair_with, trial

MATRIX = np.random.Generator(np.random.SFC64(0)).uniform(-2, 2, (2, 4, 3))
SQUARE = MATRIX[:, :3]


@pytest.mark.parametrize(
    ("path", "matrix", "kwargs"),
    [
        ("linalg.qr", MATRIX, {}),
        ("linalg.qr", MATRIX, {"mode": "complete"}),
        ("linalg.eigh", SQUARE, {}),
        ("linalg.eigh", SQUARE, {"UPLO": "U"}),
        ("linalg.eig", SQUARE, {}),
        ("linalg.svd", MATRIX, {}),
        ("linalg.svd", MATRIX, {"full_matrices": False}),
    ],
)
def test_torchs_own_have_the_property(path, matrix, kwargs):
    function = getattr(torch.linalg, path.removeprefix("linalg."))
    factors = [part.numpy() for part in function(torch.from_numpy(matrix), **kwargs)]
    assert len(factors) == PROPERTIES[path].parts
    (own, other) = distances(path, (matrix,), kwargs, [factors, [part * 1.01 for part in factors]])
    assert own < 1e-12
    assert other > 1e-3


def verdict(path, wrong):
    pair = pair_with(FaultyTorch({path: returning(lambda factors: type(factors)(wrong(*factors)))}))

    def body():
        function = getattr(dual.linalg, path.removeprefix("linalg."))
        return function(random_tensor(shape=(3, 3), low=-2, high=2))

    outcome = trial(body, pair.candidate)
    return examine(agree(outcome.program, pair, Settings()), pair, Settings()).verdict


def test_wrong_factors_are_the_sides_that_gave_them():
    said = verdict("linalg.qr", lambda q, r: (q * 1.1, r))
    assert said.wrong == "candidate"
    assert (
        said.line == "faulty: the definition gives Q R = A, an orthonormal Q and an upper triangular R, as torch does"
    )


def test_other_signs_are_nobodys_fault():
    said = verdict("linalg.qr", lambda q, r: (-q, -r))
    assert said.wrong == "nobody"
    assert "several results are right, and each side returns one of them: Q R = A" in said.line


def test_a_form_of_the_call_that_is_not_known_has_no_property():
    factors = [np.zeros(0), np.eye(3)]
    assert distances("linalg.qr", (SQUARE,), {"mode": "r"}, [factors, factors]) is None
    assert distances("linalg.qr", (np.full((2, 2), np.nan),), {}, [factors, factors]) is None
