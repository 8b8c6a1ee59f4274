"""The report names an omitted argument whose default differs on the two sides."""

from __future__ import annotations

from typing import Any

from autotest.diagnosis.defaults import differing_defaults
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Call, Program
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
