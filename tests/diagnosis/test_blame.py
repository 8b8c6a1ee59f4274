"""Planted faults on either side: the verdict names the wrong side, and nobody for rounding."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autotest as at
from autotest import Divergence
from autotest import torch as dual
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import cleared, examine
from autotest.diagnosis.attribution.verdict import Evidence, judge
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.diagnosis.oracles.gradient_oracle import numeric_gradient
from autotest.diagnosis.rounding.measurement import Measured
from autotest.frameworks import Framework, Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program.rewriting import widened
from autotest.replaying.agreement import agree
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_trial
from tests.diagnosis.planted import BUGS, Bug, function, gradient_when, more, when
from tests.support.faulty import FaultyTorch, returning, with_gradient
from tests.support.running import trials

SETTINGS = Settings()


def failing(body: Any, pair: Pair) -> Outcome | None:
    for seed in range(40):
        outcome = run_trial(body, seed, SETTINGS, pair)
        if outcome.mismatches:
            return outcome
    return None


def blamed(body: Any, candidate: Framework, reference: Framework) -> str:
    pair = Pair(reference, candidate)
    outcome = failing(body, pair)
    assert outcome is not None
    agreement = agree(outcome.program, pair, SETTINGS)
    return examine(agreement, pair, SETTINGS).verdict.blame


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_fault_of_the_candidate_is_the_candidates(bug: Bug) -> None:
    assert blamed(bug.body, bug.faulty(), TorchFramework()) == "candidate"


#: An exception of the reference only rejects a trial.
SEEN = [bug for bug in BUGS if not bug.missing and not bug.name.startswith("raises")]


@pytest.mark.parametrize("bug", SEEN, ids=lambda bug: bug.name)
def test_a_fault_of_the_reference_is_the_references(bug: Bug) -> None:
    assert blamed(bug.body, TorchFramework(), bug.faulty()) == "reference"


def tripled_through_a_view() -> Any:
    x = at.random_tensor(shape=(4, 3), low=1, high=2, requires_grad=False) * 1
    dual.narrow(x, 0, 0, 2).mul_(3)
    return x


def test_what_is_written_later_through_a_view_is_not_what_the_first_call_gave() -> None:
    copying = FaultyTorch({"narrow": returning(lambda view: view.clone())})
    assert blamed(tripled_through_a_view, copying, TorchFramework()) == "semantic difference"


def test_what_is_written_again_is_not_what_the_first_call_in_place_gave() -> None:
    def body() -> Any:
        return (at.random_tensor(shape=(4, 3), low=1, high=2, requires_grad=False) * 1).mul_(2).add_(1)

    copying = FaultyTorch(tensors={"mul_": returning(more)})
    assert blamed(body, copying, TorchFramework()) != "reference"


def test_the_gradient_of_padding_is_none_although_the_forward_has_a_derivative_there() -> None:
    def body() -> Any:
        indices = at.random_tensor(shape=(6,), low=0, high=2, dtype="int64")
        return dual.nn.functional.embedding(indices, at.random_tensor(shape=(2, 3), low=1, high=2), padding_idx=1)

    unpadded = FaultyTorch({"nn.functional.embedding": lambda f: lambda x, weight, padding_idx: f(x, weight)})
    assert blamed(body, unpadded, TorchFramework()) == "semantic difference"


UNKNOWN = when(lambda *a, **k: True, lambda result: result + 1)


def test_where_nobody_else_has_an_opinion_the_reference_is_the_specification() -> None:
    pair = Pair(TorchFramework(), FaultyTorch({"special.airy_ai": UNKNOWN}))
    outcome = failing(function("special.airy_ai"), pair)
    assert outcome is not None
    verdict = examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict
    assert verdict.wrong == "candidate"
    assert verdict.line.startswith("torch is the specification: faulty differs in value, also in float64")


@pytest.mark.parametrize("flipped", [False, True])
def test_torchs_own_second_implementation_is_an_oracle(flipped: bool) -> None:
    sides: list[Framework] = [FaultyTorch({"nn.functional.huber_loss": UNKNOWN}), TorchFramework()]

    def body() -> Any:
        return dual.nn.functional.huber_loss(at.random_tensor(1, 4), at.random_tensor(1, 4))

    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


def test_numpy_has_no_opinion_on_autocast() -> None:
    def body() -> Any:
        x = at.random_tensor(2, 3, 3, requires_grad=False)
        with dual.autocast("cpu", dtype=dual.bfloat16):
            return dual.matmul(x, x)

    faulty = FaultyTorch({"matmul": returning(lambda result: result.float())})
    pair = Pair(TorchFramework(), faulty)
    outcome = failing(body, pair)
    assert outcome is not None
    verdict = examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict
    assert verdict.wrong == "candidate"
    assert "specification" in verdict.line


def test_a_dtype_is_had_or_not_and_never_off_by_infinity() -> None:
    pair = Pair(TorchFramework(), FaultyTorch({"relu": returning(lambda result: result.double())}))
    outcome = failing(lambda: dual.relu(at.random_tensor(1, 4)), pair)
    assert outcome is not None
    verdict = examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict
    assert verdict.numbers == ("NumPy: dtype float32. torch has the same, faulty has another one",)


def test_a_wrong_dtype_is_no_rounding_however_imprecise_the_numbers_are() -> None:
    import torch

    def body() -> Any:
        weights = at.random_tensor(shape=(4,), low=0.1, high=1, requires_grad=False)
        return dual.cov(at.random_tensor(shape=(2, 4), low=-3, high=2, dtype="complex128"), aweights=weights)

    narrow = FaultyTorch({"cov": returning(lambda result: result.to(torch.complex64))})
    assert blamed(body, narrow, TorchFramework()) == "semantic difference"


@pytest.mark.parametrize("flipped", [False, True])
def test_a_fault_of_single_precision_alone_is_seen_against_double(flipped: bool) -> None:
    wrong = when(lambda t: str(t.dtype) == "torch.float32", lambda result: result * 1.01)
    sides: list[Framework] = [FaultyTorch({"nn.functional.hardswish": wrong}), TorchFramework()]
    if flipped:
        sides.reverse()
    blame = blamed(function("nn.functional.hardswish"), sides[0], sides[1])
    assert blame == ("reference" if flipped else "candidate")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_fault_in_double_precision_beside_great_numbers_is_that_of_the_side_that_numpy_contradicts(
    flipped: bool,
) -> None:
    def body() -> Any:
        x = dual.tensor(np.array([1e8, 0.5]))
        return dual.mul(x, x)

    off = returning(lambda result: result + 1e-8 * (result < 1))
    sides: list[Framework] = [FaultyTorch({"mul": off}), TorchFramework()]
    if flipped:
        sides.reverse()
    assert blamed(body, sides[0], sides[1]) == ("reference" if flipped else "candidate")


def test_the_dimension_of_a_cross_product_is_found_before_broadcasting() -> None:
    import torch

    def body() -> Any:
        drawn = [at.random_tensor(shape=shape, low=1, high=9, requires_grad=False) for shape in ((1, 1, 3), (3, 1, 3))]
        return dual.cross(*drawn)

    afterwards = FaultyTorch({"cross": lambda cross: lambda x, y: cross(*torch.broadcast_tensors(x, y))})
    assert blamed(body, afterwards, TorchFramework()) == "candidate"


def wrong_second_derivative(_: Any) -> Any:
    """sinh with the right gradient and twice the right second derivative."""
    import torch

    class Sinh(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sinh()

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            (x,) = ctx.saved_tensors
            gradient = x.cosh()
            return cotangent * (2 * gradient - gradient.detach())

    return lambda x: Sinh.apply(x)  # noqa: PLW0108 - apply has no signature


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_a_second_derivative_is_held_against_differences_of_the_first(flipped: bool, listed: bool) -> None:
    def body() -> Any:
        x = at.random_tensor(1, 1, low=1, high=2)
        first = dual.autograd.grad(dual.sinh(x).sum(), [x] if listed else x, create_graph=True)
        return dual.autograd.grad(first if listed else first[0].sum(), x)

    sides: list[Framework] = [FaultyTorch({"sinh": wrong_second_derivative}), TorchFramework()]
    pair = Pair(*(sides if flipped else reversed(sides)))
    outcome = run_trial(body, 0, Settings(auto_backward=False), pair)
    verdict = examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict
    assert verdict.blame == ("reference" if flipped else "candidate")
    assert "finite difference of its own forward" in verdict.line


def test_what_rounds_away_in_complex_numbers_is_nobodys_fault() -> None:
    # Large numbers cancel to small ones.
    def body() -> Any:
        return dual.fft.fft(at.random_tensor(1, 211, low=900, high=1000, requires_grad=False))

    import torch

    def more_precise(fft: Any) -> Any:
        return lambda x: fft(x.double()).to(torch.complex64 if x.dtype == torch.float32 else torch.complex128)

    settings = Settings(auto_backward=False, rtol=1e-9, atol=1e-9)
    pair = Pair(TorchFramework(), FaultyTorch({"fft.fft": more_precise}))
    outcome = run_trial(body, 0, settings, pair)
    verdict = examine(agree(outcome.program, pair, settings), pair, settings).verdict
    assert verdict.wrong == "nobody"


def test_differences_have_no_opinion_where_a_step_changes_what_a_mask_selects() -> None:
    def body() -> Any:
        x = dual.tensor([0.0, 1.0, 2.0], requires_grad=True)
        return dual.masked_select(x, x > 0)

    wrong = FaultyTorch({"masked_select": with_gradient(lambda gradient: gradient.flip(0))})
    assert blamed(body, wrong, TorchFramework()) == "semantic difference"


@pytest.mark.parametrize("flipped", [False, True])
def test_both_parts_of_a_complex_result_are_pushed_back_in_the_differences(flipped: bool) -> None:
    def body() -> Any:
        return dual.fft.fft(at.random_tensor(shape=(4,), low=1, high=2, dtype="float32"))

    right, wrong = TorchFramework(), FaultyTorch({"fft.fft": with_gradient(lambda gradient: gradient * 1.5)})
    sides = (wrong, right) if flipped else (right, wrong)
    assert blamed(body, sides[1], sides[0]) == ("reference" if flipped else "candidate")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_module_that_does_more_than_its_function_is_asked_about_by_the_other_sides(flipped: bool) -> None:
    import torch

    class Scaled(torch.nn.GRUCell):
        def forward(self, *args: Any) -> Any:
            return super().forward(*args) * 1.5

    def body() -> Any:
        return dual.nn.GRUCell(3, 2)(at.random_tensor(2, 2, 3))  # its first state consists of zeros

    sides: list[Framework] = [FaultyTorch({"nn.GRUCell": lambda cell: Scaled}), TorchFramework()]
    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("linalg.inv", lambda: dual.linalg.inv(at.random_tensor(2, 3, 3) + 3 * dual.eye(3))),
        ("cdist", lambda: dual.cdist(at.random_tensor(2, 3, 2), at.random_tensor(2, 4, 2))),
        ("quantile", lambda: dual.quantile(at.random_tensor(1, 6), 0.3)),
        ("index_copy", lambda: dual.index_copy(
            at.random_tensor(2, 3, 4), 0, dual.tensor([1]), at.random_tensor(2, 1, 4))),
        ("nn.functional.embedding_bag", lambda: dual.nn.functional.embedding_bag(
            at.random_tensor(2, 2, 3, low=0, high=4, dtype=int), at.random_tensor(2, 4, 3))),
    ],
)  # fmt: skip
def test_numpy_is_an_oracle_of_linear_algebra_statistics_writing_and_layers(
    name: str, body: Any, flipped: bool
) -> None:
    sides: list[Framework] = [FaultyTorch({name: UNKNOWN}), TorchFramework()]
    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


OPERANDS = {
    "mul": lambda x: dual.mul(input=x, other=x),
    "pow": lambda x: dual.pow(x, exponent=2),
    "mm": lambda x: dual.mm(x, mat2=x.t()),
    "addmm": lambda x: dual.addmm(dual.ones(1), mat2=x.t(), mat1=x),
    "where": lambda x: dual.where(x > 1.5, other=x, input=-x),
    "reshape": lambda x: dual.reshape(input=x, shape=(3, 2)),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_an_oracle_takes_operands_that_are_given_by_keyword(name: str) -> None:
    def body() -> Any:
        return OPERANDS[name](at.random_tensor(shape=(2, 3), low=1, high=2, requires_grad=False))

    assert blamed(body, FaultyTorch({name: returning(lambda result: result + 1)}), TorchFramework()) == "candidate"


@pytest.mark.parametrize("name", ["and", "or", "xor", "lshift", "invert"])
def test_an_oracle_knows_the_function_of_an_operator(name: str) -> None:
    def body() -> Any:
        x, y = (at.random_tensor(shape=(3,), low=0, high=9, dtype="int32") for _ in range(2))
        return ~x if name == "invert" else getattr(operator, f"__{name}__")(x, y)

    wrong = FaultyTorch(tensors={f"__{name}__": returning(lambda result: result + 1)})
    assert blamed(body, wrong, TorchFramework()) == "candidate"


def without_nan(argmax: Any) -> Any:
    return lambda tensor: argmax(tensor.nan_to_num(nan=float("-inf")))


@pytest.mark.parametrize("flipped", [False, True])
def test_a_place_is_exact_however_large_the_operands_are(flipped: bool) -> None:
    def body() -> Any:
        x = at.random_tensor(ndim=2, dim0=4, dim1=5, requires_grad=False)
        x[1, 2], x[3, 3] = float("nan"), 3e38
        return dual.argmax(x)

    sides: list[Framework] = [FaultyTorch({"argmax": without_nan}), TorchFramework()]
    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


def with_gradients_times(factor: float) -> Any:
    """Return a replacement of a module's class that multiplies the gradients of all that its modules compute from."""

    def replacement(original: Any) -> Any:
        class Wrong(original):  # type: ignore[misc]
            def forward(self, *args: Any) -> Any:
                return with_gradient(lambda gradient: gradient * factor)(lambda result: result)(super().forward(*args))

        Wrong.__name__ = Wrong.__qualname__ = original.__name__
        return Wrong

    return replacement


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("factor", [0.0, 2.0])
def test_a_parameter_that_was_trained_is_varied_where_it_is_now(factor: float, flipped: bool) -> None:
    def body() -> Any:
        first = dual.nn.Linear(4, 5)
        model = dual.nn.Sequential(first, dual.nn.Tanh(), dual.nn.Linear(5, 3))
        optimizer = dual.optim.SGD(model.parameters(), lr=0.1)
        given = at.random_tensor(2, 2, 4, requires_grad=False)
        first(given).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        model(given).sum().backward()
        return model

    faulty = FaultyTorch({"nn.Sequential": with_gradients_times(factor)})
    pair = Pair(faulty, TorchFramework()) if flipped else Pair(TorchFramework(), faulty)
    settings = Settings(auto_backward="auto")
    outcome = run_trial(body, 0, settings, pair)
    verdict = examine(agree(outcome.program, pair, settings), pair, settings).verdict
    assert verdict.blame == ("reference" if flipped else "candidate"), verdict.line


