"""The table of coverage names the optional arguments, and the literal values of them, that no test gave."""

from __future__ import annotations

import pytest

from autotest import constant, nothing, oneof, random, random_tensor, torch
from autotest.frameworks import framework
from autotest.pytest_plugin import coverage_table
from autotest.report.coverage import closing
from autotest.results.coverage import Coverage, gaps, merged
from autotest.results.optional_arguments import never_given
from tests.support.covered import covered as covered_with

pytestmark = pytest.mark.usefixtures("counting")


def covered(body, n=4) -> Coverage:
    return covered_with(body, n=n, special_values=False)


def told(coverage: Coverage, operator: str) -> list[str]:
    return [*never_given(coverage[operator], coverage_table.signatures(coverage).get(operator, {}))]


def x(ndim=2, **said):
    return random_tensor(ndim=ndim, **said)


def _whole():
    return x(dtype=int)


def image():
    return random_tensor(shape=(1, 2, 6, 6), dtype="float32")


@pytest.mark.parametrize(
    ("operator", "body", "lines"),
    [
        ("sum", lambda: torch.sum(x()), ["never given: dim, keepdim, dtype"]),
        ("sum", lambda: x().sum(1), ["never given: keepdim, dtype"]),
        ("sum", lambda: x().sum(axis=0, keepdims=oneof(True, False)), ["never given: dtype"]),
        ("max", lambda: torch.max(x()), ["never given: other, dim, keepdim"]),
        ("max", lambda: torch.max(x(), 1), ["never given: other, keepdim"]),
        ("max", lambda: x().max(x(1, dim0=1)), ["never given: dim, keepdim"]),
        ("relu", lambda: torch.relu(x()), []),
        ("linalg.norm", lambda: torch.linalg.norm(x(), 2, 0), ["never given: keepdim, dtype"]),
        ("fft.fft", lambda: torch.fft.fft(x()), ["never given: n, dim, norm"]),
        ("special.logsumexp", lambda: torch.special.logsumexp(x(), 0), ["never given: keepdim"]),
        ("norm", lambda: torch.norm(x(), 2), ["never given: dim, keepdim, dtype", "never p='fro', p='nuc'"]),
        ("zeros_like", lambda: torch.zeros_like(x()), ["never given: dtype"]),
        ("flatten", lambda: x().flatten(), ["never given: start_dim, end_dim"]),
        (
            "unique",
            lambda: torch.unique(x(requires_grad=False), True),
            ["never given: return_inverse, return_counts, dim"],
        ),
        ("nn.functional.relu", lambda: torch.nn.functional.relu(x()), ["never given: inplace"]),
        (
            "nn.functional.max_pool2d",
            lambda: torch.nn.functional.max_pool2d(image(), 2, 1),
            ["never given: padding, dilation, ceil_mode, return_indices"],
        ),
        ("nn.functional.gelu", lambda: torch.nn.functional.gelu(x()), ["never given: approximate"]),
        ("nn.functional.softplus", lambda: torch.nn.functional.softplus(x(), 2), ["never given: threshold"]),
    ],
)
def test_optional_arguments_that_no_call_gave_are_named_by_operator(operator, body, lines):
    assert told(covered(body), operator) == lines


def _added_in_place():
    y = x() * 2
    y += 1
    return y


@pytest.mark.parametrize(
    ("operator", "body", "lines"),
    [
        ("add_", lambda: (x() * 2).add_(1), ["never given: alpha"]),
        ("relu_", lambda: torch.relu_(x() * 2), []),
        ("add", lambda: x() + x(), []),
        ("getitem", lambda: x()[0], []),
        ("T", lambda: x().T, []),
        ("iadd", _added_in_place, []),
    ],
)
def test_a_call_in_place_has_options_of_its_own_and_an_operator_or_an_attribute_has_none(operator, body, lines):
    assert told(covered(body), operator) == lines


def test_functions_methods_and_operators_count_as_one_operator():
    both = merged([covered(lambda: torch.add(x(), x(), alpha=2)), covered(lambda: x() + x())])
    assert told(both, "add") == []
    assert told(merged([both, covered(lambda: x().add(x()))]), "add") == []


