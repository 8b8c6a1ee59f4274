"""Mistakes of new users with dual objects get one sentence with the user's own line, and are no findings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.support.warm import WarmProcess

ROOT = Path(__file__).parents[2]

HEAD = """\
import contextlib
import random as pyrandom
import numpy as np
import pytest
import torch as real
import torch.nn as nn
from autotest import autotest, choice_tensor, nothing, random, random_bool, random_tensor, torch
"""


class Mistake(NamedTuple):
    """A line of a test body, and the expected message."""

    line: str
    said: str


MISTAKES = {
    "module_of_torch": Mistake("return nn.Linear(3, 4)(x)", "a module of torch itself was called with a dual tensor"),
    "no_grad_of_torch": Mistake(
        "with real.no_grad(): y = torch.relu(x)",
        "relu was called inside torch's own no_grad, .* write `with torch.no_grad\\(\\):`",
    ),
    "assert_close_of_torch": Mistake(
        "real.testing.assert_close(x, x)",
        "torch.testing.assert_close of PyTorch itself got a dual tensor: both sides are compared",
    ),
    "assert_close": Mistake("torch.testing.assert_close(x, x)", "Return the tensors to compare"),
    "ufunc": Mistake("return np.exp(x)", "NumPy computes on one side only: write torch's function, such as torch.exp"),
    "ufunc_of_array": Mistake(
        "return np.exp(x.detach().numpy())", r"or pass np.asarray\(x.detach\(\)\), the reference"
    ),
    "cuda": Mistake('return x.to("cuda")', "torch has no such device here .* Write random_device\\(\\)"),
    "compile": Mistake("return torch.compile(torch.relu)(x)", "torch.compile .* Call the function directly"),
    "compiled_by_torch": Mistake(
        # Without fullgraph, a current torch runs the function as Python code, which a trial records.
        'return real.compile(nn.functional.softsign, backend="eager", fullgraph=True)(x)',
        "call the function directly; .* such as torch\\+compile=BACKEND \\(\\w+",
    ),
    "misspelt": Mistake("return torch.sofmax(x, 0)", "has no attribute 'sofmax'. Did you mean 'softmax'\\?"),
    "misspelt_method": Mistake("return x.sofmax(0)", "has no attribute 'sofmax'. Did you mean 'softmax'\\?"),
    "misspelt_deep": Mistake("return torch.nn.functional.sofmax(x, 0)", "Did you mean 'softmax'\\?"),
    "crossed_bounds": Mistake(
        "return random_tensor(low=1, high=-1)", "random_tensor\\(low=1, high=-1\\) at .*: expected .* low < high"
    ),
    "foreign_function": Mistake(
        "return real.from_numpy(x)", "a function that does not support dual objects got one .* x.reference"
    ),
    "number_of_numpy": Mistake("return np.sum(x)", "numpy.sum got a dual tensor, but NumPy computes on one side"),
    "numpy_testing": Mistake(
        "np.testing.assert_allclose(x, x)",
        "numpy.testing.assert_allclose got a dual tensor: both sides are compared",
    ),
    "mean_of_numpy": Mistake("return np.mean(x)", "numpy.mean got a dual tensor, .* such as torch.mean\\(...\\)"),
    "format_of_many": Mistake('print(f"{x:.3f}"); return x', "a format such as .3f needs a number: write .*item"),
    "json_of_a_tensor": Mistake(
        "import json; json.dumps(x)", "a function that does not support dual objects got one .*JSON"
    ),
    "device_misspelt": Mistake(
        'return random_tensor(2, device="cud")',
        "random_tensor\\(device='cud'\\): torch has no such device here .* Expected one of 'cpu'",
    ),
    "shape_as_rank": Mistake(
        "return random_tensor((2, 3))", "the first argument is the number of dimensions; write shape=\\(2, 3\\)"
    ),
    "method_of_numpy": Mistake('return x.astype("int64")', "'Tensor' object has no attribute 'astype'"),
    "layer_misspelt": Mistake("return torch.nn.Liner(3, 4)(x)", "has no attribute 'Liner'. Did you mean 'Linear'\\?"),
    "keyword_of_a_layer": Mistake(
        "return torch.nn.Conv2d(1, 2, kernelsize=3)(x)", "no argument 'kernelsize'. Did you mean 'kernel_size'\\?"
    ),
    "vmapped": Mistake("return torch.vmap(torch.relu)(x)", "torch.vmap of dual objects: .* Call the function directly"),
    "optimizer_of_torch": Mistake(
        "real.optim.SGD(nn.Linear(1, 1).parameters(), lr=x)",
        "torch.optim.SGD of torch itself got a dual object",
    ),
    "container_of_torch": Mistake(
        "return nn.Sequential(torch.nn.Linear(3, 4))(x)",
        "torch.nn.Sequential of torch itself got a dual object",
    ),
    "layer_of_torch": Mistake(
        "return torch.nn.Sequential(nn.Linear(3, 4))(x)", "got a module of torch itself, Linear: build it on both"
    ),
    "autograd_of_torch": Mistake("real.autograd.grad(x.sum(), x)", "torch.autograd.grad of torch itself got"),
    "misspelt_keyword": Mistake(
        "return torch.nn.functional.softmax(x, dmi=1)", "no argument 'dmi'. Did you mean 'dim'\\?"
    ),
    "misspelt_keyword_of_one_signature": Mistake(
        "return torch.matmul(x, othr=x)", "no argument 'othr'. Did you mean 'other'\\?"
    ),
    "misspelt_keyword_of_a_method": Mistake(
        "return x.renorm(p=2, dmi=0, maxnorm=1)", "no argument 'dmi'. Did you mean 'dim'\\?"
    ),
    "generator_counted": Mistake(
        "return [x * k for k in range(random(1, 5))]", "random\\(1, 5\\) is a generator: write .value"
    ),
    "generator_printed": Mistake(
        'return getattr(torch, f"relu{random(1, 5)}")(x)', "an f-string .* is a generator: write .value"
    ),
    "pickled": Mistake("import pickle; pickle.dumps(x)", "cannot be pickled: it holds live objects of two frameworks"),
    "grad_in_words": Mistake(
        'return random_tensor(2, requires_grad="no")', "random_tensor\\(requires_grad='no'\\): expected True or False"
    ),
    "grad_of_integers": Mistake(
        'return random_tensor(2, dtype="int64", requires_grad=True)',
        "random_tensor\\(requires_grad=True\\) of int64: expected a floating dtype",
    ),
    "choice_not_held": Mistake(
        "return choice_tensor([0.5, 1.5])", "choice_tensor at .*: expected a dtype that holds what is picked, got int64"
    ),
    "too_large": Mistake(
        "return random_tensor(ndim=30, dim0=10**12)", "random_tensor\\(...\\): .* draw smaller dimensions"
    ),
    "tensor_of_one_side": Mistake(
        "assert isinstance(x, real.Tensor)",
        "a dual tensor is not a Tensor of one framework: write isinstance\\(x, torch.Tensor",
    ),
    "generator_as_condition": Mistake(
        "return x if random(0, 2) else -x", "a condition .* random\\(0, 2\\) is a generator: write .value"
    ),
    "generator_compared": Mistake(
        "assert random(0, 2) == 1", "== needs a drawn value, but random\\(0, 2\\) is a generator"
    ),
    "bounds_in_words": Mistake(
        'return torch.sum(x, dim=random("a", "b"))', "random\\(low='a'\\) at .*: expected a finite"
    ),
    "bound_in_words": Mistake(
        'return random_tensor(2, low="a")', "random_tensor\\(low='a'\\) at .*: expected a finite"
    ),
    "negative_size": Mistake(
        "return random_tensor(shape=(-1, 2))", "shape\\[0\\]=-1 of the shape .*: expected a whole number"
    ),
    "rank_of_a_fraction": Mistake("return random_tensor(ndim=2.5)", "ndim=2.5 at .*: expected a whole number"),
    "no_such_dtype": Mistake(
        'return random_tensor(2, dtype="float31")', "dtype='float31' at .*: expected one of float16"
    ),
    "no_such_argument": Mistake("return random_tensor(ndim=2, dims=3)", "random_tensor\\(\\) has no argument 'dims'"),
    "argument_misspelt": Mistake(
        "return torch.relu(random_tensor(2, lowe=1))",
        "random_tensor\\(\\) has no argument 'lowe'. Did you mean 'low'\\?",
    ),
    "argument_of_a_generator": Mistake(
        "return torch.relu(random_tensor(random(lo=1, high=3)))",
        "random\\(\\) has no argument 'lo'. Did you mean 'low'",
    ),
    "argument_far_from_any": Mistake(
        "return torch.relu(random_tensor(2, quux=1))", "no argument 'quux': expected some of ndim, dim0, .* low, high"
    ),
    "assertion_on_a_number": Mistake("assert x.sum() == 12345", "E +(AssertionError: )?assert torch:.* == 12345"),
    "copied": Mistake("import copy; return copy.copy(x)", "a dual object cannot be copied; use .clone\\(\\)"),
    "maximum_of_numpy": Mistake("return np.maximum(x, 0)", "NumPy computes on one side only"),
    "truth_of_numpy": Mistake("assert np.all(x == x)", "numpy.all got a dual tensor, but NumPy computes on one side"),
    "old_name_of_oneflow": Mistake("return flow.relu(x)", "name 'flow' is not defined"),
    "functions_at_the_top": Mistake("return torch.F.relu(x)", "module 'torch' has no attribute 'F'"),
    "old_cuda": Mistake("return x.cuda()", "torch has no such device here .* Write random_device\\(\\)"),
    "more_than_there_is": Mistake("a, b, c = x", "not enough values to unpack \\(expected 3, got 2\\)"),
    "error_of_the_body": Mistake('raise ValueError("my own")', "ValueError: my own"),
    "false_assertion": Mistake('assert x.shape[0] == 5, "five rows"', "AssertionError: five rows"),
    "generator_handed_over": Mistake(
        "return torch.sum(x, dim=nothing)", "nothing itself is not a generator: write nothing\\(...\\)"
    ),
    "function_of_generators": Mistake("return torch.sum(x, 0, random_bool)", "random_bool itself is not a generator"),
    "three_bounds": Mistake(
        "return x * random(0, 2, 1)", "random\\(\\) takes from 0 to 2 .* but 3 were given; expected some of low, high"
    ),
    "bound_of_nothing": Mistake(
        "return torch.sum(x, dim=nothing(0))",
        "nothing\\(\\) takes 0 positional arguments but 1 was given; expected no arguments",
    ),
    "no_value": Mistake(
        "return choice_tensor()", "choice_tensor\\(\\) missing 1 required positional argument: 'a'; expected some of a,"
    ),
    "flag_as_size": Mistake(
        "return random_tensor(2, True)", "dim0=True of the shape at .*: expected a whole number >= 0"
    ),
    "list_as_size": Mistake("return random_tensor(2, [2, 3])", "dim0=\\[2, 3\\] at .*: expected a whole number >= 0"),
    "filter_of_no_function": Mistake(
        "return x * random(0, 5).filter(3)", "random\\(0, 5\\).filter\\(3\\): expected a function of the drawn value"
    ),
    "endless": Mistake(
        "f = lambda t: f(torch.relu(t)); return f(x)", "<lambda> \\(test_mistakes.py:.*\\) calls itself without end"
    ),
    "name_of_the_namespace": Mistake("return torch.__name__", "a dual torch has no __name__"),
    "namespace_called": Mistake("return torch(x)", "torch is a module, not a function: call one of its functions"),
    "context_not_called": Mistake("with torch.no_grad: pass", "write with torch.no_grad\\(...\\):"),
    "other_candidate": Mistake(
        "return x.paddle", "The candidate here is faulty, not paddle: write .candidate, which works for any"
    ),
    "unknown_name": Mistake("return torch.relu(y)", "name 'y' is not defined"),
}
#: Bodies that the reference refuses in every trial, and the advice in the message.
REFUSED = {
    "condition": Mistake("return x if x > 0 else -x", "write x.any\\(\\) or x.all\\(\\)"),
    "condition_of_all": Mistake("assert x == x", "write x.any\\(\\) or x.all\\(\\)"),
    "length_of_a_number": Mistake("return x * len(x.sum())", "A tensor without dimensions has no length"),
    "numbers_of_rows": Mistake("return [float(row) for row in x]", "Only a tensor with one element becomes a number"),
    "leaf_added_to": Mistake("x += 1; return x", "Write random_tensor\\(..., requires_grad=False\\)"),
    "leaf_in_place": Mistake(
        "return x.add_(1)", "Write random_tensor\\(..., requires_grad=False\\), or modify x.clone"
    ),
    "item_of_many": Mistake("return x.item()", "return the tensor itself"),
    "numpy_of_leaf": Mistake("return x.numpy()", "Write x.detach\\(\\).numpy\\(\\), or return x"),
    "array_as_argument": Mistake(
        "return torch.add(x, np.ones((2, 3)))", "An operand is a NumPy array: write torch.tens"
    ),
    "larger_than_memory": Mistake("return torch.zeros(10**6, 10**6)", "Its sizes need more memory than there is"),
    "array_as_operand": Mistake("return x + np.ones((2, 3))", "An operand is a NumPy array: write torch.tensor"),
    "dtype_in_words": Mistake('return x.to("float16")', "A dtype is not a string here: write torch.float16"),
    "shapes": Mistake("return torch.matmul(x, x)", "Draw arguments that fit together"),
    "dtype_of_zeros_in_words": Mistake('return torch.zeros(2, dtype="float32")', "A dtype is not a string here"),
    "no_such_device": Mistake('return x.to("gpu")', "Write random_device\\(\\)"),
    "array_before_a_tensor": Mistake(
        'return np.ones((2, 3), "float32") * x', "An operand is a NumPy array: write torch.tensor"
    ),
    "number_of_many": Mistake("return x * int(x)", "Only a tensor with one element becomes a number"),
    "exp_of_math": Mistake("import math; return math.exp(x)", "such as torch.exp\\(x\\) for math.exp"),
    "lambda_as_generator": Mistake("return torch.sum(x, dim=lambda: 0)", "write a generator instead"),
    "backward_of_many": Mistake("(x * x).backward()", "write y.sum\\(\\).backward"),
    "text_as_operand": Mistake('return "a" + x', "A TypeError usually means that the call is written wrongly"),
    "nothing_as_tensor": Mistake("return torch.relu(None)", "must be Tensor, not NoneType.* at test_mistakes.py"),
    "too_many_arguments": Mistake(
        "return torch.relu(x, 1, 2)", "relu\\(\\) takes N positional argument but N were given"
    ),
    "tensor_called": Mistake("return x()", "'Tensor' object is not callable"),
    "layer_without_input": Mistake("return torch.nn.ReLU()()", "missing N required positional argument: 'input'"),
    "function_as_layer": Mistake("return torch.nn.Sequential(lambda t: t)(x)", "is not a Module subclass"),
    "list_of_layers": Mistake("return torch.nn.Sequential([torch.nn.ReLU()])(x)", "list is not a Module subclass"),
    "other_width": Mistake("return torch.nn.Linear(4, 2)(x)", "Draw arguments that fit together"),
    "text_as_index": Mistake('return x["a"]', "getitem: .*Error: .* at test_mistakes.py"),
    "fraction_as_index": Mistake("return x[1.0]", "IndexError: only integers, slices"),
    "and_of_many": Mistake("return x > 0 and x < 1", "write x.any\\(\\) or x.all\\(\\)"),
    "chained_comparison": Mistake("return 0 < x < 1", "write x.any\\(\\) or x.all\\(\\)"),
    "backward_twice": Mistake("y = (x * x).sum(); y.backward(); y.backward()", "Write backward\\(retain_graph=True\\)"),
    "array_of_leaf": Mistake("return np.asarray(x)", "Write x.detach\\(\\).numpy\\(\\), or return x"),
    "row_of_leaf_set": Mistake("x[0] = 5.0; return x", "Write random_tensor\\(..., requires_grad=False\\)"),
    "argument_left_out": Mistake("return torch.matmul(x)", 'missing N required positional arguments: "other"'),
    "caught": Mistake(
        "with contextlib.suppress(RuntimeError): torch.matmul(x, x)", "write `with pytest.raises\\(...\\):`"
    ),
    "index": Mistake("return x[5]", "IndexError: index N is out of bounds .* Draw arguments that fit together"),
}
#: Return values and the expected messages. These have no line in a traceback.
RETURNED = {
    "text": Mistake('return "hello"', "returned 'hello' \\(str\\), which is not dual"),
    "number": Mistake("return 3", "returned 3 \\(int\\), which is not dual"),
    "array": Mistake("return np.ones(3)", "returned array\\(\\[1., 1., 1.\\]\\) \\(ndarray\\)"),
    "truth": Mistake("return True", "returned True \\(bool\\), which is not dual"),
    # NumPy 2 writes np.float32(3.0), NumPy 1 wrote 3.0.
    "number_of_numpy_returned": Mistake(
        "return np.float32(3)", "returned (3.0|np.float32\\(3.0\\)) \\(float32\\), which is not dual"
    ),
    "generator": Mistake("return random(1, 3)", "returned random\\(1, 3\\) \\(random\\), which is not dual"),
    "generator_expression": Mistake(
        "return (row for row in x)", "returned <generator object .* \\(generator\\), which is not dual"
    ),
    "function": Mistake(
        "return torch.relu", "returned the function torch.relu: return its result, torch.relu\\(...\\)"
    ),
    "one_side": Mistake("return torch.relu(x).reference", "returned a tensor of only one side: return the dual"),
    "mode_of_torch": Mistake(
        "return real.set_default_dtype(real.float64) or torch.relu(x)",
        "changed a setting of torch only .* write torch.set_default_dtype",
    ),
    "context_left_open": Mistake(
        "torch.no_grad().__enter__(); return torch.relu(x)",
        "entered a context and did not exit it: write `with",
    ),
    "set": Mistake("return {1, 2}", "returned \\{1, 2\\} \\(set\\), which is not dual"),
    "in_a_dict": Mistake('return {"a": x, "b": 3}', 'returned 3 \\(int\\) at \\["b"\\]'),
    "in_a_list": Mistake('return [x, {"k": (x, "no")}]', "returned 'no' \\(str\\) at \\[1\\]\\[\"k\"\\]\\[1\\]"),
}


class Run(NamedTuple):
    """Run pytest once over all mistakes; return its message for each, and the rest of the output."""

    shown: dict[str, str]
    lines: dict[str, int]
    output: str
    kept: Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, warm_process: WarmProcess) -> Run:
    folder = tmp_path_factory.mktemp("mistakes")
    written, lines = HEAD.splitlines(), {}
    for name, mistake in {**MISTAKES, **REFUSED, **RETURNED}.items():
        written += [
            "@autotest(n=2)",
            f"def test_{name}():",
            "    x = random_tensor(2, 2, 3)",
            f"    {mistake.line}",
            "",
        ]
        lines[name] = len(written) - 1
    (folder / "test_mistakes.py").write_text("\n".join(written), encoding="utf-8")
    # Without pytest's logging, because a current torch.compile writes hundreds of records for its own debugging.
    plugins = "-p", "no:cacheprovider", "-p", "no:logging"
    environment = {"PYTHONPATH": str(ROOT), "AUTOTEST_CANDIDATE": "tests.support.faults:none", "COLUMNS": "200"}
    done = warm_process.result(["pytest", "-q", *plugins, "test_mistakes.py"], folder, environment)
    parts = re.split(r"^_+ test_(\w+) _+$", done.stdout.str(), flags=re.MULTILINE)
    shown = {name: text.partition("\n====")[0] for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return Run(shown, lines, done.stdout.str(), folder / ".autotest")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said_at_the_line_of_the_test(run, name):
    shown = run.shown[name]
    assert re.search(MISTAKES[name].said, shown), shown
    assert "> " in shown
    assert MISTAKES[name].line in shown
    assert f"test_mistakes.py:{run.lines[name]}: " in shown


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_always_refused_is_said_with_its_line_and_what_to_write_instead(run, name):
    shown = " ".join(run.shown[name].split())
    assert f"at test_mistakes.py:{run.lines[name]} (`{REFUSED[name].line}`)" in shown
    assert re.search(REFUSED[name].said, shown), shown


@pytest.mark.parametrize("name", RETURNED)
def test_what_is_returned_and_not_dual_is_said_with_file_line_test_and_place(run, name):
    (line,) = run.shown[name].strip().splitlines()
    assert re.match(f"test_mistakes.py:{run.lines[name]}: test_{name} {RETURNED[name].said}", line), line


@pytest.mark.parametrize("name", [*MISTAKES, *REFUSED, *RETURNED])
def test_nothing_else_is_shown(run, name):
    shown = run.shown[name]
    assert len(shown.strip().splitlines()) <= 12, shown
    assert not re.search(r"\b(autotest|generators|torch|numpy|_pytest)/\w+\.py", shown), shown


def test_no_mistake_is_a_finding_or_is_refused_by_the_reference(run):
    assert not run.kept.exists() or not list(run.kept.glob("failures/*"))
    assert "diverges" not in run.output
    assert f"{len(MISTAKES) + len(REFUSED) + len(RETURNED)} failed" in run.output
