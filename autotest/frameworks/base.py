"""The protocol between this library and a framework.

All other packages handle tensors, modules and dtypes through a `Framework` only. To add a framework, subclass it (or
`autotest.frameworks.namespace.Namespace` if the framework uses torch's names) and register a function that returns an
instance under the entry-point group ``autotest.frameworks``.
"""

from __future__ import annotations

import abc
import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks.autograd import Autograd
from autotest.frameworks.modules import Modules
from autotest.frameworks.operations import Operations, StandIns
from autotest.frameworks.parameters import Parameters
from autotest.frameworks.requests import Build, FunctionCalled, Given, Graphed, Implementation
from autotest.frameworks.samples import SampleDatabase
from autotest.frameworks.traced import Transcript
from autotest.program import Array, Operand


class Made(NamedTuple):
    """A small object that a program makes again by calling the namespace's `path` with plain `args`."""

    path: str
    args: tuple[Operand, ...]


class Framework(Operations, Autograd, Modules, Parameters, abc.ABC):
    """One side of a pair: the adapter by which the library uses a framework.

    ``autotest adapter new NAME`` writes the skeleton of one. Instances contain no state of a trial, and all trials may
    share them.

    Attributes:
        name: the name in reports, such as ``"torch"``.
        alias: the attribute of a dual object that returns this side's object, such as ``"pytorch"``.
        tensor_types: the tensor classes.
        module_types: the neural-network module classes.
        fragile: whether ordinary edge cases may crash the process. They are then tried in another process first.
        translates: whether the adapter translates torch's names. A name without a translation is absent, not a finding.
        initialises_modules: whether a new module has initial values of the framework's own, and not only those that are
            loaded into it.
        asynchronous: whether a call returns before it has run. It then pays to start the next trial meanwhile.
        imported: whether this process has imported the framework through this adapter.
        forkable: whether a process that has used the framework can be forked, for eager calls inside `around_trials`.
        shares_driver: whether the reference may start a driver that this framework needs too and that does not survive
            a fork.
        origin: the registered name by which another process makes this adapter; empty if it was made by hand.
        patience: seconds that the framework's own process has to reply; None if there is no limit.
        deaths: how many of the framework's own processes have died.
        own_calls: for the reference with some functions of its own, their calls so far: a trial without one compares
            nothing. None for any other.
        holds_values: whether tensors contain numbers. If not, results are compared by everything except their values.
        has_strides: whether users of the framework can observe the strides of a tensor.
        always_in_graph: whether each trial is checked in graph mode, even if the test does not request it.
        graph_mode: the name of the graph mode; empty if there is none.
        graph_works_in_forks: whether the graph mode works in a fork from the framework's import.
    """

    name: str
    alias: str
    fragile: bool = False
    translates: bool = False
    initialises_modules: bool = False
    asynchronous: bool = False
    imported: bool = False
    forkable: bool = False
    shares_driver: bool = False
    origin: str = ""
    patience: float | None = None
    deaths: int = 0
    own_calls: int | None = None
    holds_values: bool = True
    has_strides: bool = True
    always_in_graph: bool = False
    graph_mode: str = ""
    graph_works_in_forks: bool = True

    # -- the process ------------------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def version(self) -> str:
        """The version that the framework reports. Reading it imports the framework."""

    def import_around(self, fork: Callable[[], None]) -> None:
        """Import the framework, and call `fork` once, at the latest point at which a child still has all features.

        `fork` returns in the child processes, which continue the import. For a framework without threads of its own
        that point is after the import. If `forkable` is not set, it is before the import.
        """
        for step in (self.load, fork) if self.forkable else (fork, self.load):
            step()

    def load(self) -> None:
        """Import the framework now, which takes seconds; raise `FrameworkMissing` if that fails."""
        _ = self.version

    @abc.abstractmethod
    def devices(self) -> tuple[str, ...]:
        """Return the device types that the framework can use now, ``"cpu"`` first."""

    @abc.abstractmethod
    def seed(self, seed: int) -> None:
        """Seed the framework's own random numbers."""

    def random_state(self) -> bytes:
        """Return the state of the default random generator; a constant if the state cannot be read."""
        return b""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait for all pending calls; raise the error of an asynchronous call that failed."""

    def around_trials(self) -> contextlib.AbstractContextManager[None]:
        """Return a context that sets what trials need in this process, and restores the previous state at its end."""
        return contextlib.nullcontext()

    def modes(self) -> Any:
        """Return the process-wide settings that a test body may change and leave changed, such as the grad mode."""
        return None

    def told(self) -> Mapping[str, Any]:
        """Return the settings other than arguments that calls depend on, by the name of the function that sets each."""
        return {}

    def default_dtype(self) -> str:
        """Return the dtype of floating tensors made without a dtype; "" if it can neither be read nor changed."""
        return ""

    def restore(self, modes: Any) -> None:
        """Restore the settings that `modes` returned: a refused call may end a body before it restores them itself."""

    # -- names ------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def resolve(self, path: str) -> Any:
        """Return the object at dotted `path` below the namespace's root; raise `AttributeError` if it is missing."""

    def own_names(self) -> StandIns:
        """Return stand-ins for the names that only this framework has; the reference uses them in place of its own."""
        return StandIns()

    @abc.abstractmethod
    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        """Return the known annotations of the parameters of `function`, by position and by name.

        Used only for the reference, to give untyped generators a type.

        Args:
            path: the dotted path of a function, or the name of a method.
            function: the function or bound method.
            positional: the number of positional arguments; selects the overload, together with `keywords`.
            keywords: the names of the keyword arguments.
        """

    def sample_databases(self) -> Sequence[SampleDatabase]:
        """Return the databases of inputs that come with this framework, for its own operators."""
        return ()

    def public_names(self) -> Sequence[str]:
        """Return the dotted paths of all public functions and tensor methods that the adapter knows of."""
        return ()

    def function_called(self, call: Callable[[], Any]) -> FunctionCalled | None:
        """Run `call` and return the public function that makes its result (for a module, the one in its forward).

        Returns None if that is not known.
        """
        return None

    def reference_implementations(self, path: str) -> Sequence[Implementation]:
        """Return other implementations of the public function at `path`, which do not call that function."""
        return ()

    def called_none_of_its_own(self, since: int | None) -> bool:
        """Whether none of its own functions was called since `own_calls` was `since`; False if it counts none."""
        return since is not None and self.own_calls == since

    # -- tensors ----------------------------------------------------------------------------------------

    @abc.abstractmethod
    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        """Return a new leaf tensor with the contents of `array`, which shares no memory with it."""

    @abc.abstractmethod
    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        """Return the contents and attributes of `tensors`, read with one synchronisation.

        The values may be views of the tensors' memory: the caller reads them at once.
        """

    def reading(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        """Begin to read `tensors`; return a function that waits for them and returns what `values` would return.

        A caller can do other work while an asynchronous framework still computes.
        """
        return lambda: self.values(tensors)

    @abc.abstractmethod
    def overwrite(self, tensor: Any, array: Array) -> None:
        """Copy the contents of `array` into `tensor`, in place and not recorded by autograd."""

    def shape(self, tensor: Any) -> tuple[int, ...]:
        """Return the shape of `tensor`."""
        return tuple(tensor.shape)

    def numel(self, tensors: Iterable[Any]) -> int:
        """Return the total number of elements in `tensors`."""
        return sum([math.prod(self.shape(tensor)) for tensor in tensors])

    def strides(self, tensor: Any) -> tuple[int, ...]:
        """Return the strides of `tensor`, in elements."""
        return tuple(int(step) for step in tensor.stride())

    def dtype_of(self, tensor: Any) -> str:
        """Return the framework-neutral name of the dtype of `tensor`, such as ``"float32"``."""
        return self.dtype_name(tensor.dtype)

    def device_type(self, tensor: Any) -> str:
        """Return the type of the device that `tensor` is on, such as ``"cpu"``."""
        return str(tensor.device.type)

    def is_dense(self, tensor: Any) -> bool:
        """Return whether `tensor` is strided: it stores all its elements in an array, unlike a sparse tensor."""
        return "strided" in str(getattr(tensor, "layout", "strided"))

    def placed_like(self, tensor: Any) -> tuple[str, dict[str, Any]] | None:
        """Return the method and keyword arguments that move a CPU tensor to where `tensor` is; None if not needed."""
        return None

    def tensors_of(self, value: Any) -> Iterable[Any]:
        """Return `value` if it is a tensor, the parameters if it is a module, and else nothing."""
        if isinstance(value, self.module_types):
            return self.parameters(value).values()
        return (value,) if isinstance(value, self.tensor_types) else ()

    # -- dtypes, devices and other small objects --------------------------------------------------------

    @abc.abstractmethod
    def literal(self, value: Any) -> Operand:
        """Return the framework-neutral operand for a small object of the framework (dtype, device, size), or `ABSENT`.

        A `Made` stands for an object that has no name and is the result of a call.
        """

    def dtype_name(self, dtype: Any) -> str:
        """Return the framework-neutral name of `dtype`, one of the framework's own, such as ``"float32"``."""
        return str(self.literal(dtype).path)

    def item_names(self, value: tuple[Any, ...]) -> tuple[str, ...] | None:
        """Return the names of the items of a result; empty if it has none, None if the adapter made the tuple."""
        return None

    # -- graph mode -------------------------------------------------------------------------------------

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        """Build one graph by calling `build` on the graph's own objects for `calls[0]`, and run it once for each call.

        Args:
            build: takes inputs, leaves and modules; returns the outputs, and the outputs to backpropagate from, each
                with its cotangent.
            calls: what each run of the graph is given. Later calls differ from the first only in the numbers in their
                tensors and in the states of their modules.

        Returns:
            The outputs of each run, and the gradients that backpropagation leaves.

        Raises:
            NotImplementedError: if the framework has no graph mode.
            Exception: whatever the framework raises.
        """
        raise NotImplementedError(f"{self.name} has no graph mode")

    # -- reproducers ------------------------------------------------------------------------------------

    @abc.abstractmethod
    def script(self) -> Script:
        """Return the source by which a reproducer imports the framework, and the name that it gets; see `Script`.

        A reproducer contains no adapter. If the framework needs one, the reproducer imports it from this library.
        """

    @property
    def passive_imports(self) -> tuple[str, ...]:
        """The imports of its scripts that start no thread and no driver, so that they may run before a fork."""
        return ()

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        """Return a copy of this adapter that records its calls as source code, and the transcript that it fills.

        Used for reproducers in the framework's own API. None if the framework uses torch's names. The values of the
        copy are `Traced` objects, or contain one: see `text_of`.
        """
        return None

    def text_of(self, value: Any) -> Any:
        """Return the part of `value` that has a source text; `value` comes from an adapter made by `transcribing`."""
        return value
