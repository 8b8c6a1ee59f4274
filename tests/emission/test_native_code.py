"""Reproducers that use a framework's own names, without an adapter and without this library."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import types

import numpy as np
import pytest

from autotest.base.errors import NotReplayable
from autotest.comparison.elementwise import Statistics
from autotest.emission.native_script import NativeCode, ScriptRequest, script, without_place
from autotest.frameworks import framework
from autotest.frameworks.torch import TorchFramework
from autotest.frameworks.traced import Traced, TracedNamespace, Transcript
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.replaying.native_code import as_native_code
from tests.support import block_framework

FLOATS = {"requires_grad": True, "device": "cpu"}
CONSTANT = {"requires_grad": False, "device": "cpu"}


def program(*calls, shapes=((2, 3),), dtype="float32"):
    """Return a program of `calls` on inputs of these shapes; the last input is the cotangent of a backward, if any."""
    inputs = []
    for at in range(len(shapes)):
        leaf = not (at == len(shapes) - 1 and calls[-1][1] == "backward")
        inputs.append(Call("tensor", dtype, (Captured(at),), FLOATS if leaf else CONSTANT, at))
    made = [Call(kind, target, args, kwargs, len(inputs) + at) for at, (kind, target, args, kwargs) in enumerate(calls)]
    arrays = [Array(np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape), dtype) for shape in shapes]
    return Program((*inputs, *made), tuple(arrays))


TANH = (("function", "tanh", (Ref(0),), {}), ("method", "sum", (Ref(2),), {"dim": 1}))
BACKWARD = ("method", "backward", (Ref(3), Ref(1)), {})


def values(terms, adapter):
    """Return the result of the statements, run with only the framework and NumPy."""
    return adapter.root.cells(ran(terms.lines, terms.result, {"other": adapter.root})).tolist()


def ran(lines, result, names):
    """Return the value of `result` after `lines`."""
    known = {"np": np, **names}
    exec("\n".join(lines), known)  # noqa: S102 - running them is the point
    return eval(result, known)  # noqa: S307


def test_a_backward_that_raises_has_the_lines_that_raise():
    class Refusing(block_framework.BlockFramework):
        def vjp(self, function, arrays, cotangents):
            return super().vjp(function, arrays, [self.array(np.ones(7), "float32")])

    adapter = Refusing()
    terms = as_native_code(program(*TANH, BACKWARD, shapes=((2, 3), (2,))), adapter, 4)
    assert terms.lines[-1] == "(g0,) = other.pullback(lambda *given: [forward(*given)], [x0], [c1])"
    assert terms.result == "g0"
    assert "    v2 = other.hyperbolic_tangent(x0)" in terms.lines
    assert ran(terms.lines, "other.extent(g0)", {"other": adapter.root}) == (2, 3)


def test_functions_are_called_by_their_own_names():
    adapter = block_framework.framework()
    terms = as_native_code(program(*TANH, shapes=((2, 3), (2,))), adapter, 3)
    assert terms.lines[-2:] == (
        "v2 = other.hyperbolic_tangent(x0)",
        "v3 = other.total(v2, axis=1, keep=False)",
    )
    assert "tanh" not in "\n".join(terms.lines)
    assert np.allclose(values(terms, adapter), np.tanh(np.arange(1, 7).reshape(2, 3)).sum(1))


def test_gradients_are_those_of_one_function():
    adapter = block_framework.framework()
    terms = as_native_code(program(*TANH, BACKWARD, shapes=((2, 3), (2,))), adapter, 0, ".grad")
    text = "\n".join(terms.lines)
    assert "def forward(x0):\n    v2 = other.hyperbolic_tangent(x0)" in text
    assert "    return v3" in text
    x = np.arange(1, 7).reshape(2, 3)
    assert np.allclose(values(terms, adapter), (1 - np.tanh(x) ** 2) * np.array([[1.0], [2.0]]), atol=1e-5)


def test_what_is_written_in_place_becomes_another_value():
    adapter = block_framework.framework()
    calls = (
        ("method", "clone", (Ref(0),), {}),
        ("operator", "setitem", (Ref(1), (0, slice(None, None, 2)), 9.0), {}),
        ("method", "sum", (Ref(1),), {}),
    )
    terms = as_native_code(program(*calls), adapter, 3)
    assert values(terms, adapter) == 9 + 2 + 9 + 4 + 5 + 6


def test_what_nobody_looks_at_is_left_out():
    adapter = block_framework.framework()
    calls = (("function", "exp", (Ref(0),), {}), ("function", "tanh", (Ref(0),), {}))
    assert not any("exponential" in line for line in as_native_code(program(*calls), adapter, 2).lines)


def test_a_parameter_of_a_numbered_layer_is_read_by_its_whole_name():
    adapter = block_framework.framework()
    calls = (("function", "nn.Linear", (3, 2), {}), ("function", "nn.Sequential", (Ref(1),), {}))
    made = program(*calls)
    state = Call("load_state", "", (Ref(2), {"0.weight": Captured(1)}), {}, 3)
    given = Program((*made.calls, state), (*made.arrays, Array(np.full((2, 3), 5, "float32"), "float32")))
    assert values(as_native_code(given, adapter, 2, ".0.weight"), adapter) == [[5.0] * 3] * 2


def test_a_framework_that_speaks_torch_needs_none_of_this():
    assert as_native_code(program(*TANH, shapes=((2, 3), (2,))), TorchFramework(), 3) is None


def test_what_is_too_large_for_a_line_has_another_script():
    large = program(("function", "tanh", (Ref(0),), {}), shapes=((300, 300),))
    with pytest.raises(NotReplayable, match="too large"):
        as_native_code(large, block_framework.framework(), 1)


def asked(**changes):
    differs = Statistics(6, 6, 1e-4, 1e-5, 1.0, (0, 0), 1.0, 2.0, 1.0, (0, 0), dtype="float32")
    return ScriptRequest("tanh: v1 differs.", ["torch 2, other 1"], "value", "v1", differs)._replace(**changes)


SIMPLE = program(("function", "tanh", (Ref(0),), {}))
RIGHT = NativeCode("import numpy as other", ("v1 = other.tanh(other.arange(1.0, 7.0).reshape(2, 3))",), "v1")
WRONG = RIGHT._replace(lines=("v1 = other.sinh(other.arange(1.0, 7.0).reshape(2, 3))",))
RAISING = RIGHT._replace(lines=("v1 = other.tanh('words')",))
#: Raises when it is read, not when it is created.
LAZY = RIGHT._replace(lines=("v1 = (type('Lazy', (), {'tolist': lambda self: 1 / 0})(), 2.0)",))


#: The part of torch that `SIMPLE` uses. It is imported instead of torch, which takes a second.
TORCH_OF_A_FEW_LINES = """
from numpy import tanh
def tensor(data, requires_grad): return data
"""


@pytest.fixture
def few_lines(tmp_path):
    (tmp_path / "torch.py").write_text(TORCH_OF_A_FEW_LINES)


def test_the_script_works_with_torch(tmp_path):
    (tmp_path / "repro.py").write_text(script(SIMPLE, "torch", "other", WRONG, asked()))
    ended = subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, text=True, check=False)
    assert (ended.returncode, "DIFFERS: torch gives [[0.76" in ended.stdout) == (1, True), ended.stderr


@pytest.mark.usefixtures("few_lines")
@pytest.mark.parametrize(
    ("python", "terms", "symptom", "status", "says"),
    [
        ("", WRONG, "value", 1, "DIFFERS: torch gives [[0.76"),
        ("", RAISING, "exception", 1, "DIFFERS: torch returns, other raises TypeError: ufunc"),
        ("", RIGHT._replace(imports="import no_such_framework as other"), "value", 2, "cannot tell: No module named"),
        (sys.executable, RIGHT, "value", 0, "same"),
        (sys.executable, RAISING, "exception", 1, "DIFFERS: torch returns, other raises TypeError: ufunc"),
        ("", LAZY, "exception", 1, "DIFFERS: torch returns, other raises ZeroDivisionError: "),
        (sys.executable, LAZY, "exception", 1, "DIFFERS: torch returns, other raises ZeroDivisionError: "),
    ],
    ids=["wrong", "raising", "missing", "right elsewhere", "raising elsewhere", "raising late", "late elsewhere"],
)
def test_the_script_stands_alone(tmp_path, python, terms, symptom, status, says):
    text = script(SIMPLE, "torch", "other", terms, asked(symptom=symptom, python=python))
    assert "autotest" not in text.replace(sys.executable, "")  # which may be in a folder of that name
    (tmp_path / "repro.py").write_text(text)
    command = [sys.executable, tmp_path / "repro.py"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ended.returncode, says in ended.stdout) == (status, True), ended.stdout + ended.stderr


EXITING = RIGHT._replace(imports="import os\nimport numpy as other", lines=("os._exit(0)",))
ABORTING = EXITING._replace(lines=("os.abort()",))


@pytest.mark.usefixtures("few_lines")
@pytest.mark.parametrize(
    ("symptom", "terms", "told"),
    [
        ("crash", EXITING, "DIFFERS: other ends with status 0 "),
        ("crash", ABORTING, "DIFFERS: other ends with status -6 "),
        ("crash", RIGHT, "same"),
        ("crash", RAISING, "same"),
        ("value", EXITING, "cannot tell: ends with status 0 "),
        ("value", ABORTING, "cannot tell: ends with status -6 "),
    ],
    ids=["exit", "abort", "right", "raising", "exit while values are compared", "abort while values are compared"],
)
def test_a_process_that_ends_too_early_has_died_whatever_its_status_is(tmp_path, symptom, terms, told):
    (tmp_path / "repro.py").write_text(script(SIMPLE, "torch", "other", terms, asked(symptom=symptom, dies=True)))
    ended = subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, text=True, check=False)
    assert ended.stdout.startswith(told), ended.stdout + ended.stderr


COMPLEX = SIMPLE.calls[0], SIMPLE.calls[1]._replace(target="turned")
#: What the other framework gives for ``x * 1j``, and whether that differs.
TURNED = [("", False), (" + 0.5", True), (" + complex(0, other.nan)", True)]


@pytest.mark.parametrize("child", [{"dies": True}, {"python": sys.executable}], ids=["dies", "elsewhere"])
@pytest.mark.parametrize(("more", "differs"), TURNED)
def test_complex_numbers_come_out_of_another_process(tmp_path, child, more, differs):
    (tmp_path / "torch.py").write_text(TORCH_OF_A_FEW_LINES + "def turned(x): return x * 1j\n")
    found = asked().statistics
    terms = RIGHT._replace(lines=(f"v1 = other.arange(1.0, 7.0).reshape(2, 3) * 1j{more}",))
    request = asked(statistics=dataclasses.replace(found, dtype="complex64"), **child)
    (tmp_path / "repro.py").write_text(script(Program(COMPLEX, SIMPLE.arrays), "torch", "other", terms, request))
    ended = subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout[:8]) == (int(differs), "DIFFERS:" if differs else "same\n"), ended.stderr


@pytest.mark.usefixtures("few_lines")
def test_values_that_cannot_be_compared_tell_nothing(tmp_path):
    terms = RIGHT._replace(lines=("v1 = other.array([['word'] * 3] * 2)",))
    (tmp_path / "repro.py").write_text(script(SIMPLE, "torch", "other", terms, asked()))
    ended = subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "")
    assert ended.stdout.startswith("cannot tell: ")


@pytest.mark.usefixtures("few_lines")
def test_torch_of_another_interpreter_runs_the_same_function(tmp_path):
    text = script(SIMPLE, "torch", "torch@there", None, asked(python=sys.executable))
    assert text.count("torch.tanh") == 1
    (tmp_path / "repro.py").write_text(text)
    assert subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, check=True).returncode == 0


@pytest.mark.usefixtures("few_lines")
def test_gradients_whose_lines_the_adapter_does_not_say_have_no_script():
    class Silent(block_framework.BlockFramework):
        gradient_lines = ()

    asked = program(*TANH, BACKWARD, shapes=((2, 3), (2,)))
    assert as_native_code(asked, Silent(), 3).result == "v3"
    with pytest.raises(NotReplayable, match="the adapter has no `gradient_lines`"):
        as_native_code(asked, Silent(), 0, ".grad")


class Strict(block_framework.BlockFramework):
    """Its gradients are computed by functions that refuse what only stands for an array."""

    def vjp(self, function, arrays, cotangents):
        copies = [self.root.plus(array, self.array(np.zeros(()), "float32")) for array in arrays]
        given = [self.root.plus(one, self.array(np.zeros(()), "float32")) for one in cotangents]
        return strictly(self.root, super().vjp)(function, copies, given)


def strictly(root, pullback):
    def called(function, arrays, cotangents):
        if [type(one) for one in (*arrays, *cotangents, *function(*arrays))] != [root.Block] * 3:
            raise TypeError("not a valid type")
        return pullback(function, arrays, cotangents)

    return called


def test_gradients_are_computed_without_what_records_calls():
    asked = program(*TANH, BACKWARD, shapes=((2, 3), (2,)))
    ours, plain = (as_native_code(asked, kind(), 0, ".grad") for kind in (Strict, block_framework.BlockFramework))
    assert ours == plain


def test_the_adapter_says_how_results_and_dtypes_are_read():
    terms = as_native_code(program(*TANH, shapes=((2, 3), (2,))), block_framework.framework(), 3)
    names = {"other": block_framework.framework().root}
    assert ran(terms.lines, terms.fact("value"), names) == pytest.approx(np.tanh([[1, 2, 3], [4, 5, 6]]).sum(1))
    assert ran(terms.lines, terms.fact("dtype"), names) == "float32"
    assert RIGHT.fact("value") == "v1.tolist()"


class Conjugating(block_framework.BlockFramework):
    """Its complex gradients are the conjugates of torch's, as JAX's are."""

    dtypes = (*block_framework.BlockFramework.dtypes, "complex64")
    complex_gradient_lines = ("({gradients}) = conjugated(forward, [{leaves}], [{cotangents}])",)


@pytest.mark.usefixtures("few_lines")
@pytest.mark.parametrize(("dtype", "used"), [("complex64", True), ("float32", False)])
def test_gradients_of_complex_arrays_have_lines_of_their_own(dtype, used):
    asked = program(*TANH, BACKWARD, shapes=((2, 3), (2,)), dtype=dtype)
    terms = as_native_code(asked, Conjugating(), 0, ".grad")
    assert any("conjugated(" in line for line in terms.lines) is used


def test_the_interpreter_may_be_named_to_the_script_and_must_be_where_it_is_for_anybody(tmp_path):
    text = without_place(script(SIMPLE, "torch", "other", RIGHT, asked(python="/no/such/python")))
    assert "/no/such" not in text
    (tmp_path / "repro.py").write_text(text)
    for given, status, says in (((), 2, "give the Python interpreter that has other"), ((sys.executable,), 0, "same")):
        command = [sys.executable, tmp_path / "repro.py", *given]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (ended.returncode, says in ended.stdout) == (status, True), ended.stdout + ended.stderr


def test_a_question_about_a_dtype_without_source_is_no_statement():
    class Dtype:
        pass

    class Numbers:
        dtype = Dtype()

    library = types.ModuleType("own")
    library.inexact = Dtype()
    library.issubdtype = lambda given, kind: True
    library.zeros = lambda dtype: Numbers()
    written = Transcript((Numbers,), "import own", pure=True)
    own, x = TracedNamespace(library, "own", written), Traced(Numbers(), "x0", written)
    assert own.issubdtype(x.dtype, own.inexact)
    assert written.statements == []
    with pytest.raises(NotReplayable, match="Dtype has no source"):
        own.zeros(x.dtype)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mlx", "paddle"])
def test_frameworks_are_asked_as_their_users_would(name):
    pytest.importorskip({"mlx": "mlx.core"}.get(name, name))
    terms = as_native_code(program(*TANH, BACKWARD, shapes=((2, 3), (2,))), framework(name), 0, ".grad")
    found = np.array(ran([terms.imports, *terms.lines], terms.result, {}).tolist())
    x = np.arange(1, 7).reshape(2, 3)
    assert np.allclose(found, (1 - np.tanh(x) ** 2) * np.array([[1.0], [2.0]]), atol=1e-6)


def test_a_script_for_tinygrad_has_the_device_on_which_the_adapter_ran(monkeypatch):
    class Tinygrad(types.ModuleType):
        Tensor = type("Tensor", (), {})

    for clang, device in ((None, True), ("/usr/bin/clang", False)):
        adapter = framework("tinygrad")
        adapter.__dict__["root"] = Tinygrad("tinygrad")
        monkeypatch.setattr("shutil.which", lambda name, clang=clang: clang)
        _, written = adapter.transcribing()
        assert ('os.environ.setdefault("DEV", "PYTHON")\nimport tinygrad' in written.imports) == device
