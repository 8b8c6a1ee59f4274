"""The adapters of frameworks with other names. Each is tested if its framework is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import sys
import types

import numpy as np
import pytest
import torch as real

from autotest import random_tensor, torch
from autotest.base.settings import Settings
from autotest.base.versions import version_of
from autotest.frameworks import framework
from autotest.frameworks.failures import Absent
from autotest.frameworks.jax import JaxFramework, _JaxNamespace
from autotest.frameworks.mindspore import MindSporeFramework
from autotest.frameworks.mlx import MLXFramework
from autotest.frameworks.numpy_translations import numpy_translations
from autotest.frameworks.tinygrad_translations import tinygrad_translations
from autotest.frameworks.torch_arguments import same_padding
from autotest.program import Array
from autotest.replaying import graph_check
from tests.support import block_framework, running
from tests.support.numpy_names import NumPyNames


class MindSpore:
    """Replaces the part of MindSpore that differentiates, and collects its arguments."""

    def __init__(self):
        self.ops, self.asked = self, []

    def GradOperation(self, **options):  # noqa: N802 - its name
        def pull(*given):
            self.asked.append((options, [float(one) for one in given]))
            return tuple(given[:-1])

        return lambda forward: pull


def test_a_script_for_mindspore_differentiates_as_the_adapter_does():
    adapter, ms = MindSporeFramework(), MindSpore()
    adapter.__dict__["root"] = ms
    adapter.vjp(lambda x, y: [x * y], [np.array(2.0), np.array(3.0)], [np.array(1.0)])
    named = {"leaves": "x, y", "cotangent": "c", "gradients": "g0, g1"}
    lines = "\n".join(line.format(**named) for line in adapter.gradient_lines)
    exec(lines, {"ms": ms, "forward": None, "x": 2.0, "y": 3.0, "c": 1.0})  # noqa: S102
    assert ms.asked[0] == ms.asked[1] == ({"get_all": True, "sens_param": True}, [2.0, 3.0, 1.0])


@pytest.mark.parametrize(
    ("said", "kind"), [("Unsupported op [SoftplusGradExt] on CPU", Absent), ("the shapes differ", RuntimeError)]
)
def test_a_gradient_for_which_mindspore_has_no_kernel_is_absent(said, kind):
    adapter, ms = MindSporeFramework(), MindSpore()
    adapter.__dict__["root"] = ms

    def refusing(*given):
        raise RuntimeError(f"\n------\n- Kernel select failed:\n------\n{said}\n- C++ Call Stack:\n")

    ms.GradOperation = lambda **options: lambda forward: refusing
    with pytest.raises(kind, match=said.replace("[", r"\[")) as raised:
        adapter.vjp(lambda x: [x], [np.array(2.0)], [np.array(1.0)])
    assert type(raised.value) is kind


class Compiling:
    """Replaces the part of JAX that compiles: each array that it makes counts as a compiled function."""

    def __init__(self):
        self.config = self.monitoring = self.numpy = self
        self.listeners, self.cleared = [], 0

    def update(self, name, value):
        pass

    def register_event_duration_secs_listener(self, listener):
        self.listeners.append(listener)

    def array(self, data):
        for event in ("jaxpr_trace_duration", "backend_compile_duration"):
            for listener in self.listeners:
                listener(f"/jax/core/compile/{event}", 0.1, fun_name="array")
        return data

    def clear_caches(self):
        self.cleared += 1


def test_functions_that_jax_has_compiled_are_freed_when_they_are_many(monkeypatch):
    jax = Compiling()
    monkeypatch.setattr(JaxFramework, "import_root", lambda self: jax)
    adapters = JaxFramework(), JaxFramework()
    for adapter in adapters:
        for _ in range(300):
            adapter.tensor(Array(np.ones(2, "float32"), "float32"))
    assert (len(jax.listeners), jax.cleared) == (1, 1)


class Failing:
    """Replaces an array of MLX: its computation raises when it is first read, and leaves a buffer without contents."""

    dtype, read = "mlx.core.float32", 0

    def evaluate(self):
        self.read += 1
        if self.read == 1:
            raise RuntimeError("LU factorization failed")

    def __array__(self, dtype=None, copy=None):
        with contextlib.suppress(RuntimeError):
            self.evaluate()
        return np.zeros((2, 2), "float32")


def test_what_mlx_raises_when_an_array_is_read_is_raised_although_numpy_would_read_on():
    adapter, array = MLXFramework(), Failing()
    adapter.__dict__["root"] = types.SimpleNamespace(bfloat16="bfloat16", eval=Failing.evaluate)
    with pytest.raises(RuntimeError, match="LU factorization failed"):
        adapter.numpy(array)


INSTALLED = {"mlx": "mlx", "paddle": "paddle", "jax": "jax", "tinygrad": "tinygrad"}


def network():
    layers = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    return torch.softmax(layers(random_tensor(shape=(3, 4), low=-1)), dim=1)


def in_place_through_views():
    x = random_tensor(shape=(3, 4)) * 2
    x[1:, :2] = random_tensor(shape=(2, 2))
    row = x[0]
    row.add_(random_tensor(shape=(4,)))
    return x.sum(dim=1, keepdim=True), x.transpose(0, 1) @ x, row


def places_and_joins():
    x = random_tensor(shape=(3, 4))
    values, places = x.max(dim=1)
    return torch.cat([x, x.exp()], dim=0), torch.stack([values, values]), places, x.mean(), x.permute(1, 0)


def convolutions():
    return torch.nn.functional.conv2d(random_tensor(shape=(2, 3, 6, 6)), random_tensor(shape=(4, 3, 3, 3)), padding=1)


def without_gradients():
    x = random_tensor(shape=(3,))
    with torch.no_grad():
        still = x * 2
    return still, x.detach() * x


def corners_of_statistics():
    x = random_tensor(shape=(3, 1))
    # In current releases of torch, the greatest number overflows in gelu; in 2.0.1 it does not.
    overflows = real.nn.functional.gelu(real.tensor([3.4028235e38, 1.0])).isinf().any()
    greatest = torch.tensor([1e38 if overflows else 3.4028235e38, 1.0])
    infinite = torch.tensor([[float("inf"), 1.0], [2.0, 1.0]])
    return (
        torch.std(x.expand(3, 4) * 0, dim=1),
        torch.nn.functional.gelu(greatest),
        torch.nn.functional.log_softmax(infinite, dim=1),
    )


@pytest.fixture(params=INSTALLED)
def candidate(request):
    if importlib.util.find_spec(INSTALLED[request.param]) is None:
        pytest.skip(f"{request.param} is not installed here")
    return framework(request.param)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "body",
    [network, in_place_through_views, places_and_joins, convolutions, without_gradients],
    ids=lambda it: it.__name__,
)
def test_it_agrees_with_torch(candidate, body):
    outcome = running.trial(body, candidate)
    if candidate.name == "paddle" and body is in_place_through_views:
        # PaddlePaddle 3.3.1 has another gradient for what is added to a view. This is not a fault of the adapter.
        assert [mismatch.name for mismatch in outcome.mismatches] == ["x2.grad"]
        return
    assert running.agrees(outcome)
    assert outcome.gradients


def complex_numbers():
    x, y = (random_tensor(shape=(2, 2), dtype="complex64") for _ in range(2))
    return torch.matmul(x, y).sin() * x, x.abs(), torch.real(x) * y


@pytest.mark.filterwarnings("ignore")
def test_gradients_of_complex_tensors_agree(candidate):
    if candidate.name == "tinygrad":
        pytest.skip("tinygrad has no complex numbers")
    outcome = running.trial(complex_numbers, candidate)
    assert running.agrees(outcome)
    assert outcome.gradients


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", [("set_default_dtype", "float64"), ("set_grad_enabled", False)], ids=str)
def test_a_mode_that_a_body_sets_ends_with_its_trial(candidate, change):
    name, mode = change
    running.trial(lambda: getattr(torch, name)(getattr(torch, mode) if isinstance(mode, str) else mode), candidate)
    assert running.agrees(running.trial(network, candidate))


class Convolving(NumPyNames):
    """Returns zeros, and notes the settings of the convolution."""

    def conv2d(self, x, w, *settings):
        self.settings = settings
        return np.zeros((1, 1, 1, 1))

    conv1d = conv2d


@pytest.mark.parametrize("given", [2, (2,), [2]], ids=str)
def test_a_setting_of_a_convolution_may_be_a_tuple_of_one_number_for_all_dimensions(given):
    names = Convolving()
    settings = {"stride": given, "padding": given, "dilation": given}
    numpy_translations(names)["conv2d"](np.ones((1, 1, 9, 9)), np.ones((1, 1, 2, 2)), **settings)
    assert names.settings == (2, 2, 2, 1)
    numpy_translations(names)["conv2d"](np.ones((1, 1, 9, 9)), np.ones((1, 1, 2, 2)), stride=[1, 2], padding="same")
    assert names.settings == ((1, 2), 0, 1, 1)
    assert same_padding((3, 2), given) == [(2, 2), (1, 1)]


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int8", "bool"])
def test_a_reduction_has_the_dtype_and_the_numbers_that_torch_gives_it(name, dtype):
    given = np.full(3, 1.5).astype(dtype)
    actual = numpy_translations(NumPyNames())[name](given)
    expected = getattr(real, name)(real.from_numpy(given)).numpy()
    assert (actual.dtype, actual) == (expected.dtype, expected)


@pytest.mark.parametrize("name", ["all", "any"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "float32", "bool"])
def test_whether_numbers_are_zero_has_the_dtype_that_torch_gives_it(name, dtype):
    given = np.array([1, 0, 1]).astype(dtype)
    actual = numpy_translations(NumPyNames())[name](given)
    expected = getattr(real, name)(real.from_numpy(given)).numpy()
    assert (actual.dtype, actual) == (expected.dtype, expected)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "var"])
@pytest.mark.parametrize("dim", [(), [], [0, 1], [1]])
def test_a_reduction_along_no_dimensions_is_one_along_all_of_them(name, dim):
    given = np.array([[1.0, 2.0], [4.0, 7.0]])
    actual = numpy_translations(NumPyNames())[name](given, dim)
    assert actual.tolist() == getattr(real, name)(real.from_numpy(given), dim).tolist()


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "var"])
@pytest.mark.parametrize("dim", [0, -1, (0,), [-1]], ids=str)
def test_a_reduction_of_a_tensor_without_dimensions_accepts_dimension_0(name, dim):
    given = np.array(3.0)
    kwargs = {"correction": 0} if name == "var" else {}
    actual = numpy_translations(NumPyNames())[name](given, dim, **kwargs)
    assert actual == getattr(real, name)(real.from_numpy(given), dim, **kwargs)


def concatenated(table, arrays):
    return table["cat"]([arrays(np.zeros(0)), arrays(np.ones((2, 3))), arrays(np.zeros(0))], 1)


def all_empty(table, arrays):
    return table["cat"]([arrays(np.zeros(0))], 1)


def element_without_dimensions(table, arrays):
    return table["index_select"](arrays(np.array(3.0)), 0, arrays(np.array([0])))


def elements_without_dimensions(table, arrays):
    return table["gather"](arrays(np.array(3.0)), -1, arrays(np.array([0, 0])))


def shorter_index(table, arrays):
    return table["gather"](arrays(np.arange(6.0).reshape(2, 3)), 1, arrays(np.array([[2, 0]])))


@pytest.mark.parametrize(
    "taken",
    [concatenated, all_empty, element_without_dimensions, elements_without_dimensions, shorter_index],
    ids=lambda it: it.__name__,
)
def test_elements_are_taken_as_torch_takes_them(taken):
    expected = taken(vars(real), real.from_numpy).numpy()
    np.testing.assert_array_equal(taken(numpy_translations(NumPyNames()), np.asarray), expected, strict=True)


def test_a_slope_that_is_not_used_does_not_make_a_gradient_nan():
    def sloped(function):
        return gradient_of(lambda x: function(x, float("nan")), 2.0)

    actual = sloped(numpy_translations(Differentiable())["leaky_relu"])
    np.testing.assert_array_equal(actual, sloped(real.nn.functional.leaky_relu))


def test_an_approximation_that_gelu_does_not_have_is_refused():
    with pytest.raises(ValueError, match="approximate must be 'none' or 'tanh', got 'fast'"):
        numpy_translations(NumPyNames())["gelu"](np.ones(2), approximate="fast")


@pytest.mark.parametrize(
    "translations", [lambda: numpy_translations(NumPyNames()), lambda: tinygrad_translations(Tinygrad, None)]
)
def test_the_embedding_of_torch_takes_the_weight_first_and_has_no_translation(translations):
    assert "nn.functional.embedding" in translations()
    assert "embedding" not in translations()


class Differentiable(NumPyNames):
    """torch with the names that `numpy_translations` uses, so that what is spelt in them has a gradient."""

    array = real.Tensor

    def stop_gradient(self, given):
        return given.detach()

    def __getattr__(self, name):
        return getattr(real, name, name)


def gradient_of(function, at):
    """Return the result of `function` at one number, and the derivative there."""
    x = real.tensor(at, requires_grad=True)
    made = function(x)
    (derivative,) = real.autograd.grad(made, x)
    return made.detach().numpy(), derivative.numpy()


@pytest.mark.parametrize("name", ["relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hardsigmoid", "hardswish"])
@pytest.mark.parametrize("at", [-np.inf, -200.0, -4.0, -1.0, 0.0, 1.0, 4.0, 200.0, 3.4e38, np.inf, np.nan])
def test_an_activation_that_is_spelt_out_has_the_gradient_that_torch_gives_it(name, at):
    actual = gradient_of(numpy_translations(Differentiable())[name], at)
    expected = gradient_of(getattr(real.nn.functional, name), at)
    np.testing.assert_allclose(actual, expected, rtol=1e-5)  # one more than expm1(-4) is near zero


@pytest.mark.parametrize(("at", "derivative"), [(-3.0, 0.0), (3.0, 1.0)])
def test_hardswish_has_the_gradient_of_one_side_at_its_corners_as_in_current_torch(at, derivative):
    assert gradient_of(numpy_translations(Differentiable())["hardswish"], at)[1] == derivative


#: The translations, over NumPy and over a replacement for tinygrad's tensors.
TRANSLATED = [lambda: numpy_translations(NumPyNames()), lambda: tinygrad_translations(Tinygrad, None)]


class Tinygrad(np.ndarray):
    """An array with the methods of tinygrad's tensors that the tests need."""

    def square(self):
        return self * self

    def abs(self):
        return abs(self)

    def matmul(self, other):
        return self @ other

    def mul(self, x, reverse=False):
        return self * x

    def pow(self, x, reverse=False):
        return self**x

    @staticmethod
    def einsum(formula, *operands):
        return np.einsum(formula, *operands)

    def zeros_like(self):
        return np.zeros_like(self)

    def softmax(self, axis):
        return NumPyNames().softmax(self, axis)

    def log_softmax(self, axis):
        return np.log(self.softmax(axis))

    def var(self, axis=None, keepdim=False, correction=1):
        return np.var(self.view(np.ndarray), axis, ddof=correction, keepdims=keepdim)

    def std(self, axis=None, keepdim=False, correction=1):
        return np.std(self.view(np.ndarray), axis, ddof=correction, keepdims=keepdim)


