"""A model of the reference and the candidate's port of it, with matched modules and shared weights."""

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
    """Two models, the reference's first, with their matched parameters and modules."""

    pair: Pair
    models: tuple[Any, Any]
    matches: Matches
    #: The reference's path of a module -> the candidate's, for matched modules.
    paths: Mapping[str, str]

    @property
    def frameworks(self) -> tuple[Framework, Framework]:
        """The reference and the candidate."""
        return self.pair.frameworks

    @property
    def modules(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The modules of both models, each by its path in its own model."""
        (own, mine), (other, theirs) = zip(self.frameworks, self.models, strict=True)
        return own.modules(mine), other.modules(theirs)

    def modules_at(self, path: str) -> tuple[Any, Any]:
        """Return the module at the reference's `path`, and its counterpart in the candidate's model."""
        own, other = self.modules
        return own[path], other[self.paths[path]]

    def share_weights(self) -> None:
        """Copy the weights of the reference's model into the candidate's."""
        reference, matched = self.pair.reference, self.matches.pairs
        live = reference.state(self.models[0])
        values = reference.values([live[one.reference] for one in matched])
        self._transfer_state({one.reference: value for one, value in zip(matched, values, strict=True)})

    def _transfer_state(self, state: Mapping[str, TensorValue]) -> None:
        """Load the reference's `state` into the candidate's model."""
        carried = {one.candidate: one.to_candidate(state[one.reference]) for one in self.matches.pairs}
        self.pair.candidate.load_state(self.models[1], carried)

    @contextlib.contextmanager
    def with_initial_weights(self, step: TrainingStep) -> Iterator[None]:
        """Inside the block, give both models the weights that the reference's model had when `step` began."""
        after = [state_of(side, model) for side, model in zip(self.frameworks, self.models, strict=True)]
        try:
            _load(self.pair.reference, self.models[0], step.before)
            self._transfer_state(step.before)
            yield
        finally:
            for side, model, state in zip(self.frameworks, self.models, after, strict=True):
                _load(side, model, state)

    def in_double_precision(self) -> Port | None:
        """Return copies of both models in double precision; None if they cannot be copied or converted."""
        try:
            own, other = (
                side.invoke("method", "double", [side.invoke("builtin", "deepcopy", [model], {})], {})
                for side, model in zip(self.frameworks, self.models, strict=True)
            )
        except Exception:  # noqa: BLE001 - then they are compared as they are
            return None
        return dataclasses.replace(self, models=(own, other))


def _load(framework: Framework, model: Any, state: Mapping[str, TensorValue]) -> None:
    """Load `state` into `model`."""
    framework.load_state(model, {name: value.as_array() for name, value in state.items()})
