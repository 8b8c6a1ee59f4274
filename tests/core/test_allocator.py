"""Uninitialised memory is filled with the chosen bytes inside of the block, and not afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.base.allocator import current_filling, unwritten_memory


@pytest.mark.parametrize("byte", [0x00, 0x7F, 0xFF])
def test_memory_consists_of_that_byte_until_it_is_written_to(byte: int) -> None:
    with unwritten_memory(byte):
        # An odd size, and so small that the memory is taken from the heap, which the system does not clear.
        found = np.empty(12_345, np.uint8)
        assert (found == byte).all()
        found[:] = 3
        assert (found == 3).all()


def test_what_is_let_go_afterwards_is_left_as_it_is() -> None:
    with unwritten_memory(0xFF):
        pass
    written = [np.full(300, 7, np.uint8) for _ in range(50)]
    del written
    assert any((np.empty(300, np.uint8)[64:] == 7).all() for _ in range(50))


def test_a_block_inside_of_another_one_fills_with_its_own_byte_and_then_the_outer_one_does_again() -> None:
    outside = current_filling()
    with unwritten_memory(0x11):
        with unwritten_memory(0x22):
            assert current_filling() == 0x22
            assert (np.empty(12_345, np.uint8) == 0x22).all()
        assert current_filling() == 0x11
        assert (np.empty(12_345, np.uint8) == 0x11).all()
    assert current_filling() == outside