def test_a_module_that_gets_its_state_after_a_leaf_was_filled_is_not_asked_for_that_leaf() -> None:
    def body() -> Any:
        x = at.random_tensor(shape=(4, 3), layout="transposed", dtype="float32", low=1, high=2, requires_grad=True)
        return dual.tanh(dual.nn.Linear(3, 2)(x))

    pair = Pair(TorchFramework(), FaultyTorch({"tanh": with_gradient(lambda gradient: gradient * 1.5)}))
    outcome = failing(body, pair)
    assert outcome is not None
    wide, places = widened(outcome.program)
    slot, place = next(one for one in outcome.mismatches if one.symptom == "gradient").at
    oracle, _ = numeric_gradient(wide, (places[slot], place), pair)
    assert oracle is not None
    assert oracle.accuses == (False, True)


def test_two_gradients_at_a_kink_are_a_semantic_difference() -> None:
    def body() -> Any:
        zeros = at.random_tensor(1, 3, low=0, high=1, contents="integers")
        return dual.abs(zeros)

    everywhere = gradient_when(lambda t: True, lambda gradient: gradient + 1)
    faulty = FaultyTorch({"abs": everywhere})
    assert blamed(body, faulty, TorchFramework()) == "semantic difference"


@pytest.mark.parametrize("distance", [0.01, 0.003, 0.001])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_wrong_gradient_near_a_pole_is_not_taken_for_a_kink(distance: float, flipped: bool) -> None:
    def body() -> Any:
        return dual.lgamma(at.random_tensor(1, 3, low=distance - 3, high=1.1 * distance - 3))

    nothing = gradient_when(lambda t: True, lambda gradient: gradient * 0)
    sides: list[Framework] = [FaultyTorch({"lgamma": nothing}), TorchFramework()]
    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


