"""An index selects from an array of NumPy what it selects from a tensor of torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autotest.diagnosis.counterparts.indexing import INDEXING
from autotest.program.indexing import indexed

PLACES = np.array([0, 1])
MASK = np.array([[True, False, True, False], [False] * 4, [True] * 4])
KEYS = [
    (0, slice(None), PLACES),
    (PLACES, slice(None), 1),
    (np.array(1), slice(None), PLACES),
    (np.int64(1), slice(None), PLACES),
    (slice(None), PLACES, ..., PLACES),
    (PLACES, None, PLACES),
    (..., PLACES, 1),
    (slice(None), MASK),
    (0, MASK),
    (True, slice(None), 0, PLACES),
    (np.array(False), 1),
    ([0, 1], slice(None), 0),
    PLACES.astype(np.uint8),
    MASK[0, :2],
    -1,
    (..., 1),
    (None, slice(1, None)),
    np.array(1),
    (PLACES[:, None], PLACES),
    [],
]


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_an_index_selects_what_torch_selects(key):
    def in_torch(part):
        return torch.from_numpy(part) if isinstance(part, np.ndarray) else part

    x = torch.arange(24).reshape(2, 3, 4)
    expected = x[tuple(map(in_torch, key)) if isinstance(key, tuple) else in_torch(key)]
    found, basic = indexed(x.numpy(), key)
    np.testing.assert_array_equal(found, expected.numpy(), strict=True)
    same_memory = expected.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert basic == same_memory


def test_numpy_as_an_oracle_indexes_as_torch_does():
    x = np.arange(24.0).reshape(2, 3, 4)
    key, value = (0, slice(None), PLACES), np.arange(6.0).reshape(3, 2)
    expected = torch.from_numpy(x.copy())
    expected[0, :, torch.from_numpy(PLACES)] = torch.from_numpy(value)
    np.testing.assert_array_equal(INDEXING["setitem"](x, key, value), expected.numpy())
    np.testing.assert_array_equal(INDEXING["getitem"](INDEXING["setitem"](x, key, value), key), value)
