"""A candidate in another interpreter."""

from __future__ import annotations

import copy
import importlib.util
import io
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from torch.nn import functional

from autotest import FrameworkMissing, UsageError, random, random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.frameworks import Pair, framework, speaking_torch
from autotest.frameworks.failures import CandidateDied, CandidateHung
from autotest.frameworks.remote import interpreter, peer, wire
from autotest.frameworks.remote.remote_client import AT_ONCE
from autotest.program import Array
from autotest.replaying.agreement import agree
from autotest.replaying.gradient_flow import flow, suspects
from autotest.sweeping.judging import Judge
from autotest.sweeping.lacking import Lacking
from autotest.trials.comparing import compare_outcomes
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.judgement import identity_of_trial
from autotest.trials.trial import run_without_comparison
from tests.support import running
from tests.support.descriptors import many_open
from tests.support.faulty import FaultyTorch

#: Code that the other process runs before it serves: it prints, and plants a wrong relu, an exp that dies of a large
#: number, and similar faults.
FAULTS = """\
import os, torch
os.write(1, b"what is printed is no answer")
plain = torch.relu, torch.exp
torch.relu = lambda x: plain[0](x) + 1
torch.exp = lambda x: os.abort() if float(x.abs().max()) > 100 else plain[1](x)
torch.sin = lambda x: torch.no_such_thing
class Wider(torch.nn.Linear):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs + 1)
class Refusing(torch.nn.Bilinear):
    def __init__(self, *sizes):
        raise ValueError("no such layer")
torch.nn.Linear, torch.nn.Bilinear = Wider, Refusing
cosine = torch.cos
torch.cos = lambda x: cosine(x.detach()) + 7 * (x - x.detach())
class NoGradient(torch.autograd.Function):
    forward = staticmethod(lambda context, x: plain_tanh(x))
plain_tanh, torch.tanh = torch.tanh, NoGradient.apply
main(NAME, FILES)
"""


@pytest.fixture(scope="module")
def other():
    """Return torch in a new interpreter. A test that ends it gets a fork, as for the other candidates here."""
    candidate = framework(f"python:{sys.executable}")
    candidate.synchronize()
    return candidate


@pytest.fixture(autouse=True)
def _forks(warm_peers):
    """Import torch once for all candidates of this file but `other` and those of tests with `new_interpreters`."""


@pytest.fixture
def new_interpreters(monkeypatch):
    monkeypatch.setattr(peer, "subprocess", subprocess)


@pytest.fixture(scope="module")
def faulty():
    """Return the same with planted faults."""
    candidate = framework(f"python:{sys.executable}")
    candidate.start = candidate.start.replace("main(NAME, FILES)\n", FAULTS)
    return candidate


def network():
    x, w = random_tensor(shape=(3, 4)), random_tensor(shape=(4, 2))
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    made = layers(x @ w)
    values, places = made.max(dim=1)
    made[0] = 1
    with torch.no_grad():
        still = made * 2
    made.retain_grad()
    return made.mean(), (made**2).sum(), values, places, still, float(values.detach().sum()), x[:, ::2].t()


def test_this_library_need_not_be_installed_in_the_other_interpreter(tmp_path, monkeypatch):
    python = tmp_path / "python"  # runs no .pth file, by which a checkout is installed
    packages = os.pathsep.join({str(Path(module.__file__).parents[1]) for module in (np, sys.modules["torch"])})
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    there = [python, "-c", "import numpy, autotest"]
    assert "No module named 'autotest'" in subprocess.run(there, capture_output=True, text=True, check=False).stderr
    outcome = running.trial(lambda: torch.abs(random_tensor(shape=(3,))), framework(f"python:{python}"))
    assert running.agrees(outcome)


def test_the_same_torch_agrees_with_itself(other):
    pair = Pair(framework("torch"), other)
    with pair.around_trials():  # it computes sums in the same order
        for seed in range(5):
            outcome = running.run_trial(network, seed, Settings(), pair)
            assert running.agrees(outcome)
            assert outcome.gradients >= 5


