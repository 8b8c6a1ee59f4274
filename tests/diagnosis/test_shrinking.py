"""Planted bugs with known smallest cases: shrinking finds them in few executions, and keeps to the same failure."""

from __future__ import annotations

import dataclasses
import math
import re
import statistics
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis import failed_trial
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.explaining.explanation import nearest
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker, Shrunk
from autotest.diagnosis.shrinking.shrunk_trial import failure_of
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import COTANGENT, LAYOUT, Array, Call, Captured, Program, Ref
from autotest.program.rewriting import with_arrays
from autotest.replaying.agreement import agree
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial
from generators.source import TRIAL_BITS
from tests.diagnosis.planted import BUGS, Bug, function, more, raising_when, when, x
from tests.support.faulty import FaultyTorch, returning, with_gradient
from tests.support.running import trial, trials

SETTINGS = Settings()


def failing(body: Any, pair: Pair) -> Outcome:
    for seed in range(40):
        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            return outcome
    raise AssertionError("the planted bug never showed")


def shrunk(bug: Bug, seconds: float = 60.0) -> tuple[Shrunk, Program]:
    pair = Pair(TorchFramework(), bug.faulty())
    agreement = agree(failing(bug.body, pair).program, pair, SETTINGS)
    opinion = examine(agreement, pair, SETTINGS)
    failure = failure_of(agreement, opinion, pair, SETTINGS)
    alone = [opinion.located.alone.program] if opinion.located.alone is not None else []
    return Shrinker(agreement, failure, ProgramJudge(pair, SETTINGS), seconds).shrink(alone), agreement.program


def size(program: Program) -> tuple[int, int]:
    """Return the numbers of calls and of input elements, without those for the gradient."""
    calls = [call for call in program.calls if call.kind != "tensor" and call.target != "backward"]
    inputs = [call for call in program.inputs() if call.note != "cotangent"]
    return len(calls), sum(program.arrays[call.args[0].index].data.size for call in inputs)


def test_planted_bugs_shrink_to_their_smallest_case_in_few_executions() -> None:
    results = {bug.name: shrunk(bug)[0] for bug in BUGS}
    missed = {
        bug.name: size(results[bug.name].agreement.program)
        for bug in BUGS
        if size(results[bug.name].agreement.program) != (bug.calls, bug.elements)
    }
    executions = sorted(result.executions for result in results.values())
    assert len(BUGS) >= 30
    assert len(missed) <= len(BUGS) // 10, missed
    assert statistics.median(executions) <= 150
    assert executions[math.ceil(0.95 * len(executions)) - 1] <= 600


def test_a_backward_that_is_told_by_keywords_shrinks_too() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(3, 2), requires_grad=True)
        y = dual.tanh(x).sum(1)
        return dual.autograd.grad(outputs=y, inputs=x, grad_outputs=dual.ones_like(y), only_inputs=True)

    def without(grad: Any) -> Any:
        def refusing(*args: Any, **kwargs: Any) -> Any:
            if "only_inputs" in kwargs:
                raise TypeError("grad() got an unexpected keyword argument 'only_inputs'")
            return grad(*args, **kwargs)

        return refusing

    outcome = run_trial(body, 0, SETTINGS, pair := Pair(TorchFramework(), FaultyTorch({"autograd.grad": without})))
    test = ATest("file.py::test", body, SETTINGS)
    finding = FailedTrial(test, outcome, pair).diagnosed(RunContext(pair, Options(verify=False)), 0)
    assert not finding.verdict[0].startswith("no verdict")
    assert finding.program is not None
    assert [call.kind for call in finding.program.calls] == ["tensor", "function"]


def test_what_is_left_still_fails_when_it_is_run_again() -> None:
    bug = next(bug for bug in BUGS if bug.name == "gradient of two rows")
    result, _ = shrunk(bug)
    pair = Pair(TorchFramework(), bug.faulty())
    assert agree(result.agreement.program, pair, SETTINGS).mismatches[0].name == "x0.grad"


