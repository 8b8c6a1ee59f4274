"""`autotest.gradcheck` finds planted wrong gradients, passes right ones, and its table shows the place."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings

import numpy as np
import pytest
import torch

import autotest
from autotest import GradcheckError, UsageError, gradcheck, gradgradcheck
from autotest.frameworks.torch import TorchFramework
from autotest.gradients.checking import check
from autotest.gradients.function import FunctionOfInputs
from autotest.gradients.rule import Rule

needs_oneflow = pytest.mark.skipif(
    sys.version_info >= (3, 11) or importlib.util.find_spec("oneflow") is None, reason="needs OneFlow"
)
STRICT = Rule()


def leaf(*shape, seed=0, low=0.5, high=2.0, dtype="float64"):
    data = np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)
    return torch.from_numpy(data).requires_grad_()


def with_backward(forward, backward):
    """Return a function of one tensor with the value `forward` and the gradient `backward(x, cotangent)`."""

    class Planted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, cotangent):
            return backward(*ctx.saved_tensors, cotangent)

    return Planted.apply


def square_with(change):
    return with_backward(lambda x: x * x, lambda x, cotangent: change(2 * x * cotangent))


def one_element(gradient):
    changed = gradient.clone()
    changed[3, 4] *= 1.01
    return changed


PLANTED = {
    "scaled by 1.001": lambda gradient: gradient * 1.001,
    "one element": one_element,
    "transposed": lambda gradient: gradient.T.contiguous(),
    "none at all": lambda gradient: None,
    "zero": lambda gradient: gradient * 0,
}


def failed(result):
    return [row for row in result.rows if not row.passed]


def checked(function, *inputs, rule=STRICT):
    return check(FunctionOfInputs(TorchFramework(), function, inputs), rule)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_gradient_is_found(name, fast):
    found = checked(square_with(PLANTED[name]), leaf(10, 10), rule=Rule(fast=fast))
    assert not found.passed


@pytest.mark.parametrize("fast", [True, False])
def test_a_right_gradient_passes(fast):
    assert checked(square_with(lambda gradient: gradient), leaf(10, 10), rule=Rule(fast=fast)).passed


@pytest.mark.parametrize("name", sorted(set(PLANTED) - {"scaled by 1.001"}))
def test_the_public_check_raises_with_a_table(name):
    with pytest.raises(GradcheckError, match=r"Analytic +Numeric"):
        gradcheck(square_with(PLANTED[name]), leaf(5, 5))
    assert gradcheck(square_with(PLANTED[name]), (leaf(5, 5),), raise_exception=False) is False


def test_the_tolerance_is_the_one_that_is_stated():
    scaled = square_with(PLANTED["scaled by 1.001"])
    assert gradcheck(scaled, leaf(5, 5))
    with pytest.raises(GradcheckError):
        gradcheck(scaled, leaf(5, 5), rtol=1e-4)


def test_the_row_that_failed_is_the_row_named():
    def function(x, y):
        return x * y, square_with(one_element)(y)

    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, (leaf(5, 5), leaf(5, 5, seed=1)))
    text = str(caught.value)
    assert "input 1, output 1: analytic" in text
    assert "at (3, 4) and (3, 4)" in text.splitlines()[0]
    rows = {tuple(line.split()[:2]): line for line in text.splitlines() if line[:1].isdigit()}
    assert sorted(rows) == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    assert [key for key, line in rows.items() if "FAIL" in line] == [("1", "1")]


def test_a_gradient_that_is_wrong_only_when_it_broadcasts():
    class Adds(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.shapes = x.shape, y.shape
            return x + y

        @staticmethod
        def backward(ctx, cotangent):
            x, y = ctx.shapes
            return cotangent, cotangent if x == y else cotangent.mean(0, keepdim=True)

    assert gradcheck(Adds.apply, (leaf(5, 4), leaf(5, 4)))
    with pytest.raises(GradcheckError, match="input 1, output 0"):
        gradcheck(Adds.apply, (leaf(5, 4), leaf(1, 4)))


def test_a_gradient_of_the_wrong_dtype():
    # torch casts the result of a Function, so the wrong dtype is planted where it is read.
    class Casting(TorchFramework):
        def resolve(self, path):
            found = super().resolve(path)
            if path != "autograd.grad":
                return found
            return lambda *args, **kwargs: [item.float() for item in found(*args, **kwargs)]

    found = check(FunctionOfInputs(Casting(), lambda x: x * x, [leaf(4, 4)]), Rule(dtypes=True))
    assert failed(found)[0].note == "the gradient is of float32, its input of float64"


def test_a_gradient_that_changes_from_run_to_run():
    drawn = iter(range(1000))
    noisy = with_backward(lambda x: x * x, lambda x, cotangent: 2 * x * cotangent + next(drawn) * 1e-9)
    assert "another gradient the second time" in failed(checked(noisy, leaf(3)))[0].note
    assert checked(noisy, leaf(3), rule=Rule(nondet_tol=1e-3)).passed


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_a_gradient_that_is_a_number_in_one_run_only(odd):
    runs = iter([0.0, odd])
    noisy = with_backward(lambda x: x * x, lambda x, cotangent: 2 * x * cotangent + next(runs, 0.0))
    (row,) = failed(checked(noisy, leaf(3)))
    assert "another gradient the second time" in row.note
    assert row.absolute == float("inf")


class Cubes(torch.autograd.Function):
    """Return the cube of x with the right gradient and twice the right second derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, cotangent):
        (x,) = ctx.saved_tensors
        return square_with(lambda gradient: 2 * gradient)(x) * 3 * cotangent


