"""OneFlow with planted faults, for use as the candidate of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from autotest.frameworks.oneflow import OneFlowFramework
from tests.support.faulty import Overlay, Replacement


class FaultyOneFlow(OneFlowFramework):
    """OneFlow with replacements: dotted path below OneFlow -> function that turns the original into its replacement."""

    def __init__(self, replace: Mapping[str, Replacement]) -> None:
        super().__init__("faulty", "faulty")
        self._replace = dict(replace)

    def import_root(self) -> ModuleType:
        root = Overlay(super().import_root())
        for path, replacement in self._replace.items():
            root.replace(path, replacement)
        return root