def test_shrinking_stays_with_the_operator_that_it_began_with() -> None:
    def body() -> Any:
        return dual.exp(dual.tanh(x()))

    # Without the call of tanh, exp would fail too, in a smaller program.
    both = {"tanh": when(lambda t: t.numel() >= 2, more), "exp": when(lambda t: True, more)}
    bug = Bug("both", body, both, 1, 2)
    result, _ = shrunk(bug)
    assert [call.target for call in result.agreement.program.calls if call.kind == "function"] == ["tanh"]


def test_a_refusal_does_not_slide_to_one_that_looks_the_same_but_is_of_tensors_without_dimensions() -> None:
    def body() -> Any:
        return dual.relu(at.random_tensor(2, dim0=4, dim1=3))

    twice = {"relu": raising_when(lambda t: t.ndim == 0 or t.shape[0] > 2)}
    result, _ = shrunk(Bug("both", body, twice, 1, 3))
    (call,) = [call for call in result.agreement.program.inputs() if call.note != "cotangent"]
    assert result.agreement.program.arrays[call.args[0].index].data.shape == (3,)


def test_ordinary_numbers_do_not_slide_to_those_of_which_the_result_is_no_number() -> None:
    biased = FaultyTorch({"var": lambda var: lambda x, dim: var(x, dim, unbiased=False)})
    finding = diagnosed(lambda: dual.var(at.random_tensor(2, 4, 5, low=1, high=2), 1), Pair(TorchFramework(), biased))
    assert not finding.first.special
    assert finding.program.arrays[0].data.shape[-1] > 1  # the variance of one number is NaN


def test_ordinary_numbers_do_not_slide_when_special_ones_lay_beside_them() -> None:
    def wrong(log: Any) -> Any:
        return lambda x: (log(x) + 0.01 * (x != x.round())).nan_to_num()

    def numbers(bits: Any, spec: Any) -> Any:
        return np.array([0.3, 1e-40, 0.7], "float32")

    def body() -> Any:
        return dual.log(at.random_tensor(shape=(3,), contents=numbers))

    finding = diagnosed(body, Pair(TorchFramework(), FaultyTorch({"log": wrong})))
    assert not finding.first.special
    # For a negative number, one side gives NaN and the other 0, which is another failure with a smaller program.
    assert (finding.program.arrays[0].data > 0).all(), finding.program.arrays


def test_a_fault_of_the_reference_on_special_numbers_does_not_hide_the_candidates_on_others() -> None:
    """In memory next to each other, the numbers show the fault of the reference alone."""

    def numbers(bits: Any, spec: Any) -> Any:
        return np.array([[0.3, np.inf], [0.7, 0.5]], "float32")

    def body() -> Any:
        x = at.random_tensor(shape=(2, 2), contents=numbers, layout="transposed", requires_grad=False)
        return dual.exp(x)

    reference = FaultyTorch({"exp": lambda exp: lambda x: exp(x) + 0 * x}, name="reference")  # NaN for infinity
    candidate = FaultyTorch({"exp": lambda exp: lambda x: exp(x) + 0.01 * (not x.is_contiguous())})
    finding = diagnosed(body, Pair(reference, candidate))
    assert (finding.blame, finding.first.special) == ("candidate", False)
    assert np.isfinite(finding.program.arrays[0].data).all()


def test_a_wrong_gradient_does_not_slide_to_a_call_that_the_candidate_refuses() -> None:
    """Without `dim`, it raises, and then lacks the gradient: this is another failure."""

    def of_two_passes(original: Any) -> Any:
        def var(x: Any, dim: int) -> Any:
            moved = x - x.sum(dim, keepdim=True) / x.shape[dim]
            return (moved * moved).sum(dim) / (x.shape[dim] - 1)

        return var

    body = lambda: dual.var(at.random_tensor(ndim=2), dim=1)  # noqa: E731
    pair = Pair(TorchFramework(), FaultyTorch({"var": of_two_passes}))
    outcome = run_trial(body, 3 << TRIAL_BITS, SETTINGS, pair)  # it meets infinities otherwise
    found = FailedTrial(ATest("a.py::b", body, SETTINGS), outcome, pair).diagnosed(
        RunContext(pair, Options(verify=False, shrink=30.0)), 3
    )
    assert [item.symptom for item in found.mismatches] == ["gradient"]