def test_a_library_in_a_folder_that_is_named_like_a_placeholder_is_found_there(tmp_path, monkeypatch, new_interpreters):
    library = Path(peer.__file__).parent.parent.parent
    (tmp_path / "NAME").symlink_to(library)
    monkeypatch.setattr(peer, "__file__", str(tmp_path / "NAME" / Path(peer.__file__).relative_to(library)))
    candidate = framework(f"python:{sys.executable}")
    assert running.agrees(running.trial(lambda: random_tensor(shape=(2,)) + 1, candidate))


def test_gradients_of_a_mask_are_none_that_differ_however_a_module_is_read(other):
    def body():
        layers = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 2), "b": torch.nn.Dropout(0.5)})
        return layers["b"](layers["a"](random_tensor(ndim=2, dim1=3, dtype="float32")))

    pair = Pair(framework("torch"), other)
    for seed in range(3):
        assert running.agrees(running.run_trial(body, seed, Settings(), pair))


def test_a_file_that_is_saved_and_loaded_there_exists_until_both_are_done(other, tmp_path):
    def body():
        torch.save(random_tensor(shape=(2,), requires_grad=False), tmp_path / "saved")
        return torch.load(tmp_path / "saved") + 1

    assert running.trials(body, tmp_path, other, n=3).accepted == 3


def test_a_batch_of_trials_is_one_question(other, monkeypatch):
    def body():
        return torch.nn.Conv1d(random(1, 3), 2, kernel_size=random(1, 3))(torch.relu(random_tensor(shape=(2, 2, 5))))

    pair, settings = Pair(framework("torch"), other), Settings()
    asked = []
    plain = interpreter.Interpreter._ask
    for seed in range(5):
        running.run_trial(body, seed, settings, pair)  # it learns the available names from this
    monkeypatch.setattr(
        interpreter.Interpreter, "_ask", lambda self, *question: asked.append(question[0]) or plain(self, *question)
    )
    outcomes = [run_without_comparison(body, seed, settings, pair) for seed in range(20)]
    compare_outcomes(outcomes, settings)
    assert asked == ["read"]
    assert any(outcome.compared for outcome in outcomes)


def test_another_interpreter_answers_where_a_thousand_files_are_open_here(new_interpreters):
    candidate = framework(f"python:{sys.executable}")
    with many_open():
        assert running.agrees(running.trial(lambda: torch.relu(random_tensor(shape=(2,))), candidate))


def test_a_body_that_is_refused_within_a_context_costs_nothing(other):
    def body():
        with torch.no_grad():
            return random_tensor(shape=(2, 3)) @ random_tensor(shape=(2, 3))

    assert running.trial(body, other).rejection.target == "matmul"
    outcome = running.trial(lambda: torch.relu(random_tensor(shape=(2, 3))), other)
    assert running.agrees(outcome)
    assert outcome.gradients  # the context was left in the other process, too


def test_settings_that_a_body_leaves_changed_are_restored_in_the_other_process(other):
    def body():
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        return torch.ones(2)

    assert running.agrees(running.trial(body, other))
    outcome = running.trial(lambda: (torch.ones(2), random_tensor(shape=(2,)) * 2), other)
    assert running.agrees(outcome)
    assert outcome.gradients


def classes():
    """Return two classes of networks. They are made in a body, because a file may have no candidate when it is read."""

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            return x + self.linear(x)

    class Blocks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])
            self.last = Block()

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.last(x)

    return Block, Blocks


def blocks():
    return classes()[1]()


def block():
    return classes()[0]()


@pytest.mark.parametrize(
    "make",
    [blocks, lambda: torch.nn.Sequential(block(), block()), lambda: blocks().float(), lambda: copy.deepcopy(blocks())],
)
def test_a_network_calls_its_own_parts_there(make, other):
    outcome = running.trial(lambda: make()(random_tensor(shape=(2, 3))), other)
    assert running.agrees(outcome)
    assert outcome.gradients


