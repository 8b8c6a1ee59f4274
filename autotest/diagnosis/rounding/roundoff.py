"""The precision and the range of each floating dtype."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

#: Unit roundoff by dtype; for complex dtypes, twice that of their parts.
ROUNDOFF: Mapping[str, float] = MappingProxyType(
    {
        "float16": 2.0**-11,
        "bfloat16": 2.0**-8,
        "float32": 2.0**-24,
        "float64": 2.0**-53,
        "complex64": 2.0**-23,
        "complex128": 2.0**-52,
    }
)
#: The smallest positive number, subnormal ones included, by dtype.
TINY: Mapping[str, float] = MappingProxyType(
    {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}
)
#: The NumPy dtype that stores a dtype with a narrower range than double precision.
NARROW: Mapping[str, Any] = MappingProxyType(
    {"float16": np.float16, "float32": np.float32, "bfloat16": np.float32, "complex64": np.complex64}
)
