"""A library of operators on torch's tensors is compared with torch, whatever calls its operators."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch as real

from autotest import Divergence, UsageError, align, autotest, random, random_tensor, torch
from autotest.base.errors import FrameworkMissing
from autotest.base.settings import Settings
from autotest.frameworks import Pair, framework
from autotest.frameworks.kernels import Kernels
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.running.conformance.in_processes import conformance_in_processes
from autotest.sweeping.judging import Judge
from autotest.trials.another_candidate import outcome_on
from autotest.trials.trial import run_without_comparison
from tests.support.running import agrees, trial

LIBRARY = "tests.support.kernel_library"
KERNELS = {
    "nn.functional.silu": f"{LIBRARY}:silu",
    "softmax": f"{LIBRARY}:softmax",
    "nn.functional.softmax": f"{LIBRARY}:softmax",
    "nn.functional.log_softmax": f"{LIBRARY}:log_softmax",
    "Tensor.add_": f"{LIBRARY}:add_",
}


def library() -> Kernels:
    return Kernels("fast", KERNELS)


def right() -> Kernels:
    return Kernels("fast", {"softmax": KERNELS["softmax"]})


def dying() -> Kernels:
    return Kernels("fast", {"erf": f"{LIBRARY}:abort"})


def drawn(**open_arguments):
    return random_tensor(ndim=2, low=1, high=2, dtype="float32", **open_arguments)


def added():
    x = drawn(dim0=3, dim1=4, layout="transposed", requires_grad=False)
    x.add_(drawn(dim0=3, dim1=4, requires_grad=False))
    return x


def added_by_an_operator():
    x = drawn(dim0=3, dim1=4, layout="transposed", requires_grad=False)
    x += 1.0
    return x


WRONG = {
    "function": lambda: torch.nn.functional.silu(drawn()),
    "module": lambda: torch.nn.SiLU()(drawn()),
    "module with a private argument": lambda: torch.nn.LogSoftmax(1)(drawn()),
    "in place": added,
    "in place, by an operator": added_by_an_operator,
}


@pytest.mark.parametrize("how", WRONG)
def test_an_operator_of_the_library_is_called_in_place_of_torchs(how):
    assert trial(WRONG[how], library()).mismatches


def test_what_is_right_agrees_and_other_operators_are_torchs():
    assert agrees(trial(lambda: torch.softmax(torch.exp(drawn()), dim=random(0, 2)), library()))


@pytest.mark.parametrize("body", [lambda: torch.exp(drawn()), lambda: drawn().softmax(dim=1)])
def test_a_trial_that_calls_none_of_its_operators_does_not_pass(body):
    outcome = trial(body, library())
    assert outcome.rejection.type == "Absent"
    assert outcome.rejection.text == "fast has none of the operators that are called"


def test_in_another_interpreter_too_a_trial_without_its_operators_does_not_pass():
    candidate = framework(f"python:{sys.executable}:{__name__}:library")
    assert trial(lambda: torch.exp(drawn()), candidate).rejection.type == "Absent"
    assert agrees(trial(lambda: torch.softmax(drawn(), dim=1), candidate))
    assert trial(WRONG["module"], candidate).mismatches


def test_beside_another_candidate_a_trial_without_its_operators_is_not_taken_for_one_that_agrees():
    pair = Pair(TorchFramework(), library())
    first, other = (
        run_without_comparison(body, 0, Settings(), Pair(TorchFramework(), TorchFramework()))
        for body in (lambda: torch.softmax(drawn(), dim=1), lambda: torch.exp(drawn()))
    )
    assert outcome_on(first, pair) is not None
    assert outcome_on(other, pair) is None  # the body runs with this candidate, which says why it does not count


def test_a_model_is_aligned_with_itself_on_the_librarys_operators():
    def model(activation):
        return real.nn.Sequential(real.nn.Linear(3, 3), activation)

    pair, inputs = Pair(TorchFramework(), library()), np.ones((2, 3), "float32")
    assert align(model(real.nn.Softmax(1)), model(real.nn.Softmax(1)), inputs, pair=pair).passed
    found = align(model(real.nn.SiLU()), model(real.nn.SiLU()), inputs, pair=pair)
    assert found.network is not None
    assert found.network.path == "1"
    with pytest.raises(UsageError, match="align: fast has none of the operators that are called, so nothing was comp"):
        align(model(real.nn.Tanh()), model(real.nn.Tanh()), inputs, pair=pair)


@pytest.mark.parametrize("dim", [1, 7])
def test_a_sweep_judges_only_what_calls_its_operators(dim):
    ones, judge = Array(np.ones((2, 2), "float32"), "float32"), Judge(Pair(TorchFramework(), library()))
    leaf = tensor_call(0, 0, ones, requires_grad=False)
    other, own = (
        judge.judge(Program((leaf, Call("function", name, (Ref(0), dim), {}, 1)), (ones,)))
        for name in ("log_softmax", "softmax")
    )
    assert other.absent == "fast has none of the operators that are called"
    assert not own.absent
    assert own.refused == (dim == 7)


def test_its_adapter_conforms(warm, importable_elsewhere):
    checked = [*conformance_in_processes(f"{__name__}:right")]
    assert {version for version, _ in checked} == {"1.2"}
    assert [item for _, item in checked if item.outcome == "WRONG"] == []


@pytest.mark.parametrize(
    ("kernels", "error", "said"),
    [
        ({"sofmax": "math:exp"}, UsageError, "torch has no operator 'sofmax'. Did you mean 'softmax'?"),
        ({"nn.functonal.silu": "math:exp"}, UsageError, "torch has no operator 'nn.functonal.silu'"),
        ({"softmax": "math.exp"}, UsageError, "'softmax': expected 'module:function', got 'math.exp'"),
        ({}, UsageError, "expected at least one operator of torch"),
        ({"softmax": "math:softmax"}, FrameworkMissing, "'math:softmax', for softmax, is not there: module 'math' has"),
        ({"softmax": "no_such_library:softmax"}, FrameworkMissing, "is not there: No module named 'no_such_library'"),
    ],
)
def test_a_mistake_in_the_table_is_told_before_any_trial(kernels, error, said):
    with pytest.raises(error, match=r"Kernels\('fast'\): ") as caught:
        Kernels("fast", kernels).load()
    assert said in str(caught.value)


@pytest.mark.parametrize("error", [RuntimeError, OSError])
def test_a_compiled_library_that_cannot_be_loaded_is_told_in_one_sentence(error, tmp_path, monkeypatch):
    (tmp_path / "planted_library.py").write_text(f"raise {error.__name__}('operator planted::nms does not exist')\n")
    monkeypatch.syspath_prepend(tmp_path)
    expected = "'planted_library:nms', for softmax, is not there: operator planted::nms does not exist"
    with pytest.raises(FrameworkMissing, match=expected):
        Kernels("fast", {"softmax": "planted_library:nms"}).load()


@pytest.mark.parametrize("body", [WRONG["module with a private argument"], added])
def test_its_reproducers_need_torch_and_the_library_alone(body, tmp_path, monkeypatch, warm):
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path))
    with pytest.raises(Divergence, match=r"\(verified in a fresh interpreter\)"):
        autotest(n=4, candidate=f"{__name__}:library")(body)()
    (script,) = tmp_path.glob("failures/*/repro.py")
    without = f"import sys, runpy; sys.modules['autotest'] = None; runpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout[:19]) == (1, "DIFFERS: torch gives"[:19]), (done.stdout, done.stderr)


def test_the_script_of_a_crash_runs_the_library_in_a_fork(tmp_path, run_module):
    (tmp_path / "test_it.py").write_text(
        "from autotest import autotest, random_tensor, torch\n\n\n@autotest(n=2)\n"
        "def test_it():\n    return torch.erf(random_tensor(ndim=1))\n"
    )
    command = "pytest -q --autotest-isolate -p no:cacheprovider --autotest-candidate".split()
    done = run_module(*command, f"{__name__}:dying", tmp_path, AUTOTEST_DIR=str(tmp_path / "kept"))
    assert "fast diverges from torch: erf, crash (forward)" in done.stdout.str()
    assert "(verified in a fresh interpreter)" in done.stdout.str()