def test_a_part_that_is_another_object_there_is_not_taken_for_the_one_of_the_test(other):
    def body():
        net = blocks()
        other.invoke("setattr", "last", (net._actual, other.invoke("getattr", "linear", (net.last._actual,), {})), {})
        return net(random_tensor(shape=(2, 3)))

    with pytest.raises(UsageError, match="cannot contain a class over the dual modules"):
        running.trial(body, other)


def decay(epoch):
    return 0.5**epoch


class Half:
    def __call__(self, epoch):
        return 0.5**epoch


@pytest.mark.parametrize(
    ("schedule", "said"),
    [(lambda epoch: 0.5**epoch, "<function"), (Half(), "<tests.*Half object"), (decay, "<function decay")],
)
def test_an_object_that_cannot_be_sent_there_is_a_mistake_of_the_test(schedule, said, other):
    def body():
        optimizer = torch.optim.SGD(torch.nn.Linear(3, 2).parameters(), lr=0.1)
        torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)

    with pytest.raises(UsageError, match=f"runs in another process, which cannot get {said}"):
        running.trial(body, other)
    assert running.agrees(running.trial(lambda: torch.relu(random_tensor(shape=(2,))), other))


def test_a_file_in_memory_is_not_written_there(other):
    with pytest.raises(UsageError, match=r"BytesIO.*: expected .* the path of a file instead of a file in memory"):
        running.trial(lambda: torch.save(random_tensor(shape=(2,)), io.BytesIO()), other)


def test_buffers_are_read_as_they_are_when_others_took_their_place(other):
    def body():
        layer = torch.nn.BatchNorm1d(3)
        layer.double()
        return layer(random_tensor(shape=(4, 3), dtype="float64"))

    assert running.agrees(running.trial(body, other))


def test_parameters_are_read_as_they_are_when_a_call_gave_the_module_others(other):
    def body():
        layer = torch.nn.Linear(4, 2)
        normed = torch.nn.utils.spectral_norm(layer)
        return normed(random_tensor(shape=(3, 4)))

    assert running.agrees(running.trial(body, other))


def test_a_fault_there_is_found_here(faulty):
    outcome = running.trial(lambda: torch.relu(random_tensor(shape=(2, 3))), faulty)
    assert [mismatch.symptom for mismatch in outcome.mismatches] == ["value"]


def test_the_call_whose_gradient_is_wrong_there_is_named(faulty):
    outcome = running.trial(lambda: torch.cos(random_tensor(shape=(2, 3)) * 2) * 3, faulty)
    assert [mismatch.stage for mismatch in outcome.mismatches] == ["backward"]
    program = outcome.recorder.snapshot()
    found = suspects(program, Pair(framework("torch"), faulty), Settings())
    assert [program.calls[slot].target for slot in found.slots] == ["cos"]


def test_the_call_whose_backward_raises_there_is_named(faulty):
    outcome = running.trial(lambda: torch.exp(torch.tanh(random_tensor(shape=(2, 3)) * 2)), faulty)
    found = identity_of_trial(outcome, Settings())
    assert (found.operator, found.symptom, found.stage) == ("tanh", "exception", "backward")


def test_a_tensor_that_several_calls_return_there_is_compared_once(faulty):
    def body():
        x = random_tensor(shape=(2, 3), layout="strided")  # which ends with requires_grad_()
        y = torch.cos(x) + torch.relu(x.detach())
        y.mul_(2).add_(1)
        y.sum().backward()
        return x.grad

    outcome = running.trial(body, faulty)
    told = [(outcome.recorder.calls[item.slot].target, item.symptom) for item in outcome.mismatches]
    assert sorted(told) == [("add", "value"), ("getitem", "gradient"), ("relu", "value"), ("sum", "value")]


