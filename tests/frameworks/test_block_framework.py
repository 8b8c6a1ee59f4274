"""A framework without tensor methods, autograd and in-place calls, and with other names, can be a candidate."""

from __future__ import annotations

import functools
import importlib
import unittest
from pathlib import Path

import numpy as np
import pytest

from autotest import Divergence, random, random_tensor, torch
from autotest.base.errors import TrialEnd
from autotest.comparison import Mismatch
from autotest.frameworks import Pair
from autotest.frameworks import framework as plain_torch
from autotest.frameworks.failures import Absent
from autotest.frameworks.tape import TapeTensor
from autotest.program import Array
from autotest.recording.recorder import Recorder, recording
from autotest.sweeping.judging import Judge
from generators import GeneratorError
from generators.source import TRIAL_BITS
from tests.support import running
from tests.support.block_framework import BlockFramework, framework, with_wrong_sine
from tests.support.blocks import Block

#: Test bodies of tests/alignment, unchanged.
FUNCTIONS = [
    ("test_activation", "test_function", "relu"),
    ("test_activation", "test_function", "sigmoid"),
    ("test_activation", "test_module", "ReLU"),
    ("test_activation", "test_module_of_special_values", "ReLU"),
    ("test_activation", "test_in_place", "ReLU"),
    ("test_matmul", "test_linear", True),
    ("test_reduction", "test_of_all_elements", "sum"),
    ("test_reduction", "test_along_one_dimension", "mean"),
]
METHODS = [
    ("test_elementwise", "TestInPlace", "test_copying"),
    ("test_elementwise", "TestInPlace", "test_filling_cuts_the_gradient"),
    ("test_elementwise", "TestInPlace", "test_zeroing_cuts_the_gradient"),
    ("test_optimizer", "TestAroundOptimizers", "test_updates_without_autograd"),
]