@pytest.mark.parametrize("cotangent", [0.0, 1.0])
def test_zero_times_an_infinite_slope_accuses_nobody(cotangent: float) -> None:
    def body() -> Any:
        x = dual.tensor([0.0, 4.0], requires_grad=True)
        dual.sqrt(x).backward(dual.tensor([cotangent, 1.0]))
        return x.grad

    def finite(sqrt: Any) -> Any:
        def called(x: Any) -> Any:
            x.register_hook(lambda gradient: gradient.nan_to_num(0.0, 0.0))
            return sqrt(x)

        return called

    assert blamed(body, FaultyTorch({"sqrt": finite}), TorchFramework()) == "semantic difference"


def test_an_operator_that_draws_is_nondeterministic() -> None:
    import torch

    noise = torch.Generator()
    noisy = FaultyTorch({"exp": returning(lambda result: result + torch.rand(result.shape, generator=noise))})
    assert blamed(function("exp"), noisy, TorchFramework()) == "nondeterministic"


def test_noise_that_is_tolerated_in_great_numbers_does_not_explain_an_error_in_small_ones() -> None:
    import torch

    noise = torch.Generator()

    def wrong_below_ten(result: Any) -> Any:
        varied = result * (1 + 5e-7 * torch.rand(result.shape, generator=noise))
        return torch.where(result > 1000, varied, result + 0.02 * (result < 10))

    def body() -> Any:
        return dual.exp(dual.cat([at.random_tensor(1, 4, low=1, high=2), at.random_tensor(1, 4, low=11, high=12)]))

    assert blamed(body, FaultyTorch({"exp": returning(wrong_below_ten)}), TorchFramework()) == "candidate"


