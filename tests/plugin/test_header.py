"""The frameworks that pytest's header names."""

from __future__ import annotations

import pytest

TESTS = """
@autotest(n=4)
def test_exp():
    return torch.exp(random_tensor())

from autotest.frameworks.registry import pair

@autotest(n=1, candidate="torch")
def test_candidate():
    return torch.tanh(random_tensor())

@autotest(n=1, pair=lambda: pair("torch", "torch"))
def test_pair():
    return torch.tanh(random_tensor())
"""


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("test_candidate", "torch [12]* against torch [12]* (torch against itself checks only the tests)"),
        ("test_pair", "pairs of their own"),
        (
            "test_candidate or test_pair",
            "torch [12]* against torch [12]* (torch * the tests) and of pairs of their own",
        ),
        (
            "test_exp or test_candidate",
            "oneflow*, torch [12]* against torch [12]* (torch against itself checks only the tests)",
        ),
    ],
)
def test_the_header_names_the_candidates_that_tests_have_of_their_own(suite, run, monkeypatch, chosen, said):
    suite(TESTS)
    monkeypatch.delenv("AUTOTEST_CANDIDATE")
    run("--collect-only", "-k", chosen).stdout.fnmatch_lines([f"autotest: * of {said}, base seed 0"])


def test_the_header_names_the_candidate_of_the_process_instead_of_a_tests_own(suite, run):
    suite(TESTS)
    said = "tests.support.faults:wrong_relu against torch [12]* and of pairs of their own"
    run("--collect-only").stdout.fnmatch_lines([f"autotest: 3 tests of {said}, base seed 0"])