def test_what_slid_to_another_verdict_is_made_smaller_where_it_has_the_first_one() -> None:
    def wrong(airy_ai: Any) -> Any:
        def narrow_if_large(t: Any) -> Any:
            # For few numbers it is another function in every precision, which no oracle can call wrong.
            factor = 1.01 if t.numel() < 4 or str(t.dtype) == "torch.float32" else 1.0
            return airy_ai(t) * factor

        return narrow_if_large

    pair = Pair(TorchFramework(), FaultyTorch({"special.airy_ai": wrong}))
    finding = diagnosed(function("special.airy_ai"), pair)
    assert finding.blame == "candidate"
    assert finding.program.arrays[0].data.size == 4


def test_an_end_in_the_middle_keeps_what_was_found() -> None:
    bug = next(bug for bug in BUGS if bug.name == "matmul, inner of two")
    pair = Pair(TorchFramework(), bug.faulty())
    agreement = agree(failing(bug.body, pair).program, pair, SETTINGS)
    opinion = examine(agreement, pair, SETTINGS)
    failure = failure_of(agreement, opinion, pair, SETTINGS)
    result = Shrinker(agreement, failure, ProgramJudge(pair, SETTINGS), 60.0, limit=5).shrink()
    assert not result.complete
    assert result.executions == 5
    assert result.agreement.mismatches


def diagnosed(body: Any, pair: Pair, settings: Settings = SETTINGS) -> Any:
    for seed in range(40):
        outcome = run_trial(body, seed, settings, pair)
        if outcome.mismatches:
            break
    options = Options(verify=False, shrink=30.0)
    return FailedTrial(ATest("it.py::test_it", body, settings), outcome, pair).diagnosed(RunContext(pair, options), 0)


def test_a_module_shrinks_by_the_choices_that_made_it() -> None:
    def body() -> Any:
        channels = at.random(2, 9)
        module = dual.nn.Conv2d(channels, at.random(1, 9), kernel_size=at.random(1, 4))
        return module(at.random_tensor(4, 2, channels, 6, 6))

    pair = Pair(TorchFramework(), FaultyTorch({"nn.Conv2d": _wrong_module}))
    finding = diagnosed(body, pair)
    built = next(call for call in finding.program.calls if call.target == "nn.Conv2d")
    assert built.args[:2] == (1, 1)
    assert max(array.data.size for array in finding.program.arrays) <= 16


@pytest.mark.parametrize("end", [pytest.skip, pytest.fail, ValueError])
def test_a_body_that_skips_or_fails_for_plainer_choices_hides_no_finding(end: Any) -> None:
    skipped = []

    def body() -> Any:
        channels = at.random(1, 9).value()
        if channels == 1:
            skipped.append(end)
            raise end("it needs two channels")
        return dual.nn.Conv2d(channels, 2, kernel_size=1)(at.random_tensor(shape=(1, channels, 3, 3)))

    finding = diagnosed(body, Pair(TorchFramework(), FaultyTorch({"nn.Conv2d": _wrong_module})))
    assert finding.first.symptom == "value"
    assert skipped


