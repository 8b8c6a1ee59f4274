"""The text that a failed test shows."""

from __future__ import annotations

import re

import pytest

from autotest import Divergence, random_tensor, torch
from tests.support import faults
from tests.support.bodies import relu
from tests.support.faulty import FaultyTorch, plus, with_gradient
from tests.support.running import trials


def report(body, folder, candidate, **settings):
    with pytest.raises(Divergence) as caught:
        trials(body, folder, candidate, **settings)
    return str(caught.value)


def test_it_says_what_diverged_where_and_what_brings_it_back(tmp_path):
    text = report(relu, tmp_path, faults.wrong_relu())
    first = text.splitlines()[0]
    assert "faulty" in first
    assert "torch" in first
    assert "relu" in first
    for needed in (
        "Mismatched 6 / 6 (100%)",
        "Greatest absolute difference 1",
        "expected=torch actual=faulty",
        "AUTOTEST_SEED=0 AUTOTEST_TRIAL=0",
        "repro.py",
        "test_it.py::test_it",
    ):
        assert needed in text


def test_it_names_every_distinct_mismatch_and_counts_the_rest(tmp_path):
    def body():
        return [torch.relu(random_tensor()) for _ in range(12)]

    text = report(body, tmp_path, faults.wrong_relu())
    assert text.count("not close") == 8
    assert "and 4 more" in text


def test_it_dumps_no_tensor_and_fits_the_screen(tmp_path):
    def body():
        x = random_tensor(shape=(100, 100))
        return torch.relu(x) + x

    text = report(body, tmp_path, faults.wrong_relu())
    assert len(text.splitlines()) < 40
    assert len(text) < 4000


def test_a_program_that_cannot_be_replayed_says_why_and_loses_nothing(tmp_path):
    def body():
        return torch.relu(torch.ones(2).apply_(lambda value: value + 1))

    text = report(body, tmp_path, faults.wrong_relu())
    assert "cannot be replayed" in text
    assert "not close" in text
    assert "AUTOTEST_TRIAL=0" in text


def test_a_cotangent_that_a_backward_overwrites_is_told_after_the_gradient_and_named_in_the_program(tmp_path):
    def body():
        return torch.add(torch.exp(random_tensor(shape=(2, 3), layout="contiguous")), 1.0)

    text = report(body, tmp_path, FaultyTorch({"add": with_gradient(lambda gradient: gradient.zero_())}))
    assert text.startswith("faulty diverges from torch: add, gradient (backward)")
    (script,) = tmp_path.rglob("repro.py")
    assert "add-gradient" in str(script)
    told = text.partition("Mismatches:")[2]
    cotangent = re.search(r"- (c\d+): not close", told)
    assert cotangent is not None
    assert told.index("x0.grad") < cotangent.start()
    assert f"{cotangent[1]} = tensor((2, 3), " in text


def test_a_divergence_that_holds_infinities_is_told_like_any_other(tmp_path):
    text = report(relu, tmp_path, FaultyTorch({"relu": plus(float("inf"))}))
    assert "inf" in text.lower()


def test_the_report_and_the_reproducer_are_kept(tmp_path):
    text = report(relu, tmp_path, faults.wrong_relu())
    (script,) = tmp_path.rglob("repro.py")
    assert str(script.parent) in text
    assert "relu" in script.read_text()


def test_the_number_beside_a_whole_one_is_not_shown_as_the_whole_one(tmp_path):
    def body():
        return torch.floor(random_tensor(shape=(2,), low=1.9999997, high=2.0, dtype="float32"))

    early = FaultyTorch({"floor": lambda floor: lambda x: floor(x + 1e-6)})
    text = report(body, tmp_path, early)
    assert re.search(r"holds \[?1\.999999[789]", text)
