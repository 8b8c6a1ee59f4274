"""A dropout draws another mask on each side. What all masks have in common is compared nevertheless."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as torch_itself

from autotest import Divergence, autotest, oneof, random, random_tensor, torch
from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.diagnosis.verification import run_script
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.masks_compared import compared_masks
from autotest.trials.trial import run_trial
from tests.support.faulty import FaultyTorch
from tests.support.running import agrees, pair_with, trial


def dropping(wrong: Callable[..., Any]) -> FaultyTorch:
    """Return a candidate whose dropout is ``wrong(dropout, x, p)`` while training."""

    def fault(dropout: Any) -> Any:
        def changed(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
            return wrong(dropout, x, p) if training else dropout(x, p, training)

        return changed

    return FaultyTorch({"nn.functional.dropout": fault})


WRONG = {
    "is not scaled": lambda dropout, x, p: dropout(x, p) * (1 - p),
    "drops nothing": lambda dropout, x, p: x * 1,
    "drops all": lambda dropout, x, p: x * 0,
    "drops too few": lambda dropout, x, p: dropout(x, p / 2) * (1 - p / 2) / (1 - p),
    "has two factors": lambda dropout, x, p: dropout(x, p) * (1 + (x.detach().cumsum(0) > 1000)),
    "adds something": lambda dropout, x, p: dropout(x, p) + 0.1,
    "passes the whole gradient": lambda dropout, x, p: dropout(x.detach(), p) + (x - x.detach()),
    "passes no gradient": lambda dropout, x, p: dropout(x.detach(), p) + 0 * x,
}


def dropped() -> Any:
    return torch.nn.functional.dropout(random_tensor(ndim=2), p=oneof(0.3, 0.5))


@pytest.mark.parametrize("wrong", WRONG)
def test_a_dropout_that_is_wrong_in_every_mask_is_found(wrong: str, against: Any, quick: Path) -> None:
    against(dropping(WRONG[wrong]))
    with pytest.raises(Divergence) as caught:
        autotest(n=5)(dropped)()
    assert caught.value.finding.identity.operator == "nn.functional.dropout"


def by_elements(dropout: Any) -> Any:
    return lambda x, p=0.5, training=True, inplace=False: torch_itself.nn.functional.dropout(x, p, training)


def by_rows(dropout: Any) -> Any:
    return lambda x, p=0.5, training=True, inplace=False: (
        x * torch_itself.nn.functional.dropout(torch_itself.ones_like(x[..., :1]), p, training)
    )


@pytest.mark.parametrize(
    ("path", "rank", "wrong"),
    [("dropout1d", 3, by_elements), ("dropout2d", 4, by_elements), ("dropout2d", 4, by_rows), ("dropout", 2, by_rows)],
    ids=["elements of channels", "elements of images", "rows of images", "rows of elements"],
)
def test_a_dropout_that_drops_other_parts_as_a_whole_is_found(
    path: str, rank: int, wrong: Any, against: Any, quick: Path
) -> None:
    against(FaultyTorch({f"nn.functional.{path}": wrong}))
    drop = getattr(torch.nn.functional, path)
    with pytest.raises(Divergence) as caught:
        autotest(n=20)(lambda: drop(random_tensor(ndim=rank)))()
    assert caught.value.finding.identity.operator == f"nn.functional.{path}"


@pytest.mark.usefixtures("warm")
def test_the_script_of_such_a_finding_shows_it(against: Any, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTEST_SHRINK", "5")
    against(FaultyTorch({"nn.functional.dropout": planted}, origin="tests.core.test_masks_compared:unscaled"))
    with pytest.raises(Divergence) as caught:
        autotest(n=5)(dropped)()
    stored = quick / "failures" / caught.value.finding.identity.key / "repro.py"
    script = stored.read_text(encoding="utf-8")
    for _ in range(3):  # with other random numbers each time
        status, output = run_script(script)
        assert status == 1, output
    assert "a property of what was drawn" in script


def planted(dropout: Any) -> Any:
    return lambda x, p=0.5, training=True, inplace=False: dropout(x, p, training) * (1 - p)


def unscaled() -> FaultyTorch:
    return FaultyTorch({"nn.functional.dropout": planted})


HEALTHY: dict[str, Callable[[], Any]] = {
    "functional": dropped,
    "rarely": lambda: torch.nn.functional.dropout(random_tensor(), p=0.01),
    "nearly always": lambda: torch.nn.functional.dropout(random_tensor(ndim=1), p=0.97),
    "below torch": lambda: torch.dropout(random_tensor(ndim=2), 0.4, True),
    "channels": lambda: torch.nn.functional.dropout2d(random_tensor(ndim=4), p=0.5),
    "few channels": lambda: torch.nn.functional.dropout3d(random_tensor(ndim=4, dim0=1), p=0.3),
    "a module": lambda: torch.nn.Dropout(p=oneof(0.2, 0.5))(random_tensor(ndim=3)),
    "a module of channels": lambda: torch.nn.Dropout1d()(random_tensor(ndim=3)),
    "in a chain": lambda: torch.exp(torch.nn.functional.dropout(torch.tanh(random_tensor(ndim=2)))).sum(),
    "of half precision": lambda: torch.nn.functional.dropout(random_tensor(ndim=2, dtype="bfloat16"), p=0.1),
    "in place": lambda: torch.nn.functional.dropout(random_tensor(ndim=2) * 2, inplace=True),
    "without a gradient": lambda: torch.nn.functional.dropout(random_tensor(ndim=2, requires_grad=False)),
    "of a drawn share": lambda: torch.nn.functional.dropout(random_tensor(ndim=2), p=random(0.0, 1.0)),
}


@pytest.mark.parametrize("healthy", HEALTHY)
def test_a_right_dropout_is_no_finding(healthy: str, against: Any, quick: Path) -> None:
    against(FaultyTorch())
    autotest(n=60)(HEALTHY[healthy])()


def test_a_candidate_that_refuses_so_many_elements_is_no_finding() -> None:
    def small_only(dropout: Any, x: Any, p: float) -> Any:
        if x.numel() > 1000:
            raise RuntimeError("too many")
        return dropout(x, p)

    assert agrees(trial(dropped, dropping(small_only)))


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_shrinking_does_not_make_a_dropout_random_that_was_not() -> None:
    def ignores_training(dropout: Any) -> Any:
        return lambda x, p=0.5, training=True, inplace=False: dropout(x, p, True)

    def body() -> Any:
        return torch.nn.functional.dropout(random_tensor(ndim=2), p=0.5, training=False)

    pair = pair_with(FaultyTorch({"nn.functional.dropout": ignores_training}))
    outcome = run_trial(body, 0, Settings(n=1), pair)
    context = RunContext(pair, Options(verify=False, shrink=5.0))
    finding = FailedTrial(ATest("file.py::test", body, Settings(n=1)), outcome, pair).diagnosed(context, 0)
    assert finding.program is not None
    (call,) = [call for call in finding.program.calls if call.target == "nn.functional.dropout"]
    assert call.kwargs == {"training": False}


def test_equal_calls_are_compared_once() -> None:
    record = trial(dropped, dropping(WRONG["is not scaled"])).recorder
    done: set[object] = set()
    assert compared_masks(record, Settings(), done) is not None
    assert compared_masks(record, Settings(), done) is None
    assert compared_masks(record, Settings(), set()) is not None


def test_a_call_that_drops_too_little_to_judge_is_tried_again() -> None:
    def rarely() -> Any:
        return torch.nn.functional.dropout(random_tensor(ndim=2, dim1=1, contents="uniform"), p=0.001)

    done: set[object] = set()
    assert compared_masks(trial(rarely).recorder, Settings(), done) is None
    assert not done
