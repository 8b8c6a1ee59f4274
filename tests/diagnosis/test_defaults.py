"""The report names an omitted argument whose default differs on the two sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.shrinking.defaults import differing_defaults
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker
from autotest.diagnosis.shrinking.shrunk_trial import failure_of
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Program, Ref
from autotest.replaying.agreement import agree
from tests.diagnosis.test_crashes import tensor
from tests.support.faulty import FaultyTorch


def told(**kwargs: Any) -> list[str]:
    pair = Pair(TorchFramework(), FaultyTorch({"nn.functional.normalize": _normalize}))
    return differing_defaults(Program((Call("function", "nn.functional.normalize", (), kwargs, 0),), ()), pair)


def _normalize(original: Any) -> Any:
    def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-6, out: Any = None) -> Any:  # noqa: A002
        return original(input, p, dim, eps, out)

    return normalize


def test_a_default_that_differs_is_told() -> None:
    assert told() == ["default of eps in nn.functional.normalize: torch 1e-12, faulty 1e-06"]


def test_an_argument_that_is_given_has_no_default() -> None:
    assert told(eps=1e-12) == []


def test_a_smaller_program_does_not_leave_out_an_argument_whose_default_differs() -> None:
    pair = Pair(TorchFramework(), FaultyTorch({"nn.functional.normalize": _of_another_length}))
    program = Program(
        (
            tensor(0, 0),
            Call("function", "nn.functional.normalize", (Ref(0),), {"p": 1.0, "dim": 0, "eps": 0.5}, 1),
        ),
        (Array(np.ones((2, 3), "float32"), "float32"),),
    )
    agreement = agree(program, pair, Settings())
    failure = failure_of(agreement, examine(agreement, pair, Settings()), pair, Settings())
    found = Shrinker(agreement, failure, ProgramJudge(pair, Settings()), 60).shrink().agreement.program
    assert found.calls[1].kwargs.keys() == {"eps"}
    assert differing_defaults(found, pair) == []


def _of_another_length(original: Any) -> Any:
    def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-6, out: Any = None) -> Any:  # noqa: A002
        return 3 * original(input, p, dim, eps, out) + 1

    return normalize