def test_noise_in_the_values_does_not_explain_another_dtype() -> None:
    import torch

    noise = torch.Generator()
    wider = returning(lambda result: result.double() + 1e-9 * torch.rand(result.shape, generator=noise))
    assert blamed(function("exp"), FaultyTorch({"exp": wider}), TorchFramework()) != "nondeterministic"


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ((0.0, 1.0), "nondeterministic: faulty gives different results in two runs"),
        ((1.0, 1.0), "nondeterministic: torch and faulty give different results in two runs"),
    ],
)
def test_who_draws_is_named(noise: tuple[float, float], said: str) -> None:
    assert judge(Evidence("value", ("torch", "faulty"), noise)).line == said


@pytest.mark.parametrize(("alike", "by_keyword"), [(1.0, False), (1.0, True), (float("nan"), False)])
def test_ties_that_are_broken_differently_are_nobodys_fault(alike: float, by_keyword: bool) -> None:
    def body() -> Any:
        drawn = at.random_tensor(1, 6, low=0, high=2, dtype=int).float()
        given = dual.where(drawn == 1, alike, drawn)
        return dual.argsort(input=given, dim=0) if by_keyword else dual.argsort(given, 0)

    def last(original: Any) -> Any:
        def chosen(input: Any, dim: int) -> Any:  # noqa: A002 - the name of torch's argument
            return input.shape[0] - 1 - original(input.flip(0), dim=dim, stable=True)

        return chosen

    pair = Pair(TorchFramework(), FaultyTorch({"argsort": last}))
    outcome = None
    settings = Settings(auto_backward="auto")
    for seed in range(20):
        outcome = run_trial(body, seed, settings, pair)
        if outcome.mismatches:
            break
    assert outcome is not None
    agreement = agree(outcome.program, pair, settings)
    verdict = cleared(agreement, pair, settings)
    assert verdict is not None
    assert verdict.blame == "ties"


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_last_of_several_extremes_is_wrong_where_the_documentation_says_the_first(name: str) -> None:
    def body() -> Any:
        return getattr(dual, name)(at.random_tensor(1, 6, low=0, high=2, dtype=int).float(), 0)

    def last(original: Any) -> Any:
        return lambda t, dim: t.shape[0] - 1 - original(t.flip(0), dim)

    pair = Pair(TorchFramework(), FaultyTorch({name: last}))
    settings = Settings(auto_backward="auto")
    outcome = next(one for one in (run_trial(body, seed, settings, pair) for seed in range(20)) if one.mismatches)
    assert cleared(agree(outcome.program, pair, settings), pair, settings) is None


