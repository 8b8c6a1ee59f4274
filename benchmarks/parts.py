"""Measures the parts of a trial: drawing against Hypothesis, a dual call against two plain calls, comparing, emitting.

The functions yield rows.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import generators
from autotest import comparison, emission, random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings, Tolerance
from autotest.frameworks import chosen_pair
from autotest.recording.recorder import Recorder, recording
from autotest.trials.trial import run_trial
from benchmarks.interleave import Spread, Trials, interleaved
from benchmarks.results import Row

OURS, HYPOTHESIS = "generators", "Hypothesis"


def _repeated(once: Callable[[], Any]) -> Trials:
    def trials(count: int) -> None:
        for _ in range(count):
            once()

    return trials


def drawing(rounds: int) -> Iterator[Row]:
    """Yield the time to draw values, against Hypothesis drawing the same in its loop, without storing or shrinking."""
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp

    # Wide enough that Hypothesis does not run out of new examples and stop.
    sizes = st.integers(1, 99)
    least = st.integers(1, 5)
    shapes = st.tuples(sizes, sizes)
    cells = st.floats(0, 1, width=32, exclude_max=True)
    pairs: dict[str, tuple[Callable[[], Any], Any]] = {
        "a scalar": (lambda: generators.random(1, 1_000_000).value(), st.integers(1, 999_999)),
        "a shape": (
            lambda: generators.random_shape(2, (generators.random(1, 100), generators.random(1, 100))).value(),
            shapes,
        ),
        "a float32 tensor": (
            # The function with which `random_tensor` draws.
            lambda: generators.explored_array(
                2,
                (generators.random(1, 6), generators.random(1, 6)),
                dtype="float32",
                low=0,
                high=1,
                contents="uniform",
                layout="contiguous",
            ),
            hnp.arrays(np.float32, st.tuples(least, least), elements=cells),
        ),
    }
    for name, (draw, strategy) in pairs.items():
        timed = interleaved(
            {OURS: _ours(draw), HYPOTHESIS: _theirs(strategy)}, rounds, turn=0.2, clock=time.thread_time
        )
        seconds = {key: statistics.median(times) for key, times in timed.seconds.items()}
        microseconds = Spread.of([1e6 * value for value in timed.seconds[OURS]])
        yield Row("drawing", f"{name}, with its source", microseconds, "us", 30.0, True, seconds)
        yield Row("Hypothesis / this", name, timed.ratio(HYPOTHESIS, OURS), "x", 20.0, False, seconds)


def _ours(draw: Callable[[], Any]) -> Trials:
    seeds = itertools.count()

    def trials(count: int) -> None:
        for _ in range(count):
            with generators.using(generators.Source(next(seeds))):
                draw()

    return trials


def _theirs(strategy: Any) -> Trials:
    import hypothesis

    def trials(count: int) -> None:
        made = [0]

        @hypothesis.settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(strategy)
        def run(value: Any) -> None:
            made[0] += 1

        run()
        if not 0.9 * count <= made[0] <= 1.1 * count:
            raise RuntimeError(f"Hypothesis was asked for {count} examples and made {made[0]}")

    return trials


def dual_call(rounds: int) -> Iterator[Row]:
    """Yield the time that a call of the dual `torch` adds to the two plain calls that it makes."""
    pair = chosen_pair()
    both = pair.resolve("relu")

    def duals(count: int) -> None:
        with generators.using(generators.Source(0)), recording(Recorder(pair)):
            x = random_tensor(ndim=2, dim0=4, dim1=4, requires_grad=False)
            relu = dual.relu
            for _ in range(count):
                relu(x)
        pair.candidate.synchronize()

    def bare(count: int) -> None:
        with generators.using(generators.Source(0)), recording(Recorder(pair)):
            x = random_tensor(ndim=2, dim0=4, dim1=4, requires_grad=False)
        one, other = x.reference, x.candidate
        kept = [(both.expected(one), both.actual(other)) for _ in range(count)]  # results are kept, as by the recorder
        pair.candidate.synchronize()
        kept.clear()

    timed = interleaved({"dual": duals, "bare": bare}, rounds, turn=0.01, clock=time.thread_time)
    added = [1e6 * (one - other) for one, other in zip(timed.seconds["dual"], timed.seconds["bare"], strict=True)]
    yield Row("dual call", "added to the two bare calls", Spread.of(added), "us", 8.0)


def comparing(rounds: int) -> Iterator[Row]:
    """Yield the time to compare two tensors that agree, against `numpy.allclose`."""
    how = comparison.Comparison("forward", Tolerance())
    for name, shape, nudge in (("equal", (4, 4), 0.0), ("close", (4, 4), 1e-7), ("close", (256, 256), 1e-7)):
        one = np.random.default_rng(0).random(shape, dtype=np.float32)
        other = one + np.float32(nudge)
        values = [comparison.TensorValue(array, "float32", "cpu", False) for array in (one, other)]
        ours = _repeated(lambda values=values: comparison.compare_values("v0", *values, how))  # type: ignore[misc]
        theirs = _repeated(lambda one=one, other=other: np.allclose(other, one, rtol=1e-4, atol=1e-5))  # type: ignore[misc]
        timed = interleaved({"this": ours, "numpy.allclose": theirs}, rounds, turn=0.01, clock=time.thread_time)
        seconds = {key: statistics.median(times) for key, times in timed.seconds.items()}
        title = f"{name} {'x'.join(map(str, shape))}, / numpy.allclose"
        yield Row("comparing", title, timed.ratio("this", "numpy.allclose"), "x", None, True, seconds)


def emitting(rounds: int) -> Iterator[Row]:
    """Yield the time to write the source text of a recorded chain of calls."""

    def body() -> Any:
        x = random_tensor(ndim=2, dim0=4, dim1=4)
        for name in ("tanh", "sigmoid", "exp", "sin", "square"):
            x = getattr(dual, name)(x)
        return x

    program = run_trial(body, 0, Settings(), chosen_pair()).program
    timed = interleaved(
        {"emit": _repeated(lambda: emission.program_text(program))}, rounds, turn=0.01, clock=time.thread_time
    )
    yield Row("emitting", "text of 5 calls", Spread.of([1e6 * value for value in timed.seconds["emit"]]), "us")