def numbers(*rows):
    """Return a float32 array that both translations accept."""
    return np.array(rows, "float32").view(Tinygrad)


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss"])
@pytest.mark.parametrize(
    "given",
    [
        {"reduction": "sum"},
        {"size_average": False},
        {"size_average": True, "reduction": "sum"},
        {"reduce": False, "size_average": True},
        {"reduce": True, "reduction": "none"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:size_average")
def test_the_deprecated_arguments_of_a_loss_override_its_reduction(translations, name, given):
    made, target = numbers(1, -2, 4, 0), numbers(3, -2, 1, 1)
    actual = translations()[name](made, target, **given)
    expected = getattr(real.nn.functional, name)(*map(real.from_numpy, (made, target)), **given)
    np.testing.assert_array_equal(actual, expected.numpy(), strict=True)


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
def test_operands_may_have_the_names_that_torch_gives_them(translations):
    table, x = translations(), numbers([1, 2], [3, 4])
    np.testing.assert_array_equal(table["pow"](x, exponent=2), x**2)
    np.testing.assert_array_equal(table["mul"](x, other=x), x * x)
    np.testing.assert_array_equal(table["mm"](x, mat2=x), x @ x)


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
def test_the_first_operand_may_be_a_number(translations):
    table, x = translations(), numbers([1, 2], [3, 4])
    np.testing.assert_array_equal(table["mul"](2.0, x), 2.0 * x)
    np.testing.assert_array_equal(table["pow"](2, x), 2**x)
    np.testing.assert_array_equal(table["div"](2, x), 2 / x)


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
def test_the_operands_of_einsum_may_be_in_a_list(translations):
    x = numbers([1, 2], [3, 4])
    einsum = translations()["einsum"]
    np.testing.assert_array_equal(einsum("ij,jk->ik", [x, x]), x @ x)
    np.testing.assert_array_equal(einsum("ij,jk->ik", x, x), x @ x)


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_a_filled_array_has_the_dtype_that_is_asked_for(name, dtype):
    x = numbers([1, 2])
    actual = numpy_translations(NumPyNames())[name](x, dtype=dtype)
    expected = getattr(real, name)(real.from_numpy(x), dtype=getattr(real, dtype)).numpy()
    np.testing.assert_array_equal(actual, expected, strict=True)


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
@pytest.mark.parametrize("beta", [0, 0.0, 2])
def test_a_sum_with_a_product_ignores_the_numbers_that_it_multiplies_by_zero(translations, beta):
    added = numbers([np.nan, np.inf, 1], [-np.inf, 2, 3])
    mat1, mat2 = numbers([1, 2], [3, 4]), numbers([1, 2, 3], [4, 5, 6])
    actual = translations()["addmm"](added, mat1, mat2, beta=beta, alpha=3)
    expected = real.addmm(*map(real.from_numpy, (added, mat1, mat2)), beta=beta, alpha=3).numpy()
    np.testing.assert_array_equal(actual, expected, strict=True)
    with pytest.raises(ValueError, match="broadcast"):
        translations()["addmm"](numbers([1, 2]), mat1, mat2, beta=beta)


@pytest.mark.parametrize(
    ("translations", "kind"), [*zip(TRANSLATED, (np.ndarray, Tinygrad), strict=True)], ids=["numpy", "tinygrad"]
)
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("given", [(False,), (True,), (1, False), (None, False)], ids=str)
def test_a_truth_value_alone_says_whether_a_variance_is_unbiased(translations, kind, name, given):
    x = np.array([[1.0, 2.0], [4.0, 8.0]]).view(kind)
    actual = translations()[name](x, *given)
    np.testing.assert_allclose(actual, getattr(real, name)(real.from_numpy(x), *given).numpy(), rtol=1e-15)


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (2, 3, 4, 5)])
@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
def test_a_softmax_without_a_dimension_is_along_the_one_that_torch_chooses(translations, name, shape):
    x = np.sin(np.arange(np.prod(shape), dtype="float64")).reshape(shape).view(Tinygrad)
    expected = getattr(real.nn.functional, name)(real.from_numpy(x)).numpy()
    np.testing.assert_allclose(translations()[name](x), expected, rtol=1e-12)


@pytest.mark.parametrize("rounding_mode", ["floor", "trunc"])
@pytest.mark.parametrize("other", [3, -3, np.array([2, -2, 5, -7])])
def test_a_rounded_quotient_of_whole_numbers_is_whole(rounding_mode, other):
    x = np.array([7, -7, 2**53 + 1, -14])
    actual = numpy_translations(NumPyNames())["div"](x, other, rounding_mode=rounding_mode)
    divisor = real.from_numpy(other) if isinstance(other, np.ndarray) else other
    expected = real.div(real.from_numpy(x), divisor, rounding_mode=rounding_mode).numpy()
    assert actual.tolist() == expected.tolist()
    assert actual.dtype.kind == expected.dtype.kind


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", "squeeze max min argmax sum mean amax softmax log_softmax cumsum cumprod".split())
def test_a_tensor_without_dimensions_has_a_dimension_to_name(name, dim):
    x = np.array(1.5)
    actual = numpy_translations(NumPyNames())[name](x, dim)
    expected = getattr(real, name)(real.from_numpy(x), dim)
    for made, right in zip(actual, expected, strict=True) if name in ("max", "min") else [(actual, expected)]:
        assert (made.dtype, made.shape, made.item()) == (right.numpy().dtype, (), right.item())


@pytest.mark.parametrize(("dtype", "made"), [("float32", bool), ("uint8", np.uint8)])
def test_all_and_any_over_no_dimension_are_of_each_element(dtype, made):
    translated, x = numpy_translations(NumPyNames()), np.array([2, 0], dtype)
    for name in ("all", "any"):
        found = translated[name](x, ())
        assert (found.tolist(), found.dtype) == ([1, 0], made)


def test_the_dimension_of_a_tensor_without_any_may_be_transposed_with_itself():
    assert numpy_translations(NumPyNames())["transpose"](np.array(1.5), 0, -1).tolist() == 1.5


def test_a_dimension_that_even_torch_does_not_know_stays_an_error():
    for name, *dims in (("squeeze", 1), ("max", 1), ("sum", 1), ("softmax", 1), ("cumsum", 1), ("transpose", 0, 1)):
        with pytest.raises(IndexError):
            numpy_translations(NumPyNames())[name](np.array(1.5), *dims)


@pytest.mark.parametrize(("start", "end"), [*itertools.product(range(-4, 4), repeat=2)])
def test_flattening_dimensions_of_jax_is_as_in_torch(start, end):
    flatten, x = _JaxNamespace(types.SimpleNamespace(numpy=np, Array=np.ndarray)).flatten, np.zeros((2, 3, 4))
    try:
        expected = tuple(real.flatten(real.from_numpy(x), start, end).shape)
    except (IndexError, RuntimeError):
        with pytest.raises(ValueError, match=f"flatten: .* got {start} to {end}"):
            flatten(x, start, end)
    else:
        assert flatten(x, start, end).shape == expected


@pytest.mark.parametrize("translations", TRANSLATED, ids=["numpy", "tinygrad"])
def test_one_index_without_dimensions_selects_a_row_and_keeps_the_dimension(translations):
    x, index = numbers([1, 2], [3, 4]), np.array(1).view(Tinygrad)
    assert translations()["index_select"](x, 0, index).tolist() == [[3, 4]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mlx", "jax"])
def test_what_is_spelt_for_it_keeps_to_torch_at_the_corners(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed here")
    assert running.agrees(running.trial(corners_of_statistics, framework(name)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 3)])
def test_a_number_in_double_precision_keeps_its_digits(candidate, shape):
    (read,) = candidate.values([candidate.tensor(Array(np.full(shape, 1 / 3), "float64"))])
    assert (read.dtype, read.data.shape) == ("float64", shape)
    assert (read.data == 1 / 3).all()


@pytest.mark.filterwarnings("ignore")
def test_the_gradient_of_softplus_far_beyond_its_threshold_is_one(candidate):
    def body():
        return torch.nn.functional.softplus(random_tensor(shape=(3,), low=3e38, high=3.4e38), beta=2, threshold=10)

    outcome = running.trial(body, candidate)
    assert running.agrees(outcome)
    assert outcome.gradients


@pytest.mark.filterwarnings("ignore")
def test_what_it_has_no_name_for_is_absent(candidate):
    def body():
        return torch.special.hermite_polynomial_h(random_tensor(shape=(2,), requires_grad=False), 2)

    outcome = running.trial(body, candidate)
    assert outcome.rejection.type == "Absent"
    assert candidate.name in outcome.rejection.text


ONNX_RUNTIME = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed here"
)


def in_onnx_runtime(body):
    """Return the finding for one program, which is exported and run there."""
    return graph_check.check([running.trial(body, framework("onnxruntime")).recorder], Settings())


@pytest.mark.filterwarnings("ignore")
@ONNX_RUNTIME
@pytest.mark.parametrize("training", [True, False])
def test_modules_are_exported_in_the_mode_that_they_are_in(training):
    def body():
        layer = torch.nn.BatchNorm1d(3)
        layer.train(training)
        return layer(random_tensor(shape=(4, 3)))

    report = in_onnx_runtime(body)
    assert report.mismatches == [[]]
    assert report.compared


@pytest.mark.filterwarnings("ignore")
@ONNX_RUNTIME
def test_operators_in_place_are_exported_as_such():
    def body():
        made = random_tensor(shape=(3,)) * 1
        earlier = made
        made += 2
        return made, earlier

    assert in_onnx_runtime(body).mismatches == [[]]


@pytest.mark.filterwarnings("ignore")
@ONNX_RUNTIME
@pytest.mark.parametrize(
    ("dtype", "call", "reason"),
    [
        ("float64", "erf", "calls for which it has no kernel"),
        ("int64", "sin", "calls whose export is not a valid model"),
    ],
)
def test_what_it_cannot_load_is_left_out_with_its_reason(dtype, call, reason):
    def body():
        return getattr(torch, call)(random_tensor(shape=(3,), dtype=dtype, requires_grad=False))

    report = in_onnx_runtime(body)
    assert (report.mismatches, report.left_out[reason], report.compared) == ([[]], 1, 0)


@pytest.mark.filterwarnings("ignore")
@ONNX_RUNTIME
def test_programs_are_exported_and_run_forward():
    candidate = framework("onnxruntime")
    outcomes = [running.trial(network, candidate, seed=seed) for seed in range(2)]
    report = graph_check.check([outcome.recorder for outcome in outcomes], Settings())
    assert report.mismatches == [[], []]
    assert report.compared > 2
    assert report.left_out["backward, which its graph mode refuses"] == 2


@pytest.mark.parametrize(
    ("name", "keyword"), [("maximum", "other"), ("mm", "mat2"), ("mv", "vec"), ("dot", "tensor"), ("outer", "vec2")]
)
def test_a_second_operand_may_be_given_by_torchs_name(name, keyword):
    shapes = {"mm": ((2, 3), (3, 2)), "mv": ((2, 3), (3,))}.get(name, ((3,), (3,)))
    one, other = (np.arange(np.prod(shape), dtype="float32").reshape(shape) for shape in shapes)
    actual = numpy_translations(NumPyNames())[name](one, **{keyword: other})
    expected = getattr(real, name)(real.from_numpy(one), **{keyword: real.from_numpy(other)})
    assert actual.tolist() == expected.tolist()
    with pytest.raises(TypeError, match="unexpected keyword argument 'dtype'"):
        numpy_translations(NumPyNames())[name](one, other, dtype="float64")


class Keeping(NumPyNames):
    """NumPy, but with running sums of the dtype of their numbers, as in MLX and JAX."""

    def cumsum(self, given, axis):
        return np.cumsum(given, axis, dtype=given.dtype)

    def cumprod(self, given, axis):
        return np.cumprod(given, axis, dtype=given.dtype)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
def test_running_sums_of_whole_numbers_have_64_bits(name, dtype):
    given = np.array([1, 100, 100]).astype(dtype)
    actual = numpy_translations(Keeping())[name](given, 0)
    expected = getattr(real, name)(real.from_numpy(given), 0).numpy()
    np.testing.assert_array_equal(actual, expected, strict=True)


def test_a_softmax_of_no_numbers_has_none():
    assert numpy_translations(NumPyNames())["log_softmax"](np.zeros((0, 3), "float32"), 0).shape == (0, 3)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_an_out_that_torch_would_resize_is_what_a_framework_of_immutable_arrays_lacks():
    candidate = block_framework.framework()

    def body():
        out = random_tensor(shape=(3,), requires_grad=False)
        return torch.exp(random_tensor(shape=(2,), requires_grad=False), out=out)

    rejection = running.trial(body, candidate).rejection
    assert (rejection.type, "out= of another shape" in rejection.text) == ("Absent", True)


def test_a_module_that_has_the_names_of_another_package_does_not_have_its_version(monkeypatch):
    own, inner = types.ModuleType("gradients_of_arrays"), types.ModuleType("gradients_of_arrays.numpy")
    inner.__version__ = np.__version__  # as that of `autograd.numpy`
    monkeypatch.setitem(sys.modules, own.__name__, own)
    assert version_of(inner.__name__, inner) == np.__version__
    own.__version__ = "1.9"
    assert version_of(inner.__name__, inner) == "1.9"


def test_a_package_without_a_version_has_that_of_its_installation():
    assert version_of("pytest", types.ModuleType("pytest")) == pytest.__version__
    assert version_of("no_such_package", types.ModuleType("no_such_package")) == "unknown"
