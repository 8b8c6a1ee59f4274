"""A wrong gradient that only differences find is shrunk, and its script shows it in a new interpreter."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from autotest import random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis import scripted_finding
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.gradients.reverse_mode import in_reverse_mode, wrong_gradient
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.support import faults
from tests.support.opaque import Opaque
from tests.support.running import trial

ROOT = Path(__file__).parents[2]


@pytest.fixture
def found(monkeypatch, tmp_path):
    """Return ``found(body, fault, ...)``, which returns the finding for a fault of both sides."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def diagnosed(body, fault, *, shrink=20.0, verify=False, **settings):
        test = ATest("test_it.py::test_it", body, Settings(**{"check_grad": "numeric", **settings}))
        pair = Pair(fault, fault)
        outcome = run_trial(body, 0, test.settings, pair)
        options = Options(seed=0, directory=tmp_path, verify=verify, shrink=shrink)
        return FailedTrial(test, outcome, pair).diagnosed(RunContext(pair, options), 0)

    return diagnosed


def ended(script):
    """Run a script in this process; return status and output. A new interpreter would take seconds."""
    with contextlib.redirect_stdout(io.StringIO()) as output, pytest.raises(SystemExit) as exit_:
        exec(compile(script, "repro.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - it is what is tested
    return exit_.value.code or 0, output.getvalue()


def elements(finding):
    return sum(finding.program.arrays[call.args[0].index].data.size for call in finding.program.inputs())


@pytest.mark.usefixtures("warm")
def test_a_wrong_gradient_is_shrunk_and_scripted(found):
    finding = found(
        lambda: torch.relu(random_tensor(shape=(3, 4)) + 1).sum(1) * 2, faults.wrong_relu_gradient(), verify=True
    )
    assert str(finding.verified) == "verified in a fresh interpreter"
    assert "faulty is wrong" in finding.verdict[0]
    assert [call.target for call in finding.program.calls] == ["float64", "relu", "float64", "backward"]
    assert elements(finding) == 2
    assert finding.shrinking[0].startswith("Shrunk:     from ")
    assert "autotest" not in finding.script


def test_the_script_passes_when_the_gradient_is_right(found):
    script = found(lambda: torch.relu(random_tensor(shape=(3, 4))), faults.wrong_relu_gradient(), shrink=0.0).script
    status, output = ended(script.replace("wrong_relu_gradient", "none"))
    assert (status, output) == (0, "same\n")


def test_a_fault_of_large_inputs_is_shown_on_large_inputs(found):
    finding = found(lambda: torch.exp(random_tensor(shape=(3, 4))), faults.wrong_late_gradient())
    status, output = ended(finding.script)
    assert status == 1
    assert "1 of " in output
    assert elements(finding) > 60


def test_a_parameter_of_a_module(found):
    def body():
        return torch.relu(torch.nn.Linear(3, 2)(random_tensor(shape=(4, 3), requires_grad=False)))

    finding = found(body, faults.wrong_relu_gradient(), shrink=0.0)
    assert ended(finding.script)[0] == 1
    assert finding.first.name.startswith("m0.")


def test_leaves_that_are_views(found):
    body = lambda: torch.relu(random_tensor(shape=(3, 4), layout="transposed"))  # noqa: E731
    finding = found(body, faults.wrong_relu_gradient(), shrink=0.0)
    assert ended(finding.script)[0] == 1


def test_the_second_order(found):
    finding = found(lambda: torch.square(random_tensor(shape=(2, 3))), faults.wrong_second_derivative(), grad_order=2)
    assert ended(finding.script)[0] == 1
    assert "autograd.grad" in finding.script


def test_there_is_a_script_without_any_shrinking(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    fault = faults.wrong_relu_gradient()
    test = ATest("test_it.py::test_it", lambda: torch.relu(random_tensor(ndim=2)), Settings(check_grad="numeric"))
    outcome = run_trial(test.body, 0, test.settings, Pair(fault, fault))
    options = Options(seed=0, directory=tmp_path, verify=False, shrink=20.0)
    kept = FailedTrial(test, outcome, Pair(fault, fault)).recorded(RunContext(Pair(fault, fault), options), 0)
    finding = scripted_finding.scripted(kept, RunContext(Pair(fault, fault), options))
    assert ended(finding.script)[0] == 1
    assert finding.shrinking == ()


def test_forward_mode(found):
    finding = found(lambda: torch.square(random_tensor(shape=(2, 3))), faults.wrong_tangent(), check_grad="forward")
    status, output = ended(finding.script)
    assert status == 1
    assert "1 are not the derivative of faulty's own forward along " in output
    assert elements(finding) == 2
    assert finding.operator == "square"
    assert ended(finding.script.replace("wrong_tangent", "none"))[0] == 0


def test_constants_of_autograd_are_constants_of_the_script():
    def body():
        x = random_tensor(shape=(3, 4))
        with torch.no_grad():
            size = x * 2
        return x * size * x.detach()

    framework = TorchFramework()
    assert wrong_gradient(in_reverse_mode(trial(body).program, framework, 1), framework) is None


@pytest.mark.parametrize("grad_order", [1, 2])
def test_right_gradients_have_nothing_to_show(grad_order):
    def body():
        x = random_tensor(shape=(3, 4), low=-1)
        return torch.relu(x).sum(0), torch.nn.Linear(4, 2)(x)

    framework = TorchFramework()
    program = trial(body, grad_order=grad_order).program
    for order in range(1, grad_order + 1):
        assert wrong_gradient(in_reverse_mode(program, framework, order), framework) is None


def test_a_value_at_a_kink_is_not_wrong():
    framework = TorchFramework()
    program = trial(lambda: torch.relu(random_tensor(shape=(3, 4), low=0, high=1) * 0)).program
    assert wrong_gradient(in_reverse_mode(program, framework, 1), framework) is None


def test_a_gradient_of_the_wrong_shape_is_wrong_whatever_the_frameworks_tensors_are_like():
    class Summed(TorchFramework):
        """Accumulates the sum of each gradient."""

        def gradient(self, tensor):
            return super().gradient(tensor).sum()

    program = trial(lambda: torch.square(random_tensor(shape=(3, 4)))).program
    for side in (Summed(), Opaque(Summed())):  # the objects of the second have no attributes
        wrong = wrong_gradient(in_reverse_mode(program, side, 1), side)
        assert wrong.row.note == "the gradient is of float64 and shape (), its input of float64 and shape (3, 4)"