def test_the_gradient_of_a_parameter_there_is_weighed_like_one_here(other):
    def planted(linear):
        class Linear(linear):
            def forward(self, x):
                return functional.linear(x, 2 * self.weight - self.weight.detach(), self.bias)

        return Linear

    pair, settings = Pair(FaultyTorch({"nn.Linear": planted}), other), Settings()
    outcome = running.trial(lambda: torch.nn.Linear(3, 2)(random_tensor(shape=(4, 3))), other, reference=pair.reference)
    agreement = agree(outcome.program, pair, settings)
    assert [item.name for item in agreement.mismatches] == ["m0.weight.grad"]
    assert examine(agreement, pair, settings).verdict.blame == "reference"


def test_a_result_without_a_gradient_there_has_none_here(other):
    def body():
        x = random_tensor(shape=(2, 3))
        return x * 2, x.argmax(), x.detach() + 1

    program = running.trial(body, other).recorder.snapshot()
    own, there = (flow(program, side).gradients for side in (framework("torch"), other))
    assert {place for place, value in own.items() if value is not None} == {
        place for place, value in there.items() if value is not None
    }


def test_a_module_that_holds_something_else_there_is_told_as_one_that_does_so_here(faulty):
    outcome = running.trial(lambda: torch.nn.Linear(2, 3)(random_tensor(shape=(4, 2))), faulty)
    (mismatch,) = outcome.mismatches
    assert (mismatch.symptom, mismatch.stage, outcome.recorder.calls[mismatch.slot].target) == (
        "structure",
        "build",
        "nn.Linear",
    )
    assert "shape of weight differs. expected (3, 2), actual (4, 2)" in mismatch.message


def test_a_module_that_is_refused_there_is_told_with_what_made_it(faulty):
    outcome = running.trial(lambda: torch.nn.Bilinear(2, 2, 3)(*[random_tensor(shape=(4, 2))] * 2), faulty)
    (mismatch,) = outcome.mismatches
    assert (mismatch.symptom, mismatch.stage) == ("exception", "build")
    assert "nn.Bilinear: torch accepts" in mismatch.message
    assert "raised ValueError: no such layer" in mismatch.message


def test_a_reproducer_is_given_each_of_several_results():
    there = speaking_torch(f"python:{sys.executable}")
    values, places = there.topk(there.tensor(np.array([1.0, 3.0, 2.0], "float32")), 2)
    assert (values.tolist(), places.tolist()) == ([3.0, 2.0], [1, 2])
    assert there.relu(values).size() == (2,)


def layer_in_evaluation():
    layer = torch.nn.Linear(4, 3)
    layer.train(False)  # which returns the module
    return layer(random_tensor(shape=(2, 4)))


def swept(body, candidate):
    """Return the result of a thorough sweep for the program of `body`."""
    program = running.trial(body, framework("torch")).recorder.snapshot()
    return Judge(Pair(framework("torch"), candidate)).judge(program, closely=True, measure=True)


@pytest.mark.parametrize(
    "body",
    [
        lambda: random_tensor(shape=(3, 4)).transpose(0, 1),
        lambda: random_tensor(shape=(3, 4)).topk(2),
        lambda: torch.relu(random_tensor(shape=(3, 4))),
        lambda: random_tensor(shape=(3, 4)).contiguous(),
        layer_in_evaluation,
    ],
)
def test_a_sweep_judges_what_is_there_as_what_is_here(body, other):
    judged = swept(body, other)
    assert (judged.absent, judged.left_out, judged.failures) == ("", "", [])
    assert {"value", "shape", "strides", "alias", "repeat"} <= set(judged.checks)


def test_a_process_that_died_of_another_call_has_the_dtypes_that_it_had(monkeypatch):
    candidate = framework(f"python:{sys.executable}")
    monkeypatch.setattr(candidate, "values", lambda _: (_ for _ in ()).throw(CandidateDied("its process has ended")))
    assert Lacking(Pair(framework("torch"), candidate)).of_cell("relu", "float32") is None


