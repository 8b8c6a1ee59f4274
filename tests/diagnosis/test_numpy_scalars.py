"""A scalar of NumPy among the arguments is replayed, shrunk and written as what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.counterparts.numpy_result import numpy_result
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.emission import program_text
from autotest.program import Call, Captured, Program, Ref, leaves
from autotest.program.calls import Array
from autotest.program.reduction import arguments, digest, is_simpler
from autotest.program.rewriting import widened
from autotest.replaying.agreement import agree
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from tests.diagnosis.planted import raising_when
from tests.support.faulty import FaultyTorch, plus
from tests.support.running import pair_with, trial


def given_numpy(*args: Any, **kwargs: Any) -> bool:
    return any(isinstance(item, np.generic) for item in leaves((args, kwargs)))


def x() -> Any:
    return at.random_tensor(shape=(3, 4), low=-1, high=1)


#: Name of the refusing tensor function -> a body that gives it a scalar of NumPy.
BODIES: dict[str, Callable[[], Any]] = {
    "sum": lambda: dual.sum(x(), dim=np.int64(1)),
    "mul": lambda: x() * np.float32(0.1),
    "__getitem__": lambda: x()[np.int64(0) : np.int64(2)],
    "reshape": lambda: x().reshape((np.int64(-1),)),
    "clamp": lambda: dual.clamp(x(), min=np.float16(0.1)),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_only_a_numpy_scalar_shows_is_shown_by_the_replay_and_the_smallest_program(name: str) -> None:
    pair = pair_with(FaultyTorch(tensors={name: raising_when(given_numpy)}))
    outcome = trial(BODIES[name], pair.candidate)
    assert outcome.mismatches[0].symptom == "exception"
    assert agree(outcome.program, pair, Settings()).mismatches
    failed = FailedTrial(ATest("file.py::test", BODIES[name], Settings()), outcome, pair)
    finding = failed.diagnosed(RunContext(pair, Options(verify=False)), 0)
    assert finding.blame == "candidate"
    assert "np." in program_text(finding.program)


def test_a_numpy_scalar_that_does_not_matter_is_a_python_number_in_the_smallest_program() -> None:
    pair = pair_with(FaultyTorch({"sum": plus(1.0)}))
    outcome = trial(BODIES["sum"], pair.candidate)
    failed = FailedTrial(ATest("file.py::test", BODIES["sum"], Settings()), outcome, pair)
    assert "np." not in program_text(failed.diagnosed(RunContext(pair, Options(verify=False)), 0).program)


def program(number: Any) -> Program:
    kwargs = {"requires_grad": False, "device": "cpu"}
    leaf = Call("tensor", "float32", (Captured(0),), kwargs, 0)
    return Program((leaf, Call("operator", "mul", (Ref(0), number), {}, 1)), (Array(np.ones(2, "float32"), "float32"),))


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.bool_(True)])
def test_a_program_with_the_python_number_is_another_and_a_simpler_one(number: Any) -> None:
    python, numpy = program(number.item()), program(number)
    assert digest(python) != digest(numpy)
    assert is_simpler(python, numpy)
    tried = [smaller.calls[1].args[1] for smaller in arguments(numpy) if len(smaller.calls[1].args) == 2]
    assert type(tried[0]) is type(number.item())
    assert type(number) in {*map(type, tried)}


def test_a_tensor_filled_with_a_float_of_numpy_has_double_precision_in_the_referees_program() -> None:
    full = Program((Call("function", "full", ((2,), np.float32(0.1)), {}, 0),), ())
    assert widened(full)[0].calls[0].kwargs["dtype"].path == "float64"


def test_the_counterparts_get_python_numbers() -> None:
    found = numpy_result("roll", (np.arange(3.0), np.int64(1), np.int64(0)), {})
    assert found.tolist() == [2.0, 0.0, 1.0]