def test_a_smaller_program_may_say_whose_fault_it_is_where_the_whole_could_not(monkeypatch: Any) -> None:
    first = [True]

    def undecided(agreement: Any, pair: Pair, settings: Settings) -> Any:
        opinion = examine(agreement, pair, settings)
        if first.pop() if first else False:
            verdict = dataclasses.replace(opinion.verdict, blame="inconclusive")
            return dataclasses.replace(opinion, verdict=verdict)
        return opinion

    monkeypatch.setattr(failed_trial, "examine", undecided)
    wrong = FaultyTorch({"tanh": when(lambda t: t.numel() >= 2, more)})
    finding = diagnosed(lambda: dual.tanh(at.random_tensor(2, dim0=4, dim1=3)), Pair(TorchFramework(), wrong))
    assert finding.blame == "candidate"
    assert max(array.data.size for array in finding.program.arrays) == 2


def _wrong_module(original: Any) -> Any:
    class Conv2d(original):  # type: ignore[misc]
        def forward(self, t: Any) -> Any:
            return super().forward(t) + 1

    return Conv2d


def _refusing_module(original: Any) -> Any:
    """A layer that cannot multiply a vector if it has several outputs, or none."""

    class Linear(original):  # type: ignore[misc]
        def forward(self, t: Any) -> Any:
            if self.out_features != 1:
                raise RuntimeError(f"size mismatch, got {self.out_features}")
            return super().forward(t)

    return Linear


def test_a_module_that_raises_does_not_shrink_to_one_without_elements() -> None:
    """That may be refused for another reason. And what torch refuses otherwise says nothing about what matters."""
    pair = Pair(TorchFramework(), FaultyTorch({"nn.Linear": _refusing_module}))
    finding = diagnosed(lambda: dual.nn.Linear(3, 4)(at.random_tensor(1, dim0=3)), pair)
    built = next(call for call in finding.program.calls if call.target == "nn.Linear")
    assert built.args == (2, 2)
    told = "\n".join(finding.shrinking)
    assert "Matters:    the second 2 of nn.Linear\n" in told
    assert "Irrelevant: the values of x0\n" in told
    assert "+ m0 = torch.nn.Linear(2, 1)" in told


