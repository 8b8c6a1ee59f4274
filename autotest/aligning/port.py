"""A model of the reference with the candidate's port of it: matched modules, and weights that both hold."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from autotest.aligning.matching import Matches
from autotest.aligning.running import TrainingStep
from autotest.comparison import TensorValue
from autotest.frameworks import Framework, Pair
from autotest.replaying.module_alone import state_of


@dataclasses.dataclass(frozen=True, slots=True)
class Port:
    """Two models, the reference's first, whose parameters and modules were matched."""

    pair: Pair
    models: tuple[Any, Any]
    matches: Matches
    #: The reference's path of a module -> the candidate's, of those that have one.
    paths: Mapping[str, str]

    @property
    def frameworks(self) -> tuple[Framework, Framework]:
        """The reference and the candidate."""
        return self.pair.reference, self.pair.candidate

    @property
    def modules(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The modules of both, each by its path in its own model."""
        (own, mine), (other, theirs) = zip(self.frameworks, self.models, strict=True)
        return own.modules(mine), other.modules(theirs)

    def modules_at(self, path: str) -> tuple[Any, Any]:
        """The module at the reference's `path`, and the one that it is in the candidate's model."""
        own, other = self.modules
        return own[path], other[self.paths[path]]

    def share_weights(self) -> None:
        """Let the candidate's model hold what the reference's does."""
        reference, matched = self.pair.reference, self.matches.pairs
        live = reference.state(self.models[0])
        values = reference.values([live[one.reference] for one in matched])
        self._carry({one.reference: value for one, value in zip(matched, values, strict=True)})

    def _carry(self, state: Mapping[str, TensorValue]) -> None:
        """Put the reference's `state` into the candidate's model."""
        carried = {one.candidate: one.to_candidate(state[one.reference]) for one in self.matches.pairs}
        self.pair.candidate.load_state(self.models[1], carried)

    @contextlib.contextmanager
    def as_before(self, step: TrainingStep) -> Iterator[None]:
        """Both models hold what the reference's held when `step` began, until the block is left."""
        after = [state_of(side, model) for side, model in zip(self.frameworks, self.models, strict=True)]
        try:
            _put(self.pair.reference, self.models[0], step.before)
            self._carry(step.before)
            yield
        finally:
            for side, model, state in zip(self.frameworks, self.models, after, strict=True):
                _put(side, model, state)

    def in_double_precision(self) -> Port | None:
        """Copies of both models in which what is only rounding is gone; None where they cannot be copied or widened."""
        try:
            own, other = (
                side.invoke("method", "double", [side.invoke("builtin", "deepcopy", [model], {})], {})
                for side, model in zip(self.frameworks, self.models, strict=True)
            )
        except Exception:  # noqa: BLE001 - they are compared as they are then
            return None
        return dataclasses.replace(self, models=(own, other))


def _put(framework: Framework, model: Any, state: Mapping[str, TensorValue]) -> None:
    """Have `model` hold `state`."""
    framework.load_state(model, {name: value.as_array() for name, value in state.items()})