def test_a_sweep_finds_a_fault_there(faulty):
    judged = swept(lambda: torch.relu(random_tensor(shape=(2, 3))), faulty)
    assert [failure.check for failure in judged.failures] == ["value"]


def test_what_raises_there_is_told_with_its_call(faulty):
    outcome = running.trial(lambda: torch.sin(random_tensor(shape=(2,))) * 2, faulty)
    (mismatch,) = outcome.mismatches
    assert mismatch.symptom == "exception"
    assert outcome.recorder.calls[mismatch.slot].target == "sin"
    assert "raised AttributeError: module 'torch' has no attribute 'no_such_thing'" in mismatch.message


def test_a_death_costs_the_process_and_is_one_trials(faulty):
    pair, settings = Pair(framework("torch"), faulty), Settings()
    sizes = iter([1.0, 2.0, 1000.0, 3.0])

    def body():
        size = next(sizes)
        return torch.exp(-random_tensor(shape=(2,), low=size, high=size + 1))

    outcomes = [run_without_comparison(body, seed, settings, pair) for seed in range(4)]
    compare_outcomes(outcomes, settings)
    assert [[mismatch.name for mismatch in outcome.mismatches] for outcome in outcomes] == [[], [], ["exp"], []]
    assert "its process was killed by SIGABRT" in outcomes[2].mismatches[0].message


def test_a_death_there_is_a_crash_with_a_verdict_and_a_script(faulty, tmp_path):
    def body():
        return torch.exp(-random_tensor(shape=(2,), low=1000.0, high=1001.0))

    pair, settings = Pair(framework("torch"), faulty), Settings()
    failed = FailedTrial(ATest("file.py::test", body, settings), running.trial(body, faulty), pair)
    finding = failed.diagnosed(RunContext(pair, Options(directory=tmp_path, verify=False)), 0)
    assert (finding.operator, finding.first.symptom, finding.blame) == ("exp", "crash", "candidate")
    assert finding.verdict == (f"{faulty.name}: crash; torch returns a result",)
    assert "torch.exp(" in finding.script


def _with(line):
    """Return torch in another process, which runs `line` before it serves."""
    candidate = framework(f"python:{sys.executable}")
    candidate.start = candidate.start.replace("\nmain(", f"\nimport pathlib, time, torch\n{line}\nmain(")
    candidate.synchronize()
    return candidate


def test_trials_are_carried_out_there_before_anybody_asks_for_them(tmp_path):
    begun = tmp_path / "begun"
    candidate = _with(f"torch.tanh = lambda x: pathlib.Path({str(begun)!r}).touch()")
    x = candidate.tensor(Array(np.ones(2, np.float32), "float32"))
    tanh = candidate.operation("function", "tanh")
    for _ in range(AT_ONCE):
        tanh(x)
    deadline = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert begun.exists()


def test_a_process_that_hangs_and_reads_nothing_is_ended():
    candidate = _with("torch.tanh = lambda x: time.sleep(3600)")
    candidate.operation("function", "tanh")(candidate.tensor(Array(np.ones(2, np.float32), "float32")))
    for _ in range(AT_ONCE - 2):  # more than fits into a pipe, so not sent yet
        candidate.tensor(Array(np.ones(10_000, np.float32), "float32"))
    candidate.patience = 1.0
    with pytest.raises(CandidateHung, match=r"its process (read|gave) no.* 1 s and was ended"):
        candidate.values([])