def test_a_gradient_of_second_order_alone():
    assert gradcheck(Cubes.apply, leaf(4, 4))
    with pytest.raises(GradcheckError):
        gradgradcheck(Cubes.apply, leaf(4, 4))
    assert gradgradcheck(lambda x: x**3, leaf(4, 4))


def test_zero_at_a_kink_is_right():
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    with pytest.warns(UserWarning, match="1 derivative was taken at a kink") as told:
        assert gradcheck(torch.relu, x)
    assert {warned.filename for warned in told} == {__file__}
    assert gradcheck(torch.abs, x)


def test_a_wrong_value_at_a_kink_is_wrong():
    five = with_backward(torch.relu, lambda x, cotangent: cotangent * ((x > 0) + 5.0 * (x == 0)))
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match="at \\(1,\\)"):
        gradcheck(five, x)


def test_a_kink_does_not_excuse_its_neighbours():
    # Right at 0 by chance, and wrong on one side of it.
    leaky = with_backward(torch.relu, lambda x, cotangent: cotangent * 0)
    with pytest.raises(GradcheckError):
        gradcheck(leaky, torch.zeros(3, dtype=torch.float64, requires_grad=True))


def test_complex_inputs_and_outputs():
    z = torch.from_numpy(np.random.default_rng(0).normal(size=(4, 4)) + 1j).requires_grad_()
    for function in (lambda z: z * z, torch.abs, lambda z: z.conj() * 2, torch.view_as_real):
        assert gradcheck(function, z)
        assert checked(function, z).passed
        assert checked(function, z, rule=Rule(fast=False)).passed
    conjugated = with_backward(lambda z: z * z, lambda z, cotangent: 2 * z * cotangent)
    assert not checked(conjugated, z).passed


def test_inputs_of_low_precision_are_warned_of():
    with pytest.warns(UserWarning, match=r"double precision|float32"):
        gradcheck(lambda x: x * 2, leaf(3, dtype="float32"), atol=1.0)


def test_elements_that_share_memory_are_refused_as_torch_refuses_them():
    x = torch.ones(1, 3, dtype=torch.float64).expand(4, 3).detach().requires_grad_()
    for refusing in (gradcheck, torch.autograd.gradcheck):
        with pytest.raises(RuntimeError, match=r"contiguous"):
            refusing(lambda x: x * x, (x,))
    with pytest.raises(UsageError, match=r"elements of input 0 share memory \(strides \(0, 1\)\)"):
        gradcheck(lambda x: x * x, x)


@pytest.mark.parametrize(
    ("torchs", "ours"), [(torch.autograd.gradcheck, gradcheck), (torch.autograd.gradgradcheck, gradgradcheck)]
)
def test_the_checks_take_what_torchs_take(torchs, ours):
    assert inspect.signature(torchs).parameters.keys() <= inspect.signature(ours).parameters.keys()


@pytest.mark.parametrize(
    "order",
    [
        {"check_fwd_over_rev": True},
        {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False},
    ],
)
def test_gradients_of_gradients_are_checked_in_forward_mode_too(order):
    assert gradgradcheck(lambda x: x**3, leaf(4), **order)
    with pytest.raises(UsageError, match="check_fwd_over_rev or check_rev_over_rev"):
        gradgradcheck(lambda x: x**3, leaf(4), check_rev_over_rev=False)


def test_cotangents_that_do_not_lie_side_by_side_reach_the_function():
    seen = []

    def noted(gradient):
        seen.append(gradient.is_contiguous())
        return gradient

    def cube(x):
        y = x**3
        y.register_hook(noted)
        return y

    assert gradgradcheck(cube, leaf(4, 3), gen_non_contig_grad_outputs=True)
    assert False in seen


