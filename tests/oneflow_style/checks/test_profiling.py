"""`@profile` times the requested call on both sides, and prints the times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from autotest.base.errors import UsageError
from autotest.oneflow import profile, profiler, random_tensor, torch


def test_the_table_has_a_row_for_each_call_with_shapes_and_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    @profile(torch.add, warmup=1, runs=10)
    def timed() -> None:
        torch.add(random_tensor(2, 3, 4), random_tensor(2, 3, 4), alpha=2, profile_description="small")
        torch.mul(random_tensor(2, 3, 4), 2)
        torch.add(random_tensor(1, 7, requires_grad=False), 1)

    timed()
    head, _, first, second = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["operator", "arguments", "device"]
    assert first.startswith("torch.add  float32[3, 4], float32[3, 4], alpha=2  cpu, 1 thread")
    assert first.endswith("small")
    assert second.startswith("torch.add  float32[7], 1")
    assert second.split()[-2:] == ["-", "-"], "nothing to push back where nothing requires grad"


def test_a_hook_is_given_the_times_instead_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[profiler.Timing] = []

    def hook(timings: Sequence[profiler.Timing]) -> None:
        heard.extend(timings)

    profiler.set_profiler_hook(hook)
    try:
        profile(torch.exp, warmup=1, runs=10)(lambda: torch.exp(random_tensor(2, 3, 4)))()
    finally:
        profiler.set_profiler_hook(None)
    assert capsys.readouterr().out == ""
    (timing,) = heard
    assert timing.forward.keys() == timing.backward.keys() == {"pytorch", "oneflow"}
    assert all(time is not None and time > 0 for time in (*timing.forward.values(), *timing.backward.values()))


def test_a_profiled_test_that_never_calls_the_operator_is_refused() -> None:
    with pytest.raises(UsageError, match="to profile it, but did not"):
        profile(torch.add)(lambda: torch.exp(random_tensor(2, 3, 4)))()
    with pytest.raises(UsageError, match=r"profile\(torch.add\)"):
        profile(random_tensor(1))
