"""The line of an exception's message that reports quote, as plain text."""

from __future__ import annotations

from autotest.comparison.rejection import first_line


def test_source_locations_and_colours_are_left_out() -> None:
    text = 'File "of.cpp", line 5, in Check\n  \x1b[1m\x1b[38;2;255;0;0mError\x1b[0m: elu(): missing alpha\n'
    assert first_line(RuntimeError(text)) == "Error: elu(): missing alpha"


def test_the_first_line_is_told_where_there_are_no_locations() -> None:
    assert first_line(ValueError("\nno such axis\nsee above")) == "no such axis"


def test_a_rule_above_a_heading_says_nothing() -> None:
    rule = "-" * 52
    text = f"\n{rule}\n- Kernel select failed:\n{rule}\nUnsupported op [SoftplusGradExt] on CPU"
    assert first_line(RuntimeError(text)) == "- Kernel select failed:"


def test_a_step_of_numbas_compiler_says_nothing() -> None:
    text = "Failed in nopython mode pipeline (step: nopython frontend)\nNo implementation of mul found for signature:\n"
    told = "No implementation of mul found for signature: >>> mul(int64, UniTuple(int64 x 1))"
    assert (
        first_line(TypeError(text + " \n >>> mul(int64, UniTuple(int64 x 1))\n \nThere are 14 candidates:\n")) == told
    )
    assert first_line(TypeError("Failed in nopython mode")) == "Failed in nopython mode"