def test_a_sum_of_what_cancels_is_rounding_when_its_order_differs() -> None:
    def body() -> Any:
        a = at.random_tensor(1, 2048, low=-1000, high=1000)
        return dual.sum(dual.cat([a, -a]))

    def backwards(original: Any) -> Any:
        def in_order(t: Any) -> Any:
            import torch

            total = np.cumsum(t.detach().numpy()[::-1].copy())[-1]
            return original(t) + (torch.as_tensor(total) - original(t)).detach()

        return in_order

    pair = Pair(TorchFramework(), FaultyTorch({"sum": backwards}))
    settings = Settings(auto_backward=False)
    found = []
    for seed in range(10):
        outcome = run_trial(body, seed, settings, pair)
        if outcome.mismatches:
            verdict = cleared(agree(outcome.program, pair, settings), pair, settings)
            found.append(None if verdict is None else verdict.blame)
    assert found
    assert set(found) <= {"rounding", "ill-conditioned"}


def test_what_a_call_wrote_that_the_candidate_refuses_is_no_finding_beside_it() -> None:
    def body() -> Any:
        return dual.nn.functional.elu(at.random_tensor(2, low=-2, high=2) * 2, inplace=True)

    def refuses(original: Any) -> Any:
        def elu(t: Any, **_: Any) -> Any:
            raise TypeError("elu(): missing required argument alpha")

        return elu

    pair = Pair(TorchFramework(), FaultyTorch({"nn.functional.elu": refuses}))
    outcome = failing(body, pair)
    assert outcome is not None
    assert [mismatch.symptom for mismatch in outcome.mismatches] == ["exception"]


