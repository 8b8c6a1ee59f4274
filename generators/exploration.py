"""The common state of the arrays of one trial: their levels of the plan, their shapes, and the first numbers."""

from __future__ import annotations

from generators.dtypes import Array
from generators.open_shapes import OpenShapes
from generators.source import Source
from generators.trial_features import TrialFeatures

#: Dtypes whose numbers are also used in arrays of another of these dtypes.
_COMPARED = frozenset(("float32", "float64", "int8", "int16", "int32", "int64", "uint8"))


class Exploration:
    """The common state of the arrays of one trial.

    Attributes:
        features: the levels that the plan gives to the trial.
        shapes: draws shapes that fit to those of earlier arrays.
        divided: whether the arrays so far have the least integer or -1, see `without_overflow`.
    """

    __slots__ = ("_arrays", "_numbers", "divided", "features", "shapes")

    def __init__(self, source: Source) -> None:
        self.features = TrialFeatures(source)
        self.shapes = OpenShapes(self.features)
        self._arrays = 0
        #: dtype -> the first array of this dtype.
        self._numbers: dict[str, Array] = {}
        self.divided: set[str] = set()

    @staticmethod
    def of(source: Source) -> Exploration:
        """Return the `Exploration` of `source`, and create it at the first call."""
        found = source.memo.get(Exploration)
        if found is None:
            found = source.memo[Exploration] = Exploration(source)
        return found

    def begin_array(self) -> int:
        """Return the index of the next array in its trial, from 0, and count the array."""
        self._arrays += 1
        return self._arrays - 1

    def has_array_of(self, dtype: str) -> bool:
        """Return whether this trial has an array of `dtype` already."""
        return dtype in self._numbers

    def first_of(self, dtype: str, values: Array) -> Array:
        """Return the first array of `dtype` in this trial; if there is none yet, `values` becomes it."""
        return self._numbers.setdefault(dtype, values)

    def first_of_another(self, dtype: str) -> Array | None:
        """Return the first array of this trial that has another dtype and is comparable with `dtype`, or None."""
        if dtype not in _COMPARED:
            return None
        for other, numbers in self._numbers.items():
            if other != dtype and other in _COMPARED:
                return numbers
        return None
