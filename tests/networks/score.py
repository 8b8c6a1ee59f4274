"""Counts how often the layer of a fault is named: ``python -m tests.networks.score [torch|oneflow] [model ...]``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator

from autotest.base.options import Options
from autotest.base.settings import Settings
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.results.finding import Finding
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test as ATest
from autotest.trials.trial import run_trial
from tests.networks.bodies import ALL_MODELS
from tests.networks.planted_layers import Planted, spread
from tests.support.faulty import FaultyTorch
from tests.support.faulty_oneflow import FaultyOneFlow
from tests.support.running import pair_with

SETTINGS = Settings(n=1)
CANDIDATES: dict[str, type[FaultyTorch] | type[FaultyOneFlow]] = {"torch": FaultyTorch, "oneflow": FaultyOneFlow}


@dataclasses.dataclass(frozen=True, slots=True)
class Named:
    """The report about one planted fault."""

    planted: Planted
    #: The path of the named layer; None if no difference was found.
    path: str | None
    #: Whether this layer comes after the wrong one.
    later: bool = False

    @property
    def right(self) -> bool:
        return self.path == self.planted.path


def diagnosed(planted: Planted, candidate: str = "torch", shrink: float = 0.0) -> Finding | None:
    """Return the finding about a planted fault; None if the trial agrees."""
    pair = pair_with(planted.candidate(CANDIDATES[candidate]))
    outcome = run_trial(planted.body, 0, SETTINGS, pair)
    test = ATest("file.py::test", planted.body, SETTINGS)
    failed = FailedTrial(test, outcome, pair)
    if not outcome.mismatches or failed.cleared() is not None:
        return None
    return failed.diagnosed(RunContext(pair, Options(verify=False, shrink=shrink)), 0)


def score(model: str, candidate: str, every: int = 1) -> Iterator[Named]:
    """Return ten faults of the model in training and ten in evaluation, or every second or third of them."""
    for training in (True, False):
        for planted in spread(model, training=training, count=10)[::every]:
            finding = diagnosed(planted, candidate)
            network = None if finding is None else finding.network
            if network is None:
                yield Named(planted, None)
                continue
            order = [layer.path for layer in network.layers]
            known = network.path in order and planted.path in order
            yield Named(planted, network.path, known and order.index(network.path) > order.index(planted.path))


def main(arguments: list[str]) -> int:
    """Print the score of each model."""
    candidate = next((one for one in arguments if one in CANDIDATES), "torch")
    models = [one for one in arguments if one in ALL_MODELS] or [*ALL_MODELS]
    right = total = later = 0
    for model in models:
        found = [*score(model, candidate)]
        wrong = [f"{one.planted} -> {one.path}{' (later)' if one.later else ''}" for one in found if not one.right]
        print(f"{model:<16}{len(found) - len(wrong):>3} of {len(found)}   {'; '.join(wrong)}", flush=True)  # noqa: T201
        right, total = right + len(found) - len(wrong), total + len(found)
        later += sum(one.later for one in found)
    print(f"{candidate}: the guilty layer is named in {right} of {total}, a later one in {later}")  # noqa: T201
    return 0 if right >= 0.95 * total and not later else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
