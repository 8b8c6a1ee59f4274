"""The expressions of the option ``-k``."""

from __future__ import annotations

import pytest

from autotest.base.errors import UsageError
from autotest.sources.selection import selection

NAMES = ("test_conv2d", "test_conv_transpose", "test_relu", "TestReLU.test_6")


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("conv", ["test_conv2d", "test_conv_transpose"]),
        ("RELU", ["test_relu", "TestReLU.test_6"]),
        ("not conv", ["test_relu", "TestReLU.test_6"]),
        ("conv and not transpose", ["test_conv2d"]),
        ("transpose or 6", ["test_conv_transpose", "TestReLU.test_6"]),
        ("relu and 6 or conv2d", ["test_conv2d", "TestReLU.test_6"]),
        ("relu and (6 or conv2d)", ["TestReLU.test_6"]),
    ],
)
def test_words_are_joined_as_in_pytest(expression, chosen):
    assert [name for name in NAMES if selection(expression)(name)] == chosen


@pytest.mark.parametrize("expression", ["", "and", "a and", "(a", "a)", "a b", "not", "or a"])
def test_what_is_no_expression_is_refused_with_what_was_expected(expression):
    with pytest.raises(UsageError, match="expected"):
        selection(expression)