@pytest.fixture
def alignment(monkeypatch):
    """Return ``alignment(name)``, which imports a module of tests/alignment with the strange framework as candidate."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.block_framework:framework")
    return lambda name: importlib.import_module(f"tests.alignment.{name}")


@pytest.mark.parametrize(("file", "name", "argument"), FUNCTIONS)
def test_a_body_passes_unchanged(alignment, file, name, argument):
    getattr(alignment(file), name)(argument)


@pytest.mark.parametrize(("file", "case", "name"), METHODS)
def test_a_method_passes_unchanged(alignment, file, case, name):
    getattr(alignment(file), case)(name).debug()


def test_numpy_does_not_warn_of_what_trials_draw_if_the_framework_computes_with_it():
    with np.errstate(all="raise"), running.pair_with(framework()).around_trials():
        assert np.isinf(np.array([3e38], "float32") * np.float32(10)).all()


def test_what_it_has_no_name_for_is_skipped_and_told(alignment):
    with pytest.raises(unittest.SkipTest, match=r"otherwise has no nn.functional.mish \(20 of 20 trials\)"):
        alignment("test_activation").test_function("mish")


def test_an_argument_that_it_does_not_have_is_absent_too(alignment):
    with pytest.raises(unittest.SkipTest, match=r"no div of such arguments .*rounding_mode"):
        alignment("test_elementwise").TestArithmetic("test_division_that_rounds").debug()


@pytest.mark.parametrize("argument", [{"padding_idx": 1}, {"max_norm": 1.0}, {"scale_grad_by_freq": True}])
def test_an_argument_of_a_module_that_it_does_not_know_is_absent_and_not_left_out(argument):
    outcome = running.trial(lambda: torch.nn.Embedding(4, 3, **argument)(torch.tensor([1, 2])), framework())
    assert outcome.rejection.type == "Absent"
    assert "nn.Embedding of such arguments" in outcome.rejection.text


@pytest.mark.parametrize("arguments", [(-0.5, 0.5, True), (-0.5,)])
def test_a_module_gives_its_function_each_argument_that_it_is_made_with(arguments):
    candidate = framework()
    constant = functools.partial(candidate.array, dtype="float32")

    def hardtanh(x, min_val=-1.0, max_val=1.0):
        cut = candidate.root.larger(x, constant(np.array(min_val)))
        return candidate.root.smaller(cut, constant(np.array(max_val)))

    candidate.spelling["hardtanh"] = hardtanh

    def body():
        x = random_tensor(shape=(3, 4), low=-2, high=2) * 1
        return torch.nn.Hardtanh(*arguments)(x), x

    assert running.agrees(running.trial(body, candidate))


def test_an_argument_by_position_that_a_module_does_not_know_is_absent_and_not_left_out():
    with pytest.raises(Absent, match=r"sigmoid of such arguments \(1 by position\)"):
        framework().resolve("nn.Sigmoid")(True)


def test_a_dtype_that_the_body_reads_is_that_of_torch():
    def body():
        x = random_tensor(shape=(2, 3))
        return x.to(x.dtype) * 2, x.dtype

    assert running.agrees(running.trial(body, framework()))


def test_a_sequence_of_modules_has_a_length_and_parts():
    def body():
        layers = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
        x = random_tensor(shape=(2, 3))
        return layers[: len(layers) - 1](x), layers[1:](x), layers(x)

    assert running.agrees(running.trial(body, framework()))


def test_gradients_set_to_zero_are_zeros_and_no_longer_the_old_ones():
    def body():
        layer = torch.nn.Linear(3, 2)
        layer(random_tensor(shape=(4, 3), requires_grad=False)).sum().backward()
        kept = layer.weight.grad
        layer.zero_grad(set_to_none=False)
        return layer.weight.grad, layer.bias.grad, kept

    assert running.agrees(running.trial(body, framework(), auto_backward=False))


@pytest.mark.parametrize("given", [((), {"copy": True}), ((False, True), {}), ((False, False), {})])
def test_a_conversion_that_copies_does_so_although_nothing_is_converted(given):
    positional, named = given

    def body():
        x = random_tensor(shape=(3,)) * 2
        y = x.to(torch.float32, *positional, **named)
        y.add_(1)
        return x, y

    assert running.agrees(running.trial(body, framework()))


def test_gradients_are_asked_for_with_all_that_torch_takes():
    def body():
        x = random_tensor(shape=(3,))
        return torch.autograd.grad((x * x).sum(), x, only_inputs=True)

    assert running.agrees(running.trial(body, framework(), auto_backward=False))


def test_views_are_seen_through_what_is_written():
    def body():
        x = random_tensor(shape=(3, 4)) * 2
        row, turned = x[1], x.transpose(0, 1)
        turned.mul_(3)
        x[:, 2:] = torch.sin(x[:, :2].clone())
        row += 1
        return x, row, turned, x.sum(dim=1, keepdim=True)

    assert running.agrees(running.trial(body, framework()))


@pytest.mark.parametrize(
    "copied",
    [
        lambda x: x.transpose(0, 1).reshape(-1),
        lambda x: x.transpose(0, 1).contiguous(),
        lambda x: x[:, :2].reshape(6),
        lambda x: x.unsqueeze(0).expand(2, 3, 4).reshape(-1),
    ],
    ids=range(4),
)
def test_a_reordered_tensor_does_not_share_the_memory_that_it_was_copied_from(copied):
    def body():
        x = random_tensor(shape=(3, 4))
        y = x * 2
        made = copied(y)
        made[0] = 5.0
        of_leaf = copied(x)
        of_leaf.add_(1)
        return y, made, of_leaf

    assert running.agrees(running.trial(body, framework()))


@pytest.mark.parametrize(
    "maybe_copied", [lambda x: x.reshape(-1), lambda x: x.reshape(2, 6), lambda x: x.contiguous()], ids=range(3)
)
@pytest.mark.parametrize("written", [0, 1], ids=["source", "result"])
def test_writing_where_only_torch_knows_what_shares_memory_is_absent_and_no_finding(maybe_copied, written):
    def body():
        x = random_tensor(shape=(3, 4)).transpose(0, 1) * 2  # of which torch has a transposed one, too
        both = x, maybe_copied(x)
        both[written].add_(1)
        return both

    outcome = running.trial(body, framework())
    assert outcome.mismatches == []
    assert outcome.rejection.text.startswith("otherwise has no order of elements in memory")


def write_items(expanded):
    expanded[1:] = 9.0


@pytest.mark.parametrize(
    "write",
    [
        write_items,
        lambda expanded: expanded.add_(1),
        lambda expanded: expanded.copy_(torch.exp(expanded)),
        lambda expanded: torch.exp(expanded, out=expanded),
    ],
    ids=["items", "in place", "copy", "out"],
)
def test_writing_where_several_elements_share_memory_is_absent_and_no_finding(write):
    def body():
        write((random_tensor(shape=(3, 1)) * 2).detach().expand(3, 4))

    outcome = running.trial(body, framework(), check_errors=True)
    assert outcome.mismatches == []
    assert outcome.rejection is not None


def test_writing_where_no_two_elements_share_memory_is_compared():
    def body():
        x = (random_tensor(shape=(3, 1)) * 2).expand(3, 4)
        x[:, 1].add_(1)
        x[0, 0] = 5.0
        return x

    assert running.agrees(running.trial(body, framework()))


def test_writing_into_what_was_computed_from_a_transposed_tensor_is_compared():
    def body():
        x = random_tensor(shape=(3, 4)).transpose(0, 1) * 2
        y = (x + 1).reshape(4, 3, 1)
        y[0] = 5.0
        z = x[1].reshape(-1)
        z.add_(1)
        w = x.sum(dim=1).contiguous()
        w.add_(1)
        return x, y, z, w

    assert running.agrees(running.trial(body, framework()))


def test_a_retained_gradient_is_that_of_the_contents_after_a_call_in_place():
    def body():
        x = random_tensor(shape=(3,))
        y = x * 2
        y.retain_grad()
        row = (x * 3)[1:]
        row.retain_grad()
        y.mul_(3)
        row.mul_(2)
        (y.sum() + row.sum()).backward()
        return y.grad, row.grad, x.grad

    assert running.agrees(running.trial(body, framework(), auto_backward=False))


def test_assigned_data_share_their_memory_and_no_longer_the_old_one():
    def body():
        layer = torch.nn.Linear(3, 2)
        old = layer.weight.data
        new = old * 2
        layer.weight.data = new
        layer.weight.data[0] = 0.5
        with torch.no_grad():
            layer.weight.mul_(3)
            layer.bias.data = layer.bias.data * 2
            layer.bias[0] = 1.0
        layer.weight.data = layer.weight.data.mul_(2)
        return layer(random_tensor(shape=(4, 3))), old, new

    assert running.agrees(running.trial(body, framework()))


def test_assigning_its_own_data_in_another_order_is_absent_and_no_finding():
    def body():
        layer = torch.nn.Linear(2, 2)
        layer.weight.data = layer.weight.data.transpose(0, 1)
        return layer(random_tensor(shape=(4, 2)))

    outcome = running.trial(body, framework())
    assert outcome.mismatches == []
    assert outcome.rejection.text.startswith("otherwise has no assigning")


def test_several_results_are_written_into_several_tensors():
    adapter = framework()
    adapter.spelling["halves"] = lambda x: (adapter.take(x, np.arange(2)), adapter.take(x, np.arange(2, 4)))
    x, *out = (adapter.tensor(Array(np.arange(n, dtype="float32"), "float32")) for n in (4, 2, 2))
    found = adapter.operation("function", "halves")(x, out=tuple(out))
    assert [one.tolist() for one in map(adapter.numpy, map(adapter.read, out))] == [[0, 1], [2, 3]]
    assert found == tuple(out)


@pytest.mark.parametrize(
    "shared",
    [
        lambda x: x.transpose(0, 1).transpose(0, 1).reshape(-1),
        lambda x: x[1:].contiguous(),
        lambda x: x[1:].reshape(2, 2, 2),
        lambda x: x[:, :2].reshape(3, 2, 1),
        lambda x: x[:0].reshape(-1, 2),
    ],
    ids=range(5),
)
def test_a_reshaped_tensor_shares_memory_wherever_torch_need_not_copy(shared):
    def body():
        x = random_tensor(shape=(3, 4)) * 2
        made = shared(x)
        made.add_(1)
        return x, made

    assert running.agrees(running.trial(body, framework()))


@pytest.mark.parametrize(
    "key",
    [
        lambda i: (0, slice(None), i),
        lambda i: (i, slice(None), 1),
        lambda i: (slice(None), i, ..., i),
        lambda i: (i[0], slice(None), i),
        lambda i: (True, slice(None), 0, i),
        lambda i: ([0, 1], slice(None), 1),
        lambda i: (..., None, i, 1),
        lambda i: i[0],
    ],
    ids=range(8),
)
def test_a_number_beside_an_index_of_tensors_selects_first(key):
    def body():
        x = random_tensor(shape=(2, 3, 4)) * 2
        index = torch.tensor([0, 1])
        found = x[key(index)]
        x[key(index)] = found * 3
        found += 1
        return x, found

    assert running.agrees(running.trial(body, framework()))


def test_an_operand_by_keyword_is_written_in_place():
    def body():
        x = random_tensor(shape=(3,)) * 2
        return torch.nn.functional.relu(input=x, inplace=True), x

    assert running.agrees(running.trial(body, framework()))


@pytest.mark.parametrize(
    "layer",
    [
        lambda: torch.nn.Linear(3, 2),
        lambda: torch.nn.ReLU(inplace=False),
        lambda: torch.nn.Softmax(dim=1),
        lambda: torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Identity()),
    ],
    ids=["Linear", "ReLU", "Softmax", "Sequential"],
)
def test_a_layer_takes_its_input_by_keyword(layer):
    outcome = running.trial(lambda: layer()(input=random_tensor(shape=(4, 3))), framework())
    assert running.agrees(outcome)
    assert outcome.gradients


@pytest.mark.parametrize("given", [(2, 4, 1, 1, 0, 1, 3), (4, 2, 1, 1, 0, 1, 4), (2, 2, 1, 1, 0, 1, 0)], ids=str)
def test_groups_that_do_not_divide_the_channels_are_refused_as_by_torch(given):
    outcome = running.trial(lambda: torch.nn.Conv2d(*given), framework(), check_errors=True)
    assert outcome.rejection is not None
    assert outcome.mismatches == []


def test_a_layer_that_occurs_twice_has_its_parameters_once():
    def body():
        layer = torch.nn.Linear(3, 3)
        return torch.nn.Sequential(layer, torch.nn.ReLU(), layer)(random_tensor(shape=(2, 3)))

    assert running.agrees(running.trial(body, framework()))


def test_a_layer_without_a_parameter_has_none_in_its_place():
    adapter = framework()
    layer = adapter.operation("function", "nn.LayerNorm")(3, elementwise_affine=False)
    assert adapter.invoke("getattr", "weight", (layer,), {}) is adapter.invoke("getattr", "bias", (layer,), {}) is None


@pytest.mark.parametrize("data", [np.float64(1.5), [np.float64(1.5)], 1.5, [1.5], np.array([1.5]), 2, True])
def test_a_tensor_of_plain_data_has_the_dtype_that_torch_gives_it(data):
    def body():
        return torch.tensor(data), random_tensor(shape=(1,))

    assert running.agrees(running.trial(body, framework()))


def test_an_operand_that_is_given_twice_varies_as_one(monkeypatch):
    candidate = framework()
    differentiate, asked = candidate.vjp, []

    def vjp(function, arrays, cotangents):
        asked.append(len(arrays) - len({id(array) for array in arrays}))
        return differentiate(function, arrays, cotangents)

    monkeypatch.setattr(candidate, "vjp", vjp)

    def body():
        x = random_tensor(shape=(3,))
        return x * x + torch.maximum(x, x.detach())

    assert running.agrees(running.trial(body, candidate))
    assert asked
    assert not any(asked)


def test_gradients_of_kept_and_detached_values():
    def body():
        x = random_tensor(shape=(4,))
        y = torch.sin(x)
        y.retain_grad()
        (y * y.detach() + y).sum().backward(retain_graph=True)
        return y * x, y.grad, x.grad

    outcome = running.trial(body, framework())
    assert running.agrees(outcome)
    assert outcome.gradients >= 2


@pytest.mark.usefixtures("warm")
def test_a_planted_fault_is_found_diagnosed_shrunk_and_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(importlib.import_module("tests").__path__[0] + "/.."))

    def body():
        x = random_tensor(shape=(3, 4))
        return torch.exp(torch.sin(x.transpose(0, 1)) * 2).sum(dim=0)

    with pytest.raises(Divergence) as raised:
        running.trials(body, tmp_path, with_wrong_sine(), options={"verify": True, "shrink": 5.0})
    finding = raised.value.finding
    assert finding.operator == "sin"
    assert finding.verified.holds
    assert len(finding.program.calls) <= 4
    assert sum(array.data.size for array in finding.program.arrays) <= 4


def test_its_arrays_have_nothing_but_their_class():
    assert [name for name in dir(Block) if not name.startswith("_")] == []


def swept(body):
    """Return the result of a sweep for the program of `body`."""
    program = running.trial(body, plain_torch("torch")).recorder.snapshot()
    return Judge(Pair(plain_torch("torch"), framework())).judge(program, closely=True)


def test_a_sweep_judges_methods_by_what_they_are_spelt_as_and_no_strides():
    judged = swept(lambda: random_tensor(shape=(3, 4)).transpose(0, 1).exp())
    assert (judged.absent, judged.left_out, judged.failures) == ("", "", [])
    assert judged.checks["value"]
    assert "strides" not in judged.checks


def test_what_a_sweep_finds_absent_is_no_failure():
    assert "has no" in swept(lambda: random_tensor(shape=(3, 4)).erfinv()).absent
    judged = swept(lambda: torch.div(random_tensor(shape=(3,), requires_grad=False), 2.0, rounding_mode="floor"))
    assert "has no div of such arguments" in judged.absent
    assert not judged.failures


def test_a_backward_that_needs_what_it_lacks_is_no_finding(tmp_path):
    body = lambda: torch.sin(random_tensor(ndim=2, layout="contiguous"))  # noqa: E731
    tally = running.trials(body, tmp_path, BlockFramework(lacks=["expand"]))
    assert tally.absent["otherwise has no expand"]
    assert tally.absent.total() + tally.accepted == 20
    assert tally.compared == 20, "what the body computed before is compared nevertheless"


def test_gradients_that_it_cannot_compute_are_no_finding(tmp_path, monkeypatch):
    candidate = framework()
    monkeypatch.setattr(candidate, "vjp", lambda *given: (_ for _ in ()).throw(Absent("otherwise", "gradients")))
    outcome = running.trial(lambda: torch.sin(random_tensor(ndim=2)), candidate)
    assert (outcome.mismatches, outcome.rejection.text) == ([], "otherwise has no gradients")
    with pytest.raises(unittest.SkipTest, match=r"create_graph=True\) \(20 of 20 trials\)"):
        running.trials(lambda: torch.sin(random_tensor(ndim=2)), tmp_path, framework(), grad_order=2)


def test_a_wrong_result_is_found_although_the_backward_needs_what_it_lacks():
    wrong = {"sine": lambda sine: lambda block: Block(sine(block)._inside * 1.01)}
    candidate = BlockFramework(wrong, lacks=["expand"])
    of_an_expanded_cotangent = 8 << TRIAL_BITS
    body = lambda: torch.sin(random_tensor(ndim=2, layout="contiguous"))  # noqa: E731
    outcome = running.trial(body, candidate, seed=of_an_expanded_cotangent)
    assert [mismatch.name for mismatch in outcome.mismatches] == ["v1"]
    assert "expand" not in running.targets(outcome), "the program has only calls that run on both sides"


def test_what_it_lacks_is_not_replaced_because_an_earlier_refusal_is_known():
    recorder = Recorder(running.pair_with(framework()))
    recorder.is_known_refusal = lambda mismatch: True
    recorder.mismatches.append(Mismatch("earlier", 0, "exception", "forward", "candidate", ""))
    with recording(recorder), pytest.raises(TrialEnd):
        torch.erfinv(torch.tensor([0.5]))
    assert recorder.rejection.text == "otherwise has no erfinv"


def assigned(x):
    x.foo = 3


@pytest.mark.parametrize("use", [lambda x: x.mT, lambda x: x.real, lambda x: x.layout, assigned], ids=range(4))
def test_an_attribute_that_it_lacks_is_no_finding(use):
    def body():
        x = random_tensor(ndim=2)
        use(x)
        return torch.sin(x)

    outcome = running.trial(body, framework())
    assert outcome.mismatches == []
    assert outcome.rejection.text.startswith("otherwise has no ")


def test_a_method_is_shown_although_its_tensors_have_none():
    def body():
        x = random_tensor(ndim=2)
        assert repr(x.sum) == "<dual Tensor.sum>"
        return torch.sin(x)

    assert running.agrees(running.trial(body, framework()))


OUTSIDE = {
    "ones": lambda: torch.ones(3),
    "erfinv": lambda: torch.tensor([1.0]).erfinv(),
    "mT": lambda: torch.tensor([[1.0]]).mT,
    "foo": lambda: assigned(torch.tensor([1.0])),
    "int8": lambda: random_tensor(dtype="int8"),
    "float16": lambda: torch.tensor([1.0]).to(torch.float16),
}


@pytest.mark.parametrize("lacking", OUTSIDE)
def test_what_it_lacks_is_named_in_one_sentence_outside_of_trials_too(alignment, lacking):
    with pytest.raises(Absent, match=f"^otherwise has no {lacking}$") as raised:
        OUTSIDE[lacking]()
    shown = raised.getrepr(style="short", tbfilter=True)
    assert {Path(entry.reprfileloc.path).name for entry in shown.reprtraceback.reprentries} == {Path(__file__).name}
    assert len(shown.chain) == 1, "without the error of the call that could not be made"


def test_an_error_of_the_test_in_an_argument_is_not_blamed_on_this_library():
    with pytest.raises(TypeError, match=r"^unsupported operand type"):
        running.trial(
            lambda: torch.sum(random_tensor(ndim=2), dim=random(0, 2).map(lambda dim: dim + "a")), framework()
        )
    with pytest.raises(GeneratorError, match=r"^random\(0, 2\) \+ 'a' at .*test_block_framework.py:"):
        running.trial(lambda: torch.sum(random_tensor(ndim=2), dim=random(0, 2) + "a"), framework())


def test_a_printed_tensor_has_its_numbers_on_both_sides():
    def body():
        x = random_tensor(shape=(2,), low=1.0, high=2.0, dtype="float32", layout="contiguous", requires_grad=True)
        numbers = np.array2string(x.otherwise.array._inside.detach().numpy(), separator=", ")
        assert repr(x).endswith(f"\n\notherwise:\ntensor({numbers}, dtype=float32, requires_grad=True)")
        parts = torch.cat([x, x]).reshape(2, 2)
        row = parts[0]
        with torch.no_grad():
            parts.fill_(7)
        assert repr(row).endswith("tensor([7., 7.], dtype=float32, requires_grad=True)")
        assert "TapeTensor" not in repr(row)
        return torch.sin(x)

    assert running.agrees(running.trial(body, framework()))


def test_a_tensor_of_a_tape_shows_its_present_array():
    base = TapeTensor(np.zeros(2, "float32"))
    view = TapeTensor(base.array[:1])
    candidate = framework()
    candidate.alias_of(view, base, lambda array: array[:1])
    base.array, base.version = np.ones(2, "float32"), base.version + 1
    assert repr(view) == "TapeTensor(array([1.], dtype=float32))"