def test_a_smaller_program_whose_result_nothing_can_hold_ends_no_shrinking(tmp_path: Path) -> None:
    def body() -> Any:
        return dual.as_strided(at.random_tensor(1, 10), (2, 2), (1, 2))

    faulty = FaultyTorch({"as_strided": returning(lambda result: result.reshape(-1, 1, 1))})
    with pytest.raises(Divergence) as raised:  # torch 2.0 accepts a size of -1, and NumPy does not
        trials(body, tmp_path, faulty, options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.blame, finding.verdict
    assert finding.shrinking


def test_a_memory_layout_may_shrink_to_that_of_a_scalar(tmp_path: Path) -> None:
    def body() -> Any:
        return dual.relu(at.random_tensor(2, 3, 4, layout="transposed", requires_grad=False))

    with pytest.raises(Divergence) as raised:
        trials(body, tmp_path, FaultyTorch(tensors={"transpose": returning(more)}), options={"shrink": 5.0})
    finding = raised.value.finding
    assert finding is not None
    assert finding.blame, finding.verdict


def test_a_program_without_results_to_compare_does_not_explain_a_failure() -> None:
    def biased(original: Any) -> Any:
        class Linear(original):  # type: ignore[misc]
            def forward(self, t: Any) -> Any:
                return super().forward(t) + 1

        return Linear

    pair = Pair(TorchFramework(), FaultyTorch({"nn.Linear": biased}))
    finding = diagnosed(lambda: dual.nn.Linear(3, 4)(at.random_tensor(2, dim1=3)), pair)
    told = "\n".join(finding.shrinking)
    assert "Irrelevant: the values of x0, the second 1 of nn.Linear" in told
    assert "Nearest" not in told  # it would be a Linear(1, 0)


def test_equal_arguments_are_told_apart() -> None:
    wrong = {"roll": when(lambda t, shifts, dims: shifts == dims == 1, more)}
    finding = diagnosed(
        lambda: dual.roll(at.random_tensor(2, dim0=3, dim1=4), 1, 1), Pair(TorchFramework(), FaultyTorch(wrong))
    )
    told = "\n".join(finding.shrinking)
    assert "the first 1 of roll, the second 1 of roll" in told


def test_an_argument_that_the_candidate_ignores_matters_as_the_program_without_it_passes() -> None:
    def ignoring(layer_norm: Any) -> Any:
        return lambda x, shape, eps=1e-5: layer_norm(x, shape)

    finding = diagnosed(
        lambda: dual.nn.functional.layer_norm(at.random_tensor(2, dim0=3, dim1=4), (4,), eps=1.0),
        Pair(TorchFramework(), FaultyTorch({"nn.functional.layer_norm": ignoring})),
    )
    told = "\n".join(finding.shrinking)
    assert "eps=" in told.partition("Matters:")[2].partition("Irrelevant:")[0]


def test_an_argument_is_not_irrelevant_where_another_value_of_it_passes() -> None:
    def body() -> Any:
        return dual.clamp(x(), min=at.oneof(0.5, 2.0), max=at.oneof(3.0, 4.0))

    wrong = {"clamp": when(lambda t, **bounds: bounds.get("min", 0.0) > 0, more)}
    told = "\n".join(diagnosed(body, Pair(TorchFramework(), FaultyTorch(wrong))).shrinking)
    assert "+ torch.clamp(x0, min=0.0)" in told
    assert "min=" not in told.partition("Irrelevant:")[2].partition("\n")[0]


def test_the_report_says_what_matters_what_passes_nearby_and_which_tolerance_would_pass() -> None:
    softmax = {"softmax": when(lambda t, dim: dim < 0, lambda result: result * 1.5)}
    finding = diagnosed(function("softmax", -1), Pair(TorchFramework(), FaultyTorch(softmax)))
    told = "\n".join(finding.shrinking)
    assert "Matters:    the -1 of softmax" in told
    assert "Irrelevant: the values of x0" in told
    assert "+ torch.softmax(x0, 0)" in told
    assert "Would pass: with rtol=0.5" in told
    assert finding.blame == "candidate"


@pytest.mark.parametrize("factor", [1.0012345, 1.01234, 1.0404, 1.1111, 1.2222, 0.98766])
def test_the_tolerance_that_is_shown_passes(factor: float) -> None:
    pair = Pair(TorchFramework(), FaultyTorch({"exp": lambda original: lambda t: original(t) * factor}))
    finding = diagnosed(function("exp"), pair)
    shown = re.search(r"Would pass: with rtol=(\S+) \(atol=(\S+)\)", "\n".join(finding.shrinking))
    assert shown is not None
    assert finding.program is not None
    settings = Settings(rtol=float(shown[1]), atol=float(shown[2]))
    assert not [one for one in agree(finding.program, pair, settings).mismatches if one.stage == "forward"]


def test_the_tolerance_that_would_pass_is_that_of_gradients_where_only_they_differ() -> None:
    wrong = FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 1.5)})
    told = "\n".join(diagnosed(function("exp"), Pair(TorchFramework(), wrong)).shrinking)
    assert "Would pass: with grad_rtol=0.5 (grad_atol=" in told


def test_what_passes_nearby_is_told_with_every_input_in_which_it_differs() -> None:
    """A change of a large input must be reported, too, and not only the change of a small one."""
    outcome = trial(lambda: dual.mul(at.random_tensor(2, dim0=1, dim1=3), at.random_tensor(2, dim0=3, dim1=3)))
    program, ones = outcome.program, [np.ones_like(array.data) for array in outcome.program.arrays]
    ones[2] = program.arrays[2].data  # the cotangent
    passing = with_arrays(program, [Array(data, "float32") for data in ones])
    assert [line.strip() for line in nearest(program, [passing]) if line.startswith("    +")] == [
        "+ x0 holds [[1.0, 1.0, 1.0]]",
        "+ x1 holds 9 elements, all 1.0",
    ]