@pytest.mark.parametrize("whole", [True, False])
def test_a_function_that_is_not_finite_at_its_inputs_is_not_called_right(whole):
    wrong = with_backward(lambda x: x.log(), lambda x, c: 3 * c)
    x = torch.tensor([-1.0, -1.0, -1.0] if whole else [-1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    function = wrong if whole else lambda x: wrong(x).sum()
    with pytest.raises(GradcheckError):
        gradcheck(function, x)
    assert not gradcheck(torch.log, -leaf(3).detach().requires_grad_(), raise_exception=False)


@needs_oneflow
def test_a_function_of_oneflow_that_is_not_finite_at_its_inputs_is_not_called_right():
    import oneflow

    x = oneflow.tensor([-1.0, -2.0], dtype=oneflow.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match="the function is not finite there"):
        gradcheck(oneflow.log, x)


def test_a_gradient_of_no_elements_has_none_that_share_memory():
    assert gradgradcheck(torch.tanh, torch.randn(0, 3, dtype=torch.float64, requires_grad=True))


def test_module_parameters_are_reached_through_a_closure():
    module = torch.nn.Linear(3, 2).double()
    assert checked(lambda x, weight: module(x), leaf(4, 3), module.weight).passed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"inputs": 3}, "expected tensors of"),
        ({"inputs": torch.ones(2)}, "requires grad"),
        ({"check_backward_ad": False}, "to be True"),
        ({"eps": 0.0}, "eps > 0"),
        ({"atol": -1}, r"gradcheck\(atol=-1\): expected a finite number, atol >= 0"),
        ({"rtol": float("nan")}, "rtol=nan"),
        ({"nondet_tol": "0"}, "nondet_tol='0'"),
        ({"fast_mode": 1}, "fast_mode=1.: expected True or False"),
        ({"raise_exception": None}, "raise_exception=None"),
        ({"func": 3}, "func=3.: expected a function"),
        ({"inputs": ()}, "got nothing"),
        ({"func": lambda x: x.sum().item()}, r"func returned .* \(float\) as output 0; expected a tensor of torch"),
        ({"func": lambda x: (x, None)}, "func returned None .NoneType. as output 1"),
        ({"func": lambda x: {"y": x}}, "dict"),
        ({"func": lambda x: x.data.add_(1) * x}, "func changed input 0 in place"),
    ],
)
def test_arguments_that_make_no_sense(arguments, said):
    with pytest.raises(UsageError, match=said):
        gradcheck(**{"func": torch.relu, "inputs": leaf(3), **arguments})


@pytest.mark.parametrize("fast_mode", [True, False])
def test_inputs_of_every_kind(fast_mode):
    empty = torch.zeros(0, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: x * 2, empty, fast_mode=fast_mode)
    assert checked(lambda x: x * 2, empty, rule=Rule(fast=fast_mode)).passed
    assert gradcheck(lambda x, y, n: x * y**n, [leaf(3), leaf(3).detach(), 2], fast_mode=fast_mode)
    assert gradcheck(lambda x: x * 2, leaf(), fast_mode=fast_mode)
    assert gradcheck(lambda x: (x * 2, x.argmax()), leaf(3), fast_mode=fast_mode)
    assert checked(lambda x: x.mT * 2, leaf(3, 4, 5).mT, rule=Rule(fast=fast_mode)).passed


def test_what_an_output_shows_of_its_input_is_not_varied_with_it():
    z = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 2)) + 1j).requires_grad_()
    for view in (lambda z: z, lambda z: z.T, lambda z: z[0], torch.view_as_real):
        assert checked(view, z, rule=Rule(fast=False)).passed
    assert checked(torch.view_as_complex, leaf(3, 2), rule=Rule(fast=False)).passed


def test_statistics_beside_the_differentiable_outputs_are_left_out():
    def normalised(x):
        return torch.native_layer_norm(x, (4,), None, None, 1e-5)

    assert gradcheck(normalised, leaf(3, 4))
    assert checked(normalised, leaf(3, 4)).passed
    assert gradgradcheck(lambda x: (x**3, x.argmax()), leaf(3))
    for without in (lambda x: x.detach() * 2, lambda x: x.argmax()):
        with pytest.raises(UsageError, match="an output that depends on an input"):
            gradgradcheck(without, leaf(3))


