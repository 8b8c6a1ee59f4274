"""Numbers of open arrays stay within bounds that are open on one side, or that lie at the ends of a dtype."""

from __future__ import annotations

from generators import explored_array
from tests.generators.test_generators_open_arrays import trials


def test_whole_numbers_with_only_an_upper_bound_are_not_negative_after_an_array_that_has_negative_ones() -> None:
    for contents in (None, "sorted"):
        pairs = trials(
            lambda contents=contents: [
                explored_array(1, (8,), dtype=int, high=high, contents=contents).data for high in (0, 5)
            ]
        )
        assert all(first.min() < 0 <= second.min() and second.max() < 5 for first, second in pairs)
