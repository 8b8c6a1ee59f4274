"""Compares a network on both sides at once with the same network run by hand in each framework. Yields rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autotest import random_tensor
from autotest import torch as dual
from autotest.base.settings import Settings
from autotest.frameworks import chosen_pair
from autotest.trials.comparing import compare_outcomes
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_without_comparison
from benchmarks.interleave import Trials, interleaved
from benchmarks.results import Row
from tests.networks.models import MODELS

OURS, BY_HAND = "this", "by hand"
#: The model and the shape of its input.
CASES = {"ResNet-18, narrow": ("resnet", (4, 3, 8, 8)), "transformer blocks": ("encoder", (2, 4, 8))}
GOAL = 1.3


def trained(lib: Any, model: Any, x: Any) -> Any:
    """Run one training step (forward, backward, update) and return the output of the network."""
    optimizer = lib.optim.SGD(model.parameters(), lr=0.01)
    result = model(x)
    (result * result * result).mean().backward()
    optimizer.step()
    return result


def _by_hand(name: str, shape: tuple[int, ...]) -> Callable[[], None]:
    pair = chosen_pair()
    libraries = pair.reference.resolve, pair.candidate.resolve

    def once() -> None:
        x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        models = [MODELS[name](_Library(resolve)) for resolve in libraries]
        from_numpy = libraries[1]("from_numpy")
        state = {key: from_numpy(value.numpy().copy()) for key, value in models[0].state_dict().items()}
        models[1].load_state_dict(state)
        results = [
            trained(_Library(resolve), model, resolve("from_numpy")(x.copy()))
            for resolve, model in zip(libraries, models, strict=True)
        ]
        pairs = [tuple(result.detach() for result in results)]
        for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
            pairs += [(one.detach(), other.detach()), (one.grad, other.grad)]
        if not all(np.allclose(other.numpy(), one.numpy(), 1e-3, 1e-4) for one, other in pairs):
            raise AssertionError(f"{name}: the two frameworks differ")

    return once


class _Library:
    """The namespace of a framework, which resolves names with the framework's adapter."""

    def __init__(self, resolve: Callable[[str], Any]) -> None:
        self._resolve = resolve

    def __getattr__(self, name: str) -> Any:
        return self._resolve(name)


def _dual(name: str, shape: tuple[int, ...]) -> Trials:
    pair, settings = chosen_pair(), Settings(rtol=1e-3, atol=1e-4)

    def body() -> Any:
        return trained(dual, MODELS[name](dual), random_tensor(shape=shape, low=-1, high=1, requires_grad=False))

    def trials(count: int) -> None:
        outcomes: list[Outcome] = [run_without_comparison(body, seed, settings, pair) for seed in range(count)]
        compare_outcomes(outcomes, settings)
        if any(outcome.mismatches or outcome.rejection for outcome in outcomes):
            raise AssertionError(f"{name}: the two frameworks differ")

    return trials


def networks(rounds: int, only: str) -> Iterator[Row]:
    """Yield the relative time of forward, backward and update for each network. Each trial builds a new one."""
    with chosen_pair().around_trials():
        for title, (name, shape) in CASES.items():
            if only not in title:
                continue
            once = _by_hand(name, shape)

            def by_hand(count: int, once: Callable[[], None] = once) -> None:
                for _ in range(count):
                    once()

            timed = interleaved({OURS: _dual(name, shape), BY_HAND: by_hand}, rounds, count=4)
            seconds = {which: timed.spread(which).median for which in (OURS, BY_HAND)}
            yield Row("networks", title, timed.ratio(OURS, BY_HAND), "x", GOAL, at_most=True, seconds=seconds)