def test_sparse_inputs_batches_and_forward_mode_are_torchs_own():
    x = leaf(3, 3).detach().to_sparse().requires_grad_()
    assert gradcheck(lambda x: x.to_dense() * 2, x, masked=True)
    assert gradcheck(lambda x: x.to_dense() * 2, x, check_sparse_nnz=True)
    assert gradcheck(torch.sin, leaf(3), check_batched_forward_grad=True, check_forward_ad=True)
    assert gradcheck(torch.sin, leaf(3), check_batched_grad=True, check_forward_ad=True)
    assert gradcheck(torch.sin, leaf(3), check_backward_ad=False, check_forward_ad=True)


def test_batched_gradients_that_are_wrong():
    wrong = with_backward(lambda x: x * 2, lambda x, cotangent: cotangent * 2 + 0 * float(cotangent.sum()))
    assert gradcheck(wrong, leaf(3))
    assert gradcheck(wrong, leaf(3), check_batched_grad=True, raise_exception=False) is False


def test_what_only_torch_can_read_is_torchs_to_judge():
    # NumPy has no complex number of two halves.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert gradcheck(lambda x: x.chalf(), leaf(2), raise_exception=False) is False


def test_cotangents_of_the_wrong_shape():
    with pytest.raises(UsageError, match="outputs' shapes"):
        gradgradcheck(lambda x: x**3, leaf(3), leaf(2))
    assert gradgradcheck(lambda x: x**3, leaf(3), leaf(3, seed=1))


def test_a_dual_tensor_is_refused(against):
    against()
    with pytest.raises(UsageError, match=r"x\.reference or x\.candidate"):
        gradcheck(torch.relu, autotest.random_tensor())


# -- OneFlow ------------------------------------------------------------------------------------------------


@needs_oneflow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestOneFlow:
    @pytest.fixture
    def flow(self):
        from autotest.frameworks import registry

        return registry.framework("oneflow").root

    def test_right_gradients_pass(self, flow):
        x = flow.tensor(np.random.default_rng(0).uniform(1, 2, (5, 4)), dtype=flow.float64, requires_grad=True)
        y = flow.tensor(np.random.default_rng(1).uniform(1, 2, (1, 4)), dtype=flow.float64, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            assert gradcheck(lambda x, y: (x * y, x.sin()), (x, y))
            assert gradcheck(lambda x, y: x / y, (x, y), fast_mode=True)

    def test_a_wrong_gradient_is_found(self, flow):
        class Squares(flow.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, cotangent):
                return ctx.saved_tensors[0] * cotangent * 2.01

        x = flow.tensor(np.random.default_rng(0).uniform(1, 2, (5, 4)), dtype=flow.float64, requires_grad=True)
        with pytest.raises(GradcheckError, match="a gradient of oneflow is not its derivative: input 0, output 0"):
            gradcheck(Squares.apply, x)
        assert not gradcheck(Squares.apply, x, fast_mode=True, raise_exception=False)

    def test_a_kink_is_warned_of(self, flow):
        x = flow.tensor([-1.0, 0.0, 2.0], dtype=flow.float64, requires_grad=True)
        with pytest.warns(UserWarning, match="kink"):
            assert gradcheck(flow.relu, x)

    def test_second_order(self, flow):
        x = flow.tensor(np.random.default_rng(0).uniform(1, 2, (3, 4)), dtype=flow.float64, requires_grad=True)
        assert gradgradcheck(lambda x: x * x * x, x)

    def test_what_it_cannot_do_is_refused(self, flow):
        x = flow.ones(2, dtype=flow.float64, requires_grad=True)
        with pytest.raises(UsageError, match="oneflow does not support this check"):
            gradcheck(flow.sin, x, check_forward_ad=True)


@pytest.mark.parametrize(
    ("check", "asked", "said"),
    [
        (
            gradcheck,
            {"masked": True, "check_sparse_nnz": False},
            "expected only one of them, because they are two names",
        ),
        (
            gradcheck,
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            r"gradcheck\(check_batched_grad=True\): expected check_backward_ad=True as well",
        ),
        (gradcheck, {"check_batched_forward_grad": True}, "expected check_forward_ad=True as well"),
        (
            gradgradcheck,
            {"check_fwd_over_rev": True, "check_rev_over_rev": False},
            r"gradgradcheck\(check_undefined_grad=True\): expected check_rev_over_rev=True .*write check_undefined_g",
        ),
        (
            gradgradcheck,
            {
                "check_fwd_over_rev": True,
                "check_rev_over_rev": False,
                "check_undefined_grad": False,
                "check_batched_grad": True,
            },
            r"gradgradcheck\(check_batched_grad=True\): expected check_rev_over_rev=True as well",
        ),
    ],
)
def test_checks_that_need_one_another_are_asked_for_together_as_in_torch(check, asked, said):
    with pytest.raises(UsageError, match=said):
        check(torch.sin, leaf(3), **asked)
