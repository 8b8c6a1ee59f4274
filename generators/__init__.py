"""The generator algebra: describes what is drawn. A `Source` makes the random choices and logs them.

>>> from generators import Source, nothing, random, using
>>> kernel = random(1, 6) | nothing()
>>> with using(Source(7)):
...     kernel.value() == kernel.value()
True
"""

from __future__ import annotations

from generators.annotations import describe
from generators.arrays import Drawn, choice_array, random_array
from generators.combinators import NOTHING, Nothing, constant, nothing, oneof, pack, tuple
from generators.contents import CONTENTS, Spec, array_from, distinct, indices, special, special_values, ties
from generators.core import Generator
from generators.cotangents import Cotangent, drawn_cotangent
from generators.derived import MOST_REFUSALS
from generators.dtypes import DTYPES, dtype_name, numpy_dtype, round_bfloat16
from generators.entropy import Bits
from generators.errors import BadBounds, GeneratorError, NotAValue, Unsatisfiable
from generators.gradients_left_open import drawn_requires_grad, leaves_out_gradients
from generators.layouts import LAYOUTS, Steps, apply_steps, base_of, lay_out
from generators.open_arrays import drawn_large, explored_array, explored_shapes
from generators.scalars import random, random_bool, random_or_nothing
from generators.schedule import Schedule
from generators.shapes import random_shape
from generators.source import TRIAL_BITS, Choice, Source, current, simplest, using
from generators.strategies import as_generator

__all__ = [
    "CONTENTS",
    "DTYPES",
    "LAYOUTS",
    "MOST_REFUSALS",
    "NOTHING",
    "TRIAL_BITS",
    "BadBounds",
    "Bits",
    "Choice",
    "Cotangent",
    "Drawn",
    "Generator",
    "GeneratorError",
    "NotAValue",
    "Nothing",
    "Schedule",
    "Source",
    "Spec",
    "Steps",
    "Unsatisfiable",
    "apply_steps",
    "array_from",
    "as_generator",
    "base_of",
    "choice_array",
    "constant",
    "current",
    "describe",
    "distinct",
    "drawn_cotangent",
    "drawn_large",
    "drawn_requires_grad",
    "dtype_name",
    "explored_array",
    "explored_shapes",
    "indices",
    "lay_out",
    "leaves_out_gradients",
    "nothing",
    "numpy_dtype",
    "oneof",
    "pack",
    "random",
    "random_array",
    "random_bool",
    "random_or_nothing",
    "random_shape",
    "round_bfloat16",
    "simplest",
    "special",
    "special_values",
    "ties",
    "tuple",
    "using",
]
