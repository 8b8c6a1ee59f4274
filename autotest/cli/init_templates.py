"""The texts of the files that `autotest init` writes, with the names of one project filled in."""

from __future__ import annotations

import string

_TESTS = '''\
"""Does $candidate compute what torch computes? Every test is run as random trials on both, side by side."""

import pytest

from autotest import autotest, random, random_tensor, torch


@pytest.mark.parametrize("name", ["sin", "tanh", "sigmoid"])
@autotest(n=20)
def test_elementwise(name):
    return getattr(torch, name)(random_tensor(ndim=random(1, 4)))


@autotest(n=20, special_values=False)  # no NaN or infinity, and no numbers so large that a sum of products overflows
def test_matmul():
    inner = random(1, 8)  # one value in each trial, the same in both places
    return torch.matmul(random_tensor(ndim=2, dim1=inner), random_tensor(ndim=2, dim0=inner))


@autotest(n=20)
def test_linear():
    features = random(1, 8)
    m = torch.nn.Linear(features, random(1, 8))
    return m(random_tensor(ndim=2, dim1=features, dtype="float32"))
'''

_SETTINGS = """\
[tool.autotest]
# The framework under test: a registered name, or "module:factory".
candidate = "$candidate"
# Limits of a trial in a worker process (autotest fuzz, pytest --autotest-isolate).
deadline = "20s"
memory = "4G"
"""

_WORKFLOW = """\
name: autotest

on:
  push:
  pull_request:

jobs:
  autotest:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.10"
$note      - run: pip install pytest "$requirement"
      # The same trials every time: what passed yesterday passes today unless something changed.
      - run: pytest $tests
      # New trials in worker processes: a crash ends only one worker. Each run has another seed.
      - run: autotest fuzz $tests --time 60s --seed $${{ github.run_number }} --junitxml autotest.xml
      - uses: actions/upload-artifact@v4
        if: failure()
        with:
          name: autotest
          path: |
            .autotest/failures
            autotest.xml
          include-hidden-files: true
"""

_FROM_A_FOLDER = """\
      # It was installed from a folder: write where CI can install it from, such as "dual-autotest[fuzz] @ git+https://HOST/REPOSITORY".
"""


def tests(candidate: str) -> str:
    """Return the text of a first test file."""
    return _filled(_TESTS, candidate=candidate)


def settings(candidate: str) -> str:
    """Return the text of the table for `pyproject.toml`."""
    return _filled(_SETTINGS, candidate=candidate)


def workflow(folder: str, requirement: str, *, is_local: bool) -> str:
    """Return a workflow for GitHub's CI that tests `folder`, after ``pip install`` of `requirement`.

    With `is_local`, a comment in it says that `requirement` came from a folder, which CI does not have.
    """
    return _filled(_WORKFLOW, tests=folder, requirement=requirement, note=_FROM_A_FOLDER if is_local else "")


def _filled(template: str, **names: str) -> str:
    return string.Template(template).substitute(names)
