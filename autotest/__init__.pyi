"""Types for editors and type checkers: the dual `torch` completes and type-checks like torch itself.

A dual tensor is torch's own `Tensor` here and not a class of its own: ``x = x.flatten()`` and lists of tensors would
not type-check otherwise. A generator may be used wherever a number, a flag or a name is allowed, so the class of
generators is derived from `Any`, which type checkers accept everywhere.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

import torch as torch
from typing_extensions import Self

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
from autotest.results.divergence import Divergence as Divergence
from autotest.results.finding import Finding as Finding
from generators import Generator as _Generator

__version__: str

_P = ParamSpec("_P")
_F = TypeVar("_F", bound=Callable[..., Any])
_Limit: TypeAlias = float | Mapping[str, float] | None

class DualObject:
    """Everything that is dual. ``isinstance(x, DualObject)`` tells a type checker that a tensor `x` has two sides."""

    @property
    def reference(self) -> Any: ...
    @property
    def candidate(self) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

_Contents: TypeAlias = Literal["uniform", "integers", "ties", "indices", "special", "sorted", "one_hot", "distinct"]
_Layout: TypeAlias = Literal[
    "contiguous", "transposed", "channels_last", "strided", "expanded", "offset", "pitched", "sliced"
]

def autotest(
    n: int = 20,
    rtol: _Limit = None,
    atol: _Limit = None,
    *,
    auto_backward: bool | Literal["auto"] = True,
    grad_rtol: _Limit = None,
    grad_atol: _Limit = None,
    check_graph: bool = False,
    check_values: bool | None = None,
    check_allclose: bool | None = None,
    check_dtype: bool = True,
    check_errors: bool = False,
    special_values: bool | None = None,
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
    dim0: Any = None,
    dim1: Any = None,
    dim2: Any = None,
    dim3: Any = None,
    dim4: Any = None,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    requires_grad: Any = None,
    *,
    shape: Any = None,
    contents: _Contents | Any = None,
    layout: _Layout | Any = None,
    device: Any = "cpu",
) -> torch.Tensor: ...
def choice_tensor(
    a: Any, size: Any = None, replace: Any = True, p: Any = None, dtype: Any = int, requires_grad: Any = False
) -> torch.Tensor: ...
def broadcast_tensors(
    n: int = 2,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    requires_grad: Any = None,
    *,
    ndim: Any = None,
    layout: _Layout | Any = None,
) -> tuple[torch.Tensor, ...]: ...
def random_device() -> Generator: ...

class Generator(_Generator, Any):  # type: ignore[misc]  # its base is Any, so that it fits every parameter
    def to(self, annotation: Any) -> Self: ...
    def map(self, function: Callable[[Any], Any]) -> Generator:
        """Return a generator of ``function(value)``."""

    def filter(self, accepts: Callable[[Any], object]) -> Generator:
        """Return a generator of the values for which `accepts` returns a true value."""

    def flatmap(self, function: Callable[[Any], Any]) -> Generator:
        """Return a generator of the value of the generator ``function(value)``."""

    def __or__(self, other: Any) -> Generator: ...
    def __ror__(self, other: Any) -> Generator: ...
    def __add__(self, other: Any) -> Generator: ...
    def __radd__(self, other: Any) -> Generator: ...
    def __sub__(self, other: Any) -> Generator: ...
    def __rsub__(self, other: Any) -> Generator: ...
    def __mul__(self, other: Any) -> Generator: ...
    def __rmul__(self, other: Any) -> Generator: ...
    def __floordiv__(self, other: Any) -> Generator: ...
    def __rfloordiv__(self, other: Any) -> Generator: ...
    def __mod__(self, other: Any) -> Generator: ...
    def __rmod__(self, other: Any) -> Generator: ...
    def __neg__(self) -> Generator: ...

class random(Generator):
    def __init__(self, low: Any = None, high: Any = None) -> None:
        """A number in [low, high), of the type of the parameter that it is given to, or of ``.to(float)``."""

class constant(Generator):
    def __init__(self, x: Any) -> None:
        """`x` itself, in every trial."""

class nothing(Generator):
    def __init__(self) -> None:
        """No value: the argument is left out of the call."""

class oneof(Generator):
    def __init__(self, *alternatives: Any, possibility: float | Sequence[float] | None = None) -> None:
        """One of `alternatives`; `possibility` has the chance of each, or, of two, the chance of the first."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def random_bool() -> random: ...
def random_or_nothing(low: Any, high: Any) -> oneof: ...

__all__ = [
    "Alignment",
    "AutotestError",
    "Divergence",
    "DualObject",
    "Finding",
    "Framework",
    "FrameworkMissing",
    "Generator",
    "GradcheckError",
    "GradientNotCompared",
    "NothingCompared",
    "Pair",
    "Program",
    "Settings",
    "StaleLedgerEntry",
    "TooFewAccepted",
    "UsageError",
    "align",
    "autotest",
    "broadcast_tensors",
    "choice_tensor",
    "constant",
    "gradcheck",
    "gradgradcheck",
    "harvest",
    "nothing",
    "oneof",
    "random",
    "random_bool",
    "random_device",
    "random_or_nothing",
    "random_tensor",
    "skip_grad_check",
    "torch",
]