def of_ties_last(original: Any) -> Any:
    """Return an ``argsort`` that takes the last of equal elements first."""
    return lambda x: x.shape[0] - 1 - original(x.flip(0), stable=True)


def test_a_fault_beside_ties_is_found(tmp_path: Path) -> None:
    def body() -> Any:
        return dual.argsort(at.random_tensor(1, 9, low=0, high=3, dtype=int)), dual.exp(at.random_tensor(2, 3, 4))

    def gathered() -> Any:
        return dual.gather(at.random_tensor(1, 9), 0, dual.argsort(at.random_tensor(1, 9, low=0, high=3, dtype=int)))

    for healthy in (body, gathered):
        assert trials(healthy, tmp_path, FaultyTorch({"argsort": of_ties_last})).cleared
    for wrong in (lambda exp: lambda x: exp(x) * 1.25, with_gradient(lambda gradient: gradient * 1.25)):
        with pytest.raises(Divergence, match="not close"):
            trials(body, tmp_path, FaultyTorch({"argsort": of_ties_last, "exp": wrong}))


@pytest.mark.parametrize("name", ["argsort", "topk"])
def test_an_index_that_comes_twice_is_no_tie(name: str, tmp_path: Path) -> None:
    def twice(index: Any) -> Any:
        index = index.clone()
        index[1] = index[0]
        return index

    def topk(original: Any) -> Any:
        def changed(x: Any, k: int) -> Any:
            found = original(x, k)
            return type(found)((found[0], twice(found[1])))

        return changed

    fault = topk if name == "topk" else lambda original: lambda x: twice(original(x))

    def body() -> Any:
        x = at.random_tensor(1, 9, low=0, high=1, dtype=int)
        return dual.argsort(x) if name == "argsort" else dual.topk(x, 3)

    with pytest.raises(Divergence, match="not equal"):
        trials(body, tmp_path, FaultyTorch({name: fault}))


@pytest.mark.parametrize("name", ["median", "mode", "kthvalue"])
def test_an_index_that_counts_from_the_end_is_no_tie(name: str, tmp_path: Path) -> None:
    def body() -> Any:
        x = at.random_tensor(1, 9, low=0, high=1, dtype=int)
        return dual.kthvalue(x, 2) if name == "kthvalue" else getattr(dual, name)(x, 0)

    def negative(original: Any) -> Any:
        def changed(x: Any, number: int) -> Any:
            found = original(x, number)
            return type(found)((found[0], found[1] - x.shape[0]))

        return changed

    with pytest.raises(Divergence, match="not equal"):
        trials(body, tmp_path, FaultyTorch({name: negative}))


def test_indices_of_another_dtype_are_no_ties() -> None:
    def body() -> Any:
        return dual.argmax(at.random_tensor(1, 6), 0)

    short = FaultyTorch({"argmax": returning(lambda index: index.int())})
    pair = Pair(TorchFramework(), short)
    agreement = agree(run_trial(body, 0, Settings(auto_backward="auto"), pair).program, pair, Settings())
    assert [mismatch.symptom for mismatch in agreement.mismatches] == ["dtype"]
    assert examine(agreement, pair, Settings()).verdict.blame != "ties"


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("add", lambda: dual.add(at.random_tensor(shape=(), requires_grad=False), 1.0)),
        ("pow", lambda: dual.pow(at.random_tensor(shape=(3,), low=1, high=2, requires_grad=False), 2.0)),
        ("erf", lambda: dual.erf(at.random_tensor(shape=(3,), requires_grad=False))),
    ],
)
def test_a_counterpart_that_computes_wider_has_no_opinion_on_dtypes(name: str, body: Any, flipped: bool) -> None:
    sides: list[Framework] = [FaultyTorch({name: returning(lambda y: y.double())}), TorchFramework()]
    guilty = "reference" if flipped else "candidate"
    if flipped:
        sides.reverse()
    assert blamed(body, sides[0], sides[1]) in (guilty, "semantic difference")


