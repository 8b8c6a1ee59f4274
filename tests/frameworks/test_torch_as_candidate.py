"""torch against itself: on another device, and compiled."""

from __future__ import annotations

import contextlib
import copy
import sys
import types

import numpy as np
import pytest
import torch as real

from autotest import Divergence, FrameworkMissing, UsageError, random_tensor, torch
from autotest.base.settings import Settings
from autotest.frameworks import Namespace, Pair, framework
from autotest.frameworks.oneflow_import import import_oneflow
from autotest.program import Array
from autotest.replaying import graph_check
from autotest.sweeping.judging import Judge
from tests.support import running
from tests.support.faulty import FaultyTorch


@pytest.fixture(scope="module", autouse=True)
def _oneflow_before_triton():
    """Import OneFlow, if it is installed: tests of it that follow could not import it after Triton, which compiles."""
    with contextlib.suppress(FrameworkMissing):
        import_oneflow()


def network():
    x, w = random_tensor(shape=(3, 4)), random_tensor(shape=(4, 2))
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    made = layers(x @ w)
    return made.mean(), (made**2).sum(), torch.cat([made, torch.zeros(1, 3, device="cpu").to("cpu")])


# -- another device -------------------------------------------------------------------------------------------


def test_everything_lives_on_the_device():
    candidate = framework("torch:meta")
    outcome = running.trial(network, candidate)
    assert running.agrees(outcome)
    tensors = [value for value in outcome.recorder.actual if isinstance(value, candidate.tensor_types)]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert outcome.gradients >= 3


def test_a_wrong_shape_is_seen_where_there_are_no_numbers():
    candidate = framework("torch:meta")
    plain = candidate.operation

    def cut(kind, target):
        return (lambda x: plain(kind, target)(x)[:-1]) if target == "relu" else plain(kind, target)

    candidate.operation = cut
    outcome = running.trial(lambda: torch.relu(random_tensor(shape=(3, 4))), candidate)
    assert {mismatch.symptom for mismatch in outcome.mismatches} >= {"shape"}


def test_another_layout_is_seen_where_there_are_no_numbers():
    candidate = framework("torch:meta")
    plain = candidate.operation

    def laid_out(kind, target):
        found = plain(kind, target)
        return (lambda x: found(x).t().contiguous().t()) if target == "relu" else found

    candidate.operation = laid_out
    outcome = running.trial(lambda: torch.relu(random_tensor(shape=(3, 4))), candidate)
    assert any(".stride()" in mismatch.name for mismatch in outcome.mismatches)
    assert running.agrees(running.trial(lambda: random_tensor(shape=(3, 4)).t() * 2, framework("torch:meta")))


def test_a_step_of_an_optimizer_is_not_compared_where_there_are_no_numbers():
    assert running.agrees(running.trial(_training, framework("torch:meta")))


def test_a_step_of_an_optimizer_is_not_compared_if_the_test_compares_no_values():
    class Wrong(real.optim.SGD):
        def step(self, closure=None):
            for parameter in self.param_groups[0]["params"]:
                parameter.data.sub_(parameter.grad)

    candidate = FaultyTorch({"optim.SGD": lambda plain: Wrong})
    assert running.agrees(running.trial(_training, candidate, check_values=False))
    assert running.trial(_training, candidate).mismatches


def _training():
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(random_tensor(shape=(2, 3))).sum().backward()
    optimizer.step()
    return layer(random_tensor(shape=(2, 3)))


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (lambda x: x * x.sum().item(), "item"),
        (lambda x: x.detach().numpy(), "numpy"),
        (lambda x: x[torch.tensor([True, False, True])], "operator getitem"),
    ],
)
def test_what_has_no_numbers_to_give_is_absent(body, name):
    outcome = running.trial(lambda: body(random_tensor(shape=(3,))), framework("torch:meta"))
    assert outcome.rejection.type == "Absent"
    assert f"torch:meta has no {name}" in outcome.rejection.text


def test_a_program_that_asks_for_the_device_is_told_that_it_is_the_cpu():
    def body():
        x = random_tensor(shape=(3,))
        on_cpu = x.device.type == "cpu" and x.device == torch.device("cpu")
        return x * 2 if on_cpu else x, torch.zeros(3, device=torch.device("cpu"))

    assert running.agrees(running.trial(body, framework("torch:meta")))


def test_an_array_is_made_of_a_tensor_on_another_device():
    candidate = framework("torch:meta")
    candidate.holds_values = True  # as a device that computes
    there = candidate.tensor(Array(np.zeros(2, np.float32), "float32"))
    assert candidate.invoke("method", "numpy", (there,), {}).tolist() == [0, 0]