@pytest.mark.slow
def test_a_trial_that_hangs_there_is_told_with_its_call_and_the_others_are_compared():
    candidate = _with("torch.tanh = lambda x: time.sleep(3600) if float(x.max()) > 100 else x.tanh()")
    candidate.patience = 5.0
    pair, settings, sizes = Pair(framework("torch"), candidate), Settings(), iter([1.0, 1000.0, 3.0])

    def body():
        size = next(sizes)
        return torch.tanh(random_tensor(shape=(2,), low=size, high=size + 1)) * 2

    outcomes = [run_without_comparison(body, seed, settings, pair) for seed in range(3)]
    compare_outcomes(outcomes, settings)
    assert outcomes[2].pending is not None  # it is not read before it is needed
    compare_outcomes(outcomes, settings)
    assert [len(outcome.mismatches) for outcome in outcomes] == [0, 1, 0]
    (mismatch,) = outcomes[1].mismatches
    assert (mismatch.name, mismatch.symptom) == ("tanh", "hang")
    assert "its process gave no answer within 5 s and was ended" in mismatch.message


def test_a_process_that_is_killed_meanwhile_costs_no_trial(other):
    pair, settings, count = Pair(framework("torch"), other), Settings(), itertools.count()

    def body():
        if next(count) == 2:
            os.kill(other.process, signal.SIGKILL)
        x = random_tensor(shape=(2,))
        return torch.relu(x) + float(x.detach().sum())

    outcomes = [run_without_comparison(body, seed, settings, pair) for seed in range(4)]
    compare_outcomes(outcomes, settings)
    assert [outcome.mismatches for outcome in outcomes] == [[]] * 4
    assert all(outcome.gradients for outcome in outcomes)


def test_a_type_that_the_body_reads_is_that_of_the_other_process(other):
    def body():
        x = random_tensor(shape=(2,))
        return x * 2 if x.device.type == "cpu" else x, x.type()

    assert running.agrees(running.trial(body, other))


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), pytest.fail.Exception("as of pytest-timeout's alarm")])
def test_what_interrupts_a_question_ends_the_process_and_the_next_answer_is_the_next_questions(
    other, monkeypatch, interrupt
):
    def interrupted(*_):
        raise interrupt

    other.synchronize()
    first, x = other.process, other.tensor(Array(np.ones(2, np.float32), "float32"))
    with monkeypatch.context() as patch:
        patch.setattr(peer, "wait", interrupted)
        with pytest.raises(type(interrupt)):
            other.values([x])
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert other.values([other.tensor(Array(np.zeros(2, np.float32), "float32"))])[0].data.tolist() == [0, 0]
    with pytest.raises(CandidateDied, match="its results are lost"):
        other.values([x])


def _script(folder, text):
    made = folder / "python"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return f"python:{made}"


def test_an_interpreter_that_never_begins_is_waited_for_some_time(tmp_path, monkeypatch):
    monkeypatch.setattr(peer, "START_TIMEOUT", 0.3)
    candidate = framework(_script(tmp_path, "exec sleep 3600"))
    with pytest.raises(FrameworkMissing, match=r"did not begin within 0.3 s and was ended without output; give"):
        candidate.synchronize()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Python 3.7 is too old, 3.10 or newer is needed", "give one of Python 3.10 or newer$"),
        ("ModuleNotFoundError: No module named 'numpy'", "install torch and NumPy there$"),
        ("Fatal: no licence found", "see what `.*python -c 'import numpy'` says$"),
    ],
)
def test_why_an_interpreter_died_says_what_to_do(tmp_path, words, says):
    with pytest.raises(FrameworkMissing, match=f"ended with status 3: {words}; {says}"):
        framework(_script(tmp_path, f"""echo "{words}" >&2; exit 3""")).synchronize()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("python:/no/such/python", "^python:/no/such/python: no such file; give the path of a Python interpreter"),
        (
            f"python:{sys.executable}:nonsense",
            "cannot be served by .*: no framework is named 'nonsense'. Registered are .*torch",
        ),
    ],
)
def test_what_cannot_start_is_told_in_one_sentence(name, says):
    with pytest.raises(FrameworkMissing, match=says):
        framework(name).synchronize()