def ignores_inplace(relu: Any) -> Any:
    return lambda inplace=False: relu()


def test_a_module_that_does_not_write_where_it_should_is_not_the_others_fault() -> None:
    def body() -> Any:
        y = at.random_tensor(shape=(3,), low=-2, high=-1, requires_grad=False) * 1
        dual.nn.ReLU(inplace=True)(y)
        return y

    fault = FaultyTorch({"nn.ReLU": ignores_inplace})
    assert blamed(body, fault, TorchFramework()) != "reference"
    assert blamed(body, TorchFramework(), fault) != "candidate"


@pytest.mark.parametrize("flipped", [False, True])
def test_an_operator_that_returns_several_tensors_is_judged(flipped: bool) -> None:
    def with_first(result: Any) -> Any:
        return type(result)((result[0] + 1, result[1])) if isinstance(result, tuple) else result

    sides: list[Framework] = [FaultyTorch({"min": returning(with_first)}), TorchFramework()]
    blame = blamed(lambda: dual.min(at.random_tensor(2, 3, 4), 1), *(reversed(sides) if flipped else sides))
    assert blame == ("reference" if flipped else "candidate")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_gradient_that_is_asked_for_is_judged_by_differences(flipped: bool) -> None:
    def body() -> Any:
        x = at.random_tensor(1, 4)
        return dual.autograd.grad(dual.exp(x).sum(), [x])[0]

    twice = gradient_when(lambda t: True, lambda gradient: gradient * 2)
    sides: list[Framework] = [FaultyTorch({"exp": twice}), TorchFramework()]
    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


def too_much_unless_contiguous(exp: Any) -> Any:
    too_much = with_gradient(lambda gradient: gradient * 1.01)(exp)
    return lambda x: exp(x) if x.is_contiguous() else too_much(x)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("layout", ["transposed", "strided"])
def test_a_gradient_that_is_wrong_in_strided_memory_alone_is_judged(layout: str, flipped: bool) -> None:
    def body() -> Any:
        return dual.exp(at.random_tensor(2, 3, 4, layout=layout))

    sides: list[Framework] = [FaultyTorch({"exp": too_much_unless_contiguous}), TorchFramework()]
    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_gradient_that_is_rounded_to_single_precision_is_told_by_extrapolated_differences(flipped: bool) -> None:
    rounded = gradient_when(lambda t: True, lambda gradient: gradient * (1 + 3e-8))
    sides: list[Framework] = [FaultyTorch({"sin": rounded}), TorchFramework()]

    def body() -> Any:
        return dual.sin(at.random_tensor(1, 4, dtype="float64"))

    assert blamed(body, *(reversed(sides) if flipped else sides)) == ("reference" if flipped else "candidate")


FURTHER = when(lambda *a, **k: True, lambda result: result + 1)


def called_by_keyword() -> Any:
    return dual.nn.functional.gelu(input=at.random_tensor(1, 4))


def written_into_out() -> Any:
    return dual.add(at.random_tensor(1, 4, requires_grad=False), 1.0, out=dual.zeros(4))


def normalised() -> Any:
    return dual.nn.BatchNorm1d(3)(at.random_tensor(2, 4, 3))


