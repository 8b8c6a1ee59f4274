"""Of the examples that Hypothesis tries, only the reported one is stored, and only lines of tests are traced."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import autotest
import generators
from autotest import Divergence, random_tensor, torch
from autotest.sources.hypothesis_examples import tracing_tests_only
from autotest.storage.store import Store
from tests.support.faulty import FaultyTorch, plus

_LIBRARY = (Path(autotest.__file__).parent, Path(generators.__file__).parent)


def test_only_the_reported_example_is_stored(against, quick, monkeypatch) -> None:
    against(FaultyTorch({"relu": plus(1.0), "tanh": plus(1.0)}))
    stored = []
    whole = Store.put
    monkeypatch.setattr(Store, "put", lambda store, key, files: stored.append(key) or whole(store, key, files))
    tried = []

    @settings(max_examples=20, database=None, deadline=None, derandomize=True)
    @given(name=st.sampled_from(["relu", "tanh"]), rows=st.integers(1, 6))
    @autotest.autotest(n=1)
    def body(name, rows) -> object:
        tried.append(rows)
        return getattr(torch, name)(random_tensor(1, rows))

    with pytest.raises(Divergence) as raised:
        body()
    assert len(tried) > 2
    assert len(stored) == 1
    assert raised.value.place == str(quick / "failures" / stored[0])


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Hypothesis traces by other means there")
def test_hypothesis_explains_a_failure_by_lines_of_tests(against, quick) -> None:
    against(FaultyTorch({"relu": lambda relu: lambda x: relu(x) + (x.numel() > 3)}))

    @settings(
        max_examples=40,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink, Phase.explain],
    )
    @given(rows=st.integers(1, 6))
    @autotest.autotest(n=1)
    def body(rows) -> object:
        x = random_tensor(1, rows, dtype="float32", low=0, high=1)
        if rows > 3:
            x = x * 2
        return torch.relu(x)

    with pytest.raises(Divergence) as raised:
        body()
    told = [line.strip() for note in raised.value.__notes__ for line in note.splitlines()]  # type: ignore[attr-defined]
    assert any(line.startswith(f"{__file__}:") for line in told)
    assert not [line for line in told if line.startswith(tuple(map(str, _LIBRARY)))]


def test_a_debugger_goes_on_tracing() -> None:
    def debugger(frame: object, event: str, argument: object) -> None: ...

    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        with tracing_tests_only():
            during = sys.gettrace()
    finally:
        sys.settrace(before)
    assert during is debugger
