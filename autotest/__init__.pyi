"""Types for editors and type checkers: the dual `torch` completes and type-checks like torch itself.

A generator may be used wherever a number, a flag or a name is allowed, so generators are `Any` here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar

import torch as torch

from autotest.aligning.alignment import Alignment as Alignment
from autotest.aligning.alignment import align as align
from autotest.base.errors import AutotestError as AutotestError
from autotest.base.errors import FrameworkMissing as FrameworkMissing
from autotest.base.errors import GradcheckError as GradcheckError
from autotest.base.errors import GradientNotCompared as GradientNotCompared
from autotest.base.errors import NothingCompared as NothingCompared
from autotest.base.errors import StaleLedgerEntry as StaleLedgerEntry
from autotest.base.errors import TooFewAccepted as TooFewAccepted
from autotest.base.errors import UsageError as UsageError
from autotest.base.settings import Settings as Settings
from autotest.frameworks import Framework as Framework
from autotest.frameworks import Pair as Pair
from autotest.frameworks.harvesting import harvest as harvest
from autotest.gradients.public import gradcheck as gradcheck
from autotest.gradients.public import gradgradcheck as gradgradcheck
from autotest.program import Program as Program
from autotest.recording.dual import DualObject as DualObject
from autotest.results.divergence import Divergence as Divergence
from autotest.results.finding import Finding as Finding
from generators import Generator as Generator

__version__: str

_P = ParamSpec("_P")
_F = TypeVar("_F", bound=Callable[..., Any])
_Limit = float | Mapping[str, float] | None

class DualTensor(torch.Tensor):  # type: ignore[misc]  # Any where torch is skipped
    """A tensor of both frameworks, typed as a torch tensor: the return value of `random_tensor`."""

    @property
    def reference(self) -> torch.Tensor: ...
    @property
    def candidate(self) -> Any: ...
    @property
    def pytorch(self) -> torch.Tensor: ...
    @property
    def oneflow(self) -> Any: ...

def autotest(
    n: int = 20,
    rtol: _Limit = None,
    atol: _Limit = None,
    *,
    auto_backward: bool | Literal["auto"] = True,
    grad_rtol: _Limit = None,
    grad_atol: _Limit = None,
    check_graph: bool = False,
    check_values: bool = True,
    check_allclose: bool | None = None,
    check_dtype: bool = True,
    check_errors: bool = False,
    special_values: bool = True,
    check_grad: Literal["dual", "intermediate", "numeric", "forward"] = "dual",
    grad_order: Literal[1, 2] = 1,
    seed: int | None = None,
    deadline: float | str | None = None,
    candidate: str = "",
    pair: Pair | Callable[[], Pair] | None = None,
    pinned: tuple[int, int] | Iterable[tuple[int, int]] = (),
) -> Callable[[Callable[_P, object]], Callable[_P, None]]: ...
def skip_grad_check(*, reason: str) -> Callable[[_F], _F]: ...
def random_tensor(
    ndim: Any = None,
    dim0: Any = ...,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = ...,
    high: Any = ...,
    dtype: Any = ...,
    requires_grad: Any = True,
    *,
    shape: Any = None,
    contents: Any = ...,
    layout: Any = ...,
    device: Any = "cpu",
) -> DualTensor: ...
def choice_tensor(
    a: Any, size: Any = None, replace: bool = True, p: Any = None, dtype: Any = ..., requires_grad: Any = False
) -> DualTensor: ...
def broadcast_tensors(
    n: int = 2,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    requires_grad: Any = True,
    *,
    ndim: Any = None,
    layout: Any = None,
) -> tuple[DualTensor, ...]: ...
def random_device() -> Any: ...
def random(low: Any = ..., high: Any = ...) -> Any: ...
def random_bool() -> Any: ...
def random_or_nothing(low: Any = ..., high: Any = ...) -> Any: ...
def constant(x: Any) -> Any: ...
def nothing() -> Any: ...
def oneof(*alternatives: Any, possibility: Any = ...) -> Any: ...

__all__: Sequence[str]