@pytest.mark.parametrize(
    ("body", "faulty"),
    [
        (called_by_keyword, FaultyTorch({"nn.functional.gelu": FURTHER})),
        (written_into_out, FaultyTorch({"add": lambda add: lambda *args, out: out})),
        (normalised, FaultyTorch(tensors={"batch_norm": FURTHER})),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_numpy_is_asked_however_a_function_is_called(body: Any, faulty: Framework) -> None:
    assert blamed(body, faulty, TorchFramework()) == "candidate"


@pytest.mark.parametrize("read", [lambda x: x.grad, lambda x: x.grad * 2], ids=["as it is", "used"])
def test_a_gradient_that_a_body_reads_is_told_of_as_the_gradient_that_it_is(read: Any) -> None:
    def body() -> Any:
        x = at.random_tensor(1, 4, low=-1, high=1)
        dual.tanh(x).sum().backward()
        return read(x)

    faulty = FaultyTorch({"tanh": with_gradient(lambda gradient: gradient * 2)})
    test = ATest("t", body, SETTINGS)
    context = RunContext(Pair(TorchFramework(), faulty), Options(shrink=0.0, verify=False))
    outcome = run_trial(body, 0, SETTINGS, context.pair)
    finding = FailedTrial(test, outcome, context.pair).diagnosed(context, 0)
    assert (finding.operator, finding.first.symptom) == ("tanh", "gradient")
    assert finding.verdict[0].startswith("faulty: finite difference of its own forward gives")


def test_gradients_that_are_clipped_otherwise_are_told_of_as_that() -> None:
    def body() -> Any:
        m = dual.nn.Linear(3, 2)
        (m(at.random_tensor(2, 4, 3, low=1, high=2)) ** 2).sum().backward()
        dual.nn.utils.clip_grad_norm_(m.parameters(), 0.5)

    pair = Pair(TorchFramework(), FaultyTorch({"nn.utils.clip_grad_norm_": lambda clip: lambda p, n: clip(p, 2 * n)}))
    program = run_trial(body, 0, SETTINGS, pair).program
    located = examine(agree(program, pair, SETTINGS), pair, SETTINGS).located
    assert located.slot is not None
    assert program.calls[located.slot].target == "nn.utils.clip_grad_norm_"


def _saturating(size: float, seed: int) -> Any:
    """An exp with an error in single precision that only changes of more than a few roundoffs change."""

    def planted(original: Any) -> Any:
        def replaced(x: Any) -> Any:
            result = original(x)
            if str(x.dtype) != "torch.float32":
                return result
            steps = (x.detach().double() * 2**17).round() + seed
            return result + size * (steps * 12.9898).sin().float()

        return replaced

    return planted


@pytest.mark.parametrize(("of_candidate", "harmless"), [(2e-4, True), (1e-2, False)])
def test_noise_that_hides_from_small_changes_excuses_an_error_that_is_no_larger(
    of_candidate: float, harmless: bool
) -> None:
    """As in a GRU whose gate is nearly 1: of the gate's last bit, the result's third digit is made."""
    sides = (_saturating(size, seed) for size, seed in ((1e-3, 1), (of_candidate, 2)))
    pair, settings = Pair(*(FaultyTorch({"exp": planted}) for planted in sides)), Settings()

    def body() -> Any:
        return dual.exp(at.random_tensor(shape=(3,), low=0.1, high=1, requires_grad=False, dtype="float32"))

    agreements = [agree(run_trial(body, seed, settings, pair).program, pair, settings) for seed in range(12)]
    failing = [agreement for agreement in agreements if agreement.mismatches]
    verdicts = [cleared(agreement, pair, settings) for agreement in failing]
    assert len(verdicts) > 6
    assert sum(verdict is not None for verdict in verdicts) >= 4 if harmless else not any(verdicts)


@pytest.mark.parametrize(
    ("truth", "amplification", "says"),
    [
        (0.0, 2.7e44, "its terms cancel to zero, so that only their rounding errors are left"),
        (1e-7, 2.7e6, "a change of one roundoff in the inputs changes it by 2.7e+06 roundoffs"),
    ],
)
def test_how_ill_conditioned_a_result_is_is_told_without_an_astronomical_number(
    truth: float, amplification: float, says: str
) -> None:
    measured = Measured(
        wrong=(0, 0),
        total=1,
        index=(0,),
        truth=truth,
        errors=(0.0, 6e-8),
        excess=(0.0, 0.06),
        allowed=1e-6,
        wide_gap=0.0,
        wide_allowed=1e-12,
        amplification=amplification,
        few=False,
        stays=False,
        own_truth=False,
        scale=0.0,
    )
    verdict = judge(Evidence("gradient", ("torch", "faulty"), measured=measured, tolerated=1e-9))
    assert verdict.line == f"ill-conditioned: {says}"


def test_what_only_the_candidates_module_calls_does_not_accuse_the_reference() -> None:
    """torch's module pads first, so that its function is not known. The candidate's ignores how to pad."""

    def body() -> Any:
        conv = dual.nn.Conv2d(1, 1, 1, padding=1, padding_mode="circular")
        return conv(at.random_tensor(shape=(1, 1, 3, 3), low=1, high=2))

    faulty = FaultyTorch({"nn.Conv2d": lambda conv: lambda *args, padding, padding_mode: conv(*args, padding=padding)})
    pair = Pair(TorchFramework(), faulty)
    outcome = run_trial(body, 3, SETTINGS, pair)
    assert outcome.mismatches
    assert examine(agree(outcome.program, pair, SETTINGS), pair, SETTINGS).verdict.wrong != "reference"