def test_what_was_refused_once_is_not_started_again():
    candidate = framework(f"python:{sys.executable}:nonsense")
    said = []
    for _ in range(2):
        with pytest.raises(FrameworkMissing) as refusal:
            candidate.synchronize()
        said.append((str(refusal.value), candidate.process))
    assert said[0] == said[1]


def test_an_interpreter_that_ends_without_a_word_is_asked_for_another_and_not_started_again(tmp_path):
    started = tmp_path / "started"
    silent = tmp_path / "python"
    silent.write_text(f"#!/bin/sh\necho once >> {started}\nexit 1\n")
    silent.chmod(0o755)
    candidate = framework(f"python:{silent}")
    for _ in range(2):
        with pytest.raises(FrameworkMissing, match=r"status 1 without output; give the interpreter of an environment"):
            candidate.synchronize()
    assert started.read_text() == "once\n"


@pytest.mark.parametrize(
    ("place", "inner", "name"),
    [
        (f"{sys.executable}:torch:meta", "torch:meta", "torch:meta"),
        (f"{sys.executable}:my.adapters:made", "my.adapters:made", "my.adapters:made"),
        (sys.executable, "torch", "torch"),
        ("python3:paddle", "paddle", "paddle"),
    ],
)
def test_what_stands_behind_the_path_may_hold_colons(place, inner, name):
    candidate = framework(f"python:{place}")
    assert (candidate.inner, candidate.python) == (inner, place.removesuffix(f":{inner}"))
    assert candidate.name.partition("@")[0] == name


def test_shapes_alone_are_compared_where_the_device_there_holds_no_numbers():
    candidate = framework(f"python:{sys.executable}:torch:meta")
    assert running.agrees(running.trial(lambda: torch.relu(random_tensor(shape=(2, 3))), candidate))


@pytest.mark.parametrize("inner", ["torch+compile=eager", "onnxruntime"])
def test_what_runs_whole_programs_is_not_taken_for_compared_there(inner):
    with pytest.raises(UsageError, match="which needs its own process; run pytest or autotest with that interpreter"):
        framework(f"python:{sys.executable}:{inner}")


def test_an_environment_without_the_framework_says_what_to_install():
    if importlib.util.find_spec("tinygrad") is not None:
        pytest.skip("it is installed here")
    with pytest.raises(FrameworkMissing, match=r"python.*: the framework 'tinygrad' cannot be imported .*; install it"):
        _ = framework(f"python:{sys.executable}:tinygrad").version


def test_a_place_that_is_left_out_is_asked_for():
    with pytest.raises(UsageError, match="expected python:PATH of an interpreter"):
        framework("python:")


@pytest.mark.parametrize("dtype", ["float16", "float64", "bool", "int64", "complex64"])
@pytest.mark.parametrize("columns", [3, 30_000])
def test_arrays_cross_whatever_numpy_calls_its_own_functions(dtype, columns):
    stream = io.BytesIO()
    sent = {"x": np.arange(2 * columns).astype(dtype).reshape(2, columns)[:, ::2], "key": wire.Link(3)}
    wire.send(stream, sent)
    assert b"numpy" not in stream.getvalue()
    stream.seek(0)
    received = wire.receive(stream)
    assert received["key"] == wire.Link(3)
    assert np.array_equal(received["x"], sent["x"])
    received["x"][:] = 0  # it is writable


def test_values_are_shown_with_their_numbers_and_a_failed_call_with_its_error(other, faulty):
    x = other.tensor(Array(np.array([1.0, 2.0], "float32"), "float32"), requires_grad=True)
    assert other.shown(x) == "tensor([1., 2.], dtype=float32, requires_grad=True)"
    assert other.shown(other.invoke("method", "max", (x,), {"dim": 0})).startswith("(tensor(2., dtype=float32")
    failed = faulty.invoke("function", "sin", (faulty.tensor(Array(np.ones(2, "float32"), "float32")),), {})
    assert "no_such_thing" in faulty.shown(failed)
    assert faulty.first_failure([failed]) is not None, "showing it does not hide the failure from the trial"
