"""Functions of NumPy's arrays with backward functions are a candidate, whose scripts need nothing else."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autotest import Divergence, autotest, random, random_tensor, torch
from autotest.base.errors import NotReplayable
from autotest.comparison import Mismatch
from autotest.diagnosis.native_script import native_crash_script
from autotest.frameworks import Absent, registry
from autotest.frameworks.registered_operators import registering_lines
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.replaying.native_code import as_native_code
from autotest.results.finding import Finding
from autotest.running.conformance.checking import conformance
from generators.layouts import LAYOUTS
from tests.support import plain_kernels, running
from tests.support.array_kernels import ArrayKernels, framework


def relu_of(layout):
    return lambda: torch.relu(random_tensor(shape=(2, 3, 4, 4), low=-1, high=1, layout=layout, dtype="float32"))


def both_twice():
    x = random_tensor(shape=(3, 4), dtype="float32")
    return torch.softmax(torch.relu(x), 1)[1:, :2], torch.relu(x.T)


@pytest.mark.parametrize("body", [*map(relu_of, LAYOUTS), both_twice])
def test_right_kernels_agree(body):
    outcomes = [running.trial(body, framework(), seed=seed, special_values=False) for seed in range(4)]
    assert all(map(running.agrees, outcomes))
    assert any(outcome.gradients for outcome in outcomes)


def test_the_adapter_conforms():
    assert [item for item in conformance(framework()) if item.outcome == "WRONG"] == []


def test_numpy_does_not_tell_of_the_infinities_that_trials_draw():
    with np.errstate(all="raise"), running.pair_with(framework()).around_trials():
        plain_kernels.softmax_forward(np.array([3e38, -3e38, np.inf], "float32"), 0)


#: The layouts in which elements are not next to each other, in the order of their indices, from the first on.
STRIDED = [layout for layout in LAYOUTS if layout not in ("contiguous", "expanded")]


@pytest.mark.parametrize("layout", STRIDED)
def test_a_kernel_that_ignores_strides_is_given_strided_memory(layout):
    packed = ArrayKernels({"relu_forward": "packed_relu_forward"})
    assert running.trial(relu_of(layout), packed, special_values=False).mismatches
    assert running.agrees(running.trial(relu_of("contiguous"), packed, special_values=False))


class PackedBackward(ArrayKernels):
    """Its backward function reads `x` as if its elements were next to each other in memory."""

    backward = property(lambda self: {"relu": lambda given, y, x: given * plain_kernels.packed_relu_forward(x)[1]})


@pytest.mark.parametrize("layout", STRIDED)
def test_a_backward_function_that_ignores_strides_is_given_strided_memory(layout):
    assert running.trial(relu_of(layout), PackedBackward(), special_values=False).mismatches
    assert running.agrees(running.trial(relu_of("contiguous"), PackedBackward(), special_values=False))


def test_a_finding_that_needs_strides_is_shrunk_to_a_program_that_has_them(warm):
    wrong = autotest(n=1, special_values=False, candidate="tests.support.array_kernels:with_packed_relu")
    with pytest.raises(Divergence) as caught:
        wrong(lambda: torch.relu(random_tensor(shape=(6, 6), layout="transposed", dtype="float32")))()
    text = str(caught.value)
    assert "x0.transpose(0, 1)  # layout" in text
    assert "Happens:    only with transposed" in text, text
    assert "to 3 calls and 4 elements" in text
    assert "(verified in a fresh interpreter)" in text


def test_a_kernel_that_returns_something_else_is_told_so():
    (found,) = running.trial(relu_of("contiguous"), ArrayKernels({"relu_forward": "listing_relu_forward"})).mismatches
    assert "a function of plain returned a list; expected ndarray or generic" in found.message


def test_what_a_kernel_lacks_by_intention_is_no_finding():
    class Flat(ArrayKernels):
        def softmax(self, given, dim):
            if given.ndim > 1:
                raise Absent(self.name, "softmax of several dimensions")
            return self.kernel("softmax_forward")(given, dim)

        @property
        def spelling(self):
            return {"softmax": self.softmax}

    def body(shape):
        return lambda: torch.softmax(random_tensor(shape=shape, low=-1, high=1), 0)

    assert running.agrees(running.trial(body((3,)), Flat()))
    assert "plain has no softmax of several dimensions" in running.trial(body((3, 2)), Flat()).rejection.text


def text_of(body, adapter):
    """Return the statements of a trial of `body` that `adapter` runs, and what they compute of its first input."""
    program = running.trial(body, adapter, special_values=False).program
    terms = as_native_code(program, adapter, 0, ".grad")
    return "\n".join(terms.lines), ran(terms), program


def ran(terms):
    """Return what statements compute with the kernels and NumPy only."""
    known = {"np": np, "kernels": plain_kernels}
    exec("\n".join(terms.lines), known)  # noqa: S102 - running them is the point
    return eval(terms.result, known)  # noqa: S307


def test_a_script_calls_the_kernels_and_their_backward_functions_once():
    def body():
        return torch.softmax(random_tensor(shape=(2, 3), dtype="float32", requires_grad=True), 1)

    text, found, program = text_of(body, framework())
    assert re.findall(r"kernels\.\w+", text) == ["kernels.softmax_forward", "kernels.softmax_backward"]
    (x, given) = (array.data for array in program.arrays)
    y = plain_kernels.softmax_forward(x, 1)
    np.testing.assert_allclose(found, plain_kernels.softmax_backward(given, y, 1))


def test_a_script_has_what_a_test_does_between_the_kernels():
    def body():
        x = random_tensor(shape=(2, 3), dtype="float32", requires_grad=True)
        return torch.relu(x.T[1:]).reshape(-1)

    text, found, program = text_of(body, framework())
    (x, given) = (array.data for array in program.arrays)
    wanted = np.zeros_like(x)
    wanted.T[1:] = given.reshape(2, 2) * (x.T[1:] > 0)
    np.testing.assert_allclose(found, wanted)
    assert "kernels.relu_backward(" in text
    assert "np.bincount(" in text


def test_a_script_has_the_call_that_changes_its_operand():
    def body():
        return torch.relu(random_tensor(shape=(2,), low=-2, high=-1, dtype="float32", requires_grad=False))

    overwriting = ArrayKernels({"relu_forward": "overwriting_relu_forward"})
    program = running.trial(body, overwriting).program
    terms = as_native_code(program, overwriting, 0)
    assert ran(terms).tolist() == [0, 0]
    assert terms.result == "x0"


def test_a_script_has_the_numbers_of_a_large_array():
    def body():
        return torch.relu(random_tensor(shape=(2, 1025), low=-1, high=1, dtype="float32", requires_grad=True))

    program = running.trial(body, framework(), special_values=False).program
    terms = as_native_code(program, framework(), 0, ".grad")
    known = {"np": np, "kernels": plain_kernels}
    exec("\n".join([terms.imports.partition("\n")[0], *terms.lines]), known)  # noqa: S102 - running them is the point
    (x, given) = (array.data for array in program.arrays)
    np.testing.assert_array_equal(eval(terms.result, known), given * (x > 0))  # noqa: S307


class WithNumpy(ArrayKernels):
    """Its adapter computes with NumPy beside the kernels."""

    spelling = property(lambda self: {"expm1": lambda x: np.subtract(np.exp(x), x.dtype.type(1), dtype=x.dtype)})
    backward = property(lambda self: {"expm1": lambda gradient, result, x: gradient * np.exp(x)})


class Reading(WithNumpy):
    spelling = property(lambda self: {"expm1": lambda x: np.array(1, x.dtype) + np.asarray(x)})


def test_a_script_has_what_the_adapter_computes_with_numpy():
    def body():
        return torch.expm1(random_tensor(shape=(2,), low=-1, high=1, dtype="float32", requires_grad=True))

    text, found, program = text_of(body, WithNumpy())
    (x, given) = (array.data for array in program.arrays)
    np.testing.assert_allclose(found, given * np.exp(x))
    assert "* np.exp(x0)" in text
    with pytest.raises(NotReplayable, match="NumPy reads an array"):
        as_native_code(program, Reading(), 2)


def dish():
    return torch.ops.kernels.dish(random_tensor(shape=(3, 4), low=-3, high=3, requires_grad=True))


def test_a_kernel_that_torch_lacks_is_compared_with_an_operator_that_the_adapter_registers():
    outcomes = [running.trial(dish, framework(), seed=seed, special_values=False) for seed in range(4)]
    assert all(map(running.agrees, outcomes))
    assert all(outcome.gradients for outcome in outcomes)


def test_the_script_of_such_a_kernel_imports_what_registers_the_operator(warm):
    with pytest.raises(Divergence, match=r"ops\.kernels\.dish, gradient \(backward\)") as caught:
        autotest(n=1, special_values=False, candidate="tests.support.array_kernels:with_wrong_dish")(dish)()
    assert "(verified in a fresh interpreter)" in str(caught.value)
    script = Path(caught.value.place, "repro.py").read_text()
    assert "    import tests.support.kernel_operators\n" in script
    assert "speaking_torch" not in script


def test_operators_of_torch_itself_need_no_import():
    def body():
        return torch.ops.aten.tanh(random_tensor(shape=(2,)))

    assert registering_lines(running.trial(body).program) == ()


class OfBackend(ArrayKernels):
    """Its kernels are methods of an object of the library."""

    @property
    def spelling(self):
        return {"softmax": lambda x, dim: self.backend.softmax(x, axis=dim)}

    @property
    def backward(self):
        return {"softmax": lambda given, result, x, dim: self.backend.softmax_backward(given, result, dim)}

    @functools.cached_property
    def backend(self):
        return self.root.Backend()


def test_a_script_calls_the_methods_of_an_object_that_the_adapter_makes():
    def body():
        return torch.softmax(random_tensor(shape=(2, 3), dtype="float32", requires_grad=True), 1)

    text, found, program = text_of(body, OfBackend())
    assert re.findall(r"[\w.()]+softmax\w*", text) == ["t1.softmax", "t1.softmax_backward"]
    assert "t1 = kernels.Backend()" in text
    (x, given) = (array.data for array in program.arrays)
    y = plain_kernels.softmax_forward(x, 1)
    np.testing.assert_allclose(found, plain_kernels.softmax_backward(given, y, 1))


def test_no_script_has_zeros_for_a_gradient_that_a_backward_function_does_not_return():
    class Nothing(ArrayKernels):
        backward = property(lambda self: {"relu": lambda *given: None})

    def body():
        return torch.relu(random_tensor(shape=(2, 3), dtype="float32", requires_grad=True))

    program = running.trial(body, Nothing()).program
    with pytest.raises(NotReplayable, match="zeros that no call returns stand for a gradient"):
        as_native_code(program, Nothing(), 0, ".grad")


def test_the_script_of_a_finding_needs_the_kernels_only(warm):
    wrong = autotest(n=6, special_values=False, candidate="tests.support.array_kernels:with_wrong_axis")
    with pytest.raises(Divergence) as caught:
        wrong(lambda: torch.softmax(random_tensor(shape=(3, 2)), dim=random(0, 2)))()
    assert "plain 3.1" in str(caught.value)
    assert "(verified in a fresh interpreter)" in str(caught.value)
    script = Path(caught.value.place, "repro.py").read_text()
    assert "speaking_torch" not in script
    assert "kernels.last_softmax_backward" in script
    without = "import sys; sys.modules['autotest'] = None\n"
    ended = subprocess.run([sys.executable, "-c", without + script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.split()[0]) == (1, "DIFFERS:"), ended.stdout + ended.stderr


DEADLY = "tests.support.array_kernels:with_deadly_kernels"
#: A program whose last call dies, and the deadly statement.
DEATHS = {
    "forward": (("function", "relu", (Ref(0),)), "kernels.deadly_relu_forward(x0)"),
    "backward": (("method", "backward", (Ref(2), Ref(1))), "kernels.deadly_softmax_backward(c1, v2, 0)"),
}


def deadly(last):
    ones = Array(np.ones(2, "float32"), "float32")
    x, given = (tensor_call(at, at, ones, requires_grad=not at) for at in range(2))
    softmax = Call("function", "softmax", (Ref(0),), {"dim": 0}, 2)
    return Program((x, given, softmax, Call(*last, {}, 3)), (ones, ones))


def death(stage, pair):
    died = Mismatch("relu", 3, "crash", stage, "candidate", "it dies", what="SIGABRT")
    return Finding("it.py::it", 0, 0, 0, (died,), pair.sides, deadly(DEATHS[stage][0]), pair.versions, {})


@pytest.mark.parametrize("stage", DEATHS)
def test_the_script_of_a_crash_needs_the_kernels_only(stage, tmp_path):
    pair = registry.pair("torch", DEADLY)
    text = native_crash_script(death(stage, pair), pair)
    assert DEATHS[stage][1] in text
    assert "autotest.frameworks" not in text
    file = tmp_path / "repro.py"
    for kernel, status, told in (("deadly", 1, "DIFFERS: plain ends with status -6"), ("", 0, "same")):
        file.write_text(text if kernel else text.replace("deadly_", ""))
        environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
        ended = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout.startswith(told)) == (status, True), ended.stdout + ended.stderr


def test_a_crash_that_torchs_names_show_has_no_script_of_its_own():
    pair = registry.pair("torch", "torch")
    assert native_crash_script(death("forward", pair), pair) is None