@pytest.mark.parametrize(
    ("operator", "body", "named", "not_named"),
    [
        ("nn.Conv2d", lambda: torch.nn.Conv2d(2, 3, 3, 1)(image()), {"padding", "padding_mode"}, {"stride", "dtype"}),
        ("nn.GELU", lambda: torch.nn.GELU("tanh")(x()), set(), {"approximate"}),
        (
            "nn.LSTM",
            lambda: torch.nn.LSTM(3, 2, 1, True)(_steps())[0],
            {"batch_first", "hx"},
            {"num_layers", "bias"},
        ),
        ("nn.L1Loss", lambda: torch.nn.L1Loss()(image(), image()), {"reduction"}, {"size_average", "reduce"}),
    ],
)
def test_arguments_of_a_module_are_those_of_its_class_and_of_its_forward(operator, body, named, not_named):
    (line, *_) = told(covered(body), operator) or ["never given: "]
    names = {*line.removeprefix("never given: ").split(", ")} - {""}
    assert named <= names
    assert not not_named & names


def _steps():
    return random_tensor(shape=(2, 1, 3), dtype="float32")


@pytest.mark.parametrize(
    ("operator", "body", "lines"),
    [
        ("sum", lambda: torch.sum(x(), 0, oneof(True, False)), []),
        ("sum", lambda: torch.sum(x(), 0, constant(True) | nothing()), []),
        ("sum", lambda: torch.sum(x(), 0, constant(False) | nothing()), ["never keepdim=True"]),
        ("nn.functional.mse_loss", lambda: _loss(reduction="sum"), ["never reduction='none', reduction='mean'"]),
        ("nn.functional.mse_loss", lambda: _loss(reduction=constant("sum") | nothing()), ["never reduction='none'"]),
        ("nn.functional.mse_loss", lambda: _loss(reduction=oneof("sum", "mean", "none")), []),
        ("div", lambda: torch.div(x(), 3, rounding_mode=oneof("floor", None)), ["never rounding_mode='trunc'"]),
        ("div", lambda: x().div(3, rounding_mode=oneof("floor", "trunc")), []),
    ],
)
def test_literal_values_that_no_call_had_are_named_and_a_default_counts_if_the_argument_is_left_out(
    operator, body, lines
):
    found = told(covered(body, n=8), operator)
    assert [line for line in found if not line.startswith("never given")] == lines


def _loss(**said):
    return torch.nn.functional.mse_loss(image(), image(), **said)


def test_arguments_of_calls_with_results_of_other_calls_count_as_given():
    coverage = covered(lambda: torch.nn.functional.softmax(torch.sin(x()), dim=oneof(0, 1)))
    assert told(coverage, "nn.functional.softmax") == ["never given: dtype"]
    row = next(line for line in coverage_table.lines(coverage) if line.startswith("nn.functional.softmax"))
    assert row.endswith("computed operands 4 (dim=0 2, dim=1 2)")


def test_an_argument_that_was_refused_whenever_it_was_given_is_not_called_never_given():
    coverage = covered(lambda: torch.sum(x(), dim=constant(7) | nothing()), n=20)
    assert gaps(coverage)["sum"] == ["never NaN or an infinity", "dim never accepted"]
    assert told(coverage, "sum") == ["never given: keepdim, dtype"]


def test_nothing_is_told_of_an_operator_whose_arguments_have_no_names():
    features = {"trials": 20, "called as function": 20, "unnamed arguments": 1}
    assert [*never_given(features, framework("torch").optional_arguments("sum", "function"))] == []


def test_the_table_has_a_line_for_it_and_the_end_of_a_run_does_not():
    coverage = covered(lambda: torch.sum(x()), n=20)
    lines = coverage_table.lines(coverage)
    assert lines[1].startswith("sum ")
    assert lines[-1].strip() == "never given: dim, keepdim, dtype"
    assert not [line for line in closing(coverage) if "given" in line]


def test_a_run_without_the_table_looks_up_no_signature(monkeypatch):
    def looked_up(*args):
        raise AssertionError("signatures are looked up for the table only")

    monkeypatch.setattr(type(framework("torch")), "optional_arguments", looked_up)
    assert closing(covered(lambda: torch.sum(x(), random(0, 2)), n=20))