def test_a_sweep_of_what_has_no_numbers_looks_at_shapes_and_not_at_what_is_written_into_them():
    body = lambda: torch.abs(random_tensor(shape=(3, 4)).transpose(0, 1))  # noqa: E731
    program = running.trial(body, framework("torch")).recorder.snapshot()
    judged = Judge(Pair(framework("torch"), framework("torch:meta"))).judge(program, closely=True, measure=True)
    assert not judged.failures
    assert judged.accuracy is None
    assert "shape" in judged.checks
    assert "value" not in judged.checks


@pytest.mark.skipif(real.cuda.is_available(), reason="there is such a device")
def test_a_device_that_is_not_there_is_told_in_one_sentence():
    with pytest.raises(FrameworkMissing, match=r"has no device 'cuda' here \(.*\); choose an existing one"):
        _ = framework("torch:cuda").root


def test_a_device_is_not_touched_before_the_process_is_forked():
    forked = []
    with pytest.raises(FrameworkMissing, match="has no device 'nowhere'"):
        framework("torch:nowhere").import_around(lambda: forked.append(True))
    assert forked == [True]
    assert not framework("torch:cuda").forkable
    assert framework("torch:cuda").shares_driver


def test_the_script_of_a_device_runs_by_itself(tmp_path):
    script = framework("torch:meta").script()
    scope: dict[str, object] = {}
    exec("\n".join(script.lines), scope)  # noqa: S102 - it is what is tested
    on_device = scope["on_device"]
    made = on_device.nn.functional.relu(on_device.tensor([1.0], dtype=on_device.float32))
    assert made.device.type == "meta"
    assert on_device.nn.Linear(2, 3).weight.device.type == "meta"


@pytest.fixture
def xla(monkeypatch):
    """Return the adapter of a lazy device without such a device, and the list of what it computed at once."""
    together: list[int] = []
    brought = types.ModuleType("torch_xla")
    compute = lambda tensors, devices, wait, sync_xla_data: together.append(len(tensors))  # noqa: E731
    brought._XLAC = types.SimpleNamespace(_xla_sync_multi=compute)
    monkeypatch.setitem(sys.modules, "torch_xla", brought)
    candidate = framework("torch:xla")
    candidate.root = real
    return candidate, together


def test_a_lazy_device_computes_all_that_is_read_at_once(xla):
    candidate, together = xla
    assert [value.data.tolist() for value in candidate.values([real.ones(1), real.zeros(1)])] == [[1.0], [0.0]]
    assert together == [2]


def test_one_tensor_that_a_lazy_device_cannot_compute_does_not_spoil_the_others(xla):
    candidate, _ = xla

    def refuse(tensors):
        raise RuntimeError("Check failed: tensor_data")

    candidate._compute = refuse
    assert [value.data.tolist() for value in candidate.values([real.ones(1)])] == [[1.0]]


def test_what_a_lazy_device_has_accepted_is_computed_before_anybody_says_so(xla):
    candidate, together = xla
    candidate.known((real.ones(1), [real.zeros(1)], 2))
    assert together == [2]


def test_the_script_of_a_device_imports_what_brings_it(xla):
    candidate, _ = xla
    assert "import torch_xla" in candidate.script().lines
    assert not [line for line in framework("torch:cuda").script().lines if line.startswith("import torch_")]


# -- compiled -------------------------------------------------------------------------------------------------


def compiled_alike(body, backend, trials=3):
    pair = Pair(framework("torch"), framework(f"torch+compile={backend}"))
    outcomes = [running.run_trial(body, seed, Settings(), pair) for seed in range(trials)]
    return graph_check.check([outcome.recorder for outcome in outcomes], Settings())


def compiles(gm, inputs):
    """A right backend."""
    return gm.forward


def off_by_one(gm, inputs):
    """A wrong backend."""
    return lambda *args: [item + 1 if item.is_floating_point() else item for item in gm.forward(*args)]


@pytest.fixture
def backend():
    """Return ``backend(function)``, which registers the function as a backend of torch and returns its name."""
    import torch._dynamo as dynamo

    known = dynamo.backends.registry if hasattr(dynamo, "backends") else None
    names = []

    def registered(function):
        name = f"planted_{function.__name__}"
        dynamo.register_backend(function, name)
        names.append(name)
        return name

    yield registered
    for name in names:
        for table in ("_BACKENDS", "_COMPILER_FNS"):
            getattr(known, table, {}).pop(name, None)


