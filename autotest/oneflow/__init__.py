"""The drop-in replacement for OneFlow's own test harness: ``from autotest.oneflow import *``.

Stands in for ``oneflow.test_utils.automated_test_util``: the same names with the same defaults and meaning, on this
library's core, so that a test file runs unchanged when its import line is changed, or when `stand_in` has put this
package in that module's place. The files beside this one bear the names of that package's files, because tests import
from them too. The pair is always torch and OneFlow.
"""

from __future__ import annotations

import os

from autotest.oneflow import generators, global_scope, profiler, torch_flow_dual_object, util
from autotest.oneflow.generators import (
    all_cpu_placement,
    all_cuda_placement,
    all_placement,
    all_sbp,
    choice_pytorch_tensor,
    constant,
    cpu_device,
    gpu_device,
    nothing,
    oneof,
    random,
    random_bool,
    random_cpu_placement,
    random_device,
    random_gpu_placement,
    random_or_nothing,
    random_placement,
    random_pytorch_dtype,
    random_pytorch_tensor,
    random_sbp,
)
from autotest.oneflow.profiler import profile
from autotest.oneflow.substitution import stand_in
from autotest.oneflow.torch_flow_dual_object import (
    autotest,
    choice_tensor,
    globaltest,
    random_dtype,
    random_tensor,
    torch,
)

__all__ = [
    "all_cpu_placement",
    "all_cuda_placement",
    "all_placement",
    "all_sbp",
    "autotest",
    "choice_pytorch_tensor",
    "choice_tensor",
    "constant",
    "cpu_device",
    "generators",
    "global_scope",
    "globaltest",
    "gpu_device",
    "nothing",
    "oneof",
    "os",
    "profile",
    "profiler",
    "random",
    "random_bool",
    "random_cpu_placement",
    "random_device",
    "random_dtype",
    "random_gpu_placement",
    "random_or_nothing",
    "random_placement",
    "random_pytorch_dtype",
    "random_pytorch_tensor",
    "random_sbp",
    "random_tensor",
    "stand_in",
    "torch",
    "torch_flow_dual_object",
    "util",
]