def test_that_no_gradient_differs_where_the_cotangent_is_zero_explains_nothing() -> None:
    program = trial(lambda: dual.tanh(at.random_tensor(1, dim0=3))).program
    arrays = [program.arrays[0], Array(np.zeros(3, "float32"), "float32")]
    assert nearest(program, [with_arrays(program, arrays)]) == []


def test_nor_does_a_cotangent_of_zeros_with_a_memory_layout_of_its_own() -> None:
    calls = (
        Call("tensor", "", (Captured(0),), {"requires_grad": True}, 0),
        Call("function", "tanh", (Ref(0),), {}, 1),
        Call("tensor", "", (Captured(1),), {}, 2, COTANGENT),
        Call("method", "expand", (Ref(2), (3,)), {}, 3, LAYOUT),
        Call("method", "backward", (Ref(1), Ref(3)), {}, 4),
    )
    arrays = [Array(np.ones(3, "float32"), "float32"), Array(np.ones((), "float32"), "float32")]
    program = Program(calls, tuple(arrays))
    zeros = Array(np.zeros((), "float32"), "float32")
    assert nearest(program, [with_arrays(program, [arrays[0], zeros])]) == []


def test_the_report_says_which_setting_passes_over_what_only_special_numbers_show() -> None:
    zeros_for_nan = when(lambda t: bool(t.isnan().any()), lambda result: result.nan_to_num())
    finding = diagnosed(
        lambda: dual.tanh(dual.tensor([0.5, math.nan])), Pair(TorchFramework(), FaultyTorch({"tanh": zeros_for_nan}))
    )
    assert finding.shrinking[-1] == "Would pass: with special_values=False"


def test_tolerances_of_the_test_are_law_and_the_table_is_not() -> None:
    def body() -> Any:
        a = at.random_tensor(1, 2048, low=-1000, high=1000)
        return dual.sum(dual.cat([a, -a]))

    def backwards(original: Any) -> Any:
        return lambda t: original(t.detach().flip(0).cumsum(0)[-1]) + 0 * original(t)

    pair = Pair(TorchFramework(), FaultyTorch({"sum": backwards}))
    for settings, clears in ((Settings(auto_backward=False), True), (Settings(auto_backward=False, atol=1e-9), False)):
        outcome = run_trial(body, 0, settings, pair)
        assert outcome.mismatches
        verdict = FailedTrial(ATest("it.py::test_it", body, settings), outcome, pair).cleared()
        assert (verdict is not None) is clears


def test_a_divergence_that_replay_does_not_show_is_still_reported() -> None:
    calls: list[int] = []

    def once(original: Any) -> Any:
        def wrong(t: Any) -> Any:
            calls.append(1)
            return original(t) + (1 if len(calls) == 1 else 0)

        return wrong

    finding = diagnosed(function("exp"), Pair(TorchFramework(), FaultyTorch({"exp": once})))
    assert "does not show the difference" in finding.verdict[0]
    assert finding.mismatches


@pytest.mark.parametrize("name", ["dtype", "raises", "missing"])
def test_the_report_fits_a_terminal(name: str) -> None:
    from autotest.report import text

    bug = next(bug for bug in BUGS if bug.name == name)
    finding = diagnosed(bug.body, Pair(TorchFramework(), bug.faulty()))
    lines = text.divergence(finding, "PLACE", "").splitlines()
    assert max(len(line) for line in lines) <= 120
    assert lines[2].startswith("Verdict:    faulty")


def test_the_report_shows_numbers_of_half_precision_without_a_warning() -> None:
    from autotest.report import text

    def body() -> Any:
        return dual.neg(at.random_tensor(shape=(3,), dtype="float16", low=1, high=3, requires_grad=False))

    finding = diagnosed(body, Pair(TorchFramework(), FaultyTorch({"neg": returning(lambda found: -found)})))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "# x0 holds 1." in text.divergence(finding, "", "")