def test_several_programs_are_compiled_as_one_and_agree(backend):
    report = compiled_alike(network, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert report.compared > 20


def test_parameters_that_a_program_computes_with_are_those_of_each_trial(backend):
    def body():
        layer, x = torch.nn.Linear(2, 3), random_tensor(shape=(4, 2))
        return layer(x), x @ (layer.weight * 2).t(), (layer.bias**2).sum()

    report = compiled_alike(body, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert not report.left_out  # gradients are backpropagated to them


def test_gradients_through_a_compiled_program_are_compared():
    report = compiled_alike(network, "aot_eager", trials=1)
    assert report.mismatches == [[]]
    assert report.compared > 8


def test_operators_in_place_write_into_what_they_are_given_there_too(backend):
    def body():
        x, y = random_tensor(shape=(3,)), random_tensor(shape=(3,))
        made = x * 1
        earlier = made
        made += y
        made *= 2
        made -= y
        return made, earlier

    report = compiled_alike(body, backend(compiles), trials=1)
    assert report.mismatches == [[]]
    assert not report.left_out
    assert report.compared > 3


def out_argument():
    made = torch.empty(3)
    torch.exp(random_tensor(shape=(3,), requires_grad=False), out=made)
    return made * 1


def scattered():
    return torch.zeros(3).scatter_add_(0, torch.tensor([0, 0, 1]), random_tensor(shape=(3,)))


def added():
    made = torch.tensor([1.0, 2.0, 3.0])
    made.add_(random_tensor(shape=(3,)))
    return made, torch.full((3,), 2.0) * made


def statistics():
    mean = torch.zeros(3)
    normed = torch.nn.functional.batch_norm(random_tensor(shape=(4, 3)), mean, torch.ones(3), training=True)
    return normed, mean


@pytest.mark.parametrize("body", [out_argument, scattered, added, statistics])
def test_tensors_that_a_program_makes_and_writes_into_are_new_in_each_run_of_a_graph(body, backend):
    report = compiled_alike(body, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert not report.left_out


def test_a_call_in_place_on_an_array_that_tracing_read_is_left_out(backend):
    def body():
        made = torch.tensor(np.ones(3, "float32"))
        made.add_(random_tensor(shape=(3,)))
        return made

    report = compiled_alike(body, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert report.left_out == {"calls in place, on tensors that tracing made": 3}


def test_numbers_of_numpy_are_compiled_as_numbers(backend):
    def body():
        x = np.float32(2) * random_tensor(shape=(3, 4)) + np.float64(1)
        return torch.sum(x.reshape((np.int64(4), 3))[np.int64(1) :], dim=np.int64(0))

    report = compiled_alike(body, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert not report.left_out


def test_a_wrong_backend_is_found_and_has_a_script(backend, tmp_path):
    name = backend(off_by_one)
    candidate = framework(f"torch+compile={name}")
    with pytest.raises(Divergence) as raised:
        running.trials(network, tmp_path, candidate, n=2)
    finding = raised.value.finding
    assert finding.first.symptom == "graph"
    assert f"torch.compile(backend='{name}')" in finding.verdict[0]
    assert f"torch.compile(forward, backend='{name}')" in finding.script


def broken(gm, inputs):
    """A backend without its compiler."""
    raise OSError("no C++ compiler found")


def without_products(gm, inputs):
    """A backend that compiles some programs."""
    if any("matmul" in str(node.target) for node in gm.graph.nodes):
        raise NotImplementedError("no matmul")
    return gm.forward


def test_a_backend_that_compiles_nothing_here_is_told_in_one_sentence_and_no_finding(backend, tmp_path):
    name = backend(broken)
    says = (
        r"cannot compile here, not even x \+ 1 \(.*no C\+\+ compiler found.*\); install the missing package, or choose"
    )
    with pytest.raises(FrameworkMissing, match=says):
        running.trials(network, tmp_path, framework(f"torch+compile={name}"), n=2)


def test_a_program_that_a_backend_refuses_is_a_finding(backend):
    report = compiled_alike(network, backend(without_products), trials=1)
    assert any("no matmul" in mismatch.message for mismatch in report.mismatches[0])


@pytest.mark.parametrize("taken", [list, iter])
@pytest.mark.parametrize("clip", ["clip_grad_norm_", "clip_grad_value_"])
def test_gradients_that_are_clipped_are_left_out_and_no_finding(backend, clip, taken):
    def body():
        layer = torch.nn.Linear(2, 3)
        made = layer(random_tensor(shape=(4, 2)))
        made.sum().backward()
        getattr(torch.nn.utils, clip)(taken(layer.parameters()), 0.1)
        return made

    report = compiled_alike(body, backend(compiles), trials=1)
    assert report.mismatches == [[]]
    assert report.left_out == {"gradients that are clipped": 1}


def strided():
    x, y = random_tensor(shape=(2, 3, 4), layout="strided"), random_tensor(shape=(4,), layout="strided")
    return torch.matmul(x, y)


def detached():
    y = (random_tensor(shape=(2, 3)) * 2).detach().requires_grad_()
    return y.exp() + y


def copied():
    x = random_tensor(shape=(2, 3))
    return x * copy.deepcopy(x.detach()), torch.relu(copy.deepcopy(x))


def twice_named():
    x = random_tensor(shape=(2, 3), requires_grad=False)
    return x.requires_grad_() * x


@pytest.mark.parametrize(("body", "results"), [(strided, 3), (detached, 5), (copied, 5), (twice_named, 2)])
def test_leaves_are_made_before_there_is_a_graph_and_their_gradients_compared(body, results):
    report = compiled_alike(body, "aot_eager", trials=1)
    assert report.mismatches == [[]]
    assert not report.left_out
    assert report.compared == results


def test_a_leaf_that_is_made_of_what_the_graph_computes_is_left_out():
    def body():
        made = torch.nn.Linear(3, 2)(random_tensor(shape=(4, 3)))
        return torch.relu(made.detach().requires_grad_())

    report = compiled_alike(body, "eager", trials=1)
    assert report.mismatches == [[]]
    assert report.left_out == {"leaves that are made from results of the graph": 1}


def test_what_cannot_be_traced_is_left_out_and_no_finding(backend):
    def body():
        layer = torch.nn.Linear(2, 3)
        return layer(random_tensor(shape=(4, 2))), torch.nn.utils.parameters_to_vector(list(layer.parameters()))

    report = compiled_alike(body, backend(compiles), trials=1)
    assert report.mismatches == [[]]
    assert any("cannot be traced" in reason for reason in report.left_out)


def test_an_object_that_keeps_the_tensors_of_a_trial_is_left_out(backend):
    def body():
        normal = torch.distributions.Normal(random_tensor(shape=(2,)), 1.0, validate_args=False)
        return normal.log_prob(random_tensor(shape=(2,))), normal.mean

    report = compiled_alike(body, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert report.left_out == {"objects made from tensors": 3}


def test_a_call_of_a_function_of_the_test_is_left_out(backend):
    def body():
        x = random_tensor(shape=(2,), requires_grad=False)
        x.apply_(lambda number: number * 2)
        return x + 1

    report = compiled_alike(body, backend(compiles))
    assert report.mismatches == [[], [], []]
    assert report.left_out == {"arguments that programs cannot contain": 3}


def set_dtype():
    torch.set_default_dtype(torch.float64)
    return torch.zeros(2) + random_tensor(shape=(2,))


def set_gradients():
    x = random_tensor(shape=(2,))
    torch.set_grad_enabled(False)
    y = x * 3
    torch.set_grad_enabled(True)
    return y + x


@pytest.mark.parametrize("body", [set_dtype, set_gradients])
def test_a_setting_that_is_changed_between_calls_is_left_out(body, backend):
    report = compiled_alike(body, backend(compiles), trials=1)
    assert report.mismatches == [[]]
    assert report.left_out == {"settings of the process": 1}


def test_compiling_leaves_the_checks_of_distributions_on():
    compiled_alike(lambda: random_tensor(shape=(2,)) + 1, "eager", trials=1)
    with pytest.raises(ValueError, match="loc"):
        real.distributions.Normal(real.tensor(float("nan")), 1.0)


def test_an_unknown_backend_is_told_with_those_that_there_are():
    with pytest.raises(UsageError, match=r"has no backend 'eagr' to .* mean 'eager'\? It has .*aot_eager.*inductor"):
        _ = framework("torch+compile=eagr").root


# -- a subclass of its tensors --------------------------------------------------------------------------------


def test_a_subclass_of_torchs_tensors_has_gradients_and_parameters_of_torch():
    own = type("Tensor", (real.Tensor,), {})
    root = types.ModuleType("of_a_subclass")
    root.__getattr__ = lambda name: getattr(real, name)
    root.Tensor, root.from_numpy = own, lambda data: real.from_numpy(data).as_subclass(own)
    candidate = Namespace("of_a_subclass", "of_a_subclass")
    candidate.__dict__["root"] = root
    assert isinstance(candidate.tensor(Array(np.ones(2, "float32"), "float32")), own)
    outcomes = [running.trial(network, candidate, seed=seed) for seed in range(3)]
    assert all(map(running.agrees, outcomes))
    assert all(outcome.gradients for outcome in outcomes)
